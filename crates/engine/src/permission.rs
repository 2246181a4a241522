//! Whether somebody may do something: the host says (W22).

use async_trait::async_trait;
use heddle_store::workflows::Morph;
use heddle_workflow::{Actor, InstanceId};

use crate::{Engine, EngineError};

/// Says who may do what. It is asked before anything is done: by callers before their call, and before each step's
/// handler as whom the step acts. It may take its time; a step is held meanwhile.
#[async_trait]
pub trait Permission: Send + Sync {
    /// Whether `actor` may do this. An error says that nobody knows: a caller is told so, and a step is put off.
    async fn may(&self, actor: &Actor, act: Act<'_>) -> Result<Verdict, NobodyKnows>;
}

/// Why there is no verdict.
pub type NobodyKnows = Box<dyn std::error::Error + Send + Sync>;

/// What somebody wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act<'a> {
    /// Publish a version of a definition.
    Publish {
        /// Whose it is; `None`: the application's.
        owner: Option<&'a Morph>,
        /// Its key.
        definition: &'a str,
    },
    /// Start an instance of a definition.
    Start {
        /// Whose it is; `None`: the application's.
        owner: Option<&'a Morph>,
        /// Its key.
        definition: &'a str,
    },
    /// Give an instance a command.
    Command {
        /// The instance.
        instance: &'a InstanceId,
        /// The command's name.
        name: &'static str,
    },
    /// Run a handler for an instance.
    Step {
        /// The instance.
        instance: &'a InstanceId,
        /// The handler's name.
        handler: &'a str,
    },
    /// Publish an event to every instance of its owner that waits for it.
    Emit {
        /// Whose instances; `None`: the application's.
        owner: Option<&'a Morph>,
        /// The event's key.
        event: &'a str,
    },
}

/// What a host says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// They may.
    Allowed,
    /// They may not.
    Denied {
        /// Why, for whoever asked.
        reason: String,
    },
}

impl Engine {
    /// Asks before anything is done. Without a host's word everything is allowed, and nobody is asked.
    pub(crate) async fn permit(&self, actor: &Actor, act: Act<'_>) -> Result<(), EngineError> {
        let Some(permission) = &self.permission else { return Ok(()) };
        match permission.may(actor, act).await.map_err(EngineError::Permission)? {
            Verdict::Allowed => Ok(()),
            Verdict::Denied { reason } => Err(EngineError::Forbidden { reason }),
        }
    }
}
