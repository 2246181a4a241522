//! What of a worker's word a row may believe (G6, D18).

use serde::Deserialize;

use crate::keys::is_sha256;
use crate::message::{Artifact, MANIFEST_SCHEMA, Manifest, Outcome, REPORT_SCHEMA, Report, RowEffects};
use crate::{FieldError, Run, Score, ScoreValue};

/// Longest manifest, in bytes.
pub const MAX_MANIFEST_BYTES: usize = 1024 * 1024;
/// Most artifacts in a manifest.
pub const MAX_ARTIFACTS: usize = 64;
/// Most timings in a manifest.
pub const MAX_TIMINGS: usize = 64;
/// Longest name of an artifact or a timing, in bytes.
pub const MAX_NAME_BYTES: usize = 64;
/// Longest failure message that a row keeps, in characters; a longer one is cut.
pub const MAX_ERROR_CHARS: usize = 2000;

/// How an attempt ended: the whitelist of D18, checked.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEnd {
    /// Done.
    Completed {
        /// Object key of the result, under the run's own prefix.
        result_url: String,
        /// Copy of `confidence.flag_count`.
        flag_count: Option<u32>,
        /// Copy of the score.
        score: Option<Score>,
    },
    /// Could not be done.
    Failed {
        /// What the client may read of it.
        error_message: String,
        /// Object key of the failure's artifact, under the run's own prefix.
        result_url: Option<String>,
    },
}

/// Checks a report against the run that it speaks of, before anything that it points at is read.
pub fn check_report(report: &Report, run: &Run) -> Result<(), Vec<FieldError>> {
    let mut errors = Vec::new();
    check_schema(&report.schema, REPORT_SCHEMA, &mut errors);
    if report.job_id != run.id.to_string() {
        errors.push(FieldError::new("job_id", "not_this_run", format!("the run is {}", run.id)));
    }
    if report.edge != run.edge {
        errors.push(FieldError::new("edge", "not_this_run", format!("the run's edge is {}", run.edge)));
    }
    own_key("manifest_key", &report.manifest_key, run, &mut errors);
    check_hash("manifest_sha256", &report.manifest_sha256, &mut errors);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Reads a manifest's bytes. The schema is looked at first, so that a later version is called that and not damaged.
pub fn read_manifest(bytes: &[u8]) -> Result<Manifest, FieldError> {
    #[derive(Deserialize)]
    struct Versioned {
        schema: String,
    }
    if bytes.len() > MAX_MANIFEST_BYTES {
        return Err(FieldError::new(
            "",
            "too_long",
            format!("a manifest of {} bytes; at most {MAX_MANIFEST_BYTES} are read", bytes.len()),
        ));
    }
    let unreadable = |error: serde_json::Error| FieldError::new("", "unreadable", error.to_string());
    let versioned: Versioned = serde_json::from_slice(bytes).map_err(unreadable)?;
    let mut errors = Vec::new();
    check_schema(&versioned.schema, MANIFEST_SCHEMA, &mut errors);
    match errors.pop() {
        Some(error) => Err(error),
        None => serde_json::from_slice(bytes).map_err(unreadable),
    }
}

/// Checks a manifest against the report that points at it and the run that both speak of: how the run ended.
pub fn check_manifest(manifest: &Manifest, report: &Report, run: &Run) -> Result<RunEnd, Vec<FieldError>> {
    let mut errors = Vec::new();
    check_schema(&manifest.schema, MANIFEST_SCHEMA, &mut errors);
    if manifest.job_id != report.job_id || manifest.job_id != run.id.to_string() {
        errors.push(FieldError::new("job_id", "not_this_run", format!("the run is {}", run.id)));
    }
    if manifest.attempt != report.attempt {
        errors.push(FieldError::new(
            "attempt",
            "not_this_attempt",
            format!("the report speaks for attempt {}", report.attempt),
        ));
    }
    if manifest.edge != report.edge || manifest.edge != run.edge {
        errors.push(FieldError::new("edge", "not_this_run", format!("the run's edge is {}", run.edge)));
    }
    check_count("artifacts", manifest.artifacts.len(), MAX_ARTIFACTS, &mut errors);
    for (name, artifact) in manifest.artifacts.iter().take(MAX_ARTIFACTS) {
        check_artifact(name, artifact, run, &mut errors);
    }
    check_count("timings_ms", manifest.timings_ms.len(), MAX_TIMINGS, &mut errors);
    for (name, timing) in manifest.timings_ms.iter().take(MAX_TIMINGS) {
        if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
            errors.push(FieldError::new(
                "timings_ms",
                "bad_name",
                format!("a stage's name is 1 to {MAX_NAME_BYTES} bytes without control characters"),
            ));
        }
        if !(timing.is_finite() && *timing >= 0.0) {
            let field = format!("timings_ms.{name}");
            errors.push(FieldError::new(field, "out_of_range", "a time is 0 milliseconds or more"));
        }
    }
    let end = check_effects(&manifest.row_effects.wf2des, run, &mut errors);
    match end {
        Some(end) if errors.is_empty() => Ok(end),
        _ => Err(errors),
    }
}

/// Checks the effects on the row. `None` goes with an error.
fn check_effects(effects: &RowEffects, run: &Run, errors: &mut Vec<FieldError>) -> Option<RunEnd> {
    let at = |field: &str| format!("row_effects.wf2des.{field}");
    if let Some(key) = &effects.result_url {
        own_key(&at("result_url"), key, run, errors);
    }
    let score = check_score(effects, &at, errors);
    match effects.outcome {
        Outcome::Completed => {
            if effects.error_message.is_some() {
                errors.push(FieldError::new(
                    at("error_message"),
                    "not_allowed",
                    "a completed run has no error message",
                ));
            }
            let Some(result_url) = effects.result_url.clone() else {
                errors.push(FieldError::new(at("result_url"), "required", "a completed run has a result"));
                return None;
            };
            if effects.flag_count.is_some_and(|count| i32::try_from(count).is_err()) {
                errors.push(FieldError::new(
                    at("flag_count"),
                    "out_of_range",
                    format!("a row counts to {}", i32::MAX),
                ));
            }
            Some(RunEnd::Completed { result_url, flag_count: effects.flag_count, score })
        }
        Outcome::Failed => {
            for (field, given) in [
                ("flag_count", effects.flag_count.is_some()),
                ("score", effects.score.is_some()),
                ("score_version", effects.score_version.is_some()),
            ] {
                if given {
                    errors.push(FieldError::new(at(field), "not_allowed", "a failed run has none"));
                }
            }
            let error_message = effects.error_message.as_deref().map(readable).unwrap_or_default();
            if error_message.is_empty() {
                errors.push(FieldError::new(at("error_message"), "required", "a failed run says why"));
                return None;
            }
            Some(RunEnd::Failed { error_message, result_url: effects.result_url.clone() })
        }
    }
}

/// A score comes with its version, and a version with its score.
fn check_score(
    effects: &RowEffects,
    at: &impl Fn(&str) -> String,
    errors: &mut Vec<FieldError>,
) -> Option<Score> {
    match (effects.score, &effects.score_version) {
        (None, None) => None,
        (Some(_), None) => {
            errors.push(FieldError::new(at("score_version"), "required", "a score comes with its version"));
            None
        }
        (None, Some(_)) => {
            errors.push(FieldError::new(at("score"), "required", "a version comes with its score"));
            None
        }
        (Some(value), Some(version)) => {
            let Some(value) = ScoreValue::new(value) else {
                errors.push(FieldError::new(at("score"), "out_of_range", "a score is 0 to 1"));
                return None;
            };
            let score = Score::new(value, version.clone());
            if score.is_none() {
                errors.push(FieldError::new(
                    at("score_version"),
                    "bad_version",
                    format!("a version is 1 to {} visible ASCII characters", Score::MAX_VERSION_CHARS),
                ));
            }
            score
        }
    }
}

fn check_artifact(name: &str, artifact: &Artifact, run: &Run, errors: &mut Vec<FieldError>) {
    check_name("artifacts", name, errors);
    let at = |field: &str| format!("artifacts.{name}.{field}");
    if !run.may_name_object(&artifact.key) {
        errors.push(FieldError::new(
            at("key"),
            "foreign_key",
            "a run's artifacts lie under its own prefix, its renders' or its project's snapshots'",
        ));
    }
    check_hash(&at("sha256"), &artifact.sha256, errors);
    let media_type = &artifact.media_type;
    if media_type.is_empty()
        || media_type.len() > 100
        || !media_type.bytes().all(|byte| matches!(byte, 32..=126))
    {
        errors.push(FieldError::new(at("media_type"), "bad_character", "a media type such as image/png"));
    }
}

fn own_key(field: &str, key: &str, run: &Run, errors: &mut Vec<FieldError>) {
    let keys = run.keys();
    if !(run.may_name_object(key) && key.starts_with(keys.prefix())) {
        errors.push(FieldError::new(
            field,
            "foreign_key",
            format!("the key of an object of this run begins with {}", keys.prefix()),
        ));
    }
}

fn check_hash(field: &str, hash: &str, errors: &mut Vec<FieldError>) {
    if !is_sha256(hash) {
        errors.push(FieldError::new(field, "not_a_hash", "a SHA-256 is 64 lower-case hex digits"));
    }
}

fn check_name(field: &str, name: &str, errors: &mut Vec<FieldError>) {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(legal) {
        errors.push(FieldError::new(
            field,
            "bad_character",
            format!(
                "the name {:?}; a name is 1 to {MAX_NAME_BYTES} of a-z 0-9 _",
                name.chars().take(80).collect::<String>()
            ),
        ));
    }
}

fn check_count(field: &str, count: usize, most: usize, errors: &mut Vec<FieldError>) {
    if count > most {
        errors.push(FieldError::new(field, "too_many", format!("{count} entries; at most {most} are taken")));
    }
}

fn check_schema(found: &str, known: &str, errors: &mut Vec<FieldError>) {
    if found != known {
        let found: String = found.chars().take(80).collect();
        errors.push(FieldError::new(
            "schema",
            "unknown_schema",
            format!("{found:?}; {known:?} is understood"),
        ));
    }
}

/// A failure message as a row keeps it. A worker's long or dirty message must not leave the run without an end,
/// so it is cut and cleaned, not refused.
fn readable(message: &str) -> String {
    let clean = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c };
    let message: String = message.trim().chars().map(clean).collect();
    if message.chars().count() <= MAX_ERROR_CHARS {
        return message;
    }
    message.chars().take(MAX_ERROR_CHARS - 1).chain(['…']).collect()
}
