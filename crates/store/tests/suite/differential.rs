//! Seeded random commands, given to two stores at once: they must answer alike, and the rows must keep their
//! rules, whatever comes in whatever order.

use std::collections::BTreeMap;

use heddle_generation::{Command, Edge, RunEnd, State, Status};
use heddle_store::{CreateError, PageRequest, RunFilter, Store};
use proptest::prelude::*;

use super::{ONE, TWO, at, done, id, opening, request, sub};

/// One call.
#[derive(Debug, Clone)]
pub enum Call {
    Create { project: i64, node: u8, edge: Edge, auto: bool },
    Transition { foreign: bool, run: u8, command: Command },
    List { filter: RunFilter, limit: u16 },
    Get { run: u8 },
    Send { limit: u16 },
}

pub fn calls() -> impl Strategy<Value = Vec<Call>> {
    prop::collection::vec(call(), 1..80)
}

fn edge() -> impl Strategy<Value = Edge> {
    prop_oneof![Just(Edge::Des2wf), Just(Edge::Wf2des)]
}

fn command() -> impl Strategy<Value = Command> {
    let failure = |attempt| {
        let end = RunEnd::Failed { error_message: "no".to_owned(), result_url: Some("f.json".to_owned()) };
        Command::Report { attempt, end }
    };
    prop_oneof![
        2 => Just(Command::Cancel),
        2 => Just(Command::Delete),
        3 => (0_u32..3, prop::option::of(0.0..=1.0)).prop_map(|(attempt, score)| done(score, attempt)),
        1 => (0_u32..3).prop_map(failure),
    ]
}

fn filter() -> impl Strategy<Value = RunFilter> {
    let file = prop::option::of(Just("file".to_owned()));
    let project = prop::option::of((10_i64..12).prop_map(heddle_generation::ProjectId));
    let status = prop::option::of(prop::sample::select(Status::ALL));
    let score = || prop::option::of((0.0..=1.0).prop_map(|s| heddle_generation::ScoreValue::new(s).unwrap()));
    let materialized = prop::option::of(any::<bool>());
    (project, file, prop::option::of(edge()), status, materialized, score(), score()).prop_map(
        |(project, file, edge, status, materialized, score_min, score_max)| RunFilter {
            project,
            file,
            edge,
            status,
            materialized,
            score_min,
            score_max,
            score_version: None,
        },
    )
}

fn call() -> impl Strategy<Value = Call> {
    let project = prop::sample::select(vec![10_i64, 10, 11, 20, 12]);
    prop_oneof![
        4 => (project, 0_u8..4, edge(), any::<bool>())
            .prop_map(|(project, node, edge, auto)| Call::Create { project, node, edge, auto }),
        5 => (prop::bool::weighted(0.1), any::<u8>(), command())
            .prop_map(|(foreign, run, command)| Call::Transition { foreign, run, command }),
        2 => (filter(), 0_u16..7).prop_map(|(filter, limit)| Call::List { filter, limit }),
        1 => any::<u8>().prop_map(|run| Call::Get { run }),
        1 => (0_u16..4).prop_map(|limit| Call::Send { limit }),
    ]
}

/// What a store answers to a call, in words that can be compared.
async fn answer(store: &Store, call: &Call, step: u32, created: u128) -> String {
    // Several calls fall into one instant, so that the order of a list is put to the test.
    let second = i64::from(step / 3);
    let chosen = |run: u8| id(1 + u128::from(run) % created.max(1));
    match call {
        Call::Create { project, node, edge, auto } => {
            let mut request = request(*edge, *project, "file", &format!("1:{node}"));
            request.auto_confirm = *auto;
            format!("{:?}", store.runs.create(&opening(request, created + 1, second)).await)
        }
        Call::Transition { foreign, run, command } => {
            let organization = if *foreign { TWO } else { ONE };
            let by = sub("bo");
            format!("{:?}", store.runs.transition(organization, chosen(*run), command, &by, at(second)).await)
        }
        Call::List { filter, limit } => {
            let (mut answers, mut after) = (Vec::new(), None);
            for _ in 0..100 {
                let page = PageRequest { after, limit: *limit };
                let page = store.runs.list(ONE, filter, page).await.unwrap();
                after = page.next;
                answers.push(page);
                if after.is_none() {
                    break;
                }
            }
            format!("{answers:?}")
        }
        Call::Get { run } => {
            let run = chosen(*run);
            format!("{:?} {:?}", store.runs.get(ONE, run).await, store.jobs.by_job(run).await)
        }
        Call::Send { limit } => {
            let pending = store.outbox.pending(None, *limit).await.unwrap();
            for message in &pending {
                assert!(store.outbox.mark_sent(message.id, at(second)).await.unwrap());
            }
            format!("{:?}", pending.iter().map(|message| (message.run, &message.body)).collect::<Vec<_>>())
        }
    }
}

/// Gives `calls` to both stores and compares every answer.
pub async fn agree(left: &Store, right: &Store, calls: &[Call]) {
    let mut created = 0_u128;
    for (step, call) in (0_u32..).zip(calls) {
        let answers = (answer(left, call, step, created).await, answer(right, call, step, created).await);
        assert_eq!(answers.0, answers.1, "step {step}: {call:?}");
        if matches!(call, Call::Create { .. }) {
            created += 1;
        }
        rules_hold(left).await;
    }
}

/// proves G2, G13, whatever came before: the visible live runs never share a fence, and a new trigger of a live
/// node learns the id of a run that can be read.
async fn rules_hold(store: &Store) {
    let mut fences = BTreeMap::new();
    for organization in [ONE, TWO] {
        let page = PageRequest { after: None, limit: 100 };
        for run in store.runs.list(organization, &RunFilter::default(), page).await.unwrap().runs {
            assert_eq!(run.state.phase().is_some(), run.state.status() == Status::Processing);
            assert!(run.updated_at >= run.created_at);
            if matches!(run.state, State::Processing { .. }) {
                let fence = (run.project_id, run.figma_file_key.clone(), run.wf_node_id.clone(), run.edge);
                assert_eq!(fences.insert(fence, run.id), None, "two live runs on one node");
            }
        }
    }
    for ((project, file, node, edge), live) in fences {
        let again = opening(request(edge, project.0, &file, &node), u128::MAX, 0);
        match store.runs.create(&again).await {
            Err(CreateError::AlreadyLive { id }) => assert_eq!(id, live),
            other => panic!("the fence let through: {other:?}"),
        }
    }
}
