//! What a message on the queue says, if it can be told.

use heddle_exchange::keys::{EdgeKeys, JobKeys, Tenant};
use heddle_generation::Edge;
use heddle_generation::message::{JOB_SCHEMA, Job};
use serde::Deserialize;
use serde_json::Value;

/// The little that has to be known of a job to say that it failed. Any version of the message will have it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Envelope {
    pub job_id: String,
    pub attempt: u32,
    pub edge: Edge,
    pub organization_id: i64,
    pub project_id: i64,
}

impl Envelope {
    pub fn of(job: &Job) -> Self {
        Self {
            job_id: job.job_id.clone(),
            attempt: job.attempt,
            edge: job.edge,
            organization_id: job.organization_id,
            project_id: job.project_id,
        }
    }

    pub fn tenant(&self) -> Tenant {
        Tenant { organization_id: self.organization_id, project_id: self.project_id }
    }

    pub fn edge_keys(&self) -> EdgeKeys {
        self.tenant().edge(self.edge)
    }

    pub fn job_keys(&self) -> JobKeys {
        self.edge_keys().job(&self.job_id)
    }

    fn is_usable(&self) -> bool {
        self.attempt > 0 && !self.job_id.is_empty()
    }
}

/// A message, read.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    /// A job that can be worked on.
    Job(Box<Job>),
    /// A job of a version that this worker doesn't know, or with something missing.
    Unknown {
        /// Why it is refused.
        reason: String,
        /// Whose failure it is, where that can be told.
        envelope: Option<Envelope>,
    },
}

impl Message {
    /// The schema is looked at first, and nothing is guessed (G14).
    pub fn read(body: &[u8]) -> Self {
        let value: Value = match serde_json::from_slice(body) {
            Ok(value) => value,
            Err(error) => return Self::Unknown { reason: format!("not JSON ({error})"), envelope: None },
        };
        let envelope = Envelope::deserialize(&value).ok().filter(Envelope::is_usable);
        let schema = value["schema"].as_str().map(|schema| schema.chars().take(80).collect::<String>());
        if schema.as_deref() != Some(JOB_SCHEMA) {
            let reason = format!(
                "its schema is {}; {JOB_SCHEMA} is understood",
                schema.as_deref().unwrap_or("missing")
            );
            return Self::Unknown { reason, envelope };
        }
        match serde_json::from_value::<Job>(value) {
            Ok(job) if Envelope::of(&job).is_usable() => Self::Job(Box::new(job)),
            Ok(_) => Self::Unknown { reason: "its job id or attempt is empty".to_owned(), envelope: None },
            Err(error) => Self::Unknown { reason: error.to_string(), envelope },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job() -> Value {
        json!({
            "schema": JOB_SCHEMA, "job_id": "j", "attempt": 1, "edge": "des2wf", "phase": "parse",
            "organization_id": 1, "project_id": 7, "figma_file_key": "f", "wf_node_id": "1:2", "screen_id": "1:2",
            "auto_confirm": false, "source": { "kind": "figma" },
        })
    }

    fn read(value: &Value) -> Message {
        Message::read(&serde_json::to_vec(value).unwrap())
    }

    // proves G14
    #[test]
    fn only_the_known_schema_is_a_job() {
        assert!(matches!(read(&job()), Message::Job(_)));
        for schema in
            [json!("heddle.generation.job/v2"), json!("heddle.generation.job/v1 "), json!(1), json!(null)]
        {
            let mut later = job();
            later["schema"] = schema;
            let Message::Unknown { envelope: Some(envelope), .. } = read(&later) else {
                panic!("{later} is a job")
            };
            assert_eq!(envelope.job_id, "j");
        }
    }

    // proves G14
    #[test]
    fn what_cannot_be_told_is_not_guessed() {
        for (field, value) in
            [("attempt", json!(0)), ("attempt", json!(-1)), ("job_id", json!("")), ("edge", json!("up"))]
        {
            let mut bad = job();
            bad[field] = value;
            assert!(matches!(read(&bad), Message::Unknown { envelope: None, .. }), "{bad}");
        }
        for (field, value) in
            [("phase", json!("later")), ("source", json!({ "kind": "fax" })), ("wf_node_id", json!(1))]
        {
            let mut bad = job();
            bad[field] = value;
            assert!(matches!(read(&bad), Message::Unknown { envelope: Some(_), .. }), "{bad}");
        }
        for body in
            [&b""[..], b"{", b"[]", b"null", b"\xff\xfe", b"{\"schema\":\"heddle.generation.job/v1\"} x"]
        {
            assert!(matches!(Message::read(body), Message::Unknown { envelope: None, .. }));
        }
        let deep = "[".repeat(100_000);
        assert!(matches!(Message::read(deep.as_bytes()), Message::Unknown { envelope: None, .. }));
    }
}
