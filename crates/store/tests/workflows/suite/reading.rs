//! What people look at is what is there, in order, and nobody else's.

use std::collections::BTreeSet;

use heddle_store::workflows::{
    Happening, InstanceFilter, KeyTypes, MOST_MERGED, Morph, NewVersion, Page, PublishStatus, Reading,
    TimelineEntry, Turn, Version, WaitName, WorkflowStore,
};
use heddle_workflow::{Actor, Command, Event, InstanceId, Status, StepStatus, WaitStatus};
use serde_json::json;

use super::{at, commit, ended, id, key_of, plan, starting, token, version};

fn team(keys: KeyTypes) -> Morph {
    Morph { kind: "readers".to_owned(), id: key_of(keys.owner).to_owned() }
}

async fn published(store: &WorkflowStore, owner: Option<Morph>, key: &str) -> Version {
    let new = NewVersion { owner, ..version(key) };
    store.publishing.publish(&new, at(1_000)).await.unwrap()
}

async fn started(store: &WorkflowStore, version: &Version, owner: Option<Morph>, number: u32, second: i64) {
    let mut turn = starting(version, &id(number), None, at(second));
    if let Some(new) = &mut turn.new {
        new.owner = owner;
    }
    assert_eq!(commit(store, turn).await, heddle_store::workflows::Committed::Done);
}

async fn command(store: &WorkflowStore, number: u32, command: Command, second: i64) {
    let event = Event::Command { command, by: Actor::System, expected: None };
    let plan = plan(store, &id(number), &event, at(second)).await;
    commit(store, Turn { new: None, plan }).await;
}

/// Everything, page by page.
async fn pages(reading: &dyn Reading, filter: &InstanceFilter, limit: u16) -> Vec<InstanceId> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let Page { items, next } = reading.instances(filter, after.as_ref(), limit).await.unwrap();
        assert!(items.len() <= usize::from(limit));
        all.extend(items.into_iter().map(|instance| instance.id));
        match next {
            Some(next) => after = Some(next),
            None => return all,
        }
    }
}

pub async fn reads(store: &WorkflowStore, keys: KeyTypes) {
    let owner = Some(team(keys));
    let scope = format!("readers:{}", key_of(keys.owner));
    let (one, other) =
        (published(store, owner.clone(), "one").await, published(store, owner.clone(), "two").await);
    definitions(store, &scope, &one).await;
    let foreign = published(store, None, "one").await;
    assert_ne!(foreign.id, one.id);
    // Two definitions by turns, two instances at one time, and one of somebody else's.
    for (number, version, second) in [
        (151, &one, 1_001),
        (152, &other, 1_002),
        (153, &one, 1_003),
        (154, &one, 1_003),
        (155, &other, 1_004),
    ] {
        started(store, version, owner.clone(), number, second).await;
    }
    started(store, &foreign, None, 156, 1_005).await;
    command(store, 153, Command::Cancel, 1_006).await;
    command(store, 155, Command::Pause, 1_006).await;
    lists(store, owner.as_ref()).await;
    summaries(store, owner.as_ref(), &one).await;
    timelines(store, keys).await;
    // Many rows, and the same ones whatever the keys are.
    if keys == KeyTypes::default() {
        as_many_definitions_as_a_list_has(store).await;
    }
    for number in [151, 152, 154, 155, 156] {
        command(store, number, Command::Cancel, 2_000).await;
    }
}

/// proves W4, W5: definitions and versions as their owner sees them.
async fn definitions(store: &WorkflowStore, scope: &str, one: &Version) {
    let reading = store.reading.as_ref();
    let first = reading.definitions(scope, None, 1).await.unwrap();
    assert_eq!((first.items[0].key.as_str(), first.items[0].name.as_str()), ("one", "A flow"));
    assert_eq!(first.items[0].current.as_ref().map(|it| (&it.id, it.number)), Some((&one.id, 1)));
    assert_eq!(first.items[0].updated_at, at(1_000));
    let second = reading.definitions(scope, first.next.as_deref(), 1).await.unwrap();
    assert_eq!((second.items[0].key.as_str(), second.next), ("two", None));
    assert_eq!(reading.definition(scope, "one").await.unwrap().as_ref(), first.items.first());
    assert_eq!(reading.definition(scope, "flow").await.unwrap(), None, "another owner's");
    assert_eq!(reading.definitions("nobody:1", None, 10).await.unwrap().items, []);
    let flow = reading.definition("*", "flow").await.unwrap().unwrap();
    let versions = reading.versions(&flow.id, None, 10).await.unwrap();
    let numbers: Vec<_> = versions.items.iter().map(|it| (it.number, it.status)).collect();
    assert_eq!(numbers, [(2, PublishStatus::Published), (1, PublishStatus::Superseded)]);
    assert_eq!(versions.next, None);
    let publisher = versions.items[1].publisher.as_ref().unwrap();
    assert_eq!((publisher.kind.as_str(), versions.items[1].published_at), ("user", Some(at(0))));
    let newest = reading.versions(&flow.id, None, 1).await.unwrap();
    assert_eq!(newest.next, Some(2));
    assert_eq!(reading.versions(&flow.id, newest.next, 1).await.unwrap().items, versions.items[1..]);
    assert_eq!(reading.numbered(&flow.id, 1).await.unwrap().as_ref(), versions.items.get(1));
    assert_eq!(reading.numbered(&flow.id, 3).await.unwrap(), None);
}

/// proves W31: an owner's instances in order, whichever page they are on, and nobody else's.
async fn lists(store: &WorkflowStore, owner: Option<&Morph>) {
    let reading = store.reading.as_ref();
    let ids = |numbers: &[u32]| numbers.iter().map(|number| id(*number)).collect::<Vec<_>>();
    let all = InstanceFilter::of(owner.cloned());
    for limit in [1, 2, 3, 100] {
        assert_eq!(pages(reading, &all, limit).await, ids(&[155, 154, 153, 152, 151]), "{limit}");
    }
    let statuses = |statuses: &[Status]| InstanceFilter {
        statuses: statuses.iter().copied().collect::<BTreeSet<_>>(),
        ..all.clone()
    };
    let one = InstanceFilter { definition: Some("one".to_owned()), ..all.clone() };
    let subject = Some(Morph { kind: "Order".to_owned(), id: "1".to_owned() });
    for (filter, expected) in [
        (one.clone(), &[154, 153, 151][..]),
        (InstanceFilter { definition: Some("flow".to_owned()), ..all.clone() }, &[]),
        (statuses(&[Status::Running]), &[154, 152, 151]),
        (statuses(&[Status::Cancelled, Status::Paused]), &[155, 153]),
        (InstanceFilter { started_from: Some(at(1_003)), ..all.clone() }, &[155, 154, 153]),
        (InstanceFilter { started_before: Some(at(1_003)), ..all.clone() }, &[152, 151]),
        (InstanceFilter { started_from: Some(at(1_003)), ..one }, &[154, 153]),
        (InstanceFilter { subject, ..all.clone() }, &[]),
    ] {
        for limit in [1, 100] {
            assert_eq!(pages(reading, &filter, limit).await, ids(expected), "{filter:?}");
        }
    }
    // Instance 1 was started with an owner of its own, and is nobody else's for it.
    let apps = pages(reading, &InstanceFilter::of(None), 100).await;
    assert!(apps.contains(&id(156)) && !apps.contains(&id(155)) && !apps.contains(&id(1)));
}

/// A list is merged of a bounded number of definitions; what is of another one is listed by its key.
async fn as_many_definitions_as_a_list_has(store: &WorkflowStore) {
    let owner = Some(Morph { kind: "readers".to_owned(), id: "77".to_owned() });
    let key = |number: u16| format!("many-{number:04}");
    let keys: Vec<String> = (0..=MOST_MERGED).map(key).collect();
    // All at the same time, so that they share commits where a store has that.
    let publishing: Vec<_> = keys
        .into_iter()
        .map(|key| {
            let (store, owner) = (store.clone(), owner.clone());
            tokio::spawn(async move { published(&store, owner, &key).await })
        })
        .collect();
    let mut versions = Vec::new();
    for published in publishing {
        versions.push(published.await.unwrap());
    }
    started(store, &versions[usize::from(MOST_MERGED) - 1], owner.clone(), 157, 1_001).await;
    started(store, &versions[usize::from(MOST_MERGED)], owner.clone(), 158, 1_002).await;
    let all = InstanceFilter::of(owner);
    assert_eq!(pages(store.reading.as_ref(), &all, 100).await, [id(157)]);
    for (number, expected) in [(MOST_MERGED - 1, id(157)), (MOST_MERGED, id(158))] {
        let one = InstanceFilter { definition: Some(key(number)), ..all.clone() };
        assert_eq!(pages(store.reading.as_ref(), &one, 100).await, [expected]);
    }
    for number in [157, 158] {
        command(store, number, Command::Cancel, 2_000).await;
    }
}

/// proves W6, W29: what a row says, and where the live ones stand.
async fn summaries(store: &WorkflowStore, owner: Option<&Morph>, one: &Version) {
    let reading = store.reading.as_ref();
    let summary = reading.instance(&id(153)).await.unwrap().unwrap();
    assert_eq!(
        (summary.owner.as_ref(), summary.definition.as_str(), summary.version_number),
        (owner, "one", 1)
    );
    assert_eq!((&summary.version, summary.status, summary.lock_version), (&one.id, Status::Cancelled, 1));
    assert_eq!((summary.started_at, summary.ended_at), (at(1_003), Some(at(1_006))));
    assert_eq!((summary.steps_count, summary.current_node), (3, None));
    assert_eq!(summary.trigger, (Some("manual".to_owned()), None));
    assert_eq!(reading.instance(&id(199)).await.unwrap(), None);
    let first = reading.instance(&id(1)).await.unwrap().unwrap();
    assert_eq!((first.subject.key.as_deref(), first.subject.kind.as_deref()), (Some("order"), Some("Order")));
    assert_eq!(first.starter.as_ref().map(|it| it.kind.as_str()), Some("user"));
    let payloads = reading.payloads(&id(153)).await.unwrap().unwrap();
    assert_eq!((&payloads.trigger["amount"], payloads.output), (&json!(0.1), None));
    assert_eq!(reading.payloads(&id(199)).await.unwrap(), None);
    let overlay = reading.overlay(&one.id).await.unwrap();
    let counts: Vec<_> = overlay.iter().map(|it| (it.node.as_str(), it.status, it.count)).collect();
    assert_eq!(counts, [("work", Status::Running, 2)]);
}

/// proves W31: a life in order, in pages of any size: steps, waits, and a signal that came too early.
async fn timelines(store: &WorkflowStore, keys: KeyTypes) {
    let reading = store.reading.as_ref();
    // Whoever was queued first goes first.
    let claims: Vec<_> = (1_000..1_060).map(token).collect();
    let claimed = store.work.claim(&claims, at(1_100), at(1_010)).await.unwrap();
    let claim = claimed.iter().find(|claimed| claimed.claim.instance == id(151)).unwrap();
    let early = Command::Signal { key: "early".to_owned(), payload: json!({"n": 3}) };
    command(store, 151, early, 1_011).await;
    let end = plan(store, &id(151), &ended(&claim.claim.token), at(1_012)).await;
    commit(store, Turn { new: None, plan: end }).await;
    let whole = reading.timeline(&id(151), None, 100).await.unwrap();
    assert_eq!(whole.next, None);
    let told: Vec<_> = whole.items.iter().map(told).collect();
    assert_eq!(
        told,
        [
            "1001 start completed",
            "1001 count completed",
            "1001 work completed",
            "1001 deadline start pending",
            "1011 signal work",
            "1011 signal work kept",
            "1012 wait waiting",
            "1012 event wait pending",
        ]
    );
    assert!(matches!(&whole.items[2].what, Happening::Step { node_type, status: StepStatus::Completed,
        started_at, finished_at, .. } if node_type == "action" && *started_at == Some(at(1_010))
        && *finished_at == Some(at(1_012))));
    assert!(matches!(&whole.items[5].what, Happening::Wait { kind: WaitName::Signal, event_key: Some(key),
        status: WaitStatus::Kept, .. } if key == "early"));
    for limit in 1..9 {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = reading.timeline(&id(151), after.as_ref(), limit).await.unwrap();
            all.extend(page.items);
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(all, whole.items, "{limit}");
    }
    assert_eq!(reading.timeline(&id(199), None, 10).await.unwrap().items, []);
    // An event is its owner's alone.
    let waiting = async |owner: Option<Morph>| {
        store.turns.waiting_for(owner.as_ref(), "reply", None, 10).await.unwrap()
    };
    assert_eq!(waiting(Some(team(keys))).await, [id(151)]);
    let stranger = Morph { kind: "writers".to_owned(), id: key_of(keys.owner).to_owned() };
    assert_eq!((waiting(Some(stranger)).await, waiting(None).await), (vec![], vec![]));
}

fn told(entry: &TimelineEntry) -> String {
    let second = entry.at.as_second() - at(0).as_second();
    let node = entry.step.node.as_str();
    match &entry.what {
        Happening::Step { status, .. } => format!("{second} {node} {}", status.name()),
        Happening::Wait { kind, status, .. } => {
            format!("{second} {} {node} {}", kind.name(), status.name())
        }
        Happening::Command { name, .. } => format!("{second} {name} {node}"),
    }
}
