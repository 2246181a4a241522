//! `workflow_definitions` and `workflow_versions` on `PostgreSQL`.

use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use heddle_workflow::{SCHEMA_VERSION, columns};
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::{Database, WorkflowPostgres, failed, system_time};
use crate::StoreError;
use crate::workflows::columns::{check_morph, halves};
use crate::workflows::raw::RawVersion;
use crate::workflows::sql::definitions::postgres as definitions;
use crate::workflows::sql::versions::postgres as versions;
use crate::workflows::tables::Tables;
use crate::workflows::{Key, NewVersion, PublishError, Publishing, Version, owner_scope};

const READ: &str = "read a version";
const PUBLISH: &str = "publish a version";

#[async_trait]
impl Publishing for WorkflowPostgres {
    async fn publish(&self, version: &NewVersion, now: Timestamp) -> Result<Version, PublishError> {
        let version = version.clone();
        let published = self.apart(move |database| async move { publish(&database, &version, now).await });
        published.await?.map_err(|present| PublishError::Changed { present })
    }

    async fn current_key(&self, owner_scope: &str, key: &str) -> Result<Option<(Key, Key)>, StoreError> {
        let (scope, key) = (owner_scope.to_owned(), key.to_owned());
        self.apart(move |database| async move {
            let rows = database.query(READ, definitions::CURRENT_KEY, &[&scope, &key]).await?;
            Ok(rows.first().map(|row| (Key(row.get(0)), Key(row.get(1)))))
        })
        .await
    }

    async fn version(&self, version: &Key) -> Result<Option<Version>, StoreError> {
        let id = version.0.clone();
        self.apart(move |database| async move { one(database.query(READ, versions::GET, &[&id]).await?) })
            .await
    }
}

fn one(rows: Vec<Row>) -> Result<Option<Version>, StoreError> {
    rows.into_iter().next().map(|row| raw(&row).check()).transpose()
}

fn raw(row: &Row) -> RawVersion {
    RawVersion {
        id: row.get(0),
        definition: row.get(1),
        number: row.get(2),
        graph: row.get(3),
        checksum: row.get(4),
        actor_mode: row.get(5),
    }
}

/// The version; or the current one's checksum, where it is not the expected one.
async fn publish(
    database: &Arc<Database>,
    version: &NewVersion,
    now: Timestamp,
) -> Result<Result<Version, String>, StoreError> {
    let tables = &database.tables;
    let keys = tables.schema.keys();
    check_morph("workflow_definitions", "owner_id", keys.owner, version.owner.as_ref())?;
    check_morph("workflow_versions", "publisher_id", keys.morph, version.publisher.as_ref())?;
    let mut client = database.connections.lend().await?;
    let transaction = client.transaction().await.map_err(failed(PUBLISH))?;
    let at = system_time(now);
    let scope = owner_scope(version.owner.as_ref());
    let (owner_type, owner) = halves(version.owner.as_ref());
    let id = tables.keys.next(keys.primary, now).map(|key| key.0);
    // Whoever publishes the same key at the same time waits here, and then sees what the first one did.
    let new: [&(dyn ToSql + Sync); 7] = [&id, &version.key, &version.name, &owner_type, &owner, &scope, &at];
    run(&transaction, tables, definitions::INSERT, &new).await?;
    let held = run(&transaction, tables, definitions::HOLD, &[&scope, &version.key]).await?;
    let held = held
        .first()
        .ok_or(StoreError::ChangedMeanwhile { table: "workflow_definitions", id: version.key.clone() })?;
    let (definition, current): (String, Option<String>) = (held.get(0), held.get(1));
    let current = match current {
        Some(id) => one(run(&transaction, tables, versions::GET, &[&id]).await?)?,
        None => None,
    };
    let present = current.as_ref().map_or("", |current| current.checksum.as_str());
    if version.expected_checksum.as_deref().is_some_and(|expected| expected != present) {
        return Ok(Err(present.to_owned()));
    }
    if let Some(current) = current.as_ref().filter(|current| current.checksum == version.checksum) {
        return Ok(Ok(current.clone()));
    }
    let id = tables.keys.next(keys.primary, now).map(|key| key.0);
    let (publisher_type, publisher) = halves(version.publisher.as_ref());
    let (trigger, settings) = columns(&version.document);
    let (graph, trigger, settings) =
        (version.document.to_string(), trigger.to_string(), settings.to_string());
    let new: [&(dyn ToSql + Sync); 13] = [
        &id,
        &definition,
        &SCHEMA_VERSION,
        &graph,
        &trigger,
        &settings,
        &version.trigger.0,
        &version.trigger.1,
        &version.actor_mode.name(),
        &version.checksum,
        &publisher_type,
        &publisher,
        &at,
    ];
    let id: String = run(&transaction, tables, versions::INSERT, &new)
        .await?
        .first()
        .map_or_else(String::new, |row| row.get(0));
    if let Some(before) = current {
        run(&transaction, tables, versions::SUPERSEDE, &[&before.id.0, &at]).await?;
    }
    run(&transaction, tables, definitions::SET_CURRENT, &[&definition, &id, &at]).await?;
    let published = one(run(&transaction, tables, versions::GET, &[&id]).await?)?;
    transaction.commit().await.map_err(failed(PUBLISH))?;
    published.map(Ok).ok_or(StoreError::Closed)
}

async fn run(
    transaction: &Transaction<'_>,
    tables: &Tables,
    statement: &'static str,
    params: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, StoreError> {
    let statement = transaction.prepare_cached(&tables.sql(statement)).await.map_err(failed(PUBLISH))?;
    transaction.query(&statement, params).await.map_err(failed(PUBLISH))
}
