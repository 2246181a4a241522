//! Turns on `PostgreSQL`: many of them in one commit, by a few statements over all of them.
//!
//! Each statement says which instances it reached. A turn that one of its writes didn't reach was decided on rows that
//! have changed since: the transaction is rolled back, that turn is answered with a conflict, and the others are done
//! again without it. So each turn is done or not by itself, and what is nearly always the case costs four round trips.

mod batch;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::{Future, poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::SystemTime;

use async_trait::async_trait;
use deadpool_postgres::Object;
use heddle_workflow::InstanceId;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::{Database, WorkflowPostgres, failed, query, read, system_time};
use crate::StoreError;
use crate::workflows::columns::check_keys;
use crate::workflows::raw::{Place, instance_id};
use crate::workflows::sql::definitions::postgres as definitions;
use crate::workflows::sql::idempotency_keys::postgres as idempotency_keys;
use crate::workflows::sql::instances::postgres as instances;
use crate::workflows::sql::waits::postgres as waits;
use crate::workflows::{Committed, Loaded, Morph, Turn, Turns};
use batch::{Asked, Batch};

const COMMIT: &str = "commit turns";
/// How often turns are tried when the database ends their transaction in favour of another one's.
const TRIES: usize = 8;

/// What came of one turn.
type Answer = Result<Committed, StoreError>;

#[async_trait]
impl Turns for WorkflowPostgres {
    async fn load_all(
        &self,
        ids: &[InstanceId],
    ) -> Result<Vec<Result<Option<Loaded>, StoreError>>, StoreError> {
        let ids = ids.to_vec();
        self.apart(move |database| async move { read::load(&database, &ids).await }).await
    }

    async fn commit(&self, turns: Vec<Turn>) -> Result<Vec<Answer>, StoreError> {
        self.apart(move |database| async move { commit(&database, &turns).await }).await
    }

    async fn waiting_for(
        &self,
        owner: Option<&Morph>,
        event_key: &str,
        after: Option<&InstanceId>,
        limit: u16,
    ) -> Result<Vec<InstanceId>, StoreError> {
        let event_key = event_key.to_owned();
        let (owner_type, owner) = owner.map(|owner| (owner.kind.clone(), owner.id.clone())).unzip();
        let after = after.map_or_else(String::new, ToString::to_string);
        self.apart(move |database| async move {
            let params: [&(dyn ToSql + Sync); 5] =
                [&event_key, &after, &i64::from(limit), &owner_type, &owner];
            let rows = database.query("find who waits for an event", waits::WAITING_FOR, &params).await?;
            rows.iter().map(|row| instance_id(row.get(0))).collect()
        })
        .await
    }
}

async fn commit(database: &Arc<Database>, turns: &[Turn]) -> Result<Vec<Answer>, StoreError> {
    let keys = database.tables.schema.keys();
    let mut answers: Vec<Option<Answer>> = Vec::with_capacity(turns.len());
    answers.extend(turns.iter().map(|turn| check_keys(turn, keys).err().map(Err)));
    let mut left: Vec<usize> = (0..turns.len()).filter(|turn| answers[*turn].is_none()).collect();
    while !left.is_empty() {
        let (round, later) = round(turns, &left);
        match together(database, turns, &round).await {
            Ok(done) => done.into_iter().for_each(|(turn, answer)| answers[turn] = Some(Ok(answer))),
            // One of them is at fault; which one shows when each is done by itself.
            Err(error) if is_data(&error) => {
                for turn in round {
                    let done = together(database, turns, &[turn]).await;
                    answers[turn] =
                        Some(done.map(|mut done| done.pop().map_or(Committed::Conflict, |it| it.1)));
                }
            }
            Err(error) => return Err(error),
        }
        left = later;
    }
    Ok(answers.into_iter().map(|answer| answer.unwrap_or(Ok(Committed::Conflict))).collect())
}

/// Turns that don't stand in each other's way, in the order of their instances, so that two processes seldom wait for
/// each other crosswise; and those that have to come after them.
fn round(turns: &[Turn], left: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut taken = BTreeSet::new();
    let (mut round, later): (Vec<usize>, Vec<usize>) = left.iter().partition(|turn| {
        let turn = &turns[**turn];
        let digest = turn.new.as_ref().and_then(|new| new.idempotency.as_ref()).map(|key| key.0.as_str());
        let counted = turn.new.as_ref().filter(|new| new.rate.is_some()).map(|new| new.definition.0.as_str());
        let names = [Some(turn.plan.row.id.as_str()), digest, counted];
        let free = names.iter().flatten().all(|name| !taken.contains(name));
        taken.extend(names.into_iter().flatten());
        free
    });
    round.sort_by(|one, other| turns[*one].plan.row.id.cmp(&turns[*other].plan.row.id));
    (round, later)
}

/// Performs turns in one transaction; what came of each.
async fn together(
    database: &Database,
    turns: &[Turn],
    round: &[usize],
) -> Result<Vec<(usize, Committed)>, StoreError> {
    let mut left = round.to_vec();
    let mut answers = Vec::with_capacity(round.len());
    let (mut tries, mut careful) = (0, false);
    while !left.is_empty() {
        let those: Vec<&Turn> = left.iter().map(|turn| &turns[*turn]).collect();
        let mut undone = match attempt(database, &those, careful).await {
            Ok(undone) => undone,
            Err(error) if tries < TRIES && is_interrupted(&error) => {
                tries += 1;
                continue;
            }
            // Somebody holds one of the rows, and doesn't let go of it: the others need not wait for that.
            Err(error) if !careful && code(&error) == Some(LOCK_NOT_AVAILABLE) => {
                careful = true;
                continue;
            }
            Err(error) => return Err(error),
        };
        let all_done = undone.is_empty();
        tries += usize::from(undone.values().any(Option::is_none));
        let mut again = Vec::new();
        for (place, turn) in left.into_iter().enumerate() {
            match undone.remove(&place) {
                None if all_done => answers.push((turn, Committed::Done)),
                // Whoever's start key was taken in the same moment finds it the next time.
                None => again.push(turn),
                Some(None) if tries <= TRIES => again.push(turn),
                Some(answer) => answers.push((turn, answer.unwrap_or(Committed::Conflict))),
            }
        }
        left = again;
    }
    Ok(answers)
}

/// The turns of a transaction, by their place, that were not done, and what is to be said of each; `None`: that it has to
/// be tried again. Where there is one, nothing is written, of none of them.
type NotDone = BTreeMap<usize, Option<Committed>>;

/// One transaction.
async fn attempt(database: &Database, turns: &[&Turn], careful: bool) -> Result<NotDone, StoreError> {
    let batch = Batch::new(&database.tables, turns);
    let transaction = database.connections.begin().await?;
    let mut undone = NotDone::new();
    let written = write(&transaction, database, turns, &batch, careful, &mut undone).await;
    if written.is_ok() && undone.is_empty() {
        transaction.commit().await?;
    } else {
        transaction.roll_back().await?;
    }
    written.map(|()| undone)
}

/// Writes the turns, as long as there is nothing against one of them.
async fn write(
    client: &Object,
    database: &Database,
    turns: &[&Turn],
    batch: &Batch<'_>,
    careful: bool,
    undone: &mut NotDone,
) -> Result<(), StoreError> {
    if careful {
        leave_out_what_is_locked(client, database, turns, undone).await?;
    }
    check_starts(client, database, turns, undone).await?;
    if !undone.is_empty() {
        return Ok(());
    }
    let first = batch.instances();
    let mut ids: HashMap<String, String> = HashMap::new();
    for rows in run(client, database, &first).await? {
        ids.extend(rows.iter().map(|row| (row.get(0), row.get(1))));
    }
    let instances: Vec<Option<String>> =
        turns.iter().map(|turn| ids.remove(turn.plan.row.id.as_str())).collect();
    for (place, _) in instances.iter().enumerate().filter(|(_, instance)| instance.is_none()) {
        undone.insert(place, Some(Committed::Conflict));
    }
    let Some(instances) = instances.into_iter().collect::<Option<Vec<String>>>() else { return Ok(()) };
    let places: HashMap<&str, usize> =
        instances.iter().enumerate().map(|(place, instance)| (instance.as_str(), place)).collect();
    let rest = batch.rest(&instances);
    for (asked, rows) in rest.iter().zip(run(client, database, &rest).await?) {
        let mut missing = asked.expected.clone();
        for row in rows {
            if let Some(place) = places.get(row.get::<_, &str>(0)) {
                missing.entry(*place).and_modify(|count| *count -= 1);
            }
        }
        for (place, _) in missing.into_iter().filter(|(_, count)| *count != 0) {
            undone.insert(place, (!asked.is_start_key).then_some(Committed::Conflict));
        }
    }
    Ok(())
}

/// Takes hold of the instances that nobody else holds; the others' turns are not done.
async fn leave_out_what_is_locked(
    client: &Object,
    database: &Database,
    turns: &[&Turn],
    undone: &mut NotDone,
) -> Result<(), StoreError> {
    let there = || turns.iter().enumerate().filter(|(_, turn)| turn.new.is_none());
    let ids: Vec<&str> = there().map(|(_, turn)| turn.plan.row.id.as_str()).collect();
    let rows = query(client, &database.tables, COMMIT, instances::HOLD_FREE, &[&ids]).await?;
    let free: BTreeSet<&str> = rows.iter().map(|row| row.get(0)).collect();
    for (place, turn) in there() {
        if !free.contains(turn.plan.row.id.as_str()) {
            undone.insert(place, Some(Committed::Conflict));
        }
    }
    Ok(())
}

/// Whether new instances may start: their keys are new, and the rates of their definitions are not used up. From here to
/// the end of the transaction nobody else starts one of a definition that has a rate.
async fn check_starts(
    client: &Object,
    database: &Database,
    turns: &[&Turn],
    undone: &mut NotDone,
) -> Result<(), StoreError> {
    let starts =
        || turns.iter().enumerate().filter_map(|(place, turn)| Some((place, turn, turn.new.as_ref()?)));
    let counted = || starts().filter_map(|(place, turn, new)| Some((place, turn, new, new.rate?)));
    let ids: Vec<&str> = counted().map(|(_, _, new, _)| new.definition.0.as_str()).collect();
    if !ids.is_empty() {
        query(client, &database.tables, COMMIT, definitions::COUNTING, &[&ids]).await?;
    }
    let keyed =
        || starts().filter_map(|(place, turn, new)| Some((place, turn, &new.idempotency.as_ref()?.0)));
    let keys: Vec<&str> = keyed().map(|(_, _, digest)| digest.as_str()).collect();
    if !keys.is_empty() {
        let times: Vec<SystemTime> = keyed().map(|(_, turn, _)| system_time(turn.plan.at)).collect();
        let rows =
            query(client, &database.tables, COMMIT, idempotency_keys::STARTED, &[&keys, &times]).await?;
        let started: HashMap<&str, &str> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        for (place, _, digest) in keyed() {
            if let Some(first) = started.get(digest.as_str()) {
                undone.insert(place, Some(Committed::Existing(instance_id((*first).to_owned())?)));
            }
        }
    }
    for (place, turn, new, rate) in counted() {
        if undone.contains_key(&place) {
            continue;
        }
        let since = system_time(rate.since(turn.plan.at));
        let others = i64::from(rate.count.saturating_sub(1));
        let params: [&(dyn ToSql + Sync); 3] = [&new.definition.0, &since, &others];
        let rows = query(client, &database.tables, COMMIT, instances::LAST_START, &params).await?;
        let last = rows.first().and_then(|row| read::time(row, 0));
        let row = Place { table: "workflow_instances", id: "the last start".to_owned() };
        if let Some(last) = row.time("created_at", last)? {
            undone.insert(place, Some(Committed::Limited { again_at: rate.again_at(last) }));
        }
    }
    Ok(())
}

/// Runs statements one behind the other, without waiting for an answer before the next one.
async fn run(client: &Object, database: &Database, asked: &[Asked<'_>]) -> Result<Vec<Vec<Row>>, StoreError> {
    let mut statements = Vec::with_capacity(asked.len());
    for asked in asked {
        let sql = database.tables.sql(asked.statement);
        statements.push(client.prepare_cached(&sql).await.map_err(failed(COMMIT))?);
    }
    let queries = statements
        .iter()
        .zip(asked)
        .map(|(statement, asked)| async move { client.query(statement, &asked.params()).await });
    let ((), rows, ()) = in_turn(ready(()), queries, ready(())).await;
    rows.into_iter().collect::<Result<_, _>>().map_err(failed(COMMIT))
}

/// Runs futures side by side that are begun in order: their requests go out one behind the other without waiting for
/// answers, which come in the same order.
pub(super) async fn in_turn<B: Future, F: Future, E: Future>(
    begin: B,
    middle: impl Iterator<Item = F>,
    end: E,
) -> (B::Output, Vec<F::Output>, E::Output) {
    let (mut begin, mut end) = (pin!(begin), pin!(end));
    let mut middle: Vec<_> = middle.map(|future| (Box::pin(future), None)).collect();
    let (mut begun, mut ended) = (None, None);
    poll_fn(|context| {
        if begun.is_none()
            && let Poll::Ready(output) = begin.as_mut().poll(context)
        {
            begun = Some(output);
        }
        for (future, output) in middle.iter_mut().filter(|(_, output)| output.is_none()) {
            if let Poll::Ready(ready) = future.as_mut().poll(context) {
                *output = Some(ready);
            }
        }
        if ended.is_none()
            && let Poll::Ready(output) = end.as_mut().poll(context)
        {
            ended = Some(output);
        }
        if middle.iter().any(|(_, output)| output.is_none()) {
            return Poll::Pending;
        }
        match (begun.take(), ended.take()) {
            (Some(begun), Some(ended)) => {
                Poll::Ready((begun, middle.drain(..).filter_map(|(_, output)| output).collect(), ended))
            }
            (not_yet, nor_yet) => {
                (begun, ended) = (not_yet, nor_yet);
                Poll::Pending
            }
        }
    })
    .await
}

/// What the database says where a row is held for longer than anybody should wait.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Whether the database gave way to another transaction.
fn is_interrupted(error: &StoreError) -> bool {
    code(error).is_some_and(|code| matches!(code, "40001" | "40P01"))
}

/// Whether it is what was to be written that the database refuses: classes 22 and 23.
fn is_data(error: &StoreError) -> bool {
    code(error).is_some_and(|code| code.starts_with("22") || code.starts_with("23"))
}

/// The SQLSTATE of a failure, if it is the database's own.
fn code(error: &StoreError) -> Option<&str> {
    let StoreError::Backend { source, .. } = error else { return None };
    source.downcast_ref::<Error>().and_then(Error::code).map(tokio_postgres::error::SqlState::code)
}
