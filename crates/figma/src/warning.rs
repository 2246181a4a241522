//! What was skipped or mended on the way, kept short however large the file is.

/// Something that was not as it should be and was worked around.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable code in snake case.
    pub code: &'static str,
    /// What it means, for people.
    pub message: String,
    /// The first node that it concerns.
    pub node_id: Option<String>,
    /// How often it occurred.
    pub count: u32,
}

/// Warnings, one per code, in the order of their first occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Warnings(Vec<Warning>);

impl Warnings {
    /// Counts one more; the first occurrence of a code gives the message and the node.
    pub fn add(&mut self, code: &'static str, node_id: Option<&str>, message: impl FnOnce() -> String) {
        if let Some(known) = self.0.iter_mut().find(|w| w.code == code) {
            known.count += 1;
        } else {
            let node_id = node_id.filter(|id| !id.is_empty()).map(str::to_owned);
            self.0.push(Warning { code, message: message(), node_id, count: 1 });
        }
    }

    /// In order of first occurrence.
    pub fn iter(&self) -> std::slice::Iter<'_, Warning> {
        self.0.iter()
    }

    /// The one with this code.
    pub fn get(&self, code: &str) -> Option<&Warning> {
        self.0.iter().find(|w| w.code == code)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes over another's.
    pub fn extend(&mut self, other: &Self) {
        for warning in &other.0 {
            match self.0.iter_mut().find(|w| w.code == warning.code) {
                Some(known) => known.count += warning.count,
                None => self.0.push(warning.clone()),
            }
        }
    }
}

impl<'w> IntoIterator for &'w Warnings {
    type Item = &'w Warning;
    type IntoIter = std::slice::Iter<'w, Warning>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
