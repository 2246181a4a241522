//! `heddle snapshot`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use heddle_figma::snapshot;
use serde_json::json;

use super::work::limits;
use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::terminal::Terminal;
use crate::{figma, output};

/// Cut one frame out of a Figma file, with the components and styles that it uses.
///
/// The bytes are canonical: the same frame always gives the same file and the same hash.
#[derive(Args)]
pub struct Snapshot {
    /// Figma REST JSON, plain or gzip; `-` is stdin.
    file: PathBuf,
    /// The frame, as 12:345 or 12-345 [default: the only one there is].
    #[arg(long, value_name = "ID")]
    node: Option<String>,
    /// Where to.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Snapshot {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let limits = limits(&config.load()?);
        let bytes = figma::load(&self.file, &limits)?;
        let document = figma::document(&self.file, &bytes, &limits)?;
        let index = match figma::frame(&self.file, &document, self.node.as_deref())? {
            Ok(index) => index,
            Err(frames) => {
                terminal.result(&frames, || figma::table(&frames))?;
                return Err(
                    Failure::usage("the file has more than one frame").hint("Name one of them with --node.")
                );
            }
        };
        let cut = snapshot(&bytes, &document, index).map_err(|error| figma::unreadable(&self.file, error))?;
        output::write(&self.output, &cut.bytes)?;
        let node = document.node(index);
        let report = json!({
            "node_id": node.id, "name": node.name, "output": self.output, "bytes": cut.bytes.len(),
            "source_hash": cut.hash,
        });
        terminal.result(&report, || {
            format!(
                "{} ({}): {} bytes, {}\n{}",
                node.name,
                node.id,
                cut.bytes.len(),
                self.output.display(),
                cut.hash
            )
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
