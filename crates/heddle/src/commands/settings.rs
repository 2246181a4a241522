//! `heddle config`.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::Value;

use crate::config::ConfigArgs;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Look at the settings.
#[derive(Subcommand)]
pub enum Settings {
    /// Print every setting, where it comes from, and its environment variable. Secrets only say whether they are set.
    Show,
}

impl Settings {
    pub fn run(self, terminal: Terminal, config: &ConfigArgs) -> Result<ExitCode, Failure> {
        let Self::Show = self;
        let shown = config.load()?.shown;
        terminal.result(&shown, || {
            let lines = shown.iter().map(|setting| {
                let value = match &setting.value {
                    Value::Null => "—".to_owned(),
                    value => value.to_string(),
                };
                let from = match setting.variable {
                    Some(variable) if setting.from != variable => format!("{}; {variable}", setting.from),
                    _ => setting.from.clone(),
                };
                format!("{} = {value}  # {from}", setting.key)
            });
            lines.collect::<Vec<_>>().join("\n")
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
