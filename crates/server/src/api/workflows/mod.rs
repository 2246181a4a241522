//! `/v1/workflows`, `/v1/instances`, `/v1/events`: the workflow engine for everyone else. Whatever a caller sees,
//! publishes, starts or commands belongs to the caller's organization; there is no way to name another one.

pub(crate) mod commands;
pub(crate) mod definitions;
pub(crate) mod instances;
mod views;

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use heddle_engine::Engine;
use heddle_generation::{FieldError, Requester};
use heddle_store::workflows::{
    InstanceCursor, InstanceFilter, InstanceSummary, Key, KeyType, Morph, TimelineCursor,
};
use heddle_workflow::{
    InstanceId, MAX_ID_CHARS, MAX_KEY_CHARS, MAX_TYPE_CHARS, Status, TextError, check_text,
};
use jiff::Timestamp;

use crate::app::Shared;
use crate::problem::Problem;
use crate::workflows::Workflows;

/// The first moment that is taken, the beginning of year 1: `PostgreSQL` knows none before 4713 BC, and in text only
/// times of four-digit years are in order.
const FIRST_SECOND: i64 = -62_135_596_800;
/// How many items a page has when nobody says, and at most.
const DEFAULT_PAGE: u16 = 25;
const MAX_PAGE: u16 = 100;

/// What a caller may reach: the engine, as the caller's organization.
struct Tenant<'a> {
    app: &'a Shared,
    engine: &'a Engine,
    caller: &'a Requester,
    owner: Morph,
}

impl<'a> Tenant<'a> {
    fn new(app: &'a Shared, caller: &'a Requester) -> Result<Self, Problem> {
        match &app.workflows {
            Workflows::Ready { engine, .. } => {
                Ok(Self { app, engine, caller, owner: app.people.owner(caller.organization_id) })
            }
            Workflows::NotInstalled { remedy } => Err(Problem::workflows_not_installed(remedy)),
        }
    }

    fn scope(&self) -> String {
        heddle_store::workflows::owner_scope(Some(&self.owner))
    }

    /// An instance of the caller's organization.
    async fn instance(&self, id: &InstanceId) -> Result<InstanceSummary, Problem> {
        let found = self.engine.reading().instance(id).await?;
        found.filter(|instance| self.owns(instance)).ok_or_else(Problem::no_such_instance)
    }

    fn owns(&self, instance: &InstanceSummary) -> bool {
        instance.owner.as_ref() == Some(&self.owner)
    }

    fn view(&self, instance: InstanceSummary) -> views::Instance {
        views::Instance::of(instance, self.caller.organization_id, &self.app.people)
    }

    /// Reads a filter; what is wrong with it is added to `errors`.
    fn filter(&self, filter: views::InstanceFilterBody, errors: &mut Vec<FieldError>) -> InstanceFilter {
        let mut statuses = BTreeSet::new();
        for name in filter.status {
            match Status::from_name(&name) {
                Some(status) => drop(statuses.insert(status)),
                None => errors.push(FieldError::new(
                    "status",
                    "bad_value",
                    format!("expected {}", Status::ALL.map(Status::name).join(", ")),
                )),
            }
        }
        for (field, text, most) in [
            ("key", &filter.key, MAX_KEY_CHARS),
            ("subject_type", &filter.subject_type, MAX_TYPE_CHARS),
            ("subject_id", &filter.subject_id, MAX_ID_CHARS),
        ] {
            errors.extend(text.as_ref().and_then(|text| misfit(field, check_text("it", text, most))));
        }
        let subject = match (filter.subject_type, filter.subject_id) {
            (None, None) => None,
            (Some(kind), Some(id)) => Some(Morph { kind, id }),
            (None, Some(_)) => {
                errors.push(FieldError::new("subject_type", "required", "subject_id goes with it"));
                None
            }
            (Some(_), None) => {
                errors.push(FieldError::new("subject_id", "required", "subject_type goes with it"));
                None
            }
        };
        let mut time = |field: &'static str, text: Option<String>| {
            let time = read_time(&text?);
            if time.is_none() {
                let message = "expected a time such as 2030-01-31T08:00:00Z, of the years 1 to 9999";
                errors.push(FieldError::new(field, "bad_value", message));
            }
            time
        };
        InstanceFilter {
            definition: filter.key,
            statuses,
            subject,
            started_from: time("started_from", filter.started_from),
            started_before: time("started_before", filter.started_before),
            ..InstanceFilter::of(Some(self.owner.clone()))
        }
    }
}

/// Checks a definition's key as it is to be published.
fn check_key(key: &str) -> Result<(), FieldError> {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let is_key = (1..=MAX_KEY_CHARS).contains(&key.len())
        && key.bytes().all(sound)
        && key.starts_with(|first: char| first.is_ascii_alphanumeric());
    if is_key {
        return Ok(());
    }
    let message = format!(
        "a workflow's key has 1 to {MAX_KEY_CHARS} of the characters A-Z, a-z, 0-9, '_', '-' and '.', a letter or \
         digit first"
    );
    Err(FieldError::new("key", "bad_value", message))
}

/// A text that can't be kept, as a field at fault.
fn misfit(field: &'static str, checked: Result<(), TextError>) -> Option<FieldError> {
    checked.err().map(|error| FieldError::new(field, "bad_value", error.to_string()))
}

/// A time that every store knows.
fn read_time(text: &str) -> Option<Timestamp> {
    text.parse().ok().filter(|time: &Timestamp| time.as_second() >= FIRST_SECOND)
}

fn limit(query: &mut crate::extract::QueryFields) -> u16 {
    let read = |text: &str| text.parse().ok().filter(|limit| (1..=MAX_PAGE).contains(limit));
    query.take("limit", &format!("1 to {MAX_PAGE}"), read).unwrap_or(DEFAULT_PAGE)
}

/// A cursor as callers hold it. What is inside is nobody's business but ours, and anybody can make one: whatever it
/// says is looked at like any other parameter.
fn sealed(parts: &[&str]) -> String {
    URL_SAFE_NO_PAD.encode(parts.join(" "))
}

fn opened<const N: usize>(text: &str) -> Option<[String; N]> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    text.splitn(N, ' ').map(str::to_owned).collect::<Vec<_>>().try_into().ok()
}

fn instance_cursor(cursor: &InstanceCursor) -> String {
    sealed(&[&cursor.started_at.to_string(), cursor.id.as_str()])
}

fn read_instance_cursor(text: &str) -> Option<InstanceCursor> {
    let [at, id] = opened(text)?;
    Some(InstanceCursor { started_at: read_time(&at)?, id: InstanceId::parse(&id)? })
}

fn timeline_cursor(cursor: &TimelineCursor) -> String {
    sealed(&[&cursor.at.to_string(), if cursor.is_step { "step" } else { "wait" }, &cursor.row.0])
}

/// `rows`: the type of the keys that rows have.
fn read_timeline_cursor(text: &str, rows: KeyType) -> Option<TimelineCursor> {
    let [at, kind, row] = opened(text)?;
    let is_step = match kind.as_str() {
        "step" => true,
        "wait" => false,
        _ => return None,
    };
    let row = rows.takes(&row).then_some(Key(row))?;
    Some(TimelineCursor { at: read_time(&at)?, is_step, row })
}
