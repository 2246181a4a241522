//! What an installation decides once: table names and key types (W1, W2), and the migrations that come of it.

use std::collections::HashMap;
use std::fmt;

use heddle_workflow::InstanceId;
use uuid::Uuid;

use super::sql;
use crate::StoreError;

/// The type of a key column, fixed when the tables are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyType {
    /// An integer.
    #[default]
    Bigint,
    /// A UUID; as a primary key of version 7, which is in order by time.
    Uuid,
    /// A ULID.
    Ulid,
}

impl KeyType {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::Bigint, Self::Uuid, Self::Ulid];

    /// Its name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bigint => "bigint",
            Self::Uuid => "uuid",
            Self::Ulid => "ulid",
        }
    }

    /// The type of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key_type| key_type.name() == name)
    }

    /// Whether a text is a key of this type, written the one way in which every database gives it back.
    pub fn takes(self, text: &str) -> bool {
        match self {
            Self::Bigint => text.parse::<i64>().is_ok_and(|number| number.to_string() == text),
            Self::Uuid => Uuid::try_parse(text).is_ok_and(|uuid| uuid.to_string() == text),
            Self::Ulid => InstanceId::parse(text).is_some(),
        }
    }
}

/// The four kinds of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyTypes {
    /// `primary_key_type`: of `id`, and of every column that points at one.
    pub primary: KeyType,
    /// `owner_key_type`: of `owner_id`.
    pub owner: KeyType,
    /// `subject_key_type`: of `subject_id`.
    pub subject: KeyType,
    /// `key_type`: of `publisher_id`, `starter_id` and `requester_id`.
    pub morph: KeyType,
}

/// The tables' names: `workflows.tables.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableNames {
    /// Definitions.
    pub definitions: String,
    /// Versions.
    pub versions: String,
    /// Instances.
    pub instances: String,
    /// Step runs.
    pub step_runs: String,
    /// Waits.
    pub waits: String,
    /// Escalations.
    pub escalations: String,
    /// Idempotency keys.
    pub idempotency_keys: String,
    /// Dry runs.
    pub dry_runs: String,
}

impl Default for TableNames {
    fn default() -> Self {
        let name = |name: &str| format!("workflow_{name}");
        Self {
            definitions: name("definitions"),
            versions: name("versions"),
            instances: name("instances"),
            step_runs: name("step_runs"),
            waits: name("waits"),
            escalations: name("escalations"),
            idempotency_keys: name("idempotency_keys"),
            dry_runs: name("dry_runs"),
        }
    }
}

/// A table's name that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no table's name: 1 to 48 of the characters a-z, 0-9 and '_', a letter first, each name once"
)]
pub struct BadTableName(pub String);

/// An installation's tables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    tables: TableNames,
    keys: KeyTypes,
}

impl Schema {
    /// Tables of these names with these keys.
    pub fn new(tables: TableNames, keys: KeyTypes) -> Result<Self, BadTableName> {
        let schema = Self { tables, keys };
        let names = schema.names().map(|(_, name)| name);
        for (place, name) in names.iter().enumerate() {
            let sound = (1..=48).contains(&name.len())
                && name.starts_with(|first: char| first.is_ascii_lowercase())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
            if !sound || names[..place].contains(name) {
                return Err(BadTableName((*name).to_owned()));
            }
        }
        Ok(schema)
    }

    /// The key types.
    pub const fn keys(&self) -> KeyTypes {
        self.keys
    }

    /// The migration that makes the tables. Forward only; whoever installs publishes it as a file.
    pub fn migration(&self, dialect: Dialect) -> String {
        let tables = match dialect {
            Dialect::Sqlite => sql::SQLITE_TABLES,
            Dialect::Postgres => sql::POSTGRES_TABLES,
        };
        tables.iter().fold(String::new(), |mut migration, table| {
            migration.push_str(&self.render(table, dialect));
            migration.push('\n');
            migration
        })
    }

    fn names(&self) -> [(&'static str, &str); 8] {
        let TableNames {
            definitions,
            versions,
            instances,
            step_runs,
            waits,
            escalations,
            idempotency_keys,
            dry_runs,
        } = &self.tables;
        [
            ("{definitions}", definitions),
            ("{versions}", versions),
            ("{instances}", instances),
            ("{step_runs}", step_runs),
            ("{waits}", waits),
            ("{escalations}", escalations),
            ("{idempotency_keys}", idempotency_keys),
            ("{dry_runs}", dry_runs),
        ]
    }

    /// Every table, with the columns that show which types its keys have.
    pub(super) fn key_columns(&self) -> Vec<(&str, Vec<(&'static str, KeyType)>)> {
        let KeyTypes { primary, owner, subject, morph } = self.keys;
        let names = self.names();
        names
            .iter()
            .map(|(place, name)| {
                let mut columns = vec![("id", primary)];
                match *place {
                    "{definitions}" => columns.push(("owner_id", owner)),
                    "{versions}" => columns.push(("publisher_id", morph)),
                    "{instances}" => {
                        columns.extend([("owner_id", owner), ("subject_id", subject), ("starter_id", morph)]);
                    }
                    _ => {}
                }
                (*name, columns)
            })
            .collect()
    }

    /// The channel that carries probes of these tables.
    pub(super) fn channel(&self) -> String {
        format!("{}_probes", self.tables.step_runs)
    }

    /// A statement with this installation's names and types.
    pub(super) fn render(&self, statement: &str, dialect: Dialect) -> String {
        let bigint = self.keys.primary == KeyType::Bigint;
        let primary = match (dialect, bigint) {
            (Dialect::Sqlite, true) => "INTEGER PRIMARY KEY AUTOINCREMENT".to_owned(),
            (Dialect::Postgres, true) => "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY".to_owned(),
            (_, false) => format!("{} PRIMARY KEY NOT NULL", dialect.column(self.keys.primary)),
        };
        let types = [
            ("{primary_key}", primary.as_str()),
            ("{key}", dialect.column(self.keys.primary)),
            ("{owner_key}", dialect.column(self.keys.owner)),
            ("{subject_key}", dialect.column(self.keys.subject)),
            ("{morph_key}", dialect.column(self.keys.morph)),
        ];
        let names = self.names();
        let mut text = statement.to_owned();
        for (place, name) in &names {
            // Where the database makes the keys it takes the next one itself.
            let next = if bigint {
                format!("nextval('{name}_id_seq')")
            } else {
                format!("t.id::{}", dialect.column(self.keys.primary))
            };
            text = text.replace(&place.replace('{', "{next:"), &next);
        }
        names.iter().chain(&types).fold(text, |text, (place, name)| text.replace(place, name))
    }
}

/// Refuses a table without these columns. `found`: its columns and their types.
pub(super) fn compare(
    dialect: Dialect,
    found: &mut HashMap<String, String>,
    columns: Vec<(&'static str, KeyType)>,
) -> Result<(), StoreError> {
    let refused = |remedy| Err(StoreError::Schema { found: 0, needed: 1, remedy });
    if found.is_empty() {
        return refused("apply the migrations that install the workflow tables first");
    }
    for (column, key_type) in columns {
        if found.remove(column).as_deref() != Some(dialect.column(key_type)) {
            return refused("set the key types that the workflow tables were made with");
        }
    }
    Ok(())
}

/// The databases, by the way they speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `SQLite`.
    Sqlite,
    /// `PostgreSQL`.
    Postgres,
}

impl Dialect {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];

    /// Its name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    /// A key's column.
    pub(super) const fn column(self, key_type: KeyType) -> &'static str {
        match (self, key_type) {
            (Self::Sqlite, KeyType::Bigint) => "INTEGER",
            (Self::Sqlite, KeyType::Uuid | KeyType::Ulid) => "TEXT",
            (Self::Postgres, KeyType::Bigint) => "bigint",
            (Self::Postgres, KeyType::Uuid) => "uuid",
            (Self::Postgres, KeyType::Ulid) => "character varying(26)",
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
