//! What the tests of instances share: a world of one instance that keeps its rows and never lets a turn pass that
//! breaks what has to hold of every turn.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "each test binary uses its own part"
)]

use std::collections::{BTreeMap, BTreeSet};

use heddle_workflow::{
    Activity, Actor, Catalog, Chance, Code, Command, Event, Failure, Graph, InstanceId, Lease, Life, Limits,
    NodeId, Opening, Outcome, Plan, Refusal, Rows, SCHEMA_VERSION, SignalId, Start, State, StepChange,
    StepEnd, StepStatus, Subject, Token, WaitStatus, Waits, Write, check, restore, start,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

pub const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub fn graph(nodes: Value, edges: &[(&str, &str, &str)], settings: Value) -> Graph {
    let edges: Vec<Value> =
        edges.iter().map(|(from, outcome, to)| json!({"from": from, "outcome": outcome, "to": to})).collect();
    let document =
        json!({"schema_version": SCHEMA_VERSION, "nodes": nodes, "edges": edges, "settings": settings});
    let checked = check(&document, &Catalog::open());
    checked.graph.unwrap_or_else(|| panic!("{:#?}", checked.findings))
}

pub fn act(id: &str) -> Value {
    json!({"id": id, "type": "action", "config": {"handler": id}})
}

/// One instance, its rows and its clock.
pub struct World {
    pub graph: Graph,
    pub limits: Limits,
    pub rows: Rows,
    pub now: Timestamp,
    named: u32,
    tokens: u32,
}

impl World {
    pub fn new(graph: Graph, trigger: Value) -> Self {
        Self::limited(graph, Limits::default(), trigger)
    }

    pub fn limited(graph: Graph, limits: Limits, trigger: Value) -> Self {
        let request = Start {
            id: InstanceId::parse(ID).unwrap(),
            trigger,
            subject: Subject { id: Some("s1".to_owned()), ..Subject::default() },
            depth: 0,
            by: Actor::System,
        };
        let plan = start(&graph, &limits, request, at(0)).unwrap();
        let mut named = 0;
        let rows = Rows::created(&plan, name(&mut named)).unwrap();
        let world = Self { graph, limits, rows, now: at(0), named, tokens: 0 };
        world.holds(&plan);
        world
    }

    pub fn state(&self) -> State {
        restore(&self.graph, &self.rows).unwrap()
    }

    pub fn life(&self) -> Life {
        self.state().life
    }

    /// Status, and the node it stands at.
    pub fn stands(&self) -> (&'static str, Option<&str>) {
        (self.rows.instance.status.name(), self.rows.instance.current_node.as_ref().map(NodeId::as_str))
    }

    pub fn failure(&self) -> Option<&str> {
        self.rows.instance.failure.as_ref().map(|failure| failure.code.as_str())
    }

    /// Node, visit, attempt, status and outcome of every step run.
    pub fn steps(&self) -> Vec<(String, &'static str, Option<&str>)> {
        self.rows
            .steps
            .iter()
            .map(|step| {
                let key = &step.key;
                let place = format!("{}:{}:{}", key.node, key.visit, key.attempt);
                (place, step.status.name(), step.outcome.as_ref().map(Outcome::as_str))
            })
            .collect()
    }

    /// Kind and status of every wait, deadline and signal.
    pub fn waits(&self) -> Vec<(&'static str, WaitStatus)> {
        let waits = self.rows.waits.iter().filter(|wait| !matches!(wait.what, Waits::Command { .. }));
        waits.map(|wait| (wait.what.kind(), wait.status)).collect()
    }

    /// Name, step and payload of every command that was accepted.
    pub fn commands(&self) -> Vec<(&str, &str, &Value)> {
        let given = self.rows.waits.iter().filter_map(|wait| match &wait.what {
            Waits::Command { name, payload } => {
                Some((name.as_str(), wait.step.node.as_str(), payload.as_ref()))
            }
            _ => None,
        });
        given.collect()
    }

    pub fn later(&mut self, seconds: i64) -> &mut Self {
        self.now += SignedDuration::from_secs(seconds);
        self
    }

    /// Lets an event in, and performs what comes of it.
    pub fn turn(&mut self, event: Event) -> Result<Plan, Refusal> {
        let before = self.rows.clone();
        let plan = heddle_workflow::decide(&self.graph, &self.limits, &self.state(), &event, self.now)?;
        self.rows.apply(&plan, name(&mut self.named)).expect("nobody else writes");
        self.follows(&before);
        self.holds(&plan);
        let given =
            |rows: &Rows| rows.waits.iter().filter(|wait| matches!(wait.what, Waits::Command { .. })).count();
        let commands = usize::from(matches!(event, Event::Command { .. }));
        assert_eq!(given(&self.rows), given(&before) + commands, "every accepted command is recorded, once");
        Ok(plan)
    }

    pub fn command(&mut self, command: Command) -> Result<Plan, Refusal> {
        let by = Actor::Named { kind: "user".to_owned(), id: "7".to_owned() };
        self.turn(Event::Command { command, by, expected: None })
    }

    pub fn signal(&mut self, key: &str, payload: Value) -> Result<Plan, Refusal> {
        self.command(Command::Signal { key: key.to_owned(), payload })
    }

    /// Takes the queued step for a minute.
    pub fn claim(&mut self) -> Option<Token> {
        let now = self.now;
        self.tokens += 1;
        let token = Token::new(format!("token {}", self.tokens));
        let row = self.rows.steps.iter_mut().find(|step| {
            step.status == StepStatus::Queued && step.scheduled_for.is_some_and(|from| from <= now)
        })?;
        row.hold(&Lease { token: token.clone(), until: now + SignedDuration::from_mins(1), since: now });
        Some(token)
    }

    pub fn finish(&mut self, token: &Token, end: StepEnd) -> Result<Plan, Refusal> {
        self.turn(Event::StepEnded { token: token.clone(), end, chance: Chance(0) })
    }

    /// Takes the queued step and ends it.
    pub fn run(&mut self, end: StepEnd) -> Plan {
        let token = self.claim().expect("a step is queued");
        self.finish(&token, end).unwrap()
    }

    /// What holds between the rows before a turn and after it.
    fn follows(&self, before: &Rows) {
        for step in before.steps.iter().filter(|step| step.status.is_ended()) {
            assert!(self.rows.steps.contains(step), "an ended step has changed: {step:?}");
        }
        for wait in before.waits.iter().filter(|wait| !wait.status.is_open()) {
            assert!(self.rows.waits.contains(wait), "an ended wait has changed: {wait:?}");
        }
        assert_eq!(self.rows.instance.lock_version, before.instance.lock_version + 1);
        assert!(self.rows.instance.updated_at > before.instance.updated_at, "turns are in order by time");
    }

    /// What holds after every turn.
    pub fn holds(&self, plan: &Plan) {
        let state = self.state();
        // Rows and state say the same, but for a signal that has only just got its row.
        let kept = plan.writes.iter().filter(|write| matches!(write, Write::KeepSignal { .. })).count();
        let mut known = state.clone();
        known.signals.truncate(state.signals.len() - kept);
        assert_eq!(known, plan.state, "the rows stand for another state than the plan's");

        let steps = &self.rows.steps;
        let entered: BTreeSet<_> = steps.iter().map(|step| (&step.key.node, step.key.visit)).collect();
        assert_eq!(entered.len(), state.steps_count as usize, "steps_count counts visits");
        let mut visits = BTreeMap::new();
        for (node, visit) in entered {
            let last: &mut u32 = visits.entry(node).or_default();
            assert_eq!(*last + 1, visit, "visits follow one another");
            *last = visit;
        }
        let outcomes: Vec<_> = steps.iter().filter(|step| step.outcome.is_some()).collect();
        let taken: BTreeSet<_> = outcomes.iter().map(|step| (&step.key.node, step.key.visit)).collect();
        assert_eq!(taken.len(), outcomes.len(), "no visit has two outcomes");
        for step in steps {
            let key = format!("wf:{ID}:{}:{}", step.key.node, step.key.visit);
            assert_eq!(step.idempotency_key, key, "every attempt of a visit has one key");
            assert_eq!(step.claim.is_some(), step.status == StepStatus::Running);
            assert_eq!(step.finished_at.is_some(), step.status.is_ended());
        }
        let open = steps.iter().filter(|step| !step.status.is_ended()).count();
        let waits = self.rows.waits.iter().filter(|wait| wait.status.is_open());
        let step_waits = waits.clone().filter(|wait| matches!(wait.what, Waits::Step { .. })).count();
        match state.life.step() {
            Some(step) => {
                assert_eq!(open, 1, "a live instance stands at one step");
                assert_eq!(step_waits, usize::from(matches!(step.activity, Activity::Waiting(_))));
                assert!(can_go_on(&state), "nothing can ever happen: {state:?}");
            }
            None => assert_eq!((open, waits.count()), (0, 0), "what has ended holds nothing open"),
        }
        // Of one more than the most it can only be cancelled.
        assert!(self.rows.waits.len() as u32 <= self.limits.waits + 1, "too many rows of waits");
        for write in &plan.writes {
            if let Write::Step { change: StepChange::Open { opening: Opening::Held(_), .. }, .. } = write {
                panic!("a plan gives no step away by itself");
            }
        }
    }
}

/// Whether anything could ever happen to a live instance without an operator, or it is an operator who stopped it.
fn can_go_on(state: &State) -> bool {
    match &state.life {
        Life::Running(step) => match &step.activity {
            Activity::Queued { .. } | Activity::Held(_) => true,
            Activity::Waiting(wait) => wait.due_at.is_some() || wait.kind.event_key().is_some(),
        },
        Life::Paused(_) => true,
        _ => false,
    }
}

fn name(named: &mut u32) -> impl FnMut() -> SignalId {
    move || {
        *named += 1;
        SignalId::new(named.to_string())
    }
}

pub fn ok(output: Value) -> StepEnd {
    StepEnd::Completed { outcome: Outcome::new("default").unwrap(), output }
}

pub fn by(outcome: &str) -> StepEnd {
    StepEnd::Completed { outcome: Outcome::new(outcome).unwrap(), output: Value::Null }
}

pub fn failed(code: &str, retryable: bool) -> StepEnd {
    let failure = Failure::new(Code::new(code).unwrap(), "it broke", retryable);
    StepEnd::Failed { failure, timed_out: code == "timeout" }
}

pub fn suspended(event: &str, timeout: Option<i64>) -> StepEnd {
    StepEnd::Suspended { event: event.to_owned(), timeout: timeout.map(SignedDuration::from_secs) }
}
