//! `heddle workflows validate`: what a compiler would say of a graph.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use heddle_workflow::{Catalog, Finding, Severity, check, checksum, read_json};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::terminal::Terminal;

/// Check a graph, offline, against what `heddle serve` has: no handlers of its own. Exit 1 where there are errors.
#[derive(Args)]
pub struct Validate {
    /// The graph, as JSON.
    file: PathBuf,
    /// For a program that embeds the engine: take any handler for one that is there, with any outcomes. Else there are
    /// those of `heddle serve`, which has none.
    #[arg(long)]
    any_handler: bool,
}

/// All that there is to say of a file.
#[derive(Serialize)]
struct Report {
    file: PathBuf,
    /// Whether it could be published.
    sound: bool,
    /// The fingerprint of its canonical form.
    checksum: Option<String>,
    findings: Vec<Located>,
}

/// A finding, and where it is in the file.
#[derive(Serialize)]
struct Located {
    code: &'static str,
    severity: &'static str,
    node: Option<String>,
    pointer: String,
    message: String,
    line: Option<usize>,
    column: Option<usize>,
}

impl Validate {
    pub fn run(self, terminal: Terminal) -> Result<ExitCode, Failure> {
        let text = read(&self.file)?;
        let catalog = if self.any_handler { Catalog::open() } else { Catalog::of([]) };
        let report = report(self.file, &text, &catalog);
        terminal.result(&report, || describe(&report))?;
        Ok(if report.sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Reads a graph's file.
pub(super) fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("could not read {}", file.display())).because(error))
}

fn report(file: PathBuf, text: &str, catalog: &Catalog) -> Report {
    let document = match read_json(text) {
        Ok(document) => document,
        Err(error) => {
            let place = serde_json::from_str::<IgnoredAny>(text).err();
            let finding = Located {
                code: "bad_document",
                severity: "error",
                node: None,
                pointer: String::new(),
                message: error.to_string(),
                line: place.as_ref().map(serde_json::Error::line),
                column: place.as_ref().map(serde_json::Error::column),
            };
            return Report { file, sound: false, checksum: None, findings: vec![finding] };
        }
    };
    let checked = check(&document, catalog);
    Report {
        file,
        sound: checked.graph.is_some(),
        checksum: checksum(&document).ok(),
        findings: checked.findings.into_iter().map(|finding| located(finding, text)).collect(),
    }
}

fn located(finding: Finding, text: &str) -> Located {
    let place = place(text, &finding.pointer);
    Located {
        code: finding.code.name(),
        severity: match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        node: finding.node.map(|node| node.to_string()),
        pointer: finding.pointer,
        message: finding.message,
        line: Some(place.0),
        column: Some(place.1),
    }
}

/// The line and column at which the value of a pointer begins, or what of it is there; both from 1.
fn place(text: &str, pointer: &str) -> (usize, usize) {
    let mut value = text.trim_start();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let inner = match value.as_bytes().first() {
            Some(b'{') => serde_json::from_str::<BTreeMap<String, &RawValue>>(value)
                .ok()
                .and_then(|mut object| object.remove(&part)),
            Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(value)
                .ok()
                .and_then(|items| items.get(part.parse::<usize>().ok()?).copied()),
            _ => None,
        };
        let Some(inner) = inner else { break };
        value = inner.get();
    }
    // A raw value is a part of the text that it was read from.
    let offset = (value.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (line, column)
}

fn describe(report: &Report) -> String {
    let file = report.file.display();
    let mut lines = Vec::new();
    for finding in &report.findings {
        lines.push(format!("{}[{}]: {}", finding.severity, finding.code, finding.message));
        let at = match (finding.line, finding.column) {
            (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
            _ => file.to_string(),
        };
        let node = finding.node.as_ref().map(|node| format!("  node {node}")).unwrap_or_default();
        let pointer = if finding.pointer.is_empty() { "" } else { "  " };
        lines.push(format!("  --> {at}{node}{pointer}{}", finding.pointer));
    }
    let count = |severity: &str| report.findings.iter().filter(|it| it.severity == severity).count();
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let (errors, warnings) = (count("error"), count("warning"));
    lines.push(match (report.sound, warnings) {
        (true, 0) => format!("{file} is sound"),
        (true, _) => format!("{file} is sound, with {}", counted(warnings, "warning")),
        (false, 0) => format!("{file} has {}", counted(errors, "error")),
        (false, _) => format!("{file} has {} and {}", counted(errors, "error"), counted(warnings, "warning")),
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_has_its_place() {
        let text = "\n{\"nodes\": [\n  {\"id\": \"ä\", \"a/b~\": {\"x\": 1}}\n]}";
        for (pointer, expected) in [
            ("", (2, 1)),
            ("/nodes", (2, 11)),
            ("/nodes/0", (3, 3)),
            ("/nodes/0/a~1b~0/x", (3, 29)),
            ("/nodes/0/config/expression", (3, 3)),
            ("/nodes/7", (2, 11)),
        ] {
            assert_eq!(place(text, pointer), expected, "{pointer}");
        }
    }
}
