//! A step: claim, handler, turn.

use std::sync::Arc;

use heddle_store::workflows::{ClaimRef, Claimed, Key};
use heddle_workflow::{
    Activity, Code, Event, Failure, Graph, Life, NodeKind, Plan, State, StepEnd, StepKey, Token,
};
use jiff::SignedDuration;

use crate::draw::{chance, token};
use crate::handler::context;
use crate::{Engine, EngineError};

/// How often the end of a step is tried to be written when the store fails. Its failure is not the step's: what
/// can't be written is lost with its lease, and the step is run again.
const WRITES: u32 = 5;
const PAUSE: SignedDuration = SignedDuration::from_millis(100);
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
            self.perform(claimed, None).await?;
        }
        Ok(count)
    }

    /// Runs a step, and those that follow it as long as they can be taken in the same commit.
    pub(crate) async fn perform(&self, claimed: Claimed, known: Option<State>) -> Result<(), EngineError> {
        let mut next = Some((claimed, known));
        while let Some((claimed, known)) = next {
            next = self.step(claimed, known).await?;
        }
        Ok(())
    }

    /// Runs a step; the one that follows it in this node's hands, and the state that it was left in.
    async fn step(&self, claimed: Claimed, known: Option<State>) -> Result<Option<Following>, EngineError> {
        let graph = self.graph(&claimed.version).await?;
        let node = graph.find(claimed.claim.step.node.as_str()).map(|index| graph.node(index));
        let Some((node, NodeKind::Action { handler, .. })) = node.map(|node| (node, &node.kind)) else {
            return self.give_back(&claimed.claim).await;
        };
        let input = claimed.input.as_deref().cloned().unwrap_or_default();
        let called = self.registry.call(handler, input, context(&claimed, &self.store, &self.clock));
        let Some(mut called) = called else {
            return self.give_back(&claimed.claim).await;
        };
        let mut patience = node.timeout.map(|timeout| self.clock.sleep(timeout));
        let end = loop {
            let patience = async {
                match &mut patience {
                    Some(patience) => patience.as_mut().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                end = &mut called => break end,
                () = patience => break timed_out(),
                () = self.clock.sleep(self.config.lease / 3) => {
                    if !self.heartbeat(&claimed.claim).await {
                        // Whoever holds it now runs it again; this call is dropped where it stands.
                        return Ok(None);
                    }
                }
            }
        };
        let known = known.map(|state| (claimed.version.clone(), graph, state));
        self.finish(&claimed, known, end).await
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

    /// Another node may have what this one lacks.
    async fn give_back(&self, claim: &ClaimRef) -> Result<Option<Following>, EngineError> {
        tracing::warn!(node = %claim.step.node, "there is no handler for a step here");
        let from = self.now().checked_add(OFFERED_AGAIN).unwrap_or(jiff::Timestamp::MAX);
        self.store.work.release(claim, from).await?;
        Ok(None)
    }

    /// Writes the end of a step; the step that follows, taken in the same commit.
    async fn finish(
        &self,
        claimed: &Claimed,
        mut known: Option<(Key, Arc<Graph>, State)>,
        end: StepEnd,
    ) -> Result<Option<Following>, EngineError> {
        let claim = &claimed.claim;
        let chance = chance(self.draw.as_ref());
        let event = Event::StepEnded { token: claim.token.clone(), end, chance };
        let mut tries = 0;
        loop {
            let next = token(self.draw.as_ref(), self.now());
            let take = |graph: &Graph, plan: &mut Plan| self.take_next(graph, plan, &next);
            match self.turn_then(&claim.instance, &event, known.take(), take).await {
                Ok((version, plan, true)) => return Ok(following(&version, plan, next)),
                Ok((_, _, false)) => return Ok(None),
                Err(EngineError::Refused(refusal)) => {
                    tracing::info!(code = refusal.code(), step = %claim.step.node, "the end of a step came too late");
                    return Ok(None);
                }
                Err(EngineError::Store(error)) if tries < WRITES => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "could not write the end of a step"
                    );
                    tries += 1;
                    self.clock.sleep(PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the step that a plan leaves, if it is one of this node's.
    pub(crate) fn take_next(&self, graph: &Graph, plan: &mut Plan, token: &Token) -> bool {
        let Life::Running(step) = &plan.state.life else { return false };
        let NodeKind::Action { handler, .. } = &graph.node(step.attempt.node).kind else { return false };
        let until = plan.at.checked_add(self.config.lease).unwrap_or(jiff::Timestamp::MAX);
        self.registry.has(handler) && plan.claim(token, until)
    }
}

/// The step that a plan has opened and given to this node.
pub(crate) fn following(version: &Key, plan: Plan, token: Token) -> Option<Following> {
    let Life::Running(step) = &plan.state.life else { return None };
    if !matches!(step.activity, Activity::Held(_)) {
        return None;
    }
    let opened = plan.writes.into_iter().rev().find_map(|write| match write {
        heddle_workflow::Write::Step {
            key,
            change: heddle_workflow::StepChange::Open { idempotency_key, .. },
        } => Some((key, idempotency_key)),
        _ => None,
    });
    let (key, idempotency_key): (StepKey, String) = opened?;
    let claimed = Claimed {
        claim: ClaimRef { instance: plan.state.id.clone(), step: key, token },
        version: version.clone(),
        idempotency_key,
        input: step.attempt.input.clone(),
        resume: step.attempt.resume.clone(),
    };
    Some((claimed, Some(plan.state)))
}

fn timed_out() -> StepEnd {
    let code = Code::new("timeout").unwrap_or_else(|error| unreachable!("{error}"));
    let failure = Failure::new(code, "the step took longer than its node allows", true);
    StepEnd::Failed { failure, timed_out: true }
}
