//! `heddle workflows install`: the migration as a file (W1). Nothing runs it by itself.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use heddle_store::StoreError;
use heddle_store::workflows::{Dialect, KeyType, KeyTypes, Schema, WorkflowPostgres, WorkflowSqlite};
use jiff::Timestamp;
use serde::Serialize;

use super::super::generations::named;
use crate::config::{ConfigArgs, Overrides, WorkflowKeys, Workflows};
use crate::failure::Failure;
use crate::local;
use crate::terminal::Terminal;

/// How the name of every migration ends that makes the tables.
const SUFFIX: &str = "_create_workflow_tables.sql";

/// A database that the tables can be made in.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    /// A file.
    Sqlite,
    /// A server, for many processes.
    Postgres,
}

impl Database {
    const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => Dialect::Sqlite.name(),
            Self::Postgres => Dialect::Postgres.name(),
        }
    }

    fn migration(self, schema: &Schema) -> String {
        let (name, tables) = match self {
            Self::Sqlite => ("SQLite", schema.migration(Dialect::Sqlite)),
            Self::Postgres => ("PostgreSQL", schema.migration(Dialect::Postgres)),
        };
        let KeyTypes { primary, owner, subject, morph } = schema.keys();
        format!(
            "-- The tables of Heddle's workflows, for {name}. Forward only: run it once, in one transaction.\n\
             -- Keys, for good: primary_key_type {primary}, owner_key_type {owner}, subject_key_type {subject}, \
             key_type {morph}.\n\n{tables}"
        )
    }
}

/// Publish the migration that makes the workflow tables.
///
/// Writes `DIR/YYYYMMDDHHMMSS_create_workflow_tables.sql`, for whatever runs your migrations. Names of tables and types of
/// keys come from `[workflows]` in heddle.toml; they hold from then on.
#[derive(Args)]
pub struct Install {
    /// The type of the tables' own keys [env: `HEDDLE_WORKFLOWS_PRIMARY_KEY_TYPE`] [default: bigint].
    #[arg(long, value_name = "TYPE", value_parser = key_type())]
    primary_key: Option<KeyType>,
    /// The type of owners' keys [env: `HEDDLE_WORKFLOWS_OWNER_KEY_TYPE`] [default: bigint].
    #[arg(long, value_name = "TYPE", value_parser = key_type())]
    owner_key: Option<KeyType>,
    /// The type of subjects' keys [env: `HEDDLE_WORKFLOWS_SUBJECT_KEY_TYPE`] [default: bigint].
    #[arg(long, value_name = "TYPE", value_parser = key_type())]
    subject_key: Option<KeyType>,
    /// The type of people's keys [env: `HEDDLE_WORKFLOWS_KEY_TYPE`] [default: bigint].
    #[arg(long, value_name = "TYPE", value_parser = key_type())]
    key_type: Option<KeyType>,
    /// For which database; where nothing is said, for the one that `workflows.database_url` names, or else for a file.
    #[arg(long)]
    database: Option<Database>,
    /// Where your migrations are; made where it is absent.
    #[arg(long, value_name = "DIR", default_value = "migrations")]
    dir: PathBuf,
    /// Run it as well, on the database that `heddle serve` opens: the one that `workflows.database_url` names, or else
    /// the file in the data folder. One that is published already is run as it is.
    #[arg(long)]
    apply: bool,
}

fn key_type() -> impl clap::builder::TypedValueParser<Value = KeyType> {
    named(&KeyType::ALL, KeyType::name, KeyType::from_name)
}

/// A database that has the tables.
#[derive(Serialize)]
struct Applied {
    database: String,
    /// Whether they were made just now.
    made: bool,
}

/// What was done.
#[derive(Serialize)]
struct Installed {
    /// The migration's file.
    migration: PathBuf,
    /// Whether it was written just now.
    written: bool,
    /// For which database it is.
    database: &'static str,
    /// The database that it was run on, or that had the tables already.
    applied: Option<Applied>,
    primary_key_type: &'static str,
    owner_key_type: &'static str,
    subject_key_type: &'static str,
    key_type: &'static str,
}

impl Install {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let workflow_keys = WorkflowKeys {
            primary: self.primary_key,
            owner: self.owner_key,
            subject: self.subject_key,
            morph: self.key_type,
        };
        let settled = config.load()?.workflows.schema.keys();
        let config = config.with(Overrides { workflow_keys, ..Overrides::default() }).load()?;
        let Workflows { database_url, schema } = &config.workflows;
        let served = if database_url.is_some() { Database::Postgres } else { Database::Sqlite };
        let database = self.database.unwrap_or(served);
        if self.apply && database != served {
            return Err(Failure::usage(format!(
                "--apply runs the migration on the database of `heddle serve`, which is {}",
                served.name()
            ))
            .hint("workflows.database_url says which one that is."));
        }
        let text = database.migration(schema);
        let (migration, written) = match published(&self.dir)? {
            None => (write(&self.dir, &text)?, true),
            Some(file) if self.apply => {
                same(&file, &text)?;
                (file, false)
            }
            Some(file) => {
                return Err(Failure::new(format!("{} is there already", file.display()))
                    .hint("The tables are made once. --apply runs that file; --dir names another folder."));
            }
        };
        let applied = match (self.apply, database_url) {
            (false, _) => None,
            (true, Some(url)) => Some(local::run(apply_to_server(url, schema))?),
            (true, None) => Some(apply(&config.data, schema)?),
        };
        let KeyTypes { primary, owner, subject, morph } = schema.keys();
        let installed = Installed {
            migration,
            written,
            database: database.name(),
            applied,
            primary_key_type: primary.name(),
            owner_key_type: owner.name(),
            subject_key_type: subject.name(),
            key_type: morph.name(),
        };
        terminal.result(&installed, || describe(&installed))?;
        if settled != schema.keys() {
            terminal.say(&format!(
                "`heddle serve` needs to know of it: put this into heddle.toml.\n\n[workflows]\n\
                 primary_key_type = \"{primary}\"\nowner_key_type = \"{owner}\"\n\
                 subject_key_type = \"{subject}\"\nkey_type = \"{morph}\"\n"
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn describe(installed: &Installed) -> String {
    let file = installed.migration.display();
    let mut lines = vec![if installed.written { format!("wrote {file}") } else { format!("found {file}") }];
    match &installed.applied {
        Some(Applied { database, made: true }) => lines.push(format!("made the tables in {database}")),
        Some(Applied { database, .. }) => lines.push(format!("the tables are in {database} already")),
        None => {
            lines.push(
                "run it on your database, or let --apply run it on the one of `heddle serve`".to_owned(),
            );
        }
    }
    lines.join("\n")
}

/// The migration that a folder has of these tables.
fn published(folder: &Path) -> Result<Option<PathBuf>, Failure> {
    let cannot = |error| Failure::new(format!("could not read {}", folder.display())).because(error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        entries => entries.map_err(cannot)?,
    };
    for entry in entries {
        let path = entry.map_err(cannot)?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(SUFFIX)) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Writes a file that was not there.
fn write(folder: &Path, text: &str) -> Result<PathBuf, Failure> {
    // In UTC, as a timestamp is written where nobody says otherwise.
    let path = folder.join(format!("{}{SUFFIX}", Timestamp::now().strftime("%Y%m%d%H%M%S")));
    let cannot = |error| Failure::new(format!("could not write {}", path.display())).because(error);
    std::fs::create_dir_all(folder).map_err(cannot)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(cannot)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(cannot)?;
    Ok(path)
}

/// Refuses a file that says something else than these settings do.
fn same(file: &Path, text: &str) -> Result<(), Failure> {
    let found = std::fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("could not read {}", file.display())).because(error))?;
    if found == text {
        return Ok(());
    }
    Err(Failure::new(format!("{} makes other tables than these settings", file.display())).hint(
        "Its first lines say which keys it has: set them in [workflows] of heddle.toml. What was changed by hand is \
         run by hand.",
    ))
}

/// Makes the tables in the data folder's own file.
fn apply(data: &Path, schema: &Schema) -> Result<Applied, Failure> {
    local::folder(data)?;
    let path = local::workflows_path(data);
    let database = path.display().to_string();
    if path.exists() && WorkflowSqlite::open(&path, schema.clone()).is_ok() {
        return Ok(Applied { database, made: false });
    }
    WorkflowSqlite::install(&path, schema).map_err(|error| not_made(&database, error))?;
    Ok(Applied { database, made: true })
}

/// Makes the tables in the database at a connection string, which may have a password in it and is not said.
async fn apply_to_server(url: &str, schema: &Schema) -> Result<Applied, Failure> {
    let database = "the database of workflows.database_url".to_owned();
    if WorkflowPostgres::connect(url, schema.clone()).await.is_ok() {
        return Ok(Applied { database, made: false });
    }
    WorkflowPostgres::install(url, schema).await.map_err(|error| not_made(&database, error))?;
    Ok(Applied { database, made: true })
}

fn not_made(database: &str, error: StoreError) -> Failure {
    match error {
        StoreError::Installed => Failure::new(format!("{database} has other workflow tables already"))
            .because(error)
            .hint("Set the names and key types that they were made with in [workflows] of heddle.toml."),
        error => Failure::new(format!("could not make the tables in {database}")).because(error),
    }
}
