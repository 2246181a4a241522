//! A step: claim, handler, turn.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use heddle_store::workflows::{ClaimRef, Claimed, Key};
use heddle_workflow::{
    Activity, Actor, Code, Event, Failure, Graph, Life, NodeKind, Plan, Refusal, State, Step, StepEnd,
    StepKey, Token,
};
use jiff::SignedDuration;
use tokio::sync::OnceCell;

use crate::draw::{chance, token};
use crate::handler::{acting, context};
use crate::{Act, Engine, EngineError};

/// After how long the end of a step is tried to be written again when the store fails; twice as long each time. Its failure
/// is not the step's: what can't be written before the lease runs out is lost with it, and the step is run again.
const PAUSE: SignedDuration = SignedDuration::from_millis(100);
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(2);
type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What became of something that was done under a claim.
enum Held<T> {
    Ended(T),
    TimedOut,
    /// Somebody else has the step.
    Lost,
}

/// A version, its graph, and the state that an instance of it was left in.
pub(crate) type Known = (Key, Arc<Graph>, State);

/// Who takes the step that a turn leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hands {
    /// Whoever makes the turn, who has just ended the step before.
    Own,
    /// This node, where it is at work and has room for one more.
    Any,
    /// Whoever comes for it.
    Nobodys,
}

/// A step that follows in the same hands, and the state that its instance was left in.
pub(crate) type Following = (Claimed, Option<State>);

/// After how long a step without a handler here is offered again.
const OFFERED_AGAIN: SignedDuration = SignedDuration::from_secs(5);

impl Engine {
    /// Takes up to `most` steps.
    pub(crate) async fn claim(&self, most: usize) -> Result<Vec<Claimed>, EngineError> {
        let now = self.now();
        let tokens: Vec<Token> = (0..most).map(|_| token(self.draw.as_ref(), now)).collect();
        let until = now.checked_add(self.config.lease).unwrap_or(jiff::Timestamp::MAX);
        Ok(self.store.work.claim(&tokens, until, now).await?)
    }

    /// Takes up to `most` steps and runs them one after the other, each with those that follow it; how many it took.
    pub async fn work_once(&self, most: usize) -> Result<usize, EngineError> {
        let claimed = self.claim(most).await?;
        let count = claimed.len();
        for claimed in claimed {
            self.perform(claimed, None, || false).await?;
        }
        Ok(count)
    }

    /// Runs a step, and those that follow it as long as they can be taken in the same commit.
    /// Once the node is to stop, what follows is left to others.
    pub(crate) async fn perform(
        &self,
        claimed: Claimed,
        known: Option<State>,
        is_to_stop: impl Fn() -> bool + Sync,
    ) -> Result<(), EngineError> {
        let actor = Arc::new(OnceCell::new());
        let mut next = Some((claimed, known));
        while let Some((claimed, known)) = next {
            next = self.step(claimed, known, &actor, &is_to_stop).await?;
        }
        Ok(())
    }

    /// Runs a step; the one that follows it in this node's hands, and the state that it was left in.
    async fn step(
        &self,
        claimed: Claimed,
        known: Option<State>,
        actor: &Arc<OnceCell<Actor>>,
        is_to_stop: &(impl Fn() -> bool + Sync),
    ) -> Result<Option<Following>, EngineError> {
        let graph = self.graph(&claimed.version).await?;
        let node = graph.find(claimed.claim.step.node.as_str()).map(|index| graph.node(index));
        let Some((node, NodeKind::Action { handler, .. })) = node.map(|node| (node, &node.kind)) else {
            return self.give_back(&claimed.claim, "there is no such node").await;
        };
        if !self.registry.has(handler) {
            return self.give_back(&claimed.claim, "there is no handler for it here").await;
        }
        let with_graph = |state| (claimed.version.clone(), Arc::clone(&graph), state);
        let mut patience = node.timeout.map(|timeout| self.clock.sleep(timeout));
        if self.permission.is_some() {
            let permitted = self.permitted(&claimed.claim, handler, actor);
            match self.hold(&claimed.claim, &mut patience, permitted).await {
                Held::Ended(Ok(())) => {}
                Held::Ended(Err(EngineError::Forbidden { reason })) => {
                    let end = failed("forbidden", &reason, false);
                    return self.finish(&claimed, known.map(with_graph), end, is_to_stop).await;
                }
                // Whether it may run is not for the step to fail by.
                Held::Ended(Err(error)) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "could not ask whether a step may run"
                    );
                    return self.give_back(&claimed.claim, "nobody knows whether it may run").await;
                }
                Held::TimedOut => {
                    return self.finish(&claimed, known.map(with_graph), timed_out(), is_to_stop).await;
                }
                Held::Lost => return Ok(None),
            }
        }
        let input = claimed.input.as_deref().cloned().unwrap_or_default();
        let called = self.registry.call(
            handler,
            input,
            context(&claimed, &self.store, &self.clock, actor, &self.config.limits),
        );
        let Some(called) = called else {
            return self.give_back(&claimed.claim, "there is no handler for it here").await;
        };
        let end = match self.hold(&claimed.claim, &mut patience, called).await {
            Held::Ended(end) => end,
            Held::TimedOut => timed_out(),
            // Whoever holds it now runs it again; this call is dropped where it stands.
            Held::Lost => return Ok(None),
        };
        self.finish(&claimed, known.map(with_graph), end, is_to_stop).await
    }

    /// Whether the step may run, as whom it acts.
    async fn permitted(
        &self,
        claim: &ClaimRef,
        handler: &str,
        actor: &OnceCell<Actor>,
    ) -> Result<(), EngineError> {
        let actor = acting(actor, self.store.effects.as_ref(), &claim.instance).await?;
        self.permit(actor, Act::Step { instance: &claim.instance, handler }).await
    }

    /// Does something while a claim is kept alive.
    async fn hold<T>(
        &self,
        claim: &ClaimRef,
        patience: &mut Option<Sleep>,
        work: impl Future<Output = T>,
    ) -> Held<T> {
        let patience = async {
            match patience {
                Some(patience) => patience.as_mut().await,
                None => std::future::pending().await,
            }
        };
        let lost = async {
            loop {
                self.clock.sleep(self.config.lease / 3).await;
                if !self.heartbeat(claim).await {
                    return;
                }
            }
        };
        tokio::select! {
            biased;
            done = work => Held::Ended(done),
            () = patience => Held::TimedOut,
            () = lost => Held::Lost,
        }
    }

    /// Prolongs a claim. A store that fails prolongs nothing, and takes nothing away either: the lease tells.
    async fn heartbeat(&self, claim: &ClaimRef) -> bool {
        let until = self.now().checked_add(self.config.lease).unwrap_or(jiff::Timestamp::MAX);
        match self.store.work.heartbeat(claim, until).await {
            Ok(held) => held,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "could not prolong a claim");
                true
            }
        }
    }

    /// Another node may have what this one lacks, or this one later.
    async fn give_back(&self, claim: &ClaimRef, why: &str) -> Result<Option<Following>, EngineError> {
        tracing::warn!(instance = %claim.instance, node = %claim.step.node, why, "a step is given back");
        let from = self.now().checked_add(OFFERED_AGAIN).unwrap_or(jiff::Timestamp::MAX);
        self.store.work.release(claim, from).await?;
        Ok(None)
    }

    /// Writes the end of a step; the step that follows, taken in the same commit.
    async fn finish(
        &self,
        claimed: &Claimed,
        mut known: Option<Known>,
        end: StepEnd,
        is_to_stop: &(impl Fn() -> bool + Sync),
    ) -> Result<Option<Following>, EngineError> {
        let claim = &claimed.claim;
        let chance = chance(self.draw.as_ref());
        let event = Event::StepEnded { token: claim.token.clone(), end, chance };
        // After that somebody else may have it.
        let until = self.now().checked_add(self.config.lease).unwrap_or(jiff::Timestamp::MAX);
        let (mut pause, mut tokens) = (PAUSE, Vec::new());
        let mut is_first = true;
        loop {
            let hands = if is_to_stop() { Hands::Nobodys } else { Hands::Own };
            match self.turn_by(&claim.instance, &event, known.take(), hands, &mut tokens).await {
                Ok((_, next)) => return Ok(next),
                // It was written, and only the answer was lost: what follows it is in these hands.
                Err(EngineError::Refused(Refusal::LeaseLost)) if !is_first => {
                    return self.left_to(claimed, &tokens).await;
                }
                Err(EngineError::Refused(refusal)) => {
                    tracing::info!(code = refusal.code(), step = %claim.step.node, "the end of a step came too late");
                    return Ok(None);
                }
                Err(EngineError::Store(error)) if self.now() < until => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "could not write the end of a step"
                    );
                    self.clock.sleep(pause).await;
                    (pause, is_first) = ((pause * 2).min(LONGEST_PAUSE), false);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The step that its instance stands at, if it is held under one of these tokens.
    async fn left_to(&self, before: &Claimed, tokens: &[Token]) -> Result<Option<Following>, EngineError> {
        let (graph, state) = self.load(&before.claim.instance).await?;
        let Some(Step { attempt, activity: Activity::Held(lease) }) = state.life.step() else {
            return Ok(None);
        };
        if !tokens.contains(&lease.token) {
            return Ok(None);
        }
        let node = graph.node(attempt.node).id.clone();
        let step = StepKey { node, visit: attempt.visit, attempt: attempt.attempt };
        let claimed = Claimed {
            idempotency_key: step.idempotency_key(&state.id),
            claim: ClaimRef { instance: state.id.clone(), step, token: lease.token.clone() },
            version: before.version.clone(),
            input: attempt.input.clone(),
            resume: attempt.resume.clone(),
        };
        Ok(Some((claimed, Some(state))))
    }

    /// Takes the step that a plan leaves, if it is one of this node's.
    pub(crate) fn take_next(&self, version: &Key, graph: &Graph, plan: &mut Plan) -> Option<Following> {
        let Life::Running(step) = &plan.state.life else { return None };
        let NodeKind::Action { handler, .. } = &graph.node(step.attempt.node).kind else { return None };
        if !self.registry.has(handler) {
            return None;
        }
        let token = token(self.draw.as_ref(), plan.at);
        let until = plan.at.checked_add(self.config.lease).unwrap_or(jiff::Timestamp::MAX);
        let attempt = plan.claim(&token, until)?;
        let node = graph.node(attempt.node).id.clone();
        let step = StepKey { node, visit: attempt.visit, attempt: attempt.attempt };
        let claimed = Claimed {
            idempotency_key: step.idempotency_key(&plan.state.id),
            claim: ClaimRef { instance: plan.state.id.clone(), step, token },
            version: version.clone(),
            input: attempt.input,
            resume: attempt.resume,
        };
        Some((claimed, Some(plan.state.clone())))
    }
}

fn timed_out() -> StepEnd {
    match failed("timeout", "the step took longer than its node allows", true) {
        StepEnd::Failed { failure, .. } => StepEnd::Failed { failure, timed_out: true },
        other => other,
    }
}

fn failed(code: &'static str, message: &str, retryable: bool) -> StepEnd {
    let code = Code::new(code).unwrap_or_else(|error| unreachable!("{error}"));
    StepEnd::Failed { failure: Failure::new(code, message, retryable), timed_out: false }
}
