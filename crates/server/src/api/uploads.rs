//! `/v1/uploads`: Figma documents that callers bring themselves, such as a plugin's `JSON_REST_V1`.

use std::io::Read as _;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use flate2::read::GzDecoder;
use heddle_exchange::keys::{ContentHash, Tenant};
use heddle_generation::{FieldError, ProjectId, check_file_key};
use serde::Serialize;
use serde::de::IgnoredAny;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Caller;
use crate::extract::QueryFields;
use crate::problem::{Problem, ProblemBody};

/// Largest document, in bytes as sent.
pub(crate) const MAX_UPLOAD_BYTES: usize = 64 * 1024 * 1024;

/// How every gzip begins.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Most blanks before the first character of a gzip's content.
const MOST_BLANKS: usize = 64 * 1024;

/// A document that was taken. Give `object_key` and `sha256` as a run's `source.upload`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Upload {
    /// Its key.
    object_key: String,
    /// The SHA-256 of its bytes, in lower-case hex.
    sha256: String,
    /// Its length in bytes.
    bytes: usize,
    /// The project that it belongs to.
    project_id: i64,
    /// The Figma file that it is of.
    figma_file_key: String,
}

/// Upload a Figma document: a JSON object, plain or gzip. The same bytes may be sent again; they are kept once.
#[utoipa::path(
    put, path = "/v1/uploads/{file_key}", tag = "uploads", operation_id = "upload",
    params(
        ("file_key" = String, Path, description = "The Figma file that the document is of"),
        ("project_id" = i64, Query, description = "The project to keep it in"),
    ),
    request_body(content = String, content_type = "application/json", description = "The document, at most 64 MiB as sent"),
    responses(
        (status = 200, description = "It is kept", body = Upload),
        (status = 400, description = "No JSON object, and no gzip of one", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No known token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 408, description = "It came too slowly", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Fields at fault: `errors`", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Too much is being uploaded: try again as `Retry-After` says", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn upload(
    State(app): State<App>,
    Caller(caller): Caller,
    Path(file_key): Path<String>,
    mut query: QueryFields,
    body: Body,
) -> Result<axum::Json<Upload>, Problem> {
    let project = query.take("project_id", "a whole number", |text| text.parse().ok());
    let figma_file_key = check_file_key("file_key", &file_key);
    let figma_file_key = figma_file_key.map_err(|error| query.refuse(error)).unwrap_or_default();
    if project.is_none() {
        query.refuse(FieldError::new("project_id", "required", "say which project: ?project_id=…"));
    }
    query.finish()?;
    let project_id = ProjectId(project.unwrap_or_default());
    let organization_id = caller.organization_id;
    if !app.store.tenants.has_project(organization_id, project_id).await? {
        return Err(Problem::no_such_project("project_id", project_id.0));
    }
    // Its room is given back when all is done.
    let held = app.intake.take(organization_id, body, MAX_UPLOAD_BYTES).await?;
    let (bytes, length) = (held.bytes.clone(), held.bytes.len());
    let looked_at = tokio::task::spawn_blocking(move || look_at(bytes));
    let (bytes, media_type, hash) = looked_at.await.map_err(|error| Problem::internal(&error))??;
    let key = Tenant { organization_id: organization_id.0, project_id: project_id.0 }.upload(&hash);
    app.exchange.objects.put_once(&key, &bytes, media_type).await?;
    tracing::info!(key = key.as_str(), bytes = length, "upload kept");
    Ok(axum::Json(Upload {
        object_key: key.into_string(),
        sha256: hash.as_str().to_owned(),
        bytes: length,
        project_id: project_id.0,
        figma_file_key,
    }))
}

/// Makes sure that the bytes are a JSON object or the gzip of what begins like one, and hashes them. What is inside is
/// the worker's to read.
fn look_at(bytes: Bytes) -> Result<(Bytes, &'static str, ContentHash), Problem> {
    let media_type = if bytes.starts_with(&GZIP_MAGIC) {
        look_into_gzip(&bytes)?;
        "application/gzip"
    } else {
        let object = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let whole = serde_json::from_slice::<IgnoredAny>(&bytes);
        match whole {
            Ok(IgnoredAny) if object => "application/json",
            Ok(IgnoredAny) => return Err(not_a_document("the JSON is not an object".to_owned())),
            Err(error) => return Err(not_a_document(error.to_string())),
        }
    };
    let hash = ContentHash::of(&bytes);
    Ok((bytes, media_type, hash))
}

/// Unpacks the beginning: enough to see that it is gzip, and of a JSON object. The whole may be as large as anything.
fn look_into_gzip(bytes: &[u8]) -> Result<(), Problem> {
    let mut unpacker = GzDecoder::new(bytes);
    let mut buffer = [0; 1_024];
    let mut at = 0;
    while at < MOST_BLANKS {
        let count = unpacker.read(&mut buffer).map_err(|error| {
            let place = bytes.len() - unpacker.get_ref().len();
            not_a_document(format!("the gzip can't be unpacked within its first {place} bytes: {error}"))
        })?;
        if count == 0 {
            return Err(not_a_document(format!("the gzip ends after {at} unpacked bytes without an object")));
        }
        match buffer[..count].iter().position(|byte| !byte.is_ascii_whitespace()) {
            Some(first) if buffer[first] == b'{' => return Ok(()),
            Some(first) => {
                let detail = format!("the gzip's content is no JSON object: see its byte {}", at + first);
                return Err(not_a_document(detail));
            }
            None => at += count,
        }
    }
    Err(not_a_document(format!("the gzip's content begins with more than {MOST_BLANKS} blanks")))
}

fn not_a_document(detail: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "not_a_document", "The body is not a Figma document").detail(detail)
}
