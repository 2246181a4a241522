//! Each node type's config, read and checked.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::{
    ActorMode, Backoff, DEFAULT_STEPS, Delay, Ending, FindingCode, Length, MAX_FINDINGS, MAX_STEPS, NodeKind,
    Retry, Settings, StartRate, Trigger, WaitEvent, pointer,
};
use crate::{
    Code, DEFAULT, EVENT, Expression, Kind, MAX_EVENT_KEY_CHARS, Outcome, TIMEOUT, Template, check_text,
    is_event_key, parse_length, short_pointer,
};

/// How often a condition is looked at where nothing else is said.
const CHECK_EVERY: SignedDuration = SignedDuration::from_mins(1);
/// How often it may be looked at.
const CHECK_LEAST: SignedDuration = SignedDuration::from_secs(1);
const MAX_ATTEMPTS: u16 = 100;
/// How many starts a rate may count: each start counts them.
const MAX_STARTS: u32 = 10_000;
const MAX_START_PERIOD: SignedDuration = SignedDuration::from_hours(24 * 31);
const MAX_CASES: usize = 100;

/// What is wrong, and where below the part that is read.
pub(super) type Wrong = (FindingCode, String, String);
type Read<T> = Result<T, Vec<Wrong>>;

/// The types of nodes there are, but for those of hosts.
pub(super) const TYPES: [&str; 8] =
    ["trigger", "action", "condition", "switch", "set", "delay", "wait_event", "end"];

pub(super) fn kind(node_type: &str, config: &Json) -> Read<NodeKind> {
    match node_type {
        "trigger" => trigger(config).map(|_| NodeKind::Trigger),
        "action" => action(config),
        "condition" => condition(config),
        "switch" => switch(config),
        "set" => set(config),
        "delay" => delay(config).map(NodeKind::Delay),
        "wait_event" => wait_event(config).map(|wait| NodeKind::WaitEvent(Box::new(wait))),
        "end" => end(config).map(NodeKind::End),
        other => Err(vec![(
            FindingCode::UnknownType,
            "/../type".to_owned(),
            format!("there is no node type {other:?}; there are {}", TYPES.join(", ")),
        )]),
    }
}

/// Reads a part by its shape.
pub(super) fn shaped<T: DeserializeOwned>(json: &Json) -> Read<T> {
    serde_path_to_error::deserialize(json).map_err(|error| {
        let parts: Vec<String> = error
            .path()
            .iter()
            .filter_map(|segment| match segment {
                serde_path_to_error::Segment::Seq { index } => Some(index.to_string()),
                serde_path_to_error::Segment::Map { key } => Some(key.clone()),
                _ => None,
            })
            .collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        vec![(FindingCode::BadConfig, pointer(&parts), error.inner().to_string())]
    })
}

fn bad(at: &str, message: &(impl ToString + ?Sized)) -> Wrong {
    (FindingCode::BadConfig, at.to_owned(), message.to_string())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TriggerConfig {
    #[serde(default = "manual")]
    kind: String,
    #[serde(default)]
    key: Option<String>,
}

fn manual() -> String {
    "manual".to_owned()
}

pub(super) fn trigger(config: &Json) -> Read<Trigger> {
    let TriggerConfig { kind, key } = shaped(config)?;
    match (kind.as_str(), key) {
        ("manual", None) => Ok(Trigger::Manual),
        ("manual", Some(_)) => Err(vec![bad("/key", "a manual trigger has no key")]),
        ("event", Some(key)) if is_event_key(&key) => Ok(Trigger::Event { key }),
        ("event", _) => Err(vec![bad_event_key("/key")]),
        _ => Err(vec![bad("/kind", "a trigger is manual or event")]),
    }
}

fn bad_event_key(at: &str) -> Wrong {
    bad(at, &format!("an event's key has 1 to {MAX_EVENT_KEY_CHARS} characters, and no control characters"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActionConfig {
    handler: String,
    #[serde(default)]
    input: Json,
}

fn action(config: &Json) -> Read<NodeKind> {
    let ActionConfig { handler, input } = shaped(config)?;
    let mut wrong = Vec::new();
    if let Err(error) = check_text("a handler's name", &handler, MAX_EVENT_KEY_CHARS) {
        wrong.push(bad("/handler", &error));
    }
    let input = template("/input", &input, &mut wrong);
    done(wrong, NodeKind::Action { handler, input })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionConfig {
    expression: String,
}

fn condition(config: &Json) -> Read<NodeKind> {
    let ConditionConfig { expression: source } = shaped(config)?;
    let mut wrong = Vec::new();
    match truth("/expression", &source, &mut wrong) {
        Some(expression) => done(wrong, NodeKind::Condition { expression }),
        None => Err(wrong),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchConfig {
    cases: Vec<CaseConfig>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseConfig {
    outcome: String,
    when: String,
}

fn switch(config: &Json) -> Read<NodeKind> {
    let SwitchConfig { cases: configs } = shaped(config)?;
    let mut wrong = Vec::new();
    if !(1..=MAX_CASES).contains(&configs.len()) {
        return Err(vec![bad("/cases", &format!("a switch has 1 to {MAX_CASES} cases"))]);
    }
    let mut cases = Vec::new();
    for (place, CaseConfig { outcome: name, when }) in configs.iter().enumerate() {
        let at = format!("/cases/{place}");
        let outcome = outcome(&format!("{at}/outcome"), name, &mut wrong);
        let expression = truth(&format!("{at}/when"), when, &mut wrong);
        if name == DEFAULT || cases.iter().any(|(other, _): &(Outcome, _)| *other == **name) {
            wrong.push(bad(&format!("{at}/outcome"), &format!("there is another {name:?} already")));
        }
        cases.extend(outcome.zip(expression));
    }
    done(wrong, NodeKind::Switch { cases })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetConfig {
    values: Map<String, Json>,
}

fn set(config: &Json) -> Read<NodeKind> {
    let SetConfig { values: configs } = shaped(config)?;
    let mut wrong = Vec::new();
    let mut values = Vec::new();
    for (name, json) in &configs {
        // No more than this is said of a whole graph.
        if wrong.len() > MAX_FINDINGS {
            break;
        }
        let at = pointer(&["values", name]);
        if name.is_empty() || name.len() > 64 {
            wrong.push(bad(&at, "a variable's name has 1 to 64 characters"));
        }
        values.push((name.clone(), template(&at, json, &mut wrong)));
    }
    done(wrong, NodeKind::Set { values })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DelayConfig {
    #[serde(default)]
    duration: Option<String>,
    #[serde(default)]
    until: Option<String>,
}

fn delay(config: &Json) -> Read<Delay> {
    let mut wrong = Vec::new();
    match shaped(config)? {
        DelayConfig { duration: Some(duration), until: None } => {
            length("/duration", duration, &mut wrong).map(Delay::For).ok_or(wrong)
        }
        DelayConfig { duration: None, until: Some(until) } => {
            let template = template("/until", &Json::String(until), &mut wrong);
            if let Template::Fixed(Json::String(text)) = &template
                && let Err(error) = text.parse::<Timestamp>()
            {
                wrong.push(bad("/until", &error));
            }
            done(wrong, Delay::Until(template))
        }
        _ => Err(vec![bad("", "a delay has either a duration or an until")]),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitConfig {
    #[serde(default)]
    event: Option<String>,
    #[serde(default, rename = "match")]
    matches: Option<String>,
    #[serde(default)]
    condition: Option<String>,
    #[serde(default)]
    check_every: Option<String>,
    #[serde(default)]
    timeout: Option<String>,
    #[serde(default)]
    timeout_outcome: Option<String>,
}

fn wait_event(config: &Json) -> Read<WaitEvent> {
    let config: WaitConfig = shaped(config)?;
    let mut wrong = Vec::new();
    if config.event.is_none() && config.condition.is_none() {
        wrong.push(bad("", "it waits for an event, a condition or both"));
    }
    if config.event.is_none() && config.matches.is_some() {
        wrong.push(bad("/match", "there is no event to match"));
    }
    if config.condition.is_none() && config.check_every.is_some() {
        wrong.push(bad("/check_every", "there is no condition to look at"));
    }
    let event = config.event.map(|key| {
        let is_sound = (1..=MAX_EVENT_KEY_CHARS).contains(&key.chars().count());
        let template = template("/event", &Json::String(key), &mut wrong);
        // What a template gives is looked at when it is there.
        if !is_sound || matches!(&template, Template::Fixed(Json::String(key)) if !is_event_key(key)) {
            wrong.push(bad_event_key("/event"));
        }
        template
    });
    let matches = config.matches.and_then(|source| truth("/match", &source, &mut wrong));
    let condition = config.condition.and_then(|source| truth("/condition", &source, &mut wrong));
    let check_every = config.check_every.map_or(CHECK_EVERY, |text| match parse_length(&text) {
        Ok(every) if every >= CHECK_LEAST => every,
        Ok(_) => {
            wrong.push(bad("/check_every", "a condition is looked at once a second at most"));
            CHECK_EVERY
        }
        Err(error) => {
            wrong.push(bad("/check_every", &error));
            CHECK_EVERY
        }
    });
    let timeout = config.timeout.and_then(|text| length("/timeout", text, &mut wrong));
    let timeout_outcome = config.timeout_outcome.unwrap_or_else(|| TIMEOUT.to_owned());
    if [EVENT, crate::CONDITION].contains(&timeout_outcome.as_str()) {
        wrong.push(bad("/timeout_outcome", "that outcome is taken"));
    }
    let timeout_outcome = outcome("/timeout_outcome", &timeout_outcome, &mut wrong);
    let timeout_outcome = timeout_outcome.unwrap_or_else(Outcome::ordinary);
    done(wrong, WaitEvent { event, matches, condition, check_every, timeout, timeout_outcome })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndConfig {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    output: Option<Json>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

fn end(config: &Json) -> Read<Ending> {
    let EndConfig { status, output, code, message } = shaped(config)?;
    let mut wrong = Vec::new();
    match status.as_deref().unwrap_or("completed") {
        "completed" => {
            if code.is_some() || message.is_some() {
                wrong.push(bad("", "code and message are for an end in failure"));
            }
            let output = template("/output", &output.unwrap_or_default(), &mut wrong);
            done(wrong, Ending::Completed { output })
        }
        "failed" => {
            if output.is_some() {
                wrong.push(bad("/output", "an end in failure has a code and a message"));
            }
            let message = template("/message", &Json::String(message.unwrap_or_default()), &mut wrong);
            match Code::new(code.unwrap_or_else(|| "failed".to_owned())) {
                Ok(code) => done(wrong, Ending::Failed { code, message }),
                Err(error) => {
                    wrong.push(bad("/code", &error));
                    Err(wrong)
                }
            }
        }
        _ => Err(vec![bad("/status", "an end is completed or failed")]),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RetryConfig {
    max_attempts: u16,
    #[serde(default)]
    backoff: Option<String>,
    #[serde(default)]
    delay: Option<String>,
    #[serde(default)]
    max_delay: Option<String>,
    #[serde(default)]
    jitter: Option<f64>,
}

pub(super) fn retry(config: &Json) -> Read<Retry> {
    let config: RetryConfig = shaped(config)?;
    let mut wrong = Vec::new();
    let mut retry = Retry { max_attempts: config.max_attempts, ..Retry::default() };
    if !(1..=MAX_ATTEMPTS).contains(&config.max_attempts) {
        wrong.push(bad("/max_attempts", &format!("there are 1 to {MAX_ATTEMPTS} attempts")));
    }
    match config.backoff.as_deref() {
        None => {}
        Some("fixed") => retry.backoff = Backoff::Fixed,
        Some("linear") => retry.backoff = Backoff::Linear,
        Some("exponential") => retry.backoff = Backoff::Exponential,
        Some(_) => wrong.push(bad("/backoff", "pauses are fixed, linear or exponential")),
    }
    for (at, text, place) in
        [("/delay", &config.delay, &mut retry.delay), ("/max_delay", &config.max_delay, &mut retry.max_delay)]
    {
        match text.as_deref().map(parse_length) {
            None => {}
            Some(Ok(length)) => *place = length,
            Some(Err(error)) => wrong.push(bad(at, &error)),
        }
    }
    retry.max_delay = retry.max_delay.max(retry.delay);
    match config.jitter {
        None => {}
        Some(jitter) if (0.0..=1.0).contains(&jitter) => {
            retry.jitter_thousandths = (jitter * 1_000.0).round() as u16;
        }
        Some(_) => wrong.push(bad("/jitter", "jitter is a part of the pause: 0 to 1")),
    }
    done(wrong, retry)
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct SettingsConfig {
    timeout: Option<String>,
    limits: LimitsConfig,
    actor_mode: Option<String>,
    start_rate: Option<RateConfig>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RateConfig {
    count: u32,
    per: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct LimitsConfig {
    max_steps: Option<u32>,
}

/// The settings, and whether the document says how many steps there may be.
pub(super) fn settings(config: Option<&Json>) -> Read<(Settings, bool)> {
    let config: SettingsConfig = config.map_or_else(|| Ok(SettingsConfig::default()), shaped)?;
    let mut wrong = Vec::new();
    let timeout = config
        .timeout
        .and_then(|text| parse_length(&text).map_err(|error| wrong.push(bad("/timeout", &error))).ok());
    let max_steps = config.limits.max_steps.unwrap_or(DEFAULT_STEPS);
    if !(1..=MAX_STEPS).contains(&max_steps) {
        wrong.push(bad("/limits/max_steps", &format!("an instance has 1 to {MAX_STEPS} steps")));
    }
    let actor_mode = config.actor_mode.map_or(Some(ActorMode::System), |name| ActorMode::from_name(&name));
    if actor_mode.is_none() {
        wrong.push(bad("/actor_mode", "steps act as system, starter, publisher or owner"));
    }
    let start_rate = config.start_rate.and_then(|config| start_rate(&config, &mut wrong));
    let settings = Settings { timeout, max_steps, actor_mode: actor_mode.unwrap_or_default(), start_rate };
    done(wrong, (settings, config.limits.max_steps.is_some()))
}

fn start_rate(RateConfig { count, per }: &RateConfig, wrong: &mut Vec<Wrong>) -> Option<StartRate> {
    if !(1..=MAX_STARTS).contains(count) {
        let message = format!("a rate counts 1 to {MAX_STARTS} starts");
        wrong.push((FindingCode::BadStartRate, "/start_rate/count".to_owned(), message));
    }
    let mut bad =
        |message: String| wrong.push((FindingCode::BadStartRate, "/start_rate/per".to_owned(), message));
    match parse_length(per) {
        Ok(per) if (CHECK_LEAST..=MAX_START_PERIOD).contains(&per) => {
            return Some(StartRate { count: *count, per });
        }
        Ok(_) => bad("a rate is over a second to 31 days".to_owned()),
        Err(error) => bad(error.to_string()),
    }
    None
}

fn done<T>(wrong: Vec<Wrong>, read: T) -> Read<T> {
    if wrong.is_empty() { Ok(read) } else { Err(wrong) }
}

fn outcome(at: &str, name: &str, wrong: &mut Vec<Wrong>) -> Option<Outcome> {
    Outcome::new(name).map_err(|error| wrong.push(bad(at, &error))).ok()
}

fn template(at: &str, json: &Json, wrong: &mut Vec<Wrong>) -> Template {
    Template::parse(json).unwrap_or_else(|errors| {
        wrong.extend(errors.into_iter().map(|error| {
            (
                FindingCode::BadExpression,
                short_pointer(&format!("{at}{}", error.pointer)).to_owned(),
                error.source.to_string(),
            )
        }));
        Template::Fixed(Json::Null)
    })
}

/// An expression that has to be true or false.
fn truth(at: &str, source: &str, wrong: &mut Vec<Wrong>) -> Option<Expression> {
    let mut fail = |message: String| wrong.push((FindingCode::BadExpression, at.to_owned(), message));
    match Expression::parse(source) {
        Ok(expression) if expression.kind().may_be(Kind::Bool) => Some(expression),
        Ok(expression) => {
            fail(format!("it gives {}, and this place needs true or false", expression.kind()));
            None
        }
        Err(error) => {
            fail(error.to_string());
            None
        }
    }
}

fn length(at: &str, text: String, wrong: &mut Vec<Wrong>) -> Option<Length> {
    match template(at, &Json::String(text), wrong) {
        Template::Fixed(Json::String(text)) => {
            parse_length(&text).map_err(|error| wrong.push(bad(at, &error))).ok().map(Length::Fixed)
        }
        Template::Fixed(_) => None,
        given => Some(Length::Given(given)),
    }
}
