//! The HTTP API as `heddle generations` and `heddle workflows` see it.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::config::Config;
use crate::failure::Failure;
use crate::secrets;

/// Longest answer that is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// A server, and who calls it.
pub struct Client {
    agent: Agent,
    url: String,
    token: String,
}

impl Client {
    /// The server of the settings; the token is theirs, or the data folder's own.
    pub fn new(config: &Config) -> Result<Self, Failure> {
        let token = match &config.token {
            Some(token) => Some(token.clone()),
            None => secrets::read(&secrets::token_path(&config.data))?,
        };
        let token = token.ok_or_else(|| {
            Failure::usage("there is no token to call the server with").hint(format!(
                "Set HEDDLE_TOKEN, or run this where `heddle serve` has made {}.",
                secrets::token_path(&config.data).display()
            ))
        })?;
        Ok(Self::with(&config.server_url(), token))
    }

    /// A server of this machine, by the token of its data folder.
    pub fn at(url: &str, data: &Path) -> Result<Self, Failure> {
        let path = secrets::token_path(data);
        let token = secrets::read(&path)?;
        let token = token.ok_or_else(|| Failure::new(format!("{} has no token", path.display())))?;
        Ok(Self::with(url, token))
    }

    fn with(url: &str, token: String) -> Self {
        let agent = Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(120)))
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("heddle/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: agent.into(), url: url.trim_end_matches('/').to_owned(), token }
    }

    /// `GET`.
    pub fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Value, Failure> {
        let mut request = self.agent.get(format!("{}{path}", self.url));
        for (name, value) in query {
            request = request.query(name, value);
        }
        self.answer(request.header("authorization", self.bearer()).call())
    }

    /// `GET` of bytes: a picture.
    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let request = self.agent.get(format!("{}{path}", self.url)).header("authorization", self.bearer());
        let mut response = request.call().map_err(|error| self.unreachable(error))?;
        if !response.status().is_success() {
            return self.answer(Ok(response)).map(|_| Vec::new());
        }
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        body.map_err(|error| Failure::new("could not read the server's answer").because(error))
    }

    /// `POST` with a JSON body, or none.
    pub fn post(&self, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let request = self.agent.post(format!("{}{path}", self.url)).header("authorization", self.bearer());
        self.answer(match body {
            Some(body) => request.content_type("application/json").send(body.to_string()),
            None => request.send_empty(),
        })
    }

    /// `PUT` of a document.
    pub fn put(&self, path: &str, query: &[(&str, String)], bytes: &[u8]) -> Result<Value, Failure> {
        let mut request = self.agent.put(format!("{}{path}", self.url));
        for (name, value) in query {
            request = request.query(name, value);
        }
        self.answer(
            request.header("authorization", self.bearer()).content_type("application/json").send(bytes),
        )
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    fn unreachable(&self, error: ureq::Error) -> Failure {
        Failure::new(format!("could not reach the server at {}", self.url))
            .because(error)
            .hint("Is it running? `heddle serve` starts one; --server names another.")
    }

    fn answer(&self, answered: Result<Response<Body>, ureq::Error>) -> Result<Value, Failure> {
        let mut response = answered.map_err(|error| self.unreachable(error))?;
        let status = response.status().as_u16();
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_ANSWER_BYTES)
            .read_to_string()
            .map_err(|error| Failure::new("could not read the server's answer").because(error))?;
        let value: Option<Value> =
            if text.trim().is_empty() { Some(Value::Null) } else { serde_json::from_str(&text).ok() };
        match (status, value) {
            (200..=299, Some(value)) => Ok(value),
            (_, Some(problem @ Value::Object(_))) => Err(refused(status, &problem)),
            _ => Err(Failure::new(format!(
                "the server at {} answered {status}, and not as Heddle does",
                self.url
            ))),
        }
    }
}

/// A problem (RFC 9457) for people.
fn refused(status: u16, problem: &Value) -> Failure {
    let text = |field: &str| problem[field].as_str();
    let title = text("title").map_or_else(|| format!("the server answered {status}"), str::to_owned);
    let mut failure = Failure::new(match text("detail") {
        Some(detail) if detail != title => format!("{title}: {detail}"),
        _ => title,
    });
    for error in problem["errors"].as_array().into_iter().flatten() {
        let message = error["message"].as_str().unwrap_or_default();
        failure = failure.hint(match error["field"].as_str() {
            Some(field) if !field.is_empty() => format!("{field}: {message}"),
            _ => message.to_owned(),
        });
    }
    for finding in problem["findings"].as_array().into_iter().flatten() {
        let part = |field: &str| finding[field].as_str().unwrap_or_default();
        failure = failure.hint(format!(
            "{}[{}]: {} at {}",
            part("severity"),
            part("code"),
            part("message"),
            part("pointer")
        ));
    }
    if let Some(checksum) = text("present_checksum") {
        failure = failure.hint(match checksum {
            "" => "Nothing is published under that key.".to_owned(),
            checksum => format!("The current version's checksum: {checksum}"),
        });
    }
    if let Some(version) = problem["present_version"].as_u64() {
        failure = failure.hint(format!("Its version is {version}: look at it again before you go on."));
    }
    failure = match text("code").and_then(remedy) {
        Some(remedy) => failure.hint(remedy),
        None => failure,
    };
    if let Some(id) = text("existing_id") {
        failure = failure.hint(format!("The run in the way: {id}"));
    }
    if status == 401 {
        failure = failure.hint("The token is not this server's: see HEDDLE_TOKEN and --data.");
    }
    failure
}

/// What to do about a refusal, by its code.
fn remedy(code: &str) -> Option<&'static str> {
    Some(match code {
        "workflow_not_found" => {
            "`heddle workflows definitions` lists what is published; `heddle workflows publish FILE` publishes."
        }
        "instance_not_found" => "`heddle workflows list` lists the instances.",
        "paused" => "`heddle workflows resume ID` lets it go on.",
        "not_paused" => "`heddle workflows show ID` says what it is at.",
        "ended" => {
            "What has ended stays so; a failed one can be taken up by `heddle workflows retry ID` or `skip ID`."
        }
        "nothing_to_retry" => "Only what failed, or pauses before its next attempt, can be tried again.",
        "no_such_outcome" => {
            "Say one with --outcome that the node has an edge for; `heddle workflows show ID` names the node."
        }
        "too_many_signals" => "Let the instance come to its waits first, or cancel it.",
        _ => return None,
    })
}
