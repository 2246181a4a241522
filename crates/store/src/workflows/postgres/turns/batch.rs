//! The statements of a batch of turns: each over all rows of one kind, in an order that every turn's own writes allow.

use std::collections::BTreeMap;
use std::time::SystemTime;

use heddle_workflow::{NodeId, Outcome, StepKey, StepRow};
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::super::system_time;
use crate::workflows::columns::{
    AddWait, Change, ChangeWait, MoveStep, failure, halves, shared_text, subject, text,
};
use crate::workflows::sql::idempotency_keys::postgres as idempotency_keys;
use crate::workflows::sql::instances::postgres as instances;
use crate::workflows::sql::step_runs::postgres as step_runs;
use crate::workflows::sql::waits::postgres as waits;
use crate::workflows::tables::Tables;
use crate::workflows::{NewInstance, Turn};

/// A column's values.
type Column<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// A statement that is to be run.
pub(super) struct Asked<'a> {
    pub(super) statement: &'static str,
    columns: Vec<Column<'a>>,
    /// How many rows of which turn it must reach.
    pub(super) expected: BTreeMap<usize, i32>,
    /// Whether what it doesn't reach was taken by another start with the same key.
    pub(super) is_start_key: bool,
}

impl Asked<'_> {
    pub(super) fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.columns.iter().map(|column| -> &(dyn ToSql + Sync) { column.as_ref() }).collect()
    }
}

/// A row to be written.
struct RowOf<T> {
    /// Its turn, by place.
    turn: usize,
    at: SystemTime,
    /// Its key, where it is new and the database makes none.
    id: Option<String>,
    what: T,
}

/// Rows that may be written kind by kind, in the order of the fields.
#[derive(Default)]
struct Stage<'a> {
    changes: Vec<RowOf<ChangeWait<'a>>>,
    used: Vec<RowOf<&'a str>>,
    moves: Vec<RowOf<MoveStep<'a>>>,
    opened: Vec<RowOf<Box<StepRow>>>,
    added: Vec<RowOf<AddWait<'a>>>,
    closed: Vec<RowOf<()>>,
}

/// Turns of different instances, and what they write.
pub(super) struct Batch<'a> {
    tables: &'a Tables,
    turns: Vec<&'a Turn>,
    stages: Vec<Stage<'a>>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(tables: &'a Tables, turns: &[&'a Turn]) -> Self {
        let mut batch = Self { tables, turns: turns.to_vec(), stages: Vec::new() };
        for (place, turn) in turns.iter().enumerate() {
            batch.add(place, turn);
        }
        batch
    }

    /// Puts a turn's writes into the earliest stages that keep their order.
    fn add(&mut self, turn: usize, what: &'a Turn) {
        let now = what.plan.at;
        let at = system_time(now);
        let (mut stage, mut last) = (0, None);
        for write in &what.plan.writes {
            let change = Change::of(write, now);
            let kind = kind(&change);
            // A row may be changed once by a statement; several new ones may come together.
            if last.is_some_and(|last| kind < last || (kind == last && kind <= MOVE)) {
                stage += 1;
            }
            last = Some(kind);
            if self.stages.len() <= stage {
                self.stages.resize_with(stage + 1, Stage::default);
            }
            let id =
                if matches!(change, Change::Open(_) | Change::AddWait(_)) { self.new_key(now) } else { None };
            let stage = &mut self.stages[stage];
            match change {
                Change::ChangeWait(what) => {
                    stage.changes.push(RowOf { turn, at, id, what });
                }
                Change::UseSignal(signal) => {
                    stage.used.push(RowOf { turn, at, id, what: signal.as_str() });
                }
                Change::Move(what) => stage.moves.push(RowOf { turn, at, id, what }),
                Change::Open(what) => stage.opened.push(RowOf { turn, at, id, what }),
                Change::AddWait(what) => stage.added.push(RowOf { turn, at, id, what }),
                Change::CloseWaits => stage.closed.push(RowOf { turn, at, id, what: () }),
            }
        }
    }

    fn new_key(&self, now: Timestamp) -> Option<String> {
        self.tables.keys.next(self.tables.schema.keys().primary, now).map(|key| key.0)
    }

    /// The statements on the instances' own rows, which say what keys those have.
    pub(super) fn instances(&self) -> Vec<Asked<'a>> {
        let turns: Vec<&Turn> = self.turns.iter().copied().filter(|turn| turn.new.is_none()).collect();
        let starts: Vec<(Option<String>, &NewInstance, &Turn)> = self
            .turns
            .iter()
            .filter_map(|turn| turn.new.as_ref().map(|new| (self.new_key(turn.plan.at), new, *turn)))
            .collect();
        let mut asked = Vec::new();
        if !turns.is_empty() {
            asked.push(turned(&turns));
        }
        if !starts.is_empty() {
            asked.push(begun(&starts));
        }
        asked
    }

    /// The other statements, in their order. `instances`: the instances' keys, in the order of the turns.
    pub(super) fn rest(&self, instances: &'a [String]) -> Vec<Asked<'_>> {
        let mut asked = Vec::new();
        asked.extend(self.start_keys(instances));
        for stage in &self.stages {
            asked.extend(stage.changed(instances));
            asked.extend(stage.used(instances));
            asked.extend(stage.moved(instances));
            asked.extend(stage.opened(instances));
            asked.extend(stage.added(instances));
            asked.extend(stage.closed(instances));
        }
        asked
    }

    fn start_keys(&self, instances: &'a [String]) -> Option<Asked<'_>> {
        let keys: Vec<_> = self
            .turns
            .iter()
            .enumerate()
            .filter_map(|(place, turn)| {
                let new = turn.new.as_ref()?;
                let (digest, until) = new.idempotency.as_ref()?;
                Some((place, self.new_key(turn.plan.at), new, digest, *until, turn.plan.at))
            })
            .collect();
        let expected: BTreeMap<usize, i32> = keys.iter().map(|key| (key.0, 1)).collect();
        (!keys.is_empty()).then(|| Asked {
            statement: idempotency_keys::START,
            columns: vec![
                each(&keys, |key| key.1.clone()),
                each(&keys, |key| key.3.as_str()),
                each(&keys, |key| key.2.definition.0.as_str()),
                each(&keys, |key| instances[key.0].as_str()),
                each(&keys, |key| system_time(key.4)),
                each(&keys, |key| system_time(key.5)),
            ],
            expected,
            is_start_key: true,
        })
    }
}

const MOVE: u8 = 2;

/// The kinds of writes, in the order of a stage's fields.
const fn kind(change: &Change<'_>) -> u8 {
    match change {
        Change::ChangeWait(_) => 0,
        Change::UseSignal(_) => 1,
        Change::Move(_) => MOVE,
        Change::Open(_) => 3,
        Change::AddWait(_) => 4,
        Change::CloseWaits => 5,
    }
}

/// A column of all rows.
fn each<'a, T, C: ToSql + Sync + Send + 'a>(rows: &[T], column: impl Fn(&T) -> C) -> Column<'a>
where
    Vec<C>: ToSql,
{
    Box::new(rows.iter().map(column).collect::<Vec<C>>())
}

fn asked<'a, T>(statement: &'static str, rows: &[RowOf<T>], columns: Vec<Column<'a>>) -> Option<Asked<'a>> {
    let mut expected = BTreeMap::new();
    for row in rows {
        *expected.entry(row.turn).or_insert(0) += 1;
    }
    (!rows.is_empty()).then_some(Asked { statement, columns, expected, is_start_key: false })
}

/// The columns that name rows' steps: instance, node, visit, attempt.
fn steps<'a, T>(
    rows: &[RowOf<T>],
    instances: &'a [String],
    key: impl Fn(&T) -> &'a StepKey,
) -> [Column<'a>; 4] {
    [
        each(rows, |row| instances[row.turn].as_str()),
        each(rows, |row| key(&row.what).node.as_str()),
        each(rows, |row| i64::from(key(&row.what).visit)),
        each(rows, |row| i64::from(key(&row.what).attempt)),
    ]
}

fn some_time(at: Option<Timestamp>) -> Option<SystemTime> {
    at.map(system_time)
}

impl Stage<'_> {
    fn changed<'a>(&'a self, instances: &'a [String]) -> Option<Asked<'a>> {
        let rows = &self.changes;
        let [instance, node, visit, attempt] = steps(rows, instances, |what| what.key);
        let columns = vec![
            instance,
            node,
            visit,
            attempt,
            each(rows, |row| row.what.status),
            each(rows, |row| some_time(row.what.due_at)),
            each(rows, |row| row.what.payload.as_deref().map(str::to_owned)),
            each(rows, |row| some_time(row.what.fired_at)),
            each(rows, |row| row.at),
        ];
        asked(waits::CHANGE, rows, columns)
    }

    fn used<'a>(&'a self, instances: &'a [String]) -> Option<Asked<'a>> {
        let rows = &self.used;
        let columns = vec![
            each(rows, |row| row.what),
            each(rows, |row| instances[row.turn].as_str()),
            each(rows, |row| row.at),
        ];
        asked(waits::USE_SIGNAL, rows, columns)
    }

    fn moved<'a>(&'a self, instances: &'a [String]) -> Option<Asked<'a>> {
        let rows = &self.moves;
        let [instance, node, visit, attempt] = steps(rows, instances, |what| what.key);
        let columns = vec![
            instance,
            node,
            visit,
            attempt,
            each(rows, |row| row.what.seen.name()),
            each(rows, |row| row.what.token),
            each(rows, |row| row.what.status.name()),
            each(rows, |row| some_time(row.what.scheduled_for)),
            each(rows, |row| row.what.resume.clone()),
            each(rows, |row| row.what.outcome),
            each(rows, |row| row.what.output.clone()),
            each(rows, |row| row.what.failure.map(|failure| failure.code.as_str())),
            each(rows, |row| row.what.failure.map(|failure| failure.message.as_str())),
            each(rows, |row| row.what.failure.map(|failure| failure.retryable)),
            each(rows, |row| some_time(row.what.finished_at)),
            each(rows, |row| row.at),
        ];
        asked(step_runs::MOVE, rows, columns)
    }

    fn opened<'a>(&'a self, instances: &'a [String]) -> Option<Asked<'a>> {
        let rows = &self.opened;
        let columns = vec![
            each(rows, |row| row.id.clone()),
            each(rows, |row| instances[row.turn].as_str()),
            each(rows, |row| row.what.key.node.as_str().to_owned()),
            each(rows, |row| i64::from(row.what.key.visit)),
            each(rows, |row| i64::from(row.what.key.attempt)),
            each(rows, |row| row.what.node_type.clone()),
            each(rows, |row| row.what.status.name()),
            each(rows, |row| row.what.idempotency_key.clone()),
            each(rows, |row| shared_text(row.what.input.as_ref())),
            each(rows, |row| text(row.what.output.as_ref())),
            each(rows, |row| shared_text(row.what.resume.as_ref())),
            each(rows, |row| row.what.outcome.as_ref().map(Outcome::as_str).map(str::to_owned)),
            each(rows, |row| row.what.failure.as_ref().map(|failure| failure.code.as_str().to_owned())),
            each(rows, |row| row.what.failure.as_ref().map(|failure| failure.message.clone())),
            each(rows, |row| row.what.failure.as_ref().map(|failure| failure.retryable)),
            each(rows, |row| row.what.claim.as_ref().map(|(token, _)| token.as_str().to_owned())),
            each(rows, |row| row.what.claim.as_ref().map(|(_, until)| system_time(*until))),
            each(rows, |row| some_time(row.what.scheduled_for)),
            each(rows, |row| some_time(row.what.started_at)),
            each(rows, |row| some_time(row.what.finished_at)),
            each(rows, |row| row.at),
        ];
        asked(step_runs::INSERT, rows, columns)
    }

    fn added<'a>(&'a self, instances: &'a [String]) -> Option<Asked<'a>> {
        let rows = &self.added;
        let [instance, node, visit, attempt] = steps(rows, instances, |what| what.key);
        let columns = vec![
            each(rows, |row| row.id.clone()),
            instance,
            node,
            visit,
            attempt,
            each(rows, |row| row.what.kind),
            each(rows, |row| some_time(row.what.due_at)),
            each(rows, |row| row.what.event_key.map(str::to_owned)),
            each(rows, |row| row.what.matches.clone()),
            each(rows, |row| row.what.condition.clone()),
            each(rows, |row| row.what.payload.clone()),
            each(rows, |row| row.what.outcome),
            each(rows, |row| row.what.status),
            each(rows, |row| some_time(row.what.fired_at)),
            each(rows, |row| row.at),
        ];
        asked(waits::INSERT, rows, columns)
    }

    fn closed<'a>(&'a self, instances: &'a [String]) -> Option<Asked<'a>> {
        let rows = &self.closed;
        let columns = vec![each(rows, |row| instances[row.turn].as_str()), each(rows, |row| row.at)];
        // There may be nothing open.
        let expected = BTreeMap::new();
        (!rows.is_empty()).then_some(Asked {
            statement: waits::CLOSE,
            columns,
            expected,
            is_start_key: false,
        })
    }
}

/// Turns of instances that are there.
fn turned<'a>(turns: &[&'a Turn]) -> Asked<'a> {
    let row = |turn: &&'a Turn| &turn.plan.row;
    let columns = vec![
        each(turns, |turn| row(turn).id.as_str()),
        // A turn on nothing is none: no row has this version.
        each(turns, |turn| turn.plan.guard().map_or(-1, i64::from)),
        each(turns, |turn| row(turn).status.name()),
        each(turns, |turn| row(turn).current_node.as_ref().map(NodeId::as_str)),
        each(turns, |turn| i64::from(row(turn).steps_count)),
        each(turns, |turn| failure(row(turn)).0),
        each(turns, |turn| failure(row(turn)).1),
        each(turns, |turn| failure(row(turn)).2),
        each(turns, |turn| some_time(row(turn).ended_at)),
        each(turns, |turn| system_time(turn.plan.at)),
    ];
    Asked { statement: instances::TURN, columns, expected: BTreeMap::new(), is_start_key: false }
}

/// New instances.
fn begun<'a>(starts: &[(Option<String>, &'a NewInstance, &'a Turn)]) -> Asked<'a> {
    type Start<'a> = (Option<String>, &'a NewInstance, &'a Turn);
    let new = |start: &Start<'a>| start.1;
    let row = |start: &Start<'a>| &start.2.plan.row;
    let columns = vec![
        each(starts, |start| start.0.clone()),
        each(starts, |start| row(start).id.as_str()),
        each(starts, |start| new(start).definition.0.as_str()),
        each(starts, |start| new(start).version.0.as_str()),
        each(starts, |start| halves(new(start).owner.as_ref()).0),
        each(starts, |start| halves(new(start).owner.as_ref()).1),
        each(starts, |start| subject(row(start))[0]),
        each(starts, |start| subject(row(start))[1]),
        each(starts, |start| subject(row(start))[2]),
        each(starts, |start| new(start).trigger.0.as_str()),
        each(starts, |start| new(start).trigger.1.as_deref()),
        each(starts, |start| row(start).trigger.to_string()),
        each(starts, |start| new(start).idempotency.as_ref().map(|key| key.0.as_str())),
        each(starts, |start| new(start).actor_mode.name()),
        each(starts, |start| halves(new(start).starter.as_ref()).0),
        each(starts, |start| halves(new(start).starter.as_ref()).1),
        each(starts, |start| i64::from(row(start).depth)),
        each(starts, |start| row(start).status.name()),
        each(starts, |start| row(start).current_node.as_ref().map(NodeId::as_str)),
        each(starts, |start| i64::from(row(start).steps_count)),
        each(starts, |start| failure(row(start)).0),
        each(starts, |start| failure(row(start)).1),
        each(starts, |start| failure(row(start)).2),
        each(starts, |start| some_time(row(start).ended_at)),
        each(starts, |start| system_time(start.2.plan.at)),
    ];
    Asked { statement: instances::INSERT, columns, expected: BTreeMap::new(), is_start_key: false }
}
