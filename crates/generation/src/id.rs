//! Ids as types, so that one is never taken for another.

use std::fmt;

use uuid::Uuid;

/// A run's id: the client's request id and every message's `job_id`. Made by the shell, never here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(Uuid);

impl RunId {
    /// The id with this value.
    pub const fn new(value: Uuid) -> Self {
        Self(value)
    }

    /// Reads the form that [`Display`](fmt::Display) writes; `None` where the text is not such an id.
    pub fn parse(text: &str) -> Option<Self> {
        // The parser also takes braces, URNs and upper case. One run has one spelling.
        let id = Self(Uuid::try_parse(text).ok()?);
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0.as_hyphenated(), f)
    }
}

/// A tenant: `organization.id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrganizationId(pub i64);

impl fmt::Display for OrganizationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A tenant's project: `project.id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectId(pub i64);

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A person or service account: `user.cognito_sub`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UserSub(String);

impl UserSub {
    /// The user with this sub.
    pub fn new(sub: impl Into<String>) -> Self {
        Self(sub.into())
    }

    /// The sub.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UserSub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_has_one_spelling() {
        let text = "0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6";
        assert_eq!(RunId::parse(text).unwrap().to_string(), text);
        for other in ["", "x", &text.to_uppercase(), &text.replace('-', ""), &format!("{{{text}}}"), "../etc"]
        {
            assert_eq!(RunId::parse(other), None, "{other}");
        }
    }
}
