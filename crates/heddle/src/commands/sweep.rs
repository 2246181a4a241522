//! `heddle sweep`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use heddle_exchange::keys::Tenant;
use heddle_exchange::registry::Target;
use heddle_worker::conversion::Des2wf;
use heddle_worker::sweep::{SweepRequest, read_library, sweep};
use jiff::Timestamp;

use super::work::limits;
use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::local;
use crate::terminal::Terminal;

/// Which registry.
#[derive(Clone, Copy, ValueEnum)]
enum TargetName {
    /// The wireframe kit: what wireframes are built of.
    Kit,
    /// The design system: what designs are built of.
    Design,
}

/// Register the components of a Figma library.
#[derive(Args)]
pub struct Sweep {
    /// The library as Figma REST JSON, plain or gzip.
    file: PathBuf,
    /// Which registry.
    #[arg(long)]
    target: TargetName,
    /// Whose.
    #[arg(long, value_name = "ID")]
    project: i64,
    /// The project's organization [env: `DEFAULT_ORGANIZATION_ID`] [default: 1].
    #[arg(long, value_name = "ID")]
    organization: Option<i64>,
    /// The library's file key in Figma [default: the file's name without .json].
    #[arg(long, value_name = "KEY")]
    file_key: Option<String>,
    /// Let this library take the place of every other one of this registry.
    #[arg(long)]
    replace: bool,
    /// Sweep again even if the file hasn't changed.
    #[arg(long)]
    again: bool,
}

impl Sweep {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let config = config.load()?;
        let file_key = match self.file_key {
            Some(key) => key,
            None => key_of(&self.file)?,
        };
        let cannot = |error: heddle_worker::sweep::SweepError| {
            Failure::new(format!("could not sweep {}", self.file.display())).because(error)
        };
        let library = read_library(&self.file, config.max_source_bytes).map_err(cannot)?;
        let request = SweepRequest {
            target: match self.target {
                TargetName::Kit => Target::Kit,
                TargetName::Design => Target::Design,
            },
            tenant: Tenant {
                organization_id: self.organization.unwrap_or(config.default_organization_id),
                project_id: self.project,
            },
            file_key,
            bytes: library.bytes,
            alone: self.replace,
            again: self.again,
        };
        let exchange = local::exchange(&config.data)?;
        let converter = Arc::new(Des2wf { limits: limits(&config) });
        let sweeping = sweep(&exchange, &config.collections, converter, request, Timestamp::now());
        let report = local::runtime()?.block_on(sweeping).map_err(cannot)?;
        terminal.result(&report, || report.to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// `kit` of `path/to/kit.json.gz`.
fn key_of(file: &std::path::Path) -> Result<String, Failure> {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = stem.strip_suffix(".json").unwrap_or(stem);
    if stem.is_empty() {
        return Err(Failure::usage("the file's name gives no file key; say it with --file-key"));
    }
    Ok(stem.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_key_comes_from_the_files_name() {
        for (file, key) in
            [("a/kit.json", "kit"), ("kit.json.gz", "kit"), ("kit", "kit"), ("a.b.json", "a.b")]
        {
            assert_eq!(key_of(file.as_ref()).unwrap(), key);
        }
        for file in [".json", "..", "/", ""] {
            assert!(key_of(file.as_ref()).is_err(), "{file}");
        }
    }
}
