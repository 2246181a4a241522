//! What of a worker's word is believed.

mod common;

use common::{opened, request, word};
use heddle_generation::message::{Artifact, Manifest, Outcome, Report};
use heddle_generation::{
    Edge, MAX_ARTIFACTS, MAX_ERROR_CHARS, MAX_MANIFEST_BYTES, Run, RunEnd, check_manifest, check_report,
    read_manifest,
};

fn live() -> Run {
    opened(request(Edge::Des2wf)).run
}

fn errors(change: impl FnOnce(&mut Report, &mut Manifest)) -> Vec<String> {
    let run = live();
    let (mut report, mut manifest) = word(&run);
    change(&mut report, &mut manifest);
    let mut errors = check_report(&report, &run).err().unwrap_or_default();
    errors.extend(check_manifest(&manifest, &report, &run).err().unwrap_or_default());
    errors.iter().map(|error| format!("{} {}", error.field, error.code)).collect()
}

fn effects(change: impl FnOnce(&mut heddle_generation::message::RowEffects)) -> Vec<String> {
    errors(|_, manifest| change(&mut manifest.row_effects.wf2des))
}

/// proves D18: a manifest is believed only for its own run, attempt and edge, in a known schema, within its prefix.
#[test]
fn a_manifest_speaks_for_its_own_run_only() {
    assert_eq!(errors(|_, _| ()), [""; 0]);
    assert_eq!(errors(|r, _| r.schema = "x/v9".into()), ["schema unknown_schema"]);
    assert_eq!(errors(|_, m| m.schema = "x/v9".into()), ["schema unknown_schema"]);
    assert_eq!(errors(|r, _| r.job_id = "other".into()), ["job_id not_this_run", "job_id not_this_run"]);
    assert_eq!(errors(|_, m| m.job_id = "other".into()), ["job_id not_this_run"]);
    assert_eq!(errors(|_, m| m.attempt = 2), ["attempt not_this_attempt"]);
    assert_eq!(errors(|_, m| m.edge = Edge::Wf2des), ["edge not_this_run"]);
    assert_eq!(errors(|r, _| r.manifest_sha256 = "zz".into()), ["manifest_sha256 not_a_hash"]);
    for key in [
        "1/7/des2wf/0192f0c1-2b3c-7d4e-8f90-000000000000/manifest.json".to_owned(),
        format!("2/7/des2wf/{}/manifest.json", common::ID),
        format!("1/7/des2wf/{}/../../secret.json", common::ID),
        format!("/1/7/des2wf/{}/manifest.json", common::ID),
        String::new(),
    ] {
        assert_eq!(errors(|r, _| r.manifest_key = key.clone()), ["manifest_key foreign_key"], "{key}");
        assert_eq!(
            effects(|e| e.result_url = Some(key.clone())),
            ["row_effects.wf2des.result_url foreign_key"],
            "{key}"
        );
        assert_eq!(
            errors(|_, m| m.artifacts.get_mut("result").unwrap().key = key.clone()),
            ["artifacts.result.key foreign_key"],
            "{key}"
        );
    }
    let elsewhere = "1/7/des2wf/snapshots/FILE/a.json".to_owned();
    assert_eq!(effects(|e| e.result_url = Some(elsewhere)), ["row_effects.wf2des.result_url foreign_key"]);
}

/// proves D18: score in 0..=1 with its version or none; a completed run has a result, a failed one says why.
#[test]
fn effects_are_checked() {
    let at = |rest: &str| vec![format!("row_effects.wf2des.{rest}")];
    assert_eq!(effects(|e| e.score = Some(1.01)), at("score out_of_range"));
    assert_eq!(effects(|e| e.score = Some(-0.01)), at("score out_of_range"));
    assert_eq!(effects(|e| e.score = Some(f64::NAN)), at("score out_of_range"));
    assert_eq!(effects(|e| e.score = None), at("score required"));
    assert_eq!(effects(|e| e.score_version = None), at("score_version required"));
    assert_eq!(effects(|e| e.score_version = Some("v".repeat(33))), at("score_version bad_version"));
    assert_eq!(effects(|e| (e.score, e.score_version) = (None, None)), [""; 0]);
    assert_eq!(effects(|e| e.result_url = None), at("result_url required"));
    assert_eq!(effects(|e| e.error_message = Some("x".into())), at("error_message not_allowed"));
    assert_eq!(effects(|e| e.flag_count = Some(u32::MAX)), at("flag_count out_of_range"));
    assert_eq!(
        effects(|e| e.outcome = Outcome::Failed),
        [at("score not_allowed"), at("score_version not_allowed"), at("error_message required")].concat()
    );
}

/// proves G17: a manifest has limits: artifacts, names, timings, bytes.
#[test]
fn a_manifest_is_bounded() {
    let crowd = |m: &mut Manifest| {
        let artifact: Artifact = m.artifacts["result"].clone();
        for index in 0..=MAX_ARTIFACTS {
            m.artifacts.insert(format!("a{index}"), artifact.clone());
        }
    };
    assert_eq!(errors(|_, m| crowd(m)), ["artifacts too_many"]);
    let rename = |m: &mut Manifest, name: &str| {
        let artifact = m.artifacts.remove("result").unwrap();
        m.artifacts.insert(name.to_owned(), artifact);
    };
    for name in ["", "A", "a/b", "..", &"x".repeat(65)] {
        assert_eq!(errors(|_, m| rename(m, name)), ["artifacts bad_character"], "{name}");
    }
    let timing = |value: f64| {
        move |_: &mut Report, m: &mut Manifest| {
            m.timings_ms.insert("x".to_owned(), value);
        }
    };
    assert_eq!(errors(timing(-1.0)), ["timings_ms.x out_of_range"]);
    assert_eq!(errors(timing(f64::INFINITY)), ["timings_ms.x out_of_range"]);
    let stage = |name: &str| {
        let name = name.to_owned();
        move |_: &mut Report, m: &mut Manifest| {
            m.timings_ms.insert(name, 1.0);
        }
    };
    assert_eq!(errors(stage("draw wireframe")), [""; 0]);
    assert_eq!(errors(stage("a\0")), ["timings_ms bad_name"]);
    assert_eq!(errors(stage(&"x".repeat(65))), ["timings_ms bad_name"]);
    let hash = |m: &mut Manifest| m.artifacts.get_mut("result").unwrap().sha256 = "X".into();
    assert_eq!(errors(|_, m| hash(m)), ["artifacts.result.sha256 not_a_hash"]);
    let media = |m: &mut Manifest| m.artifacts.get_mut("result").unwrap().media_type = "a\r\nb: c".into();
    assert_eq!(errors(|_, m| media(m)), ["artifacts.result.media_type bad_character"]);
    assert_eq!(read_manifest(&vec![b' '; MAX_MANIFEST_BYTES + 1]).unwrap_err().code, "too_long");
}

/// proves D18: the row's effects are a whitelist: a field beyond it is refused by name, and so is an effect on
/// another table. proves G14: an unknown schema is called that, whatever else has changed in it.
#[test]
fn the_whitelist_is_closed() {
    let (_, manifest) = word(&live());
    let json = serde_json::to_value(&manifest).unwrap();
    let read = |json: &serde_json::Value| read_manifest(json.to_string().as_bytes());
    assert_eq!(read(&json).unwrap(), manifest);

    let mut more = json.clone();
    more["row_effects"]["wf2des"]["status"] = "1".into();
    let error = read(&more).unwrap_err();
    assert!(error.code == "unreadable" && error.message.contains("`status`"), "{error}");

    let mut more = json.clone();
    more["row_effects"]["user"] = serde_json::json!({});
    assert!(read(&more).unwrap_err().message.contains("`user`"));

    let later = serde_json::json!({"schema": "heddle.generation.manifest/v2", "runs": []});
    assert_eq!(read(&later).unwrap_err().code, "unknown_schema");
    assert_eq!(read_manifest(b"{").unwrap_err().code, "unreadable");
}

#[test]
fn a_long_failure_is_cut_and_cleaned_so_that_the_run_ends() {
    let run = live();
    let (report, mut manifest) = word(&run);
    let effects = &mut manifest.row_effects.wf2des;
    (effects.outcome, effects.score, effects.score_version) = (Outcome::Failed, None, None);
    effects.error_message = Some(format!(" bad\0byte {}", "長".repeat(5000)));
    let RunEnd::Failed { error_message, .. } = check_manifest(&manifest, &report, &run).unwrap() else {
        panic!("failed");
    };
    assert!(error_message.starts_with("bad byte 長"), "{}", &error_message[..20]);
    assert_eq!(error_message.chars().count(), MAX_ERROR_CHARS);
}
