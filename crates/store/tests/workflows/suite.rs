//! What every store of workflows does.

mod reading;

use std::sync::Arc;

use heddle_store::StoreError;
use heddle_store::workflows::{
    Actors, ClaimRef, Committed, Due, KeyType, KeyTypes, Loaded, Morph, NewInstance, NewVersion,
    PublishError, Turn, Version, WorkflowStore,
};
use heddle_workflow::{
    Actor, ActorMode, Catalog, Chance, Command, Event, Graph, InstanceId, Limits, Outcome, Plan,
    SCHEMA_VERSION, Start, StartRate, StepEnd, StepStatus, Subject, Token, WaitStatus, Waits, check,
    checksum, decide, restore, start as begin,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub fn id(number: u32) -> InstanceId {
    InstanceId::parse(&format!("01ARZ3NDEKTSV4RRFF{number:08}")).unwrap()
}

pub fn token(number: u32) -> Token {
    Token::new(format!("01ARZ3NDEKTSV4RRFT{number:08}"))
}

pub fn document() -> Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "nodes": [
            {"id": "start", "type": "trigger"},
            {"id": "count", "type": "set", "config": {"values": {"n": "{{ has(vars.n) ? vars.n + 1 : 1 }}"}}},
            {"id": "work", "type": "action", "config": {"handler": "work", "input": {"n": "{{ vars.n }}", "x": 0.1}},
             "retry": {"max_attempts": 3, "delay": "5s"}},
            {"id": "wait", "type": "wait_event", "config": {"event": "reply", "match": "event.n > 1",
                "condition": "vars.n == 4", "check_every": "15s", "timeout": "50s"}},
            {"id": "more", "type": "condition", "config": {"expression": "vars.n < 3"}},
            {"id": "nap", "type": "delay", "config": {"duration": "20s"}},
            {"id": "end", "type": "end", "config": {"output": "{{ vars.n }}"}},
        ],
        "edges": [
            {"from": "start", "to": "count"}, {"from": "count", "to": "work"},
            {"from": "work", "to": "wait"}, {"from": "work", "outcome": "error", "to": "nap"},
            {"from": "wait", "outcome": "event", "to": "more"}, {"from": "wait", "outcome": "condition", "to": "end"},
            {"from": "wait", "outcome": "timeout", "to": "nap"}, {"from": "nap", "to": "more"},
            {"from": "more", "outcome": "true", "to": "count"}, {"from": "more", "outcome": "false", "to": "end"},
        ],
        "settings": {"timeout": "10m"},
    })
}

pub fn graph() -> Graph {
    check(&document(), &Catalog::open()).graph.unwrap()
}

pub fn version(key: &str) -> NewVersion {
    let document = document();
    NewVersion {
        owner: None,
        key: key.to_owned(),
        name: "A flow".to_owned(),
        checksum: checksum(&document).unwrap(),
        document,
        trigger: ("manual".to_owned(), None),
        actor_mode: ActorMode::Starter,
        publisher: None,
        expected_checksum: None,
    }
}

pub fn key_of(key_type: KeyType) -> &'static str {
    match key_type {
        KeyType::Bigint => "7",
        KeyType::Uuid => "0192f0c1-2b3c-7d4e-8f90-a1b2c3d4e5f6",
        KeyType::Ulid => "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    }
}

pub fn starting(version: &Version, id: &InstanceId, key: Option<(&str, Timestamp)>, now: Timestamp) -> Turn {
    let request = Start {
        id: id.clone(),
        trigger: json!({"amount": 0.1, "deep": {"list": [1, null, "ä"]}}),
        subject: Subject::default(),
        depth: 0,
        by: Actor::System,
    };
    let new = NewInstance {
        version: version.id.clone(),
        definition: version.definition.clone(),
        owner: None,
        trigger: ("manual".to_owned(), None),
        actor_mode: version.actor_mode,
        starter: None,
        idempotency: key.map(|(digest, until)| (digest.repeat(64), until)),
        rate: None,
    };
    let plan = begin(&graph(), &Limits::default(), request, now).unwrap();
    Turn { new: Some(new), plan }
}

pub async fn commit(store: &WorkflowStore, turn: Turn) -> Committed {
    commit_all(store, vec![turn]).await.pop().unwrap()
}

async fn commit_all(store: &WorkflowStore, turns: Vec<Turn>) -> Vec<Committed> {
    store.turns.commit(turns).await.unwrap().into_iter().map(Result::unwrap).collect()
}

pub async fn start(
    store: &WorkflowStore,
    version: &Version,
    id: &InstanceId,
    key: Option<(&str, Timestamp)>,
    now: Timestamp,
) -> Result<(), Committed> {
    match commit(store, starting(version, id, key, now)).await {
        Committed::Done => Ok(()),
        other => Err(other),
    }
}

pub async fn load(store: &WorkflowStore, id: &InstanceId) -> Loaded {
    store.turns.load(id).await.unwrap().unwrap()
}

pub async fn plan(store: &WorkflowStore, id: &InstanceId, event: &Event, now: Timestamp) -> Plan {
    let state = restore(&graph(), &load(store, id).await.rows).unwrap();
    decide(&graph(), &Limits::default(), &state, event, now).unwrap()
}

pub fn ended(token: &Token) -> Event {
    let end = StepEnd::Completed { outcome: Outcome::new("default").unwrap(), output: json!({"x": 0.1}) };
    Event::StepEnded { token: token.clone(), end, chance: Chance(0) }
}

pub async fn conforms(store: &WorkflowStore, keys: KeyTypes) {
    let version = publishes(store, keys).await;
    starts(store, &version, keys).await;
    turns(store, &version).await;
    commands(store, &version).await;
    claims(store, &version).await;
    dues(store, &version).await;
    effects(store).await;
    rates(store, &version).await;
    actors(store, keys).await;
    reading::reads(store, keys).await;
}

/// The version that new instances of the application's definition run.
pub async fn current(store: &WorkflowStore, key: &str) -> Option<Version> {
    let (version, definition) = store.publishing.current_key("*", key).await.unwrap()?;
    let version = store.publishing.version(&version).await.unwrap().unwrap();
    assert_eq!(version.definition, definition);
    Some(version)
}

/// proves W4, W5: a definition has a current version; the same graph is no new one; nobody overwrites another's work.
async fn publishes(store: &WorkflowStore, keys: KeyTypes) -> Version {
    let publisher = Some(Morph { kind: "user".to_owned(), id: key_of(keys.morph).to_owned() });
    let owner = Some(Morph { kind: "team".to_owned(), id: key_of(keys.owner).to_owned() });
    let new = NewVersion { publisher, ..version("flow") };
    let first = store.publishing.publish(&new, at(0)).await.unwrap();
    assert_eq!(
        (first.number, first.actor_mode, first.document.as_ref()),
        (1, ActorMode::Starter, &document())
    );
    assert_eq!(store.publishing.publish(&new, at(1)).await.unwrap(), first);
    let owned = store.publishing.publish(&NewVersion { owner, ..new.clone() }, at(1)).await.unwrap();
    assert_ne!(owned.definition, first.definition, "a key is unique within its owner");
    let changed =
        NewVersion { checksum: "0".repeat(64), expected_checksum: Some("1".repeat(64)), ..new.clone() };
    let refused = store.publishing.publish(&changed, at(2)).await.unwrap_err();
    assert!(matches!(refused, PublishError::Changed { present } if present == first.checksum));
    let expected_checksum = Some(first.checksum.clone());
    let second = store.publishing.publish(&NewVersion { expected_checksum, ..changed }, at(2)).await.unwrap();
    assert_eq!((second.number, &second.definition), (2, &first.definition));
    assert_eq!(current(store, "flow").await, Some(second));
    assert_eq!(current(store, "other").await, None);
    assert_eq!(store.publishing.version(&first.id).await.unwrap(), Some(first.clone()));
    first
}

/// proves W6, W21: a start is there with all its rows or not at all; one key, one instance, for its time.
async fn starts(store: &WorkflowStore, version: &Version, keys: KeyTypes) {
    let turn = starting(version, &id(1), Some(("a", at(100))), at(0));
    let mut owned = turn.clone();
    if let Some(new) = &mut owned.new {
        new.owner = Some(Morph { kind: "team".to_owned(), id: key_of(keys.owner).to_owned() });
        new.starter = Some(Morph { kind: "user".to_owned(), id: key_of(keys.morph).to_owned() });
    }
    let key = key_of(keys.subject).to_owned();
    let subject = Subject { key: Some("order".to_owned()), kind: Some("Order".to_owned()), id: Some(key) };
    owned.plan.row.subject = Arc::new(subject.to_json());
    assert_eq!(commit(store, owned.clone()).await, Committed::Done);
    let loaded = load(store, &id(1)).await;
    assert_eq!((&loaded.version, &loaded.rows.instance), (&version.id, &owned.plan.row));
    assert_eq!(loaded.rows.steps.len(), 3);
    assert_eq!(commit(store, starting(version, &id(1), None, at(1))).await, Committed::Conflict);
    assert_eq!(
        start(store, version, &id(2), Some(("a", at(100))), at(99)).await,
        Err(Committed::Existing(id(1)))
    );
    assert_eq!(store.turns.load(&id(2)).await.unwrap(), None, "nothing of it is there");
    assert_eq!(start(store, version, &id(2), Some(("a", at(200))), at(100)).await, Ok(()));
    assert_eq!(
        start(store, version, &id(3), Some(("a", at(200))), at(101)).await,
        Err(Committed::Existing(id(2)))
    );
}

/// proves W6, W16: a turn holds for what it was decided on alone, and one that doesn't spoils no other in its commit.
async fn turns(store: &WorkflowStore, version: &Version) {
    for number in [11, 12, 13] {
        start(store, version, &id(number), None, at(0)).await.unwrap();
    }
    let pause = |by: u32| Event::Command { command: Command::Pause, by: Actor::System, expected: Some(by) };
    let turn = |plan: Plan| Turn { new: None, plan };
    let stale = plan(store, &id(11), &pause(0), at(1)).await;
    let first = turn(plan(store, &id(11), &pause(0), at(1)).await);
    assert_eq!(commit(store, first).await, Committed::Done);
    let before = load(store, &id(11)).await;
    let batch = vec![
        turn(plan(store, &id(12), &pause(0), at(1)).await),
        turn(stale),
        turn(plan(store, &id(13), &pause(0), at(1)).await),
        starting(version, &id(14), None, at(1)),
    ];
    let answers = commit_all(store, batch).await;
    assert_eq!(answers, [Committed::Done, Committed::Conflict, Committed::Done, Committed::Done]);
    assert_eq!(load(store, &id(11)).await, before);
    assert_eq!(load(store, &id(13)).await.rows.steps[2].status, StepStatus::Paused);
    // Two that touch no row in common but the instance's: the version alone keeps the second one out. Wrong elsewhere:
    // a delivery and a parking commit side by side, each misses the other, and the run sleeps for ever.
    let keep = Event::Command {
        command: Command::Signal { key: "later".to_owned(), payload: json!(1) },
        by: Actor::System,
        expected: None,
    };
    let (one, other) = (plan(store, &id(14), &keep, at(2)).await, plan(store, &id(14), &keep, at(2)).await);
    assert_eq!(commit(store, turn(one)).await, Committed::Done);
    assert_eq!(commit(store, turn(other)).await, Committed::Conflict);
    assert_eq!(
        load(store, &id(14)).await.rows.waits.iter().filter(|wait| wait.what.kind() == "signal").count(),
        1
    );
    // One that can't be written spoils no other either.
    let mut unfit = starting(version, &id(116), None, at(2));
    unfit.new.as_mut().unwrap().starter = Some(Morph { kind: "user".to_owned(), id: "nobody".to_owned() });
    let batch =
        vec![starting(version, &id(115), None, at(2)), unfit, starting(version, &id(117), None, at(2))];
    let answers = store.turns.commit(batch).await.unwrap();
    assert!(matches!(answers[..], [Ok(Committed::Done), _, Ok(Committed::Done)]));
    // In memory any key fits.
    let fits = store.turns.load(&id(116)).await.unwrap().is_some();
    assert!(fits || matches!(answers[1], Err(StoreError::BadRow { column: "starter_id", .. })));
    let all = [1, 2, 11, 12, 13, 14, 115, 117].into_iter().chain(fits.then_some(116));
    for number in all {
        let cancel = Event::Command { command: Command::Cancel, by: Actor::System, expected: None };
        let turn = turn(plan(store, &id(number), &cancel, at(1)).await);
        assert_eq!(commit(store, turn).await, Committed::Done);
    }
}

/// proves W22, W31: a command is a row of its turn, fired then, which nothing is due by and nothing closes.
async fn commands(store: &WorkflowStore, version: &Version) {
    start(store, version, &id(15), None, at(0)).await.unwrap();
    let by = Actor::Named { kind: "user".to_owned(), id: "7".to_owned() };
    let skip = Command::Skip { outcome: Outcome::new("default").unwrap(), output: Value::Null };
    for (second, command) in [(1, Command::Pause), (2, Command::Resume), (3, skip), (4, Command::Cancel)] {
        let command = Event::Command { command, by: by.clone(), expected: None };
        let turn = Turn { new: None, plan: plan(store, &id(15), &command, at(second)).await };
        assert_eq!(commit(store, turn).await, Committed::Done);
    }
    let rows = load(store, &id(15)).await.rows;
    let mut expected = Vec::new();
    for (name, step, second) in
        [("pause", "work", 1), ("resume", "work", 2), ("skip", "work", 3), ("cancel", "wait", 4)]
    {
        let mut payload = json!({"by": {"type": "user", "id": "7"}});
        if name == "skip" {
            payload["outcome"] = json!("default");
        }
        let what = Waits::Command { name: name.to_owned(), payload: Arc::new(payload) };
        expected.push((step.to_owned(), WaitStatus::Fired, Some(at(second)), what));
    }
    let given = rows.waits.into_iter().filter(|wait| wait.what.kind() == "command");
    let given: Vec<_> =
        given.map(|wait| (wait.step.node.to_string(), wait.status, wait.fired_at, wait.what)).collect();
    assert_eq!(given, expected);
    assert_eq!(store.work.next_due().await.unwrap(), None);
    assert_eq!(store.turns.waiting_for(None, "cancel", None, 10).await.unwrap(), []);
}

/// proves W16: one holder, who is known by a fresh token; without it nobody prolongs, gives back or ends anything. Wrong
/// elsewhere: a worker that has taken a step again under its old name passes for the holder that it was before.
async fn claims(store: &WorkflowStore, version: &Version) {
    start(store, version, &id(21), None, at(0)).await.unwrap();
    let stale = plan(
        store,
        &id(21),
        &Event::Command { command: Command::Pause, by: Actor::System, expected: None },
        at(1),
    )
    .await;
    assert!(store.work.claim(&[token(1)], at(30), at(-1)).await.unwrap().is_empty(), "not before its time");
    let claimed = store.work.claim(&[token(1), token(2)], at(30), at(0)).await.unwrap();
    assert_eq!(claimed.len(), 1);
    let claim = &claimed[0].claim;
    assert_eq!((&claim.instance, claim.step.node.as_str(), &claim.token), (&id(21), "work", &token(1)));
    assert_eq!(claimed[0].input.as_deref(), Some(&json!({"n": 1, "x": 0.1})));
    assert_eq!(claimed[0].idempotency_key, format!("wf:{}:work:1", id(21)));
    assert!(store.work.claim(&[token(3)], at(30), at(1)).await.unwrap().is_empty());
    assert_eq!(
        commit(store, Turn { new: None, plan: stale }).await,
        Committed::Conflict,
        "it was queued then"
    );
    let stranger = ClaimRef { token: token(9), ..claim.clone() };
    assert!(!store.work.heartbeat(&stranger, at(99)).await.unwrap());
    assert!(!store.work.release(&stranger, at(1)).await.unwrap());
    assert!(store.work.heartbeat(claim, at(40)).await.unwrap());
    assert_eq!(load(store, &id(21)).await.rows.steps[2].claim, Some((token(1), at(40))));
    let under_the_first = plan(store, &id(21), &ended(&token(1)), at(2)).await;
    assert!(store.work.release(claim, at(5)).await.unwrap());
    assert!(!store.work.heartbeat(claim, at(99)).await.unwrap());
    let second = store.work.claim(&[token(2)], at(30), at(5)).await.unwrap();
    assert_eq!(second.len(), 1);
    // The version is still the same: only the token tells the two holders apart.
    let turn = Turn { new: None, plan: under_the_first };
    assert_eq!(commit(store, turn).await, Committed::Conflict, "another one holds it");
    let turn = Turn { new: None, plan: plan(store, &id(21), &ended(&token(2)), at(6)).await };
    assert_eq!(commit(store, turn).await, Committed::Done);
    assert_eq!(load(store, &id(21)).await.rows.steps[2].output, Some(json!({"x": 0.1})));
}

/// proves W8, W17: what is due is found, oldest first, once in a while, and by its event's key.
async fn dues(store: &WorkflowStore, version: &Version) {
    let while_ = SignedDuration::from_secs(5);
    // Instance 21 waits since second 6; its condition is looked at every 15 seconds.
    assert_eq!(store.work.next_due().await.unwrap(), Some(at(21)));
    assert_eq!(store.turns.waiting_for(None, "reply", None, 10).await.unwrap(), [id(21)]);
    assert_eq!(store.turns.waiting_for(None, "reply", Some(&id(21)), 10).await.unwrap(), []);
    assert_eq!(store.turns.waiting_for(None, "other", None, 10).await.unwrap(), []);
    assert_eq!(store.work.due(at(20), while_, 10).await.unwrap(), []);
    assert_eq!(store.work.due(at(21), while_, 10).await.unwrap(), [Due::Wait(id(21))]);
    assert_eq!(store.work.due(at(22), while_, 10).await.unwrap(), [], "handed out a second ago");
    assert_eq!(
        store.work.due(at(26), while_, 10).await.unwrap(),
        [Due::Wait(id(21))],
        "nobody has seen to it"
    );
    let turn = Turn { new: None, plan: plan(store, &id(21), &Event::WaitDue, at(27)).await };
    assert_eq!(commit(store, turn).await, Committed::Done);
    assert_eq!(store.work.due(at(41), while_, 10).await.unwrap(), []);
    assert_eq!(
        store.work.due(at(42), while_, 10).await.unwrap(),
        [Due::Wait(id(21))],
        "another time, another look"
    );
    start(store, version, &id(22), None, at(40)).await.unwrap();
    store.work.claim(&[token(5)], at(50), at(40)).await.unwrap();
    assert_eq!(store.work.due(at(50), while_, 10).await.unwrap(), [Due::Lease(id(22)), Due::Wait(id(21))]);
    assert_eq!(
        store.work.due(at(640), while_, 1).await.unwrap(),
        [Due::Lease(id(22)), Due::Wait(id(21)), Due::Deadline(id(21))],
        "as many of each kind"
    );
    assert_eq!(store.work.due(at(640), while_, 1).await.unwrap(), [Due::Deadline(id(22))]);
    let published = Event::Published { key: "reply".to_owned(), payload: json!({"n": 2}) };
    let turn = Turn { new: None, plan: plan(store, &id(21), &published, at(28)).await };
    assert_eq!(commit(store, turn).await, Committed::Done);
    assert_eq!(store.turns.waiting_for(None, "reply", None, 10).await.unwrap(), []);
}

/// proves W21: the first result stays.
async fn effects(store: &WorkflowStore) {
    let digest = "e".repeat(64);
    assert_eq!(store.effects.effect(&id(21), &digest).await.unwrap(), None);
    let first = json!({"number": 0.1});
    assert_eq!(store.effects.keep_effect(&id(21), &digest, &first, at(1)).await.unwrap(), first);
    assert_eq!(store.effects.keep_effect(&id(21), &digest, &json!(2), at(2)).await.unwrap(), first);
    assert_eq!(store.effects.effect(&id(21), &digest).await.unwrap(), Some(first));
}

/// proves W29, W30: in no stretch of the rate's length do more start than it says, two of one commit no more than
/// two of different ones; whoever comes too early is told when to come again, and a start key that has been seen
/// gives its instance all the same.
async fn rates(store: &WorkflowStore, published: &Version) {
    let rate = StartRate { count: 3, per: SignedDuration::from_secs(10) };
    // Those that started before, of the same definition, count as well: none of them is as late as this.
    let turn = |number: u32, key: Option<(&str, Timestamp)>, second: i64| {
        let mut turn = starting(published, &id(number), key, at(10_000 + second));
        if let Some(new) = &mut turn.new {
            new.rate = Some(rate);
        }
        turn
    };
    let limited = |second: i64| Committed::Limited { again_at: at(10_000 + second) };
    assert_eq!(commit(store, turn(51, Some(("f", at(20_000))), 0)).await, Committed::Done);
    let together = vec![turn(52, None, 4), turn(53, None, 6), turn(54, None, 6)];
    let answers = commit_all(store, together).await;
    assert_eq!(answers, [Committed::Done, Committed::Done, limited(10)]);
    assert_eq!(store.turns.load(&id(54)).await.unwrap(), None, "nothing of it is there");
    assert_eq!(commit(store, turn(54, Some(("f", at(20_000))), 7)).await, Committed::Existing(id(51)));
    assert_eq!(commit(store, turn(54, Some(("d", at(20_000))), 9)).await, limited(10));
    assert_eq!(
        commit(store, turn(54, Some(("d", at(20_000))), 10)).await,
        Committed::Done,
        "its key is not used up"
    );
    assert_eq!(commit(store, turn(55, None, 10)).await, limited(14));
    assert_eq!(start(store, published, &id(56), None, at(10_010)).await, Ok(()), "one without a rate");
    let other = store.publishing.publish(&version("another"), at(10_010)).await.unwrap();
    let mut one = starting(&other, &id(57), None, at(10_010));
    if let Some(new) = &mut one.new {
        new.rate = Some(StartRate { count: 1, ..rate });
    }
    assert_eq!(commit(store, one).await, Committed::Done, "another definition");
}

/// proves W22: as whom steps act says the instance's row and its version's.
async fn actors(store: &WorkflowStore, keys: KeyTypes) {
    let morph = |kind: &str, key| Some(Morph { kind: kind.to_owned(), id: key_of(key).to_owned() });
    let (owner, person) = (morph("team", keys.owner), morph("user", keys.morph));
    assert_eq!(store.effects.actors(&id(99)).await.unwrap(), None);
    for (number, mode) in (61..).zip(ActorMode::ALL) {
        let new = NewVersion { publisher: person.clone(), actor_mode: mode, ..version(mode.name()) };
        let published = store.publishing.publish(&new, at(0)).await.unwrap();
        let mut turn = starting(&published, &id(number), None, at(20_000));
        if let Some(new) = &mut turn.new {
            new.owner.clone_from(&owner);
            new.starter = (number % 2 == 0).then(|| person.clone()).flatten();
        }
        assert_eq!(commit(store, turn).await, Committed::Done);
        let starter = (number % 2 == 0).then(|| person.clone()).flatten();
        let actors =
            Actors { mode, starter: starter.clone(), owner: owner.clone(), publisher: person.clone() };
        let found = store.effects.actors(&id(number)).await.unwrap();
        assert_eq!(found, Some(actors));
        let acts = match mode {
            ActorMode::System => None,
            ActorMode::Starter => starter,
            ActorMode::Publisher => person.clone(),
            ActorMode::Owner => owner.clone(),
        };
        assert_eq!(found.unwrap().actor(), acts.map_or(Actor::System, Actor::from));
    }
}
