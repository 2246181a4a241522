//! What the tests of this crate share.
#![allow(dead_code, clippy::unwrap_used, reason = "each test binary uses its own part, and may panic")]

use std::collections::BTreeMap;

use heddle_generation::message::{
    Artifact, Effects, MANIFEST_SCHEMA, Manifest, Outcome, REPORT_SCHEMA, Report, RowEffects, Source,
};
use heddle_generation::{
    AutoConfirm, Edge, Opening, OrganizationId, Phase, Requester, Run, RunId, RunRequest, State,
    TriggerSurface, UserSub, open,
};
use jiff::Timestamp;

pub const ID: &str = "0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6";

pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub fn sub(name: &str) -> UserSub {
    UserSub::new(name)
}

pub fn request(edge: Edge) -> RunRequest {
    RunRequest {
        edge,
        project_id: 7,
        figma_file_key: "FILE".to_owned(),
        wf_node_id: "12:345".to_owned(),
        screen_id: (edge == Edge::Wf2des).then(|| "Home".to_owned()),
        prompt: None,
        placement_target: None,
        auto_confirm: false,
        source: Source::Figma,
    }
}

pub fn requester() -> Requester {
    Requester { organization_id: OrganizationId(1), user: sub("ann"), surface: TriggerSurface::Plugin }
}

pub fn opened(request: RunRequest) -> Opening {
    open(request.validate().unwrap(), &requester(), RunId::parse(ID).unwrap(), at(0))
}

pub fn run(edge: Edge, auto_confirm: AutoConfirm, state: State) -> Run {
    Run { auto_confirm, state, attempt: 2, ..opened(request(edge)).run }
}

pub fn processing(phase: Phase) -> State {
    State::Processing { phase }
}

/// A report and a manifest of a des2wf run that is beyond reproach.
pub fn word(run: &Run) -> (Report, Manifest) {
    let keys = run.keys();
    let prefix = keys.prefix();
    let report = Report {
        schema: REPORT_SCHEMA.to_owned(),
        job_id: run.id.to_string(),
        attempt: run.attempt,
        edge: run.edge,
        manifest_key: format!("{prefix}manifest.json"),
        manifest_sha256: "ab".repeat(32),
    };
    let artifact = |key: String, media_type: &str| Artifact {
        key,
        sha256: "cd".repeat(32),
        bytes: 10,
        media_type: media_type.to_owned(),
    };
    let manifest = Manifest {
        schema: MANIFEST_SCHEMA.to_owned(),
        job_id: run.id.to_string(),
        attempt: run.attempt,
        edge: run.edge,
        artifacts: BTreeMap::from([
            ("result".to_owned(), artifact(format!("{prefix}result.json"), "application/json")),
            (
                "snapshot".to_owned(),
                artifact("1/7/des2wf/snapshots/FILE/12=3A345.abc.json".to_owned(), "application/json"),
            ),
            (
                "preview_png".to_owned(),
                artifact(format!("1/7/des2wf/renders/{}/wireframe.png", run.id), "image/png"),
            ),
        ]),
        row_effects: Effects {
            wf2des: RowEffects {
                outcome: Outcome::Completed,
                result_url: Some(format!("{prefix}result.json")),
                error_message: None,
                flag_count: None,
                score: Some(0.874_22),
                score_version: Some("ds@1.0".to_owned()),
            },
        },
        timings_ms: BTreeMap::from([("convert".to_owned(), 12.5)]),
        written_at: at(5),
    };
    (report, manifest)
}
