//! An instance's life, as a person reads it: who, what, when.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::super::generations::text;
use crate::table::{length, relative, table};
use crate::terminal::one_line;

/// An instance and its timeline.
pub fn describe(instance: &Value, now: Timestamp) -> String {
    let started = time(instance, "started_at");
    let mut lines = vec![
        format!("instance {}", text(instance, "id")),
        format!("workflow {}, version {}", text(instance, "key"), instance["version"]),
        format!("status   {}", status(instance, now)),
        format!("started  {}{}", when(started, now), by(&instance["starter"])),
    ];
    if let Some(subject) = subject(&instance["subject"]) {
        lines.push(format!("subject  {subject}"));
    }
    if let Some(ended) = time(instance, "ended_at") {
        let took = started.map(|started| length(ended.duration_since(started))).unwrap_or_default();
        lines.push(format!("ended    {}, after {took}", when(Some(ended), now)));
    }
    let failure = &instance["failure"];
    if failure.is_object() {
        let at = failure["node"].as_str().map(|node| format!(" at {node}")).unwrap_or_default();
        lines.push(format!("failure  {}{at}: {}", text(failure, "code"), one_line(text(failure, "message"))));
    }
    if !instance["output"].is_null() {
        lines.push(format!("output   {}", instance["output"]));
    }
    lines.push(format!("version  {} of the instance, for --expected-version", instance["lock_version"]));
    let entries: Vec<_> = instance["timeline"].as_array().into_iter().flatten().collect();
    if !entries.is_empty() {
        let rows: Vec<_> = entries.iter().map(|entry| row(entry, started, now)).collect();
        lines.push(format!("\n{}", table(["AFTER", "NODE", "WHAT", "STATUS", "MORE"], &rows)));
    }
    lines.join("\n")
}

fn status(instance: &Value, now: Timestamp) -> String {
    let status = text(instance, "status");
    let updated = time(instance, "updated_at");
    match (instance["current_node"].as_str(), updated) {
        (Some(node), Some(updated)) => {
            format!("{status} at {node}, for {}", length(now.duration_since(updated)))
        }
        (Some(node), None) => format!("{status} at {node}"),
        (None, _) => status.to_owned(),
    }
}

fn by(record: &Value) -> String {
    match record {
        Value::Null => String::new(),
        record => format!(", by {} {}", text(record, "type"), text(record, "id")),
    }
}

/// What an instance is about; none where that is nothing.
pub fn subject(subject: &Value) -> Option<String> {
    let parts: Vec<_> = ["key", "type", "id"].iter().filter_map(|part| subject[*part].as_str()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn when(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or_else(|| "—".to_owned(), |at| format!("{at:.0} ({})", relative(at, now)))
}

fn time(value: &Value, field: &str) -> Option<Timestamp> {
    value[field].as_str()?.parse().ok()
}

/// One entry: how long after the start, where, what, what became of it, and what else there is to say.
fn row(entry: &Value, started: Option<Timestamp>, now: Timestamp) -> [String; 5] {
    let after = time(entry, "at").zip(started).map(|(at, started)| at.duration_since(started));
    let after = format!("+{}", length(after.unwrap_or(SignedDuration::ZERO)));
    let kind = text(entry, "kind");
    let node = match entry["visit"].as_u64() {
        Some(visit) if visit > 1 => format!("{} #{visit}", text(entry, "node")),
        _ => text(entry, "node").to_owned(),
    };
    let event = text(entry, "event_key");
    let due = time(entry, "due_at").map(|at| relative(at, now));
    let is_open = matches!(text(entry, "status"), "pending" | "paused" | "queued");
    let mut more = Vec::new();
    let what = match kind {
        "step" => {
            let attempt = entry["attempt"].as_u64().filter(|attempt| *attempt > 1);
            more.extend(attempt.map(|attempt| format!("attempt {attempt}")));
            more.extend(entry["outcome"].as_str().filter(|it| *it != "default").map(|it| format!("→ {it}")));
            let took = time(entry, "started_at").zip(time(entry, "ended_at"));
            let took = took.map(|(from, to)| to.duration_since(from));
            more.extend(
                took.filter(|took| took.as_millis() > 0).map(|took| format!("took {}", length(took))),
            );
            if entry["error"].is_object() {
                let error = &entry["error"];
                more.push(format!("{}: {}", text(error, "code"), text(error, "message")));
            }
            text(entry, "node_type").to_owned()
        }
        "command" => {
            more.extend(by(&entry["by"]).strip_prefix(", ").map(str::to_owned));
            more.extend(entry["outcome"].as_str().map(|outcome| format!("→ {outcome}")));
            format!("{} {event}", text(entry, "command")).trim_end().to_owned()
        }
        "signal" => format!("signal {event}, kept"),
        "deadline" => "time limit".to_owned(),
        "event" | "handler" if !event.is_empty() => format!("waits for {event}"),
        _ => "waits".to_owned(),
    };
    if is_open {
        more.extend(due);
    }
    [after, node, what, text(entry, "status").to_owned(), more.join(", ")]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_life_is_readable() {
        let instance = json!({
            "id": "01", "key": "review", "version": 2, "status": "waiting", "current_node": "review",
            "started_at": "2030-01-01T00:00:00Z", "updated_at": "2030-01-01T00:01:00Z", "ended_at": null,
            "starter": {"type": "user", "id": "ann"}, "subject": {"key": null, "type": "Page", "id": "7"},
            "failure": null, "output": null, "lock_version": 3,
            "timeline": [
                {"kind": "step", "at": "2030-01-01T00:00:00Z", "node": "check", "visit": 1, "attempt": 2,
                 "status": "failed", "node_type": "condition", "started_at": "2030-01-01T00:00:00Z",
                 "ended_at": "2030-01-01T00:00:02Z", "error": {"code": "expression", "message": "no n"}},
                {"kind": "step", "at": "2030-01-01T00:01:00Z", "node": "review", "visit": 2, "attempt": 1,
                 "status": "waiting", "node_type": "wait_event"},
                {"kind": "event", "at": "2030-01-01T00:01:00Z", "node": "review", "visit": 2, "attempt": 1,
                 "status": "pending", "event_key": "review", "due_at": "2030-01-03T00:01:00Z"},
                {"kind": "command", "at": "2030-01-01T00:02:00Z", "node": "review", "visit": 2, "attempt": 1,
                 "status": "done", "command": "pause", "by": {"type": "user", "id": "bo"}}]});
        let now = "2030-01-01T00:03:00Z".parse().unwrap();
        let text = describe(&instance, now);
        for line in [
            "status   waiting at review, for 2m 0s",
            "started  2030-01-01T00:00:00Z (3m 0s ago), by user ann",
            "subject  Page 7",
            "+0s     check      condition         failed   attempt 2, took 2s, expression: no n",
            "+1m 0s  review #2  wait_event        waiting",
            "+1m 0s  review #2  waits for review  pending  in 1d 23h",
            "+2m 0s  review #2  pause             done     by user bo",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
