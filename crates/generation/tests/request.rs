//! What may be asked for, and what a request opens.

mod common;

use common::{at, opened, request};
use heddle_generation::message::{JOB_SCHEMA, Job, JobPhase, Source};
use heddle_generation::{
    AutoConfirm, Edge, MAX_PROMPT_CHARS, OrganizationId, Phase, RunRequest, State, TriggerSurface,
    check_file_key,
};

fn errors(request: RunRequest) -> Vec<String> {
    let errors = request.validate().err().unwrap_or_default();
    errors.iter().map(|error| format!("{} {}", error.field, error.code)).collect()
}

fn of(change: impl FnOnce(&mut RunRequest)) -> Vec<String> {
    let mut request = request(Edge::Des2wf);
    change(&mut request);
    errors(request)
}

/// proves G17: every bad field of a request is named, with a stable code, and all of them at once.
#[test]
fn every_bad_field_is_named() {
    assert_eq!(of(|_| ()), [""; 0]);
    assert_eq!(of(|r| r.project_id = 0), ["project_id out_of_range"]);
    assert_eq!(of(|r| r.figma_file_key = " ".into()), ["figma_file_key required"]);
    assert_eq!(of(|r| r.figma_file_key = "../etc".into()), ["figma_file_key bad_character"]);
    assert_eq!(of(|r| r.figma_file_key = "a/b".into()), ["figma_file_key bad_character"]);
    assert_eq!(of(|r| r.figma_file_key = "x".repeat(129)), ["figma_file_key too_long"]);
    assert_eq!(of(|r| r.wf_node_id = String::new()), ["wf_node_id required"]);
    assert_eq!(of(|r| r.wf_node_id = "1:2\0".into()), ["wf_node_id bad_character"]);
    assert_eq!(of(|r| r.wf_node_id = "..".into()), ["wf_node_id bad_character"]);
    assert_eq!(of(|r| r.wf_node_id = "1".repeat(256)), ["wf_node_id too_long"]);
    assert_eq!(of(|r| r.placement_target = Some("a b".into())), ["placement_target bad_character"]);
    assert_eq!(of(|r| r.screen_id = Some("Home".into())), ["screen_id not_the_node"]);
    assert_eq!(of(|r| r.prompt = Some("詳".repeat(MAX_PROMPT_CHARS))), [""; 0]);
    assert_eq!(of(|r| r.prompt = Some("詳".repeat(MAX_PROMPT_CHARS + 1))), ["prompt too_long"]);
    assert_eq!(of(|r| r.prompt = Some("a\u{7}b".into())), ["prompt bad_character"]);
    let upload = |sha256: &str| Source::Upload { object_key: "k.json".into(), sha256: sha256.into() };
    assert_eq!(of(|r| r.source = upload(&"AB".repeat(32))), ["source.upload.sha256 not_a_hash"]);
    assert_eq!(of(|r| r.source = upload(&"ab".repeat(32))), [""; 0]);
    assert_eq!(
        of(|r| {
            r.project_id = -1;
            r.wf_node_id = "/".into();
            r.prompt = Some("\0".into());
        }),
        ["wf_node_id bad_character", "project_id out_of_range", "prompt bad_character"]
    );
    let mut wf2des = request(Edge::Wf2des);
    wf2des.screen_id = Some("  ".into());
    assert_eq!(errors(wf2des), ["screen_id required"]);
    assert_eq!(check_file_key("file_key", "a?").unwrap_err().field, "file_key");
}

/// proves G1: on des2wf the screen id is the source node's id; on wf2des it is the user's.
#[test]
fn the_screen_id_follows_the_edge() {
    assert_eq!(opened(request(Edge::Des2wf)).run.screen_id, "12:345");
    assert_eq!(opened(request(Edge::Wf2des)).run.screen_id, "Home");
}

/// proves G2: two spellings of one node are one node, so neither slips past the fence.
#[test]
fn a_links_node_id_is_the_nodes_id() {
    for (given, meant) in [
        ("12-345", "12:345"),
        (" 12:345 ", "12:345"),
        ("I12-3;45-6", "I12:3;45:6"),
        ("a-b", "a-b"),
        ("12-345-6", "12-345-6"),
        ("0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6", "0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6"),
    ] {
        let opened = opened(RunRequest { wf_node_id: given.to_owned(), ..request(Edge::Des2wf) });
        assert_eq!(opened.run.wf_node_id, meant);
        assert_eq!(opened.run.screen_id, meant);
    }
}

/// proves G5: a request opens a row that can be polled (status '0', phase '0') and its message together.
/// proves G10: the surface, the tenant and the person are the requester's.
/// proves G14: the message names its schema, run, attempt, edge and phase.
#[test]
fn a_request_opens_a_row_and_its_message() {
    let mut request = request(Edge::Des2wf);
    request.prompt = Some("  keep the header \n".to_owned());
    request.placement_target = Some(String::new());
    request.auto_confirm = true;
    let opening = opened(request);
    let (run, job) = (&opening.run, &opening.job);
    assert_eq!(run.state, State::Processing { phase: Phase::Parse });
    assert_eq!((run.state.status().code(), run.state.phase().map(Phase::code)), ("0", Some("0")));
    assert_eq!((run.attempt, run.auto_confirm), (1, AutoConfirm::Auto));
    assert_eq!((run.organization_id, run.trigger_surface), (OrganizationId(1), TriggerSurface::Plugin));
    assert_eq!((run.created_by.as_str(), run.updated_by.as_str()), ("ann", "ann"));
    assert_eq!((run.created_at, run.updated_at), (at(0), at(0)));
    assert_eq!((run.prompt.as_deref(), run.placement_target.as_deref()), (Some("keep the header"), None));

    assert_eq!((job.schema.as_str(), job.phase), (JOB_SCHEMA, JobPhase::Parse));
    assert_eq!((job.job_id.as_str(), job.attempt, job.edge), (common::ID, 1, Edge::Des2wf));
    assert_eq!((job.organization_id, job.project_id), (1, 7));
    assert_eq!((job.figma_file_key.as_str(), job.wf_node_id.as_str()), ("FILE", "12:345"));
    assert_eq!((job.prompt.as_deref(), job.auto_confirm), (Some("keep the header"), true));
}

/// The latest run of a node has the last word on what its runs share, and of a run the latest attempt.
#[test]
fn jobs_of_a_node_are_ordered_by_their_runs_creation() {
    let job = opened(request(Edge::Des2wf)).job;
    let of = |text: &str, job_id: &str, attempt| Job {
        run_created_at: Some(text.parse().unwrap()),
        job_id: job_id.to_owned(),
        attempt,
        ..job.clone()
    };
    let ascending = [
        Job { run_created_at: None, job_id: "a".to_owned(), ..job.clone() },
        Job { run_created_at: None, job_id: "b".to_owned(), ..job.clone() },
        of("2026-01-02T03:04:05.000009Z", "z", 9),
        of("2026-01-02T03:04:05.000009Z", "z", 10),
        of("2026-01-02T03:04:05.000010Z", "y", 1),
        of("2226-01-02T03:04:05Z", &"x/../é".repeat(100), u32::MAX),
    ];
    let orders: Vec<String> = ascending.iter().map(Job::write_order).collect();
    assert!(orders.is_sorted_by(|a, b| a < b), "{orders:#?}");
    assert!(orders.iter().all(|order| order.len() <= 200));
}
