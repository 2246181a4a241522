//! Settings: `heddle.toml`, then the environment, then flags. Every variable is declared here and nowhere else.

mod field;
mod file;
mod workflows;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use heddle_exchange::Collections;
use heddle_figma::Limits;
use heddle_generation::TriggerSurface;
use heddle_worker::Settings;
use serde::Serialize;

use crate::failure::Failure;
use field::{Field, Secret};
use file::{CallerEntry, FileConfig, ProjectEntry, WorkerEntry};
pub use workflows::{WorkflowKeys, Workflows};

/// Flags that any command takes.
#[derive(Args, Debug, Clone, Default)]
pub struct ConfigArgs {
    /// Read settings from this file [env: `HEDDLE_CONFIG`] [default: heddle.toml, where there is one].
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true, help_heading = crate::EVERYWHERE)]
    config: Option<PathBuf>,
    /// Keep everything in this folder [env: `HEDDLE_DATA`] [default: heddle-data].
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true, help_heading = crate::EVERYWHERE)]
    data: Option<PathBuf>,
    #[arg(skip)]
    overrides: Overrides,
}

/// What single commands set by flags of their own.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--listen`.
    pub listen: Option<SocketAddr>,
    /// `--backend`, `--server`.
    pub backend: Option<String>,
    /// `--figma-files`.
    pub figma_files: Option<PathBuf>,
    /// `--concurrency`.
    pub concurrency: Option<usize>,
    /// `--open-pages`.
    pub pages: Option<PagesMode>,
    /// `--primary-key`, `--owner-key`, `--subject-key`, `--key-type`.
    pub workflow_keys: WorkflowKeys,
}

/// Who may see the server's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagesMode {
    /// Whoever signs in with a token.
    SignIn,
    /// Whoever is at this machine.
    Open,
}

/// A project, of one organization for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Project {
    pub id: i64,
    pub name: String,
    pub organization_id: i64,
}

/// A caller of the API.
pub struct Caller {
    pub token: String,
    pub organization_id: i64,
    pub user: String,
    pub surface: TriggerSurface,
}

/// All settings.
pub struct Config {
    /// The folder of the embedded stores.
    pub data: PathBuf,
    /// Where the server listens.
    pub listen: SocketAddr,
    /// Where the server is: for workers' reports and for `heddle generations`. `None`: where `listen` says.
    pub backend: Option<String>,
    /// A folder of Figma JSON, by file key.
    pub figma_files: Option<PathBuf>,
    /// The tenant of whoever doesn't say.
    pub default_organization_id: i64,
    /// The projects that there are.
    pub projects: Vec<Project>,
    /// Who may call the API.
    pub callers: Vec<Caller>,
    /// The secret of the webhook.
    pub webhook_secret: Option<String>,
    /// The token that `heddle generations` shows.
    pub token: Option<String>,
    /// Who may see the pages.
    pub pages: PagesMode,
    /// Whether the pages' cookie is for HTTPS only.
    pub secure_cookie: bool,
    /// The worker's bounds.
    pub worker: Settings,
    /// Most bytes of a Figma document, unpacked.
    pub max_source_bytes: u64,
    /// The collections' names.
    pub collections: Collections,
    /// Where workflows are, and what their tables are like.
    pub workflows: Workflows,
    /// The settings as `config show` prints them.
    pub shown: Vec<Shown>,
}

/// A setting, its value without secrets, and where it comes from.
#[derive(Debug, Clone, Serialize)]
pub struct Shown {
    /// Its name in `heddle.toml`.
    pub key: String,
    /// Its value; secrets only say whether they are set.
    pub value: serde_json::Value,
    /// `default`, `heddle.toml`, an environment variable, or `flag`.
    pub from: String,
    /// Its environment variable, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<&'static str>,
}

impl ConfigArgs {
    /// With what a command's own flags say.
    pub fn with(&self, overrides: Overrides) -> Self {
        Self { overrides, ..self.clone() }
    }

    /// Reads and joins everything.
    pub fn load(&self) -> Result<Config, Failure> {
        self.load_with(&|name| std::env::var(name).ok())
    }

    fn load_with(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Config, Failure> {
        let named = self
            .config
            .clone()
            .or_else(|| variable("HEDDLE_CONFIG").filter(|path| !path.is_empty()).map(Into::into));
        let file = FileConfig::read(named)?;
        let FileConfig { values, path } = file;
        let mut join = Join { variable, path: path.as_deref(), shown: Vec::new() };
        let flags = &self.overrides;

        let data =
            join.setting("data", "HEDDLE_DATA", self.data.clone(), values.data, "heddle-data".into())?;
        let listen: SocketAddr = join.setting(
            "listen",
            "HEDDLE_LISTEN",
            flags.listen,
            values.listen.map(|text| parse_file("listen", &text)).transpose()?,
            SocketAddr::from(([127, 0, 0, 1], 7345)),
        )?;
        let backend = join.optional("backend", "HEDDLE_BACKEND", flags.backend.clone(), values.backend)?;
        let figma_files = join.optional(
            "figma_files",
            "HEDDLE_FIGMA_FILES",
            flags.figma_files.clone(),
            values.figma_files,
        )?;
        let default_organization_id = join.setting(
            "default_organization_id",
            "DEFAULT_ORGANIZATION_ID",
            None,
            values.default_organization_id,
            1,
        )?;
        let pages = join.setting(
            "pages",
            "HEDDLE_PAGES",
            flags.pages,
            values.pages.map(|text| parse_file("pages", &text)).transpose()?,
            PagesMode::SignIn,
        )?;
        let secure_cookie =
            join.setting("secure_cookie", "HEDDLE_SECURE_COOKIE", None, values.secure_cookie, false)?;
        let webhook_secret = join.optional(
            "webhook_secret",
            "HEDDLE_WEBHOOK_SECRET",
            None,
            values.webhook_secret.map(Secret),
        )?;
        let token = join.optional("token", "HEDDLE_TOKEN", None, values.token.map(Secret))?;
        let (worker, max_source_bytes) = worker_bounds(&values.worker.unwrap_or_default(), flags, &mut join)?;
        let projects = projects(values.projects, default_organization_id, &mut join)?;
        let callers = callers(values.callers, default_organization_id, &mut join)?;
        let collections = collections(&values.collections.unwrap_or_default(), &mut join)?;
        let workflows =
            workflows::workflows(values.workflows.unwrap_or_default(), flags.workflow_keys, &mut join)?;
        Ok(Config {
            data,
            listen,
            backend,
            figma_files,
            default_organization_id,
            projects,
            callers,
            webhook_secret: webhook_secret.map(|secret| secret.0),
            token: token.map(|secret| secret.0),
            pages,
            secure_cookie,
            worker,
            max_source_bytes,
            collections,
            workflows,
            shown: join.shown,
        })
    }
}

impl Config {
    /// The server's address for whoever calls it from this machine.
    pub fn server_url(&self) -> String {
        self.backend.clone().unwrap_or_else(|| local_url(self.listen))
    }
}

/// How this machine reaches a server that listens there.
pub fn local_url(mut listen: SocketAddr) -> String {
    if listen.ip().is_unspecified() {
        listen.set_ip(match listen {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{listen}")
}

fn parse_file<T: Field>(key: &str, text: &str) -> Result<T, Failure> {
    T::parse(text).map_err(|wanted| {
        Failure::usage(format!("{key} in the configuration file: {text:?} is not {wanted}"))
    })
}

/// Joins the layers, one setting at a time, and notes where each came from.
struct Join<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    path: Option<&'a str>,
    shown: Vec<Shown>,
}

impl Join<'_> {
    fn show(
        &mut self,
        key: &str,
        variable: Option<&'static str>,
        value: serde_json::Value,
        from: impl Into<String>,
    ) {
        self.shown.push(Shown { key: key.to_owned(), value, from: from.into(), variable });
    }

    fn file_name(&self) -> String {
        self.path.unwrap_or("heddle.toml").to_owned()
    }

    fn optional<T: Field>(
        &mut self,
        key: &str,
        variable: &'static str,
        flag: Option<T>,
        file: Option<T>,
    ) -> Result<Option<T>, Failure> {
        let set = (self.variable)(variable).filter(|text| !text.trim().is_empty());
        let (value, from) = if let Some(value) = flag {
            (Some(value), "flag".to_owned())
        } else if let Some(text) = set {
            let value = T::parse(&text).map_err(|wanted| {
                let said = if T::IS_SECRET { String::new() } else { format!("{text:?} ") };
                Failure::usage(format!("the environment variable {variable}: {said}is not {wanted}"))
            })?;
            (Some(value), variable.to_owned())
        } else if file.is_some() {
            (file, self.file_name())
        } else {
            (None, "default".to_owned())
        };
        self.show(key, Some(variable), value.as_ref().map_or(serde_json::Value::Null, Field::show), from);
        Ok(value)
    }

    fn setting<T: Field>(
        &mut self,
        key: &str,
        variable: &'static str,
        flag: Option<T>,
        file: Option<T>,
        default: T,
    ) -> Result<T, Failure> {
        if let Some(value) = self.optional(key, variable, flag, file)? {
            return Ok(value);
        }
        if let Some(last) = self.shown.last_mut() {
            last.value = default.show();
        }
        Ok(default)
    }

    fn seconds(
        &mut self,
        key: &str,
        variable: &'static str,
        file: Option<u64>,
        default: Duration,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Duration, Failure> {
        let seconds = self.setting(key, variable, None, file, default.as_secs())?;
        if !range.contains(&seconds) {
            return Err(Failure::usage(format!("{key} takes {} to {} seconds", range.start(), range.end())));
        }
        Ok(Duration::from_secs(seconds))
    }
}

/// The worker's bounds, and the most bytes of a document.
fn worker_bounds(
    worker: &WorkerEntry,
    flags: &Overrides,
    join: &mut Join<'_>,
) -> Result<(Settings, u64), Failure> {
    let bounds = Settings::default();
    let max_source_bytes = join.setting(
        "worker.max_source_bytes",
        "HEDDLE_WORKER_MAX_SOURCE_BYTES",
        None,
        worker.max_source_bytes,
        Limits::default().bytes,
    )?;
    let settings = Settings {
        concurrency: join.setting(
            "worker.concurrency",
            "HEDDLE_WORKER_CONCURRENCY",
            flags.concurrency,
            worker.concurrency,
            bounds.concurrency,
        )?,
        visibility: join.seconds(
            "worker.visibility_seconds",
            "HEDDLE_WORKER_VISIBILITY_SECONDS",
            worker.visibility_seconds,
            bounds.visibility,
            5..=43_200,
        )?,
        max_deliveries: join.setting(
            "worker.max_deliveries",
            "HEDDLE_WORKER_MAX_DELIVERIES",
            None,
            worker.max_deliveries,
            bounds.max_deliveries,
        )?,
        conversion_timeout: join.seconds(
            "worker.conversion_timeout_seconds",
            "HEDDLE_WORKER_CONVERSION_TIMEOUT_SECONDS",
            worker.conversion_timeout_seconds,
            bounds.conversion_timeout,
            1..=86_400,
        )?,
        memory_mib: join.setting(
            "worker.memory_mib",
            "HEDDLE_WORKER_MEMORY_MIB",
            None,
            worker.memory_mib,
            bounds.memory_mib,
        )?,
        grace: bounds.grace,
    };
    if !(1..=256).contains(&settings.concurrency) {
        return Err(Failure::usage("worker.concurrency takes 1 to 256"));
    }
    Ok((settings, max_source_bytes))
}

fn projects(
    entries: Option<Vec<ProjectEntry>>,
    organization_id: i64,
    join: &mut Join<'_>,
) -> Result<Vec<Project>, Failure> {
    let from = if entries.is_some() { join.file_name() } else { "default".to_owned() };
    let projects: Vec<_> = match entries {
        None => vec![Project { id: 1, name: "Default".to_owned(), organization_id }],
        Some(entries) => entries
            .into_iter()
            .map(|entry| Project {
                id: entry.id,
                name: entry.name.unwrap_or_else(|| format!("Project {}", entry.id)),
                organization_id: entry.organization_id.unwrap_or(organization_id),
            })
            .collect(),
    };
    if projects.iter().any(|project| project.id < 1) {
        return Err(Failure::usage("a project's id is 1 or more"));
    }
    let mut ids: Vec<_> = projects.iter().map(|project| project.id).collect();
    ids.sort_unstable();
    if let Some([twice, ..]) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Failure::usage(format!("there are two projects {twice}: ids are for all organizations")));
    }
    join.show("projects", None, serde_json::json!(projects), from);
    Ok(projects)
}

fn callers(
    entries: Option<Vec<CallerEntry>>,
    organization_id: i64,
    join: &mut Join<'_>,
) -> Result<Vec<Caller>, Failure> {
    let from = if entries.is_some() { join.file_name() } else { "default".to_owned() };
    let mut callers = Vec::new();
    for entry in entries.unwrap_or_default() {
        let surface = match entry.surface.as_deref() {
            None | Some("api") => TriggerSurface::Api,
            Some("plugin") => TriggerSurface::Plugin,
            Some(other) => {
                return Err(Failure::usage(format!("a caller's surface is api or plugin, not {other:?}")));
            }
        };
        let organization_id = entry.organization_id.unwrap_or(organization_id);
        callers.push(Caller { token: entry.token, organization_id, user: entry.user, surface });
    }
    let shown: Vec<_> = callers
        .iter()
        .map(|caller| {
            serde_json::json!({
                "user": caller.user, "organization_id": caller.organization_id, "surface": caller.surface.name(),
                "token": "set",
            })
        })
        .collect();
    join.show("callers", None, serde_json::json!(shown), from);
    Ok(callers)
}

fn collections(
    file: &std::collections::BTreeMap<String, String>,
    join: &mut Join<'_>,
) -> Result<Collections, Failure> {
    let known = |key: &str| Collections::VARIABLES.iter().any(|(_, default)| *default == key);
    if let Some(unknown) = file.keys().find(|key| !known(key)) {
        return Err(Failure::usage(format!(
            "there is no collection {unknown:?} to be named in [collections]"
        )));
    }
    let default_of = |variable: &str| {
        Collections::VARIABLES.iter().find(|(name, _)| *name == variable).map_or("", |(_, default)| *default)
    };
    let named = |variable: &str| {
        let set = (join.variable)(variable).filter(|value| !value.trim().is_empty());
        set.or_else(|| file.get(default_of(variable)).cloned())
    };
    let collections =
        Collections::from_variables(named).map_err(|error| Failure::usage(error.to_string()))?;
    for (variable, key) in Collections::VARIABLES {
        let set = (join.variable)(variable).filter(|value| !value.trim().is_empty());
        let (value, from) = match (set, file.get(key)) {
            (Some(value), _) => (value, variable.to_owned()),
            (None, Some(value)) => (value.clone(), join.file_name()),
            (None, None) => (key.to_owned(), "default".to_owned()),
        };
        join.show(&format!("collections.{key}"), Some(variable), value.into(), from);
    }
    Ok(collections)
}

#[cfg(test)]
mod tests;
