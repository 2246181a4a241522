//! Graphs that are kept ready.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heddle_store::workflows::{Key, Version};
use heddle_workflow::{Catalog, Graph, check};
use serde_json::Value as Json;

use crate::{Engine, EngineError};

/// How many graphs are kept ready.
const MAX_GRAPHS: usize = 256;

type Checked = BTreeMap<String, (Arc<Json>, Arc<Graph>)>;

/// Documents by their checksums, each with what came of its check. Nodes of one process may share it: to check a
/// document again costs more than most of what a node does with it.
#[derive(Default)]
pub struct Graphs {
    checked: Mutex<Checked>,
}

impl Graphs {
    /// The graph of a version; `None` where its document is none.
    fn of(&self, version: &Version) -> Option<Arc<Graph>> {
        // A row's checksum is believed as far as its document is the same.
        let known = self.checked().get(&version.checksum).cloned();
        if let Some((_, graph)) = known.filter(|(document, _)| *document == version.document) {
            return Some(graph);
        }
        // What was published was sound; which handlers there are now is for each step to find out.
        let graph = Arc::new(check(&version.document, &Catalog::open()).graph?);
        let mut checked = self.checked();
        if checked.len() >= MAX_GRAPHS {
            checked.clear();
        }
        checked.insert(version.checksum.clone(), (Arc::clone(&version.document), Arc::clone(&graph)));
        Some(graph)
    }

    fn checked(&self) -> MutexGuard<'_, Checked> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// The graph of a version, read once.
    pub(crate) async fn graph(&self, version: &Key) -> Result<Arc<Graph>, EngineError> {
        let known = self.graphs.lock().unwrap_or_else(PoisonError::into_inner).get(version).cloned();
        if let Some(graph) = known {
            return Ok(graph);
        }
        let bad = || EngineError::BadVersion(version.0.clone());
        let row = self.store.publishing.version(version).await?.ok_or_else(bad)?;
        let graph = self.checked.of(&row).ok_or_else(bad)?;
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        if graphs.len() >= MAX_GRAPHS {
            graphs.clear();
        }
        graphs.insert(version.clone(), Arc::clone(&graph));
        Ok(graph)
    }
}

#[cfg(test)]
mod tests {
    use heddle_workflow::{ActorMode, SCHEMA_VERSION};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_checksum_alone_is_no_document() {
        let version = |id: &str| Version {
            id: Key("1".to_owned()),
            definition: Key("1".to_owned()),
            number: 1,
            document: Arc::new(json!({
                "schema_version": SCHEMA_VERSION,
                "nodes": [{"id": id, "type": "trigger"}, {"id": "end", "type": "end"}],
                "edges": [{"from": id, "to": "end"}],
            })),
            checksum: "0".repeat(64),
            actor_mode: ActorMode::System,
        };
        let graphs = Graphs::default();
        let first = graphs.of(&version("a")).unwrap();
        assert!(Arc::ptr_eq(&first, &graphs.of(&version("a")).unwrap()), "checked once");
        assert!(graphs.of(&version("b")).unwrap().find("b").is_some());
        assert!(graphs.of(&version("not an id")).is_none());
    }
}
