//! A run's artifacts, by its manifest: what the API and the pages both serve.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use heddle_exchange::keys::sha256_hex;
use heddle_exchange::{ExchangeError, Objects};
use heddle_generation::message::{Artifact, Manifest};
use heddle_generation::{Run, State, read_manifest};

use crate::problem::Problem;

/// The name under which the manifest itself is served.
pub(crate) const MANIFEST: &str = "manifest";

/// SVG is a document of its own where a browser opens it by itself: it runs nothing and fetches nothing.
const SVG_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox";

/// A manifest, and its own bytes' index entry.
pub(crate) struct Index {
    pub(crate) manifest: Manifest,
    pub(crate) own: Artifact,
    bytes: Vec<u8>,
}

/// The manifest of a run that has ended with one.
pub(crate) async fn index(objects: &Arc<dyn Objects>, run: &Run) -> Result<Index, Problem> {
    match run.state {
        State::Completed { .. } | State::Failed { .. } => {}
        State::Processing { .. } | State::Rejected | State::Cancelled => {
            let status = run.state.status();
            return Err(Problem::new(StatusCode::NOT_FOUND, "no_artifacts", "The run has no artifacts")
                .detail(format!("it is {status}; artifacts are there once a worker has ended it")));
        }
    }
    let key = run.keys().manifest();
    let bytes = objects.get(&key).await?.ok_or_else(|| lost(&key, "is not there"))?;
    let manifest = read_manifest(&bytes).map_err(|error| lost(&key, &error.to_string()))?;
    if manifest.attempt != run.attempt {
        return Err(lost(&key, "is another attempt's"));
    }
    let own = Artifact {
        key: key.into_string(),
        sha256: sha256_hex(&bytes),
        bytes: bytes.len() as u64,
        media_type: "application/json".to_owned(),
    };
    Ok(Index { manifest, own, bytes })
}

/// The bytes of one artifact, as its manifest says they are.
pub(crate) async fn read(
    objects: &Arc<dyn Objects>,
    run: &Run,
    index: &Index,
    name: &str,
) -> Result<(Artifact, Vec<u8>), Problem> {
    if name == MANIFEST {
        return Ok((index.own.clone(), index.bytes.clone()));
    }
    let Some(artifact) = index.manifest.artifacts.get(name) else {
        let known: Vec<&str> =
            index.manifest.artifacts.keys().map(String::as_str).chain([MANIFEST]).collect();
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "artifact_not_found",
            "The run has no such artifact",
        )
        .detail(format!("it has {}", known.join(", "))));
    };
    // Checked when the manifest was believed, and again here: this is where another tenant's bytes would get out.
    if !run.may_name_object(&artifact.key) {
        return Err(lost(&artifact.key, "is outside the run's prefixes"));
    }
    let bytes = objects.get(&artifact.key).await?.ok_or_else(|| lost(&artifact.key, "is not there"))?;
    let wanted = artifact.sha256.clone();
    let checked = move || (sha256_hex(&bytes) == wanted).then_some(bytes);
    let bytes = tokio::task::spawn_blocking(checked).await.map_err(|error| Problem::internal(&error))?;
    match bytes {
        Some(bytes) => Ok((artifact.clone(), bytes)),
        None => Err(lost(&artifact.key, "is not what its manifest says")),
    }
}

fn lost(key: &str, reason: &str) -> Problem {
    Problem::internal(&ExchangeError::Damaged { what: key.to_owned(), reason: reason.to_owned() })
}

/// The answer that carries an artifact. `asked` are the request's headers.
pub(crate) fn answer(asked: &HeaderMap, artifact: &Artifact, bytes: Vec<u8>) -> Response {
    let tag = format!("\"{}\"", artifact.sha256);
    let known = asked.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let unchanged = known.is_some_and(|known| known.split(',').any(|known| known.trim() == tag));
    let mut response =
        if unchanged { StatusCode::NOT_MODIFIED.into_response() } else { Body::from(bytes).into_response() };
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    // A re-queued run may write the same name anew, so a cache asks each time; the hash makes asking cheap.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    let policy = match artifact.media_type.as_str() {
        "image/svg+xml" => SVG_POLICY,
        _ => "default-src 'none'; sandbox",
    };
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    // Only types that no browser runs are shown in place; the rest is a file to keep.
    let (media_type, shown) = match artifact.media_type.as_str() {
        "application/json" => ("application/json", true),
        "image/svg+xml" => ("image/svg+xml", true),
        "image/png" => ("image/png", true),
        _ => ("application/octet-stream", false),
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if !shown {
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    response
}
