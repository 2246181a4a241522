//! Why a command ended without doing what it was asked.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

type Cause = Box<dyn Error + Send + Sync>;

/// An error for a person at a terminal: what went wrong, why, and what may help.
#[derive(Debug)]
pub struct Failure {
    message: String,
    source: Option<Cause>,
    hints: Vec<String>,
    is_usage: bool,
}

impl Failure {
    /// It was tried and failed: exit 1.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None, hints: Vec::new(), is_usage: false }
    }

    /// It was asked wrongly: exit 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { is_usage: true, ..Self::new(message) }
    }

    /// With its cause.
    pub fn because(self, source: impl Into<Cause>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// With something that may help.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What may help.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// How the program ends by it.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.is_usage { 2 } else { 1 })
    }
}

impl fmt::Display for Failure {
    /// The message and its causes on one line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        let mut cause: Option<&dyn Error> = self.source.as_deref().map(|source| source as &dyn Error);
        let mut said = self.message.clone();
        while let Some(error) = cause {
            let text = error.to_string();
            // Transparent wrappers repeat what is inside.
            if !said.ends_with(&text) {
                write!(formatter, ": {text}")?;
            }
            said = text;
            cause = error.source();
        }
        Ok(())
    }
}

impl Error for Failure {}
