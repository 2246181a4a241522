//! Bodies and queries, read strictly: what isn't known is refused by its name (G17).

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use heddle_generation::{FieldError, RunId};
use heddle_workflow::{InstanceId, ReadError, read_json};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::app::App;
use crate::problem::Problem;

/// Largest JSON body, in bytes.
pub(crate) const MAX_JSON_BYTES: usize = 64 * 1024;
/// Largest JSON body with a graph or a payload in it, in bytes.
pub(crate) const MAX_EXACT_BYTES: usize = 512 * 1024;
/// How long a body may take to arrive.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(120);

/// What of a body is not known, by name. Flattened into a body, it takes every field that nothing else took.
#[derive(Debug, Default)]
pub(crate) struct Unknown(BTreeSet<String>);

impl<'de> Deserialize<'de> for Unknown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Unknown;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Unknown, A::Error> {
                let mut names = BTreeSet::new();
                while let Some((name, IgnoredAny)) = fields.next_entry()? {
                    names.insert(name);
                }
                Ok(Unknown(names))
            }
        }
        deserializer.deserialize_map(Names)
    }
}

/// Errors for every unknown field of `prefix`.
pub(crate) fn unknown_fields(prefix: &str, unknown: &Unknown) -> Vec<FieldError> {
    let error = |name: &String| {
        let field = format!("{prefix}{}", name.chars().take(80).collect::<String>());
        match name.as_str() {
            "trigger_surface" | "organization_id" | "created_by" => {
                FieldError::new(field, "not_allowed", "this comes from your token; leave it out")
            }
            _ => FieldError::new(field, "unknown_field", "there is no such field; leave it out"),
        }
    };
    unknown.0.iter().map(error).collect()
}

/// A JSON body.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        called_json(request.headers())?;
        let bytes = read_body(request.into_body(), MAX_JSON_BYTES).await?;
        parse_json(&bytes).map(Self)
    }
}

fn called_json(headers: &HeaderMap) -> Result<(), Problem> {
    let is_json = media_type(headers).is_some_and(|media_type| {
        media_type.eq_ignore_ascii_case("application/json")
            || media_type.to_ascii_lowercase().ends_with("+json")
    });
    if is_json {
        return Ok(());
    }
    let code = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    Err(Problem::new(code, "not_json", "The body's media type is not JSON")
        .detail("send the header Content-Type: application/json"))
}

/// A JSON body that carries JSON of the caller's own, a graph or a payload: every number as it was written, and no name
/// twice in one object.
pub(crate) struct ExactJson<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for ExactJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        called_json(request.headers())?;
        parse_exact(&read_body(request.into_body(), MAX_EXACT_BYTES).await?).map(Self)
    }
}

/// The same where there may be no body at all.
pub(crate) struct MaybeJson<T>(pub(crate) T);

impl<T: DeserializeOwned + Default> FromRequest<App> for MaybeJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read_body(body, MAX_EXACT_BYTES).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        called_json(&parts.headers)?;
        parse_exact(&bytes).map(Self)
    }
}

fn parse_exact<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let value = std::str::from_utf8(bytes).map_err(|error| malformed(&error)).and_then(|text| {
        read_json(text).map_err(|error| match error {
            ReadError::Syntax(_) => malformed(&error),
            error => Problem::invalid(vec![FieldError::new("", "bad_value", error.to_string())]),
        })
    })?;
    serde_path_to_error::deserialize(value).map_err(|error| misfit(&error))
}

/// Reads JSON; an error names the field at which it is.
pub(crate) fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader);
    match value {
        Ok(value) => {
            let whole = |error: serde_json::Error| malformed(&error);
            reader.end().map_err(whole)?;
            Ok(value)
        }
        Err(error) if error.inner().is_data() => Err(misfit(&error)),
        Err(error) => Err(malformed(error.inner())),
    }
}

/// JSON that is not what was expected.
fn misfit(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let field = error.path().to_string();
    let field = if field == "." { String::new() } else { field };
    // The reader's words end with a place in the body, which is of use here too.
    let message = error.inner().to_string();
    let code = if message.starts_with("missing field") { "required" } else { "bad_value" };
    let field = missing(&message, &field);
    Problem::invalid(vec![FieldError::new(field, code, message)])
}

/// The field that is missing, where that is what is wrong: the reader places the error at what should hold it.
fn missing(message: &str, holder: &str) -> String {
    let name = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    match name {
        Some(name) if holder.is_empty() => name.to_owned(),
        Some(name) => format!("{holder}.{name}"),
        None => holder.to_owned(),
    }
}

fn malformed(error: &dyn std::error::Error) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "malformed_json", "The body is not JSON").detail(error.to_string())
}

/// Reads a whole body of at most `most` bytes.
pub(crate) async fn read_body(body: Body, most: usize) -> Result<Bytes, Problem> {
    let read = axum::body::to_bytes(body, most);
    match tokio::time::timeout(BODY_TIMEOUT, read).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => {
            let too_large = std::error::Error::source(&error)
                .is_some_and(|cause| cause.to_string().contains("length limit exceeded"));
            if too_large {
                return Err(Problem::too_large(most));
            }
            Err(Problem::body_cut_off())
        }
        Err(_) => Err(Problem::body_too_slow()),
    }
}

/// The media type of a body, without parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next().unwrap_or_default().trim())
}

/// The run in a path. What is no id at all is no run either.
pub(crate) struct RunPath(pub(crate) RunId);

impl FromRequestParts<App> for RunPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = Path::<BTreeMap<String, String>>::from_request_parts(parts, app).await;
        let id = path.ok().and_then(|Path(segments)| RunId::parse(segments.get("id")?));
        let id = id.ok_or_else(Problem::no_such_run)?;
        crate::app::about(id);
        Ok(Self(id))
    }
}

/// The instance in a path. What is no id at all is no instance either.
pub(crate) struct InstancePath(pub(crate) InstanceId);

impl FromRequestParts<App> for InstancePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = Path::<BTreeMap<String, String>>::from_request_parts(parts, app).await;
        let id = path.ok().and_then(|Path(segments)| InstanceId::parse(segments.get("id")?));
        let id = id.ok_or_else(Problem::no_such_instance)?;
        crate::app::about_instance(&id);
        Ok(Self(id))
    }
}

/// The workflow in a path. What can't be read is no key, which an empty one isn't either.
pub(crate) struct WorkflowPath(pub(crate) String);

impl FromRequestParts<App> for WorkflowPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let path = Path::<String>::from_request_parts(parts, app).await;
        Ok(Self(path.map(|Path(key)| key).unwrap_or_default()))
    }
}

/// The workflow and the number of a version in a path, likewise.
pub(crate) struct VersionPath(pub(crate) String, pub(crate) String);

impl FromRequestParts<App> for VersionPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let path = Path::<(String, String)>::from_request_parts(parts, app).await;
        let (key, number) = path.map(|Path(path)| path).unwrap_or_default();
        Ok(Self(key, number))
    }
}

/// A query, taken apart by name. Ask for what is known; [`finish`](Self::finish) refuses the rest.
pub(crate) struct QueryFields {
    fields: BTreeMap<String, String>,
    errors: Vec<FieldError>,
}

impl<S: Sync> FromRequestParts<S> for QueryFields {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let axum::extract::Query(pairs) =
            axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).map_err(|error| {
                Problem::new(StatusCode::BAD_REQUEST, "malformed_query", "The query is not readable")
                    .detail(error.to_string())
            })?;
        let (mut fields, mut errors) = (BTreeMap::new(), Vec::new());
        for (name, value) in pairs {
            if fields.insert(name.clone(), value).is_some() {
                errors.push(FieldError::new(name, "repeated", "give it once"));
            }
        }
        Ok(Self { fields, errors })
    }
}

impl QueryFields {
    /// The value of `name` as `read` understands it; `expected` says what that is.
    pub(crate) fn take<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.fields.remove(name)?;
        let read = read(&value);
        if read.is_none() {
            self.errors.push(FieldError::new(name, "bad_value", format!("expected {expected}")));
        }
        read
    }

    /// Notes an error.
    pub(crate) fn refuse(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    /// Refuses what is wrong and what was not asked for.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        let unknown = self.fields.into_keys().map(|name| {
            let name: String = name.chars().take(80).collect();
            FieldError::new(name, "unknown_parameter", "there is no such parameter")
        });
        let errors: Vec<_> = self.errors.into_iter().chain(unknown).collect();
        if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
    }
}
