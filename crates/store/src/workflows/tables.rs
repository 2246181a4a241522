//! What every adapter with SQL needs of an installation: its names and types, and a source of keys.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::keys::KeySource;
use super::{Dialect, Schema};

/// An installation's tables, in one dialect.
pub(super) struct Tables {
    pub(super) schema: Schema,
    pub(super) keys: KeySource,
    dialect: Dialect,
    /// The statements that have been used, with their names in, by where their texts lie.
    rendered: Mutex<HashMap<(usize, usize), Arc<str>>>,
}

impl Tables {
    pub(super) fn new(schema: Schema, dialect: Dialect) -> Self {
        Self { schema, keys: KeySource::default(), dialect, rendered: Mutex::default() }
    }

    pub(super) fn sql(&self, statement: &'static str) -> Arc<str> {
        let mut rendered = self.rendered.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            rendered
                .entry((statement.as_ptr().addr(), statement.len()))
                .or_insert_with(|| self.schema.render(statement, self.dialect).into()),
        )
    }
}
