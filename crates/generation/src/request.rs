//! A request to generate, checked, and the row and message that it opens (G5).

use jiff::{SignedDuration, Timestamp};

use crate::keys::is_sha256;
use crate::message::{JOB_SCHEMA, Job, JobPhase, Source};
use crate::run::stored;
use crate::{
    AutoConfirm, Edge, FieldError, OrganizationId, Phase, ProjectId, Run, RunId, State, TriggerSurface,
    UserSub,
};

/// Longest prompt, in characters.
pub const MAX_PROMPT_CHARS: usize = 4000;
/// Longest Figma file key, in bytes.
pub const MAX_FILE_KEY_BYTES: usize = 128;
/// Longest node id, in bytes.
pub const MAX_NODE_ID_BYTES: usize = 255;
/// Longest screen id, in characters.
pub const MAX_SCREEN_ID_CHARS: usize = 255;

/// What a caller asks for, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRequest {
    /// The edge.
    pub edge: Edge,
    /// The project to run in.
    pub project_id: i64,
    /// The Figma file.
    pub figma_file_key: String,
    /// The input node.
    pub wf_node_id: String,
    /// Screen id: needed on wf2des; on des2wf it is the input node's id, and may be left out.
    pub screen_id: Option<String>,
    /// What to mind, in words.
    pub prompt: Option<String>,
    /// The node at which to place the result.
    pub placement_target: Option<String>,
    /// Whether parse and assembly are one call.
    pub auto_confirm: bool,
    /// Where the document is.
    pub source: Source,
}

/// A request that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    edge: Edge,
    project_id: ProjectId,
    figma_file_key: String,
    wf_node_id: String,
    screen_id: String,
    prompt: Option<String>,
    placement_target: Option<String>,
    auto_confirm: AutoConfirm,
    source: Source,
}

impl RunRequest {
    /// Checks every field, and says everything that is wrong at once.
    pub fn validate(self) -> Result<NewRun, Vec<FieldError>> {
        let mut errors = Vec::new();
        let figma_file_key = file_key("figma_file_key", &self.figma_file_key, &mut errors);
        let wf_node_id = node_id("wf_node_id", &self.wf_node_id, &mut errors);
        let placement_target = self
            .placement_target
            .as_deref()
            .filter(|id| !id.trim().is_empty())
            .map(|id| node_id("placement_target", id, &mut errors));
        if self.project_id < 1 {
            errors.push(FieldError::new("project_id", "out_of_range", "a project's id is 1 or more"));
        }
        let screen_id = screen_id(self.edge, self.screen_id.as_deref(), &wf_node_id, &mut errors);
        let prompt = self.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
        if let Some(prompt) = prompt {
            check_text("prompt", prompt, MAX_PROMPT_CHARS, &['\n', '\r', '\t'], &mut errors);
        }
        if let Source::Upload { sha256, .. } = &self.source
            && !is_sha256(sha256)
        {
            errors.push(FieldError::new(
                "source.upload.sha256",
                "not_a_hash",
                "a SHA-256 is 64 lower-case hex digits, as the upload's answer gives it",
            ));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(NewRun {
            edge: self.edge,
            project_id: ProjectId(self.project_id),
            figma_file_key,
            wf_node_id,
            screen_id,
            prompt: prompt.map(str::to_owned),
            placement_target,
            auto_confirm: if self.auto_confirm { AutoConfirm::Auto } else { AutoConfirm::Normal },
            source: self.source,
        })
    }
}

/// As whom a request is made: what its credentials say, and never its body (G10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requester {
    /// The tenant.
    pub organization_id: OrganizationId,
    /// The person.
    pub user: UserSub,
    /// The surface.
    pub surface: TriggerSurface,
}

/// A new row and the message that goes out with it; both are stored, or neither (G5).
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    /// The row: status '0', phase '0', attempt 1.
    pub run: Run,
    /// Its first message.
    pub job: Job,
}

/// Opens a run.
pub fn open(request: NewRun, requester: &Requester, id: RunId, now: Timestamp) -> Opening {
    let now = stored(now);
    let source = request.source;
    let run = Run {
        id,
        organization_id: requester.organization_id,
        project_id: request.project_id,
        figma_file_key: request.figma_file_key,
        wf_node_id: request.wf_node_id,
        screen_id: request.screen_id,
        prompt: request.prompt,
        placement_target: request.placement_target,
        auto_confirm: request.auto_confirm,
        trigger_surface: requester.surface,
        edge: request.edge,
        attempt: 1,
        state: State::Processing { phase: Phase::Parse },
        created_at: now,
        updated_at: now,
        created_by: requester.user.clone(),
        updated_by: requester.user.clone(),
    };
    let job = job_of(&run, JobPhase::Parse, source);
    Opening { run, job }
}

/// The message that asks a worker for `phase` of a run's present attempt.
fn job_of(run: &Run, phase: JobPhase, source: Source) -> Job {
    Job {
        schema: JOB_SCHEMA.to_owned(),
        job_id: run.id.to_string(),
        attempt: run.attempt,
        edge: run.edge,
        phase,
        organization_id: run.organization_id.0,
        project_id: run.project_id.0,
        figma_file_key: run.figma_file_key.clone(),
        wf_node_id: run.wf_node_id.clone(),
        screen_id: run.screen_id.clone(),
        prompt: run.prompt.clone(),
        placement_target: run.placement_target.clone(),
        auto_confirm: run.auto_confirm == AutoConfirm::Auto,
        source,
        run_created_at: Some(run.created_at),
    }
}

impl Opening {
    /// The same, but later than the last run of its node and edge: a clock that was set back, or is another
    /// server's, must not put a run before one that had ended when this one was asked for.
    #[must_use]
    pub fn later_than(mut self, last: Timestamp) -> Self {
        if self.run.created_at <= last {
            let next = last.checked_add(SignedDuration::from_micros(1)).unwrap_or(last);
            (self.run.created_at, self.run.updated_at) = (next, next);
            self.job.run_created_at = Some(next);
        }
        self
    }
}

/// Checks a Figma file key that came from outside.
pub fn check_file_key(field: &str, key: &str) -> Result<String, FieldError> {
    let mut errors = Vec::new();
    let key = file_key(field, key, &mut errors);
    errors.pop().map_or(Ok(key), Err)
}

fn file_key(field: &str, key: &str, errors: &mut Vec<FieldError>) -> String {
    let key = key.trim();
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if key.is_empty() {
        errors.push(FieldError::new(field, "required", "give the file's key: figma.com/design/<key>/…"));
    } else if key.len() > MAX_FILE_KEY_BYTES {
        errors.push(too_long(field, MAX_FILE_KEY_BYTES));
    } else if key.starts_with('.') || !key.bytes().all(legal) {
        errors.push(FieldError::new(
            field,
            "bad_character",
            "a file's key takes A-Z a-z 0-9 - _ . and doesn't begin with a dot",
        ));
    }
    key.to_owned()
}

fn node_id(field: &str, id: &str, errors: &mut Vec<FieldError>) -> String {
    let id = id.trim();
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b';' | b'-' | b'_' | b'.');
    if id.is_empty() {
        errors.push(FieldError::new(field, "required", "give the node's id, such as 12:345"));
    } else if id.len() > MAX_NODE_ID_BYTES {
        errors.push(too_long(field, MAX_NODE_ID_BYTES));
    } else if !id.bytes().all(legal) || id.bytes().all(|byte| byte == b'.') {
        errors.push(FieldError::new(
            field,
            "bad_character",
            "a node's id looks like 12:345 or I12:345;67:8, or 12-345 as in a link",
        ));
    }
    from_link(id)
}

/// `12-345`, as Figma's links write it, is the node `12:345`: left alone, it would pass the fence of G2 beside it.
fn from_link(id: &str) -> String {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let pair = |part: &str| part.split_once('-').is_some_and(|(page, node)| digits(page) && digits(node));
    let (first, rest) = id.split_once(';').map_or((id, None), |(first, rest)| (first, Some(rest)));
    let linked =
        pair(first.strip_prefix('I').unwrap_or(first)) && rest.is_none_or(|rest| rest.split(';').all(pair));
    if linked { id.replace('-', ":") } else { id.to_owned() }
}

fn screen_id(edge: Edge, given: Option<&str>, node: &str, errors: &mut Vec<FieldError>) -> String {
    let given = given.map(str::trim).filter(|given| !given.is_empty());
    match (edge, given) {
        (Edge::Des2wf, None) => node.to_owned(),
        (Edge::Des2wf, Some(given)) => {
            if from_link(given) != node {
                errors.push(FieldError::new(
                    "screen_id",
                    "not_the_node",
                    "on des2wf the screen id is the input node's id: leave it out",
                ));
            }
            node.to_owned()
        }
        (Edge::Wf2des, None) => {
            errors.push(FieldError::new(
                "screen_id",
                "required",
                "give the screen's id, such as the frame's name, on wf2des",
            ));
            String::new()
        }
        (Edge::Wf2des, Some(given)) => {
            check_text("screen_id", given, MAX_SCREEN_ID_CHARS, &[], errors);
            given.to_owned()
        }
    }
}

fn check_text(field: &str, text: &str, most: usize, allowed: &[char], errors: &mut Vec<FieldError>) {
    if text.chars().count() > most {
        errors.push(too_long(field, most));
    }
    if text.chars().any(|c| c.is_control() && !allowed.contains(&c)) {
        errors.push(FieldError::new(field, "bad_character", "control characters are not taken"));
    }
}

fn too_long(field: &str, most: usize) -> FieldError {
    FieldError::new(field, "too_long", format!("at most {most} characters are taken"))
}
