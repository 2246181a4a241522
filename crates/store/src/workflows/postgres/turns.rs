//! Turns on `PostgreSQL`: many of them in one commit, by a few statements over all of them.
//!
//! Each statement says which instances it reached. A turn that one of its writes didn't reach was decided on rows that
//! have changed since: the transaction is rolled back, that turn is answered with a conflict, and the others are done
//! again without it. So each turn is done or not by itself, and what is nearly always the case costs four round trips.

mod batch;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use async_trait::async_trait;
use deadpool_postgres::Object;
use heddle_workflow::InstanceId;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row, Statement};

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
            Err(error) if round.len() > 1 && is_data(&error) => {
                for turn in round {
                    let done = together(database, turns, &[turn]).await;
                    answers[turn] =
                        Some(done.map(|done| done.into_iter().next().map_or(Committed::Conflict, |it| it.1)));
                }
            }
            Err(error) if is_data(&error) => answers[round[0]] = Some(Err(error)),
            Err(error) => return Err(error),
        }
        left = later;
    }
    Ok(answers.into_iter().map(|answer| answer.unwrap_or(Err(StoreError::Closed))).collect())
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
    let mut tries = 0;
    while !left.is_empty() {
        match attempt(database, turns, &left).await {
            Ok(outcome) => {
                // Whoever's start key was taken in the same moment finds it the next time.
                if outcome.iter().any(Option::is_none) {
                    tries += 1;
                }
                if tries > TRIES {
                    return Err(StoreError::Closed);
                }
                let all_done = outcome.iter().all(|answer| matches!(answer, Some(Committed::Done)));
                let mut again = Vec::new();
                for (turn, answer) in left.into_iter().zip(outcome) {
                    match answer {
                        Some(Committed::Done) if !all_done => again.push(turn),
                        Some(answer) => answers.push((turn, answer)),
                        None => again.push(turn),
                    }
                }
                left = again;
            }
            Err(StoreError::Backend { source, .. }) if tries < TRIES && is_interrupted(source.as_ref()) => {
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(answers)
}

/// One transaction. All of the turns are done, or none is; then those that would have been are said to be `Done` all
/// the same, and `None` stands for one that has to be tried again.
async fn attempt(
    database: &Database,
    turns: &[Turn],
    round: &[usize],
) -> Result<Vec<Option<Committed>>, StoreError> {
    let client = database.connections.lend().await?;
    let started = started(database, &client, turns, round).await?;
    let mut outcome: Vec<Option<Committed>> = round
        .iter()
        .map(|turn| {
            let key = turns[*turn].new.as_ref().and_then(|new| new.idempotency.as_ref());
            let first = key.and_then(|(digest, _)| started.get(digest)).cloned();
            Some(first.map_or(Committed::Done, Committed::Existing))
        })
        .collect();
    if outcome.iter().any(|answer| *answer != Some(Committed::Done)) {
        return Ok(outcome);
    }
    let counted: Vec<(usize, &Turn)> = round
        .iter()
        .map(|turn| &turns[*turn])
        .enumerate()
        .filter(|(_, turn)| turn.new.as_ref().is_some_and(|new| new.rate.is_some()))
        .collect();
    let batch = Batch::new(&database.tables, round.iter().map(|turn| &turns[*turn]));
    let mut undone = BTreeMap::new();
    let result = in_transaction(&client, database, &counted, &batch, &mut undone).await;
    let end = if result.is_ok() && undone.is_empty() { "COMMIT" } else { "ROLLBACK" };
    match (client.batch_execute(end).await.map_err(failed(COMMIT)), result) {
        (Ok(()), Ok(())) => {}
        (ended, result) => {
            if ended.is_err() {
                // Whatever state it is in, nobody else is to have it.
                drop(Object::take(client));
            }
            result?;
            ended?;
        }
    }
    for (place, answer) in undone {
        outcome[place] = answer;
    }
    Ok(outcome)
}

/// Runs the batch's statements. `undone`: the turns, by their place, that were not reached by all of their writes.
async fn in_transaction(
    client: &Object,
    database: &Database,
    counted: &[(usize, &Turn)],
    batch: &Batch<'_>,
    undone: &mut BTreeMap<usize, Option<Committed>>,
) -> Result<(), StoreError> {
    let first = batch.instances();
    let statements = prepared(client, database, &first).await?;
    count(client, database, counted, undone).await?;
    if !undone.is_empty() {
        return Ok(());
    }
    let begin = async {
        // Counting has begun the transaction itself.
        if counted.is_empty() { client.batch_execute("BEGIN").await } else { Ok(()) }
    };
    let (begun, rows, ()) = in_turn(begin, asked(client, &statements, &first), std::future::ready(())).await;
    begun.map_err(failed(COMMIT))?;
    let mut ids: HashMap<String, String> = HashMap::new();
    for rows in rows {
        ids.extend(rows.map_err(failed(COMMIT))?.iter().map(|row| (row.get(0), row.get(1))));
    }
    let instances: Vec<Option<String>> = batch.ulids().map(|ulid| ids.remove(ulid)).collect();
    for (place, _) in instances.iter().enumerate().filter(|(_, instance)| instance.is_none()) {
        undone.insert(place, Some(Committed::Conflict));
    }
    let Some(instances) = instances.into_iter().collect::<Option<Vec<String>>>() else { return Ok(()) };
    let rest = batch.rest(&instances);
    let statements = prepared(client, database, &rest).await?;
    let nothing = std::future::ready(());
    let ((), rows, ()) = in_turn(nothing, asked(client, &statements, &rest), std::future::ready(())).await;
    let places: HashMap<&str, usize> =
        instances.iter().enumerate().map(|(place, instance)| (instance.as_str(), place)).collect();
    for (asked, rows) in rest.iter().zip(rows) {
        let mut missing = asked.expected.clone();
        for row in rows.map_err(failed(COMMIT))? {
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

/// Counts the starts of definitions that have a rate. From here to the end of the transaction nobody else does.
async fn count(
    client: &Object,
    database: &Database,
    counted: &[(usize, &Turn)],
    undone: &mut BTreeMap<usize, Option<Committed>>,
) -> Result<(), StoreError> {
    if counted.is_empty() {
        return Ok(());
    }
    client.batch_execute("BEGIN").await.map_err(failed(COMMIT))?;
    let starts: Vec<_> = counted
        .iter()
        .filter_map(|(place, turn)| {
            let new = turn.new.as_ref()?;
            Some((*place, new.definition.0.as_str(), new.rate?, turn.plan.at))
        })
        .collect();
    let ids: Vec<&str> = starts.iter().map(|start| start.1).collect();
    query(client, &database.tables, COMMIT, definitions::COUNTING, &[&ids]).await?;
    for (place, definition, rate, now) in starts {
        let (since, others) = (system_time(rate.since(now)), i64::from(rate.count.saturating_sub(1)));
        let params: [&(dyn ToSql + Sync); 3] = [&definition, &since, &others];
        let rows = query(client, &database.tables, COMMIT, instances::LAST_START, &params).await?;
        let last = rows.first().and_then(|row| read::time(row, 0));
        let row = Place { table: "workflow_instances", id: "the last start".to_owned() };
        if let Some(last) = row.time("created_at", last)? {
            undone.insert(place, Some(Committed::Limited { again_at: rate.again_at(last) }));
        }
    }
    Ok(())
}

async fn prepared(
    client: &Object,
    database: &Database,
    asked: &[Asked<'_>],
) -> Result<Vec<Statement>, StoreError> {
    let mut statements = Vec::with_capacity(asked.len());
    for asked in asked {
        let sql = database.tables.sql(asked.statement);
        statements.push(client.prepare_cached(&sql).await.map_err(failed(COMMIT))?);
    }
    Ok(statements)
}

fn asked<'a>(
    client: &'a Object,
    statements: &'a [Statement],
    asked: &'a [Asked<'a>],
) -> impl Iterator<Item = impl Future<Output = Result<Vec<Row>, Error>> + 'a> {
    statements
        .iter()
        .zip(asked)
        .map(move |(statement, asked)| async move { client.query(statement, &asked.params()).await })
}

/// The first instances of the turns' start keys that still count, by key.
async fn started(
    database: &Database,
    client: &Object,
    turns: &[Turn],
    round: &[usize],
) -> Result<HashMap<String, InstanceId>, StoreError> {
    let (mut keys, mut times) = (Vec::new(), Vec::new());
    for turn in round.iter().map(|turn| &turns[*turn]) {
        if let Some((digest, _)) = turn.new.as_ref().and_then(|new| new.idempotency.as_ref()) {
            keys.push(digest.as_str());
            times.push(system_time(turn.plan.at));
        }
    }
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = query(client, &database.tables, COMMIT, idempotency_keys::STARTED, &[&keys, &times]).await?;
    rows.into_iter().map(|row| Ok((row.get(0), instance_id(row.get(1))?))).collect()
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

/// Whether the database gave way to another transaction: a deadlock, or a lock that was waited for too long.
fn is_interrupted(source: &(dyn std::error::Error + 'static)) -> bool {
    code(source).is_some_and(|code| matches!(code, "40001" | "40P01" | "55P03"))
}

/// Whether it is what was to be written that the database refuses: classes 22 and 23.
fn is_data(error: &StoreError) -> bool {
    let StoreError::Backend { source, .. } = error else { return false };
    code(source.as_ref()).is_some_and(|code| code.starts_with("22") || code.starts_with("23"))
}

fn code<'a>(source: &'a (dyn std::error::Error + 'static)) -> Option<&'a str> {
    source.downcast_ref::<Error>().and_then(Error::code).map(tokio_postgres::error::SqlState::code)
}
