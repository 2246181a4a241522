//! Handlers: typed async functions, by name.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use heddle_store::workflows::{Actors, Effects, WorkflowStore};
use heddle_workflow::{
    Actor, Catalog, Code, Failure, HandlerSpec, InstanceId, Limits, Outcome, StepEnd, StepKey, check_payload,
};
use jiff::SignedDuration;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use crate::{Clock, EngineError};

/// How a handler goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Flow<O> {
    /// On by the outcome `default`, with this output.
    Done(O),
    /// On by another outcome, one of those that the handler is registered with: see [`Registry::action_with`].
    By(String, O),
    /// Call it again when this event has come, or after this long. Its [`Context::resume`] says which.
    Wait {
        /// The event's key.
        event: String,
        /// How long to wait at most.
        timeout: Option<SignedDuration>,
    },
}

/// How a handler fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepError {
    code: String,
    message: String,
    retryable: bool,
}

impl StepError {
    /// A failure that may pass: the node's retry policy has its say.
    #[expect(clippy::needless_pass_by_value, reason = "an error or a text, whichever is at hand")]
    pub fn retryable(code: &str, message: impl ToString) -> Self {
        Self { code: code.to_owned(), message: message.to_string(), retryable: true }
    }

    /// A failure that won't pass.
    pub fn fatal(code: &str, message: impl ToString) -> Self {
        Self { retryable: false, ..Self::retryable(code, message) }
    }
}

/// Any error, as one that may pass, by the code `handler`: what `?` makes of it.
impl<E: std::error::Error> From<E> for StepError {
    fn from(error: E) -> Self {
        Self::retryable("handler", error)
    }
}

/// What resumed a handler.
#[derive(Debug, Clone, PartialEq)]
pub enum Resume {
    /// Its event, with this payload.
    Event(Json),
    /// The end of its patience.
    Timeout,
}

/// What a handler knows of its call.
#[derive(Clone)]
pub struct Context {
    /// The instance.
    pub instance: InstanceId,
    /// The step: its node, the visit of it, and the attempt, from 1.
    pub step: StepKey,
    /// The same for every attempt of this visit, and for no other: what the outside should know an effect by.
    pub idempotency_key: String,
    /// What resumed it, if it was resumed.
    pub resume: Option<Resume>,
    pub(crate) effects: Arc<dyn Effects>,
    pub(crate) limits: Limits,
    /// As whom the instance's steps act, once somebody has asked; it never changes.
    pub(crate) actor: Arc<OnceCell<Actor>>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Context {
    /// As whom the step acts: who `actor_mode` says, or the system where nobody has that part (W22).
    pub async fn actor(&self) -> Result<Actor, StepError> {
        Ok(acting(&self.actor, self.effects.as_ref(), &self.instance).await?.clone())
    }

    /// Runs an effect once per instance, and gives its first result ever after (W21). If the process ends between
    /// the effect and the keeping of its result, it runs again: give the outside the idempotency key too. A result that
    /// is larger than a payload may be isn't kept, and fails the step for good.
    pub async fn once<T, Fut>(&self, key: &str, effect: impl FnOnce() -> Fut) -> Result<T, StepError>
    where
        T: Serialize + DeserializeOwned,
        Fut: Future<Output = Result<T, StepError>>,
    {
        let digest = digest(&format!("{}/{key}", self.instance));
        if let Some(kept) = self.effects.effect(&self.instance, &digest).await? {
            return Ok(serde_json::from_value(kept)?);
        }
        let result = serde_json::to_value(effect().await?)?;
        if let Err(refusal) = check_payload(&self.limits, &result) {
            return Err(StepError::fatal("result_too_large", refusal));
        }
        let now = self.clock.now();
        Ok(serde_json::from_value(self.effects.keep_effect(&self.instance, &digest, &result, now).await?)?)
    }
}

/// As whom an instance's steps act: read once for as many of them as are in the same hands. An instance that is gone
/// is no instance: its step is one that nobody can end.
pub(crate) async fn acting<'a>(
    known: &'a OnceCell<Actor>,
    effects: &dyn Effects,
    instance: &InstanceId,
) -> Result<&'a Actor, EngineError> {
    let read = || async {
        let actors = effects.actors(instance).await?;
        actors.map(Actors::actor).ok_or_else(|| EngineError::NoInstance(instance.clone()))
    };
    known.get_or_try_init(read).await
}

/// SHA-256 of a key, in hexadecimal: what the rows keep of it.
pub(crate) fn digest(key: &str) -> String {
    use std::fmt::Write as _;
    Sha256::digest(key).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string can't fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

type Ending = Pin<Box<dyn Future<Output = StepEnd> + Send>>;
type Handler = Arc<dyn Fn(Json, Context) -> Ending + Send + Sync>;

/// The handlers by name.
#[derive(Clone, Default)]
pub struct Registry {
    handlers: BTreeMap<String, (HandlerSpec, Handler)>,
}

impl Registry {
    /// No handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a handler whose only outcome is `default`.
    #[must_use]
    pub fn action<I, O, Fut>(
        self,
        name: &str,
        handler: impl Fn(I, Context) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned,
        O: Serialize,
        Fut: Future<Output = Result<Flow<O>, StepError>> + Send + 'static,
    {
        self.action_with(name, &["default"], handler)
    }

    /// With a handler that has these outcomes.
    #[must_use]
    pub fn action_with<I, O, Fut>(
        mut self,
        name: &str,
        outcomes: &[&str],
        handler: impl Fn(I, Context) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned,
        O: Serialize,
        Fut: Future<Output = Result<Flow<O>, StepError>> + Send + 'static,
    {
        let spec = HandlerSpec { outcomes: outcomes.iter().map(|outcome| (*outcome).to_owned()).collect() };
        let call = move |input: Json, context: Context| -> Ending {
            match serde_json::from_value::<I>(input) {
                Ok(input) => {
                    // Made inside, so that a panic before the first poll is caught too.
                    let made = std::panic::catch_unwind(AssertUnwindSafe(|| handler(input, context)));
                    match made {
                        Ok(future) => Box::pin(async move { ended(caught(future).await) }),
                        Err(_) => Box::pin(async { ended::<O>(None) }),
                    }
                }
                Err(error) => {
                    let end = failed(&StepError::fatal("bad_input", error));
                    Box::pin(async move { end })
                }
            }
        };
        self.handlers.insert(name.to_owned(), (spec, Arc::new(call)));
        self
    }

    /// What graphs may say of them.
    pub fn catalog(&self) -> Catalog {
        Catalog::of(self.handlers.iter().map(|(name, (spec, _))| (name.clone(), spec.clone())))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.handlers.contains_key(name)
    }

    /// Calls a handler; `None` where there is none of this name.
    pub(crate) fn call(&self, name: &str, input: Json, context: Context) -> Option<Ending> {
        self.handlers.get(name).map(|(_, handler)| handler(input, context))
    }
}

/// A future's result, or `None` where it panicked.
async fn caught<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(move |context| {
        match std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Ready(result)) => Poll::Ready(Some(result)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(None),
        }
    })
    .await
}

fn ended<O: Serialize>(result: Option<Result<Flow<O>, StepError>>) -> StepEnd {
    let completed = |outcome: &str, output: &O| {
        let outcome = Outcome::new(outcome).map_err(|error| StepError::fatal("bad_outcome", error))?;
        let output = serde_json::to_value(output).map_err(|error| StepError::fatal("bad_output", error))?;
        Ok(StepEnd::Completed { outcome, output })
    };
    let end = match result {
        Some(Ok(Flow::Done(output))) => completed("default", &output),
        Some(Ok(Flow::By(outcome, output))) => completed(&outcome, &output),
        Some(Ok(Flow::Wait { event, timeout })) => Ok(StepEnd::Suspended { event, timeout }),
        Some(Err(error)) => Err(error),
        None => Err(StepError::retryable("panic", "the handler panicked")),
    };
    end.unwrap_or_else(|error| failed(&error))
}

fn failed(error: &StepError) -> StepEnd {
    let code = Code::new(error.code.clone()).or_else(|_| Code::new("handler"));
    match code {
        Ok(code) => {
            StepEnd::Failed { failure: Failure::new(code, &error.message, error.retryable), timed_out: false }
        }
        // `handler` is a code.
        Err(error) => unreachable!("{error}"),
    }
}

pub(crate) fn context(
    claim: &heddle_store::workflows::Claimed,
    store: &WorkflowStore,
    clock: &Arc<dyn Clock>,
    actor: &Arc<OnceCell<Actor>>,
    limits: &Limits,
) -> Context {
    let resume = claim.resume.as_deref().map(|resume| match resume.get("payload") {
        Some(payload) => Resume::Event(payload.clone()),
        None => Resume::Timeout,
    });
    Context {
        instance: claim.claim.instance.clone(),
        step: claim.claim.step.clone(),
        idempotency_key: claim.idempotency_key.clone(),
        resume,
        effects: Arc::clone(&store.effects),
        actor: Arc::clone(actor),
        limits: limits.clone(),
        clock: Arc::clone(clock),
    }
}

#[cfg(test)]
mod tests {
    use heddle_store::workflows::WorkflowMemory;

    use super::*;

    #[tokio::test]
    async fn nobody_acts_for_an_instance_that_is_gone() {
        let gone = InstanceId::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV").unwrap();
        let error = acting(&OnceCell::new(), &WorkflowMemory::new(), &gone).await.unwrap_err();
        assert!(matches!(error, EngineError::NoInstance(id) if id == gone));
    }
}
