//! Publishing a graph.

use heddle_store::workflows::{Morph, NewVersion, Version};
use heddle_workflow::{
    Actor, Checked, Finding, MAX_KEY_CHARS, MAX_NAME_CHARS, TextError, check, check_record, check_text,
    checksum,
};
use serde_json::Value as Json;

use crate::{Act, Engine, EngineError};

/// A document to be published.
#[derive(Debug, Clone, PartialEq)]
pub struct Publication {
    /// The definition's key.
    pub key: String,
    /// Its name, where it is new.
    pub name: String,
    /// Whose it is; `None`: the application's.
    pub owner: Option<Morph>,
    /// The graph's document.
    pub document: Json,
    /// Who publishes it.
    pub publisher: Option<Morph>,
    /// The checksum that the current version must have, empty for none; `None`: whatever it is.
    pub expected_checksum: Option<String>,
}

impl Publication {
    /// The application's own, by nobody in particular.
    pub fn new(key: &str, document: &Json) -> Self {
        Self {
            key: key.to_owned(),
            name: key.to_owned(),
            owner: None,
            document: document.clone(),
            publisher: None,
            expected_checksum: None,
        }
    }

    fn check(&self) -> Result<(), TextError> {
        check_definition(&self.key)?;
        check_text("a definition's name", &self.name, MAX_NAME_CHARS)?;
        self.owner.iter().chain(&self.publisher).try_for_each(|morph| check_record(&morph.kind, &morph.id))
    }
}

/// Refuses what can be no definition's key.
pub(crate) fn check_definition(key: &str) -> Result<(), TextError> {
    check_text("a definition's key", key, MAX_KEY_CHARS)
}

impl Engine {
    /// Checks a document against the handlers that there are.
    pub fn check(&self, document: &Json) -> Checked {
        check(document, &self.registry.catalog())
    }

    /// Publishes a document as the application's own, by the system.
    pub async fn publish(&self, key: &str, document: &Json) -> Result<(Version, Vec<Finding>), EngineError> {
        self.publish_as(Publication::new(key, document)).await
    }

    /// Checks a document and publishes it as the definition's current version. Gives the version and what there is to
    /// say of its graph.
    pub async fn publish_as(&self, publication: Publication) -> Result<(Version, Vec<Finding>), EngineError> {
        publication.check()?;
        let Publication { key, name, owner, document, publisher, expected_checksum } = publication;
        let by = publisher.clone().map_or(Actor::System, Actor::from);
        self.permit(&by, Act::Publish { owner: owner.as_ref(), definition: &key }).await?;
        let Checked { graph, findings } = self.check(&document);
        let Some(graph) = graph else { return Err(EngineError::Invalid(findings)) };
        let version = NewVersion {
            owner,
            key,
            name,
            trigger: (graph.trigger().name().to_owned(), graph.trigger().key().map(str::to_owned)),
            actor_mode: graph.settings().actor_mode,
            checksum: checksum(&document).map_err(EngineError::Checksum)?,
            document,
            publisher,
            expected_checksum,
        };
        let published = self.store.publishing.publish(&version, self.now()).await;
        Ok((published.map_err(EngineError::Publish)?, findings))
    }
}
