//! The API's description, made from the handlers and committed as `api/openapi.json`.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::schema::AdditionalProperties;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Heddle",
        description = "Wireframes from designs and designs from wireframes, as fenced runs; and workflows that survive \
                       anything. Errors are RFC 9457 problems with a stable `code`; unknown fields and parameters are refused by name.",
    ),
    paths(
        super::generations::create,
        super::generations::list,
        super::generations::show,
        super::generations::cancel,
        super::generations::delete,
        super::artifacts::list,
        super::artifacts::show,
        super::uploads::upload,
        super::workflows::definitions::validate,
        super::workflows::definitions::publish,
        super::workflows::definitions::list,
        super::workflows::definitions::show,
        super::workflows::definitions::versions,
        super::workflows::definitions::version,
        super::workflows::definitions::overlay,
        super::workflows::instances::start,
        super::workflows::instances::list,
        super::workflows::instances::show,
        super::workflows::instances::timeline,
        super::workflows::commands::signal,
        super::workflows::commands::pause,
        super::workflows::commands::resume,
        super::workflows::commands::cancel,
        super::workflows::commands::retry,
        super::workflows::commands::skip,
        super::workflows::commands::batch,
        super::workflows::commands::emit,
        super::status::report,
        super::health::alive,
        super::health::ready,
    ),
    modifiers(&Finish),
    security(("bearer" = [])),
)]
struct Description;

/// What requests have in their bodies.
const STRICT: [&str; 13] = [
    "BatchBody",
    "CommandBody",
    "CreateGeneration",
    "EventBody",
    "InstanceFilterBody",
    "PublishWorkflow",
    "SignalBody",
    "SkipBody",
    "SourceBody",
    "StartInstance",
    "SubjectBody",
    "UploadRef",
    "ValidateWorkflow",
];

/// What the derived description can't say.
struct Finish;

impl Modify for Finish {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let Some(components) = openapi.components.as_mut() else { return };
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        // Requests are read strictly (`extract::Unknown`).
        for name in STRICT {
            if let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(name) {
                object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            }
        }
    }
}

/// The description, as JSON that ends with a line break.
///
/// `Err` never happens: the description holds nothing that JSON can't.
pub fn description() -> Result<String, serde_json::Error> {
    let mut text = Description::openapi().to_pretty_json()?;
    text.push('\n');
    Ok(text)
}

/// The description over HTTP.
pub(crate) async fn show() -> Response {
    match description() {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => crate::problem::Problem::internal(&error).into_response(),
    }
}
