//! From rows to [`Rows`].

use std::collections::HashMap;
use std::time::SystemTime;

use heddle_workflow::{InstanceId, InstanceRow, Rows, StepRow, Subject, WaitRecord};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::turns::in_turn;
use super::{Database, failed};
use crate::StoreError;
use crate::workflows::raw::{Place, RawInstance, RawStep, RawTime, RawWait};
use crate::workflows::sql::instances::postgres as instances;
use crate::workflows::sql::step_runs::postgres as step_runs;
use crate::workflows::sql::waits::postgres as waits;
use crate::workflows::{Key, Loaded};

const LOAD: &str = "read instances";

/// What came of one instance.
type Found = Result<Option<Loaded>, StoreError>;

/// Reads instances as of one moment, in one round trip.
pub(super) async fn load(database: &Database, ids: &[InstanceId]) -> Result<Vec<Found>, StoreError> {
    let client = database.connections.reserve().await?;
    let mut statements = Vec::new();
    for statement in [instances::GET, step_runs::OF_INSTANCES, waits::OF_INSTANCES] {
        let sql = database.tables.sql(statement);
        statements.push(client.prepare_cached(&sql).await.map_err(failed(LOAD))?);
    }
    let texts: Vec<&str> = ids.iter().map(InstanceId::as_str).collect();
    let params: [&(dyn ToSql + Sync); 1] = [&texts];
    let begin = client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    let queries = statements.iter().map(|statement| client.query(statement, &params));
    let (begun, read, ended) = in_turn(begin, queries, client.batch_execute("COMMIT")).await;
    begun.and(ended).map_err(failed(LOAD))?;
    client.release();
    let mut read = read.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed(LOAD))?.into_iter();
    let mut rows = || read.next().unwrap_or_default();
    let (found, steps, waits) = (rows(), by_instance(rows()), by_instance(rows()));
    let found: HashMap<String, Row> = found.into_iter().map(|row| (row.get(0), row)).collect();
    Ok(ids.iter().map(|id| one(id, found.get(id.as_str()), &steps, &waits)).collect())
}

fn by_instance(rows: Vec<Row>) -> HashMap<String, Vec<Row>> {
    let mut all: HashMap<String, Vec<Row>> = HashMap::new();
    for row in rows {
        all.entry(row.get(0)).or_default().push(row);
    }
    all
}

fn one(
    id: &InstanceId,
    found: Option<&Row>,
    steps: &HashMap<String, Vec<Row>>,
    waits: &HashMap<String, Vec<Row>>,
) -> Found {
    let Some(row) = found else { return Ok(None) };
    let instance: InstanceRow = raw_instance(row).check(id)?;
    let place = |table: &'static str| Place { table, id: id.to_string() };
    let of = |rows: &HashMap<String, Vec<Row>>| rows.get(id.as_str()).map_or(0, Vec::len);
    let mut rows =
        Rows { instance, steps: Vec::with_capacity(of(steps)), waits: Vec::with_capacity(of(waits)) };
    for row in steps.get(id.as_str()).into_iter().flatten() {
        let step: StepRow = raw_step(row).check(&place("workflow_step_runs"))?;
        rows.steps.push(step);
    }
    for row in waits.get(id.as_str()).into_iter().flatten() {
        let wait: WaitRecord = raw_wait(row).check(&place("workflow_waits"))?;
        rows.waits.push(wait);
    }
    Ok(Some(Loaded { version: Key(row.get(1)), rows }))
}

pub(super) fn time(row: &Row, column: usize) -> Option<RawTime> {
    row.get::<_, Option<SystemTime>>(column).map(RawTime::Time)
}

fn raw_instance(row: &Row) -> RawInstance {
    RawInstance {
        status: row.get(2),
        current_node: row.get(3),
        steps_count: row.get(4),
        depth: row.get(5),
        failure_code: row.get(6),
        failure_message: row.get(7),
        failed_node: row.get(8),
        ended_at: time(row, 9),
        lock_version: row.get(10),
        updated_at: RawTime::Time(row.get(11)),
        trigger: row.get(12),
        subject: Subject { key: row.get(13), kind: row.get(14), id: row.get(15) },
    }
}

fn raw_step(row: &Row) -> RawStep {
    RawStep {
        node: row.get(1),
        visit: row.get(2),
        attempt: row.get(3),
        node_type: row.get(4),
        status: row.get(5),
        idempotency_key: row.get(6),
        input: row.get(7),
        output: row.get(8),
        resume: row.get(9),
        outcome: row.get(10),
        error: (row.get(11), row.get(12), row.get(13)),
        claim: (row.get(14), time(row, 15)),
        scheduled_for: time(row, 16),
        started_at: time(row, 17),
        finished_at: time(row, 18),
    }
}

fn raw_wait(row: &Row) -> RawWait {
    RawWait {
        id: row.get(1),
        node: row.get(2),
        visit: row.get(3),
        attempt: row.get(4),
        kind: row.get(5),
        due_at: time(row, 6),
        event_key: row.get(7),
        matches: row.get(8),
        condition: row.get(9),
        payload: row.get(10),
        outcome: row.get(11),
        status: row.get(12),
        fired_at: time(row, 13),
    }
}
