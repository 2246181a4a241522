//! A turn in the making: the walk from node to node, and what it writes on its way.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value as Json, json};

use super::{
    Activity, Actor, Attempt, EndStatus, Failure, InstanceRow, Lease, Life, Limits, Opening, Plan, State,
    Step, StepChange, StepEnded, StepKey, StepMove, StepSeen, Write, waiting,
};
use crate::{
    Chance, Code, DEFAULT, ERROR, Ending, ExpressionError, Graph, MAX_JSON_DEPTH, Node, NodeIndex, NodeKind,
    Outcome, Scope, TIMEOUT, Template, TurnBudget, json_bytes, nests_deeper_than,
};

/// What is at least between two turns of an instance.
const TICK: SignedDuration = SignedDuration::from_micros(1);
/// The failure codes of instances that failed at no attempt that could be made again.
pub(super) const MAX_STEPS_TAKEN: &str = "max_steps";
pub(super) const NO_EDGE: &str = "no_edge";
/// The code of what an instance with too many waits is refused, and of its failure.
pub(super) const TOO_MANY_WAITS: &str = "too_many_waits";
/// The failure code of an instance whose turn would be too much: no edge is taken for it. A retry goes on from the
/// node at which it stopped, in a turn of its own.
const TOO_MUCH_AT_ONCE: &str = "too_much_at_once";
pub(super) const EXPRESSION: &str = "expression";
const VARS_TOO_LARGE: &str = "vars_too_large";

pub(super) struct Turn<'a> {
    pub(super) graph: &'a Graph,
    pub(super) limits: &'a Limits,
    pub(super) state: State,
    pub(super) now: Timestamp,
    chance: Chance,
    writes: Vec<Write>,
    budget: TurnBudget,
    /// How many nodes it has entered.
    entered: u32,
    /// How many bytes its writes have.
    written: usize,
    /// The limit that it would have gone beyond, in words.
    beyond: Option<String>,
    /// How many bytes of JSON the variables have, once somebody has asked.
    vars_bytes: Option<usize>,
}

impl<'a> Turn<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        limits: &'a Limits,
        state: State,
        chance: Chance,
        now: Timestamp,
    ) -> Self {
        Self {
            graph,
            limits,
            state,
            now,
            chance,
            writes: Vec::new(),
            budget: TurnBudget::new(limits.turn_units),
            entered: 0,
            written: 0,
            beyond: None,
            vars_bytes: None,
        }
    }

    /// The plan that the turn has come to.
    pub(super) fn finish(mut self, by: Actor, new: bool) -> Plan {
        // It came to a stop for want of an answer that it could no longer pay for.
        if let Some(failure) = self.too_much()
            && self.state.life.step().is_some()
        {
            waiting::abandon(&mut self);
            self.cancel_step();
            let (node, attempt) = (self.node(), self.attempt().cloned());
            self.fail(node, attempt, failure);
        }
        if !new {
            self.state.lock_version += 1;
            self.state.updated_at = self.now.max(self.state.updated_at + TICK);
        }
        if let (true, Some(due_at), Some(_)) = (new, self.state.deadline, self.state.life.step()) {
            self.open_deadline(due_at);
        }
        let row = InstanceRow::of(self.graph, &self.state);
        let at = self.state.updated_at;
        Plan { state: self.state, row, writes: self.writes, by, at }
    }

    pub(super) fn open_deadline(&mut self, due_at: Timestamp) {
        let key = self.trigger_key();
        self.write(Write::OpenDeadline { key, due_at });
    }

    pub(super) fn write(&mut self, write: Write) {
        self.state.waits += u32::from(write.opens_wait());
        self.written += write.bytes();
        self.writes.push(write);
    }

    /// The failure that the turn is, where it was or would be too much.
    pub(super) fn too_much(&self) -> Option<Failure> {
        let message = match &self.beyond {
            Some(beyond) => beyond.clone(),
            None if self.budget.is_spent() => {
                let most = self.limits.turn_units;
                format!("the expressions of one turn take more than {most} units, which are the most")
            }
            None => return None,
        };
        Some(Failure::fatal(TOO_MUCH_AT_ONCE, &message))
    }

    /// Whether the turn may write one more value; it is over where it may not.
    fn may_write(&mut self, json: &Json) -> bool {
        let most = self.limits.turn_bytes;
        let fits = self.written + json_bytes(json) <= most;
        if !fits {
            self.beyond = Some(format!("one turn would write more than {most} bytes, which are the most"));
        }
        fits
    }

    /// Whether the instance may have one more row of waits, signals and commands.
    pub(super) const fn has_room(&self) -> bool {
        self.state.waits < self.limits.waits
    }

    pub(super) fn is_paused(&self) -> bool {
        matches!(self.state.life, Life::Paused(_))
    }

    pub(super) fn attempt(&self) -> Option<&Attempt> {
        match &self.state.life {
            Life::Running(step) | Life::Paused(step) => Some(&step.attempt),
            Life::Failed { step, .. } => step.as_ref(),
            Life::Completed { .. } | Life::Cancelled { .. } => None,
        }
    }

    /// The node at which the instance stands or failed, or else its beginning.
    pub(super) fn node(&self) -> NodeIndex {
        self.attempt().map_or(self.graph.start(), |attempt| attempt.node)
    }

    /// The step and its lease, where somebody holds it.
    pub(super) fn held(&self) -> Option<(&Attempt, &Lease)> {
        match self.state.life.step() {
            Some(Step { attempt, activity: Activity::Held(lease) }) => Some((attempt, lease)),
            _ => None,
        }
    }

    pub(super) fn key(&self, attempt: &Attempt) -> StepKey {
        let node = self.graph.node(attempt.node).id.clone();
        StepKey { node, visit: attempt.visit, attempt: attempt.attempt }
    }

    /// The last step, or the trigger's: every instance has one.
    pub(super) fn last_key(&self) -> StepKey {
        match self.attempt() {
            Some(attempt) => self.key(attempt),
            None => self.trigger_key(),
        }
    }

    fn trigger_key(&self) -> StepKey {
        let node = self.graph.node(self.graph.start()).id.clone();
        StepKey { node, visit: 1, attempt: 1 }
    }

    pub(super) fn scope<'s>(&'s self, event: &'s Json) -> Scope<'s> {
        Scope {
            trigger: &self.state.trigger,
            subject: &self.state.subject,
            vars: &self.state.vars,
            steps: &self.state.steps,
            event,
            now: self.now,
            budget: &self.budget,
        }
    }

    /// Puts the instance at a step, running or paused as it was.
    pub(super) fn stand_at(&mut self, attempt: Attempt, activity: Activity) {
        let step = Step { attempt, activity };
        self.state.life = if self.is_paused() { Life::Paused(step) } else { Life::Running(step) };
    }

    /// Walks on from node to node until one needs somebody, waits, or ends the instance. Every node entered counts
    /// against the limit of steps and against the turn's, which bounds the walk.
    pub(super) fn walk(&mut self, mut next: Option<NodeIndex>) {
        while let Some(node) = next {
            next = self.enter(node);
        }
    }

    fn enter(&mut self, index: NodeIndex) -> Option<NodeIndex> {
        let most = self.graph.settings().max_steps;
        if self.state.steps_count >= most {
            let message = format!("the instance has taken {most} steps, which are the most");
            self.fail(index, None, Failure::fatal(MAX_STEPS_TAKEN, &message));
            return None;
        }
        self.state.steps_count += 1;
        let visits = self.state.visits.entry(index).or_default();
        *visits += 1;
        let attempt = Attempt { node: index, visit: *visits, attempt: 1, lost: 0, input: None, resume: None };
        self.entered += 1;
        let most = self.limits.turn_steps;
        if self.entered > most {
            self.beyond = Some(format!("one turn would enter more than {most} nodes, which are the most"));
        }
        if let Some(failure) = self.too_much() {
            return self.failed_at_once(&attempt, failure);
        }
        self.perform(attempt)
    }

    /// Does what a node does, as the attempt given; the next node, unless the walk stops here.
    pub(super) fn perform(&mut self, mut attempt: Attempt) -> Option<NodeIndex> {
        let graph = self.graph;
        let node = graph.node(attempt.node);
        match &node.kind {
            NodeKind::Trigger => {
                let output = self.state.trigger.as_ref().clone();
                self.ended_at_once(&attempt, DEFAULT, Some(output))
            }
            NodeKind::Condition { expression } => match expression.is_true(&self.scope(&Json::Null)) {
                Ok(truth) => self.ended_at_once(&attempt, if truth { "true" } else { "false" }, None),
                Err(error) => self.broken(&attempt, &error),
            },
            NodeKind::Switch { cases } => {
                let chosen = cases.iter().find_map(|(outcome, expression)| {
                    match expression.is_true(&self.scope(&Json::Null)) {
                        Ok(false) => None,
                        Ok(true) => Some(Ok(outcome.as_str())),
                        Err(error) => Some(Err(error)),
                    }
                });
                match chosen.unwrap_or(Ok(DEFAULT)) {
                    Ok(outcome) => self.ended_at_once(&attempt, outcome, None),
                    Err(error) => self.broken(&attempt, &error),
                }
            }
            NodeKind::Set { values } => self.set(&attempt, values),
            NodeKind::Action { input, .. } => {
                if attempt.input.is_none() {
                    match input.render(&self.scope(&Json::Null), self.limits.input_bytes) {
                        Ok(input) => attempt.input = Some(Arc::new(input)),
                        Err(error) => return self.unrendered(&attempt, &error, "input_too_large"),
                    }
                }
                if let Some(input) = &attempt.input
                    && let Err(failure) = fits(input, self.limits.input_bytes, "input_too_large")
                {
                    attempt.input = None;
                    return self.failed_at_once(&attempt, failure);
                }
                if !attempt.input.clone().is_none_or(|input| self.may_write(&input)) {
                    attempt.input = None;
                    return self.stopped(&attempt);
                }
                self.queue(attempt, self.now);
                None
            }
            NodeKind::Delay(delay) => waiting::delay(self, attempt, delay),
            NodeKind::WaitEvent(wait) => waiting::wait(self, attempt, wait),
            NodeKind::End(Ending::Completed { output }) => match self.rendered(output) {
                Ok(output) => {
                    if let Err(failure) = fits(&output, self.limits.payload_bytes, "output_too_large") {
                        return self.failed_at_once(&attempt, failure);
                    }
                    if !self.may_write(&output) {
                        return self.stopped(&attempt);
                    }
                    let ended = StepEnded {
                        status: EndStatus::Completed,
                        outcome: None,
                        output: Some(output.clone()),
                        failure: None,
                    };
                    self.open(&attempt, Opening::Ended(ended));
                    self.close_waits();
                    self.state.life = Life::Completed { output, at: self.now };
                    None
                }
                Err(error) => self.unrendered(&attempt, &error, "output_too_large"),
            },
            NodeKind::End(Ending::Failed { code, message }) => match self.rendered(message) {
                Ok(message) => {
                    let message = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
                    self.failed_at_once(&attempt, Failure::new(code.clone(), &message, false))
                }
                Err(error) => self.unrendered(&attempt, &error, "output_too_large"),
            },
        }
    }

    /// A template's value, unless it is larger than anything that is kept.
    pub(super) fn rendered(&self, template: &Template) -> Result<Json, ExpressionError> {
        template.render(&self.scope(&Json::Null), self.limits.payload_bytes)
    }

    /// Sets one variable after the other, each as large as the ones before it leave room for.
    fn set(&mut self, attempt: &Attempt, values: &[(String, Template)]) -> Option<NodeIndex> {
        let mut output = Map::new();
        let mut before = Vec::new();
        for (name, template) in values {
            let set = self.rendered(template).map_err(|error| failure_of(&error, VARS_TOO_LARGE));
            match set.and_then(|value| Ok((self.set_one(name, value.clone())?, value))) {
                Ok((old, value)) => {
                    before.push((name, old));
                    output.insert(name.clone(), value);
                }
                Err(failure) => {
                    self.vars_bytes = None;
                    let vars = Arc::make_mut(&mut self.state.vars);
                    for (name, old) in before.into_iter().rev() {
                        match old {
                            Some(old) => vars.insert(name.clone(), old),
                            None => vars.remove(name),
                        };
                    }
                    return self.failed_at_once(attempt, failure);
                }
            }
        }
        self.ended_at_once(attempt, DEFAULT, Some(Json::Object(output)))
    }

    /// Sets a variable and gives what it was; leaves it alone where there would be too much of all of them.
    fn set_one(&mut self, name: &str, value: Json) -> Result<Option<Json>, Failure> {
        if nests_deeper_than(&value, MAX_JSON_DEPTH - 1) {
            let message = format!("it is nested deeper than {MAX_JSON_DEPTH} levels");
            return Err(Failure::fatal(VARS_TOO_LARGE, &message));
        }
        // A name and a value, with a colon and a comma.
        let entry = |name: &str, value: &Json| json_bytes(&Json::from(name)) + json_bytes(value) + 2;
        let all = if let Some(bytes) = self.vars_bytes {
            bytes
        } else {
            let bytes = self.state.vars.iter().map(|(name, value)| entry(name, value)).sum();
            self.pay(bytes)?;
            bytes
        };
        let old = self.state.vars.get(name).map(|value| entry(name, value)).unwrap_or_default();
        self.pay(old)?;
        let bytes = all - old + entry(name, &value);
        let most = self.limits.payload_bytes;
        // Braces, and no comma after the last.
        if bytes + 1 > most {
            let bytes = bytes + 1;
            let message = format!("the variables have {bytes} bytes of JSON; {most} are the most");
            return Err(Failure::fatal(VARS_TOO_LARGE, &message));
        }
        self.vars_bytes = Some(bytes);
        Ok(Arc::make_mut(&mut self.state.vars).insert(name.to_owned(), value))
    }

    /// Pays for a look at so many bytes.
    fn pay(&self, bytes: usize) -> Result<(), Failure> {
        self.budget.take_bytes(bytes).map_err(|error| failure_of(&error, VARS_TOO_LARGE))
    }

    /// Opens a step for whoever comes.
    fn queue(&mut self, attempt: Attempt, from: Timestamp) {
        self.open(&attempt, Opening::Queued { from, paused: self.is_paused() });
        self.stand_at(attempt, Activity::Queued { from });
    }

    pub(super) fn open(&mut self, attempt: &Attempt, opening: Opening) {
        let node = self.graph.node(attempt.node);
        if let Opening::Ended(ended) = &opening {
            self.note(&node.id.to_string(), ended);
        }
        let key = self.key(attempt);
        let change = StepChange::Open {
            node_type: node.node_type.clone(),
            idempotency_key: key.idempotency_key(&self.state.id),
            input: attempt.input.clone(),
            resume: attempt.resume.clone(),
            opening,
        };
        self.write(Write::Step { key, change });
    }

    /// The step that the instance stands at, as its row is known to be.
    pub(super) fn seen(&self) -> Option<StepSeen> {
        let step = self.state.life.step()?;
        Some(match &step.activity {
            Activity::Held(lease) => StepSeen::Held(lease.token.clone()),
            _ if self.is_paused() => StepSeen::Paused,
            Activity::Queued { .. } => StepSeen::Queued,
            Activity::Waiting(_) => StepSeen::Waiting,
        })
    }

    /// Changes the row of the step that the instance stands at.
    pub(super) fn move_step(&mut self, to: StepMove) {
        let (Some(from), Some(attempt)) = (self.seen(), self.attempt().cloned()) else { return };
        if let StepMove::Ended(ended) = &to {
            self.note(&self.graph.node(attempt.node).id.to_string(), ended);
        }
        let key = self.key(&attempt);
        self.write(Write::Step { key, change: StepChange::Move { from, to } });
    }

    /// Keeps what expressions see of a node's last run.
    fn note(&mut self, node: &str, ended: &StepEnded) {
        if matches!(ended.status, EndStatus::Lost | EndStatus::Cancelled) {
            return;
        }
        let error = ended
            .failure
            .as_ref()
            .map(|failure| json!({"code": failure.code.as_str(), "message": failure.message}));
        let view = json!({
            "output": ended.output, "outcome": ended.outcome.as_ref().map(Outcome::as_str), "error": error,
        });
        Arc::make_mut(&mut self.state.steps).insert(node.to_owned(), view);
    }

    /// A node that has ended in the turn that entered it.
    pub(super) fn ended_at_once(
        &mut self,
        attempt: &Attempt,
        outcome: &str,
        output: Option<Json>,
    ) -> Option<NodeIndex> {
        if output.as_ref().is_some_and(|output| !self.may_write(output)) {
            return self.stopped(attempt);
        }
        let outcome = Outcome::new(outcome).ok();
        let ended =
            StepEnded { status: EndStatus::Completed, outcome: outcome.clone(), output, failure: None };
        self.open(attempt, Opening::Ended(ended));
        self.follow(attempt, outcome.as_ref().map_or(DEFAULT, Outcome::as_str))
    }

    /// A node whose expression had no value.
    pub(super) fn broken(&mut self, attempt: &Attempt, error: &ExpressionError) -> Option<NodeIndex> {
        self.failed_at_once(attempt, failure_of(error, EXPRESSION))
    }

    /// A node whose template had no value, or one that is too large.
    fn unrendered(
        &mut self,
        attempt: &Attempt,
        error: &ExpressionError,
        too_large: &'static str,
    ) -> Option<NodeIndex> {
        self.failed_at_once(attempt, failure_of(error, too_large))
    }

    /// A node at which the turn has become too much.
    pub(super) fn stopped(&mut self, attempt: &Attempt) -> Option<NodeIndex> {
        let failure = self.too_much().unwrap_or_else(|| Failure::fatal(TOO_MUCH_AT_ONCE, "the turn is over"));
        self.failed_at_once(attempt, failure)
    }

    pub(super) fn failed_at_once(&mut self, attempt: &Attempt, failure: Failure) -> Option<NodeIndex> {
        let failure = self.too_much().unwrap_or(failure);
        let route = self.route(attempt.node, false);
        let ended = failed(route.as_ref().map(|(outcome, _)| outcome.clone()), failure.clone());
        self.open(attempt, Opening::Ended(ended));
        self.failed(attempt.clone(), failure, route.map(|(_, to)| to))
    }

    /// Where a failure leads, if anywhere.
    fn route(&self, node: NodeIndex, timed_out: bool) -> Option<(Outcome, NodeIndex)> {
        if self.too_much().is_some() {
            return None;
        }
        let node: &Node = self.graph.node(node);
        let timeout = node.edge(TIMEOUT).filter(|_| timed_out).map(|to| (Outcome::of(TIMEOUT), to));
        timeout.or_else(|| node.edge(ERROR).map(|to| (Outcome::of(ERROR), to)))
    }

    fn failed(&mut self, attempt: Attempt, failure: Failure, next: Option<NodeIndex>) -> Option<NodeIndex> {
        if next.is_none() {
            self.fail(attempt.node, Some(attempt), failure);
        }
        next
    }

    /// Goes on by an outcome.
    fn follow(&mut self, attempt: &Attempt, outcome: &str) -> Option<NodeIndex> {
        let node = self.graph.node(attempt.node);
        let next = node.edge(outcome);
        if next.is_none() {
            let message = format!("no edge leads on from {} by {outcome}", node.id);
            // The step itself went well, and a retry would do it twice.
            self.fail(attempt.node, None, Failure::fatal(NO_EDGE, &message));
        }
        next
    }

    /// Closes whatever the instance has still open, as it ends.
    pub(super) fn close_waits(&mut self) {
        self.write(Write::CloseWaits);
        self.state.deadline = None;
        self.state.signals.clear();
    }

    /// Ends the instance in failure.
    pub(super) fn fail(&mut self, node: NodeIndex, step: Option<Attempt>, failure: Failure) {
        self.close_waits();
        let failure = Failure { retryable: false, ..failure };
        self.state.life = Life::Failed { failure, node, step, at: self.now };
    }

    /// The step that the instance stands at has ended well.
    pub(super) fn step_completed(&mut self, outcome: &Outcome, output: Json) {
        let Some(attempt) = self.attempt().cloned() else { return };
        self.move_step(StepMove::Ended(StepEnded {
            status: EndStatus::Completed,
            outcome: Some(outcome.clone()),
            output: Some(output),
            failure: None,
        }));
        let next = self.follow(&attempt, outcome.as_str());
        self.walk(next);
    }

    /// The step that the instance stands at has failed: another attempt, the edge for it, or the instance's end.
    pub(super) fn step_failed(&mut self, failure: Failure, timed_out: bool) {
        let failure = self.too_much().unwrap_or(failure);
        let Some(attempt) = self.attempt().cloned() else { return };
        let retry = &self.graph.node(attempt.node).retry;
        let failures = attempt.attempt - attempt.lost;
        if failure.retryable && failures < retry.max_attempts {
            let pause = retry.pause(failures, self.chance);
            self.move_step(StepMove::Ended(failed(None, failure)));
            let from = self.now.checked_add(pause).unwrap_or(Timestamp::MAX);
            self.queue(Attempt { attempt: attempt.attempt + 1, ..attempt }, from);
            return;
        }
        let route = self.route(attempt.node, timed_out);
        self.move_step(StepMove::Ended(failed(
            route.as_ref().map(|(outcome, _)| outcome.clone()),
            failure.clone(),
        )));
        let next = self.failed(attempt, failure, route.map(|(_, to)| to));
        self.walk(next);
    }

    /// The lease of the held step has run out: another attempt, which is none of the node's own.
    pub(super) fn lease_lost(&mut self) {
        let Some(attempt) = self.attempt().cloned() else { return };
        let lost = attempt.lost + 1;
        let failure = Failure::new(Code::of("lease_lost"), "its holder fell silent", true);
        if lost >= self.limits.lost_leases {
            let message = format!("{lost} holders of this step fell silent");
            self.step_failed(Failure::fatal("lease_lost", &message), false);
            return;
        }
        self.move_step(StepMove::Ended(StepEnded {
            status: EndStatus::Lost,
            outcome: None,
            output: None,
            failure: Some(failure),
        }));
        self.queue(Attempt { attempt: attempt.attempt + 1, lost, ..attempt }, self.now);
    }

    /// Ends the step that the instance stands at without an outcome.
    pub(super) fn cancel_step(&mut self) {
        self.move_step(StepMove::Ended(StepEnded {
            status: EndStatus::Cancelled,
            outcome: None,
            output: None,
            failure: None,
        }));
    }
}

pub(super) fn failed(outcome: Option<Outcome>, failure: Failure) -> StepEnded {
    StepEnded { status: EndStatus::Failed, outcome, output: None, failure: Some(failure) }
}

/// The failure that an expression's error is.
pub(super) fn failure_of(error: &ExpressionError, too_large: &'static str) -> Failure {
    let code = if matches!(error, ExpressionError::TooLarge { .. }) { too_large } else { EXPRESSION };
    Failure::fatal(code, &error.to_string())
}

/// Whether a value can be kept, or the failure that it is.
pub(super) fn fits(json: &Json, most: usize, code: &'static str) -> Result<(), Failure> {
    if nests_deeper_than(json, MAX_JSON_DEPTH) {
        let message = format!("it is nested deeper than {MAX_JSON_DEPTH} levels");
        return Err(Failure::fatal(code, &message));
    }
    let bytes = json_bytes(json);
    if bytes > most {
        return Err(Failure::fatal(code, &format!("it has {bytes} bytes of JSON; {most} are the most")));
    }
    Ok(())
}
