//! The two registries of components, each bound to its own collection (D6), and which of their entries are current.
//!
//! A sweep writes entries whose `lineage.source_file` and `lineage.source_hash` say where they come from, and marks
//! the file in `project_figma_file`:
//!
//! ```json
//! { "_id": "7_hK3jd", "project_id": 7, "file_key": "hK3jd",
//!   "registries": { "kit": { "registered": "<sha256>", "sweeping": null, "swept_at": "…", "entries": 25 } } }
//! ```
//!
//! An entry is current while its file is registered with the very hash that it came from, or is being swept with it.
//! Everything else is stale: still there, never loaded. So a swapped kit takes effect on the next run, a sweep that
//! was cut off leaves the old and new entries usable side by side, and nothing has to be deleted. A project without
//! any mark (its registry was filled by other means) uses all its entries.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::keys;
use crate::{Collections, Documents, ExchangeError, find_all};

/// Most entries of one registry in one project.
pub const MAX_ENTRIES: usize = 20_000;

/// Which registry: the three facts in which the wireframe kit and the design system differ (D6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The wireframe kit, in `wireframe_component`.
    Kit,
    /// The design system, in `design_component`.
    Design,
}

impl Target {
    /// The name used in commands and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kit => "kit",
            Self::Design => "design",
        }
    }

    /// Its collection.
    pub fn collection(self, collections: &Collections) -> &str {
        match self {
            Self::Kit => &collections.wireframe_component,
            Self::Design => &collections.design_component,
        }
    }

    /// The identity rule: a kit entry goes by its publish key, else by its node; a design entry by its node.
    pub fn document_id(
        self,
        project_id: i64,
        component_key: Option<&str>,
        file_key: &str,
        node_id: &str,
    ) -> String {
        match (self, component_key.filter(|key| !key.is_empty())) {
            (Self::Kit, Some(key)) => keys::component_composite(project_id, key),
            _ => keys::node_composite(project_id, file_key, node_id),
        }
    }

    /// Whether the semantic enrichment pass applies: never to a kit, whose atoms are named by their own shape.
    pub const fn is_enriched(self) -> bool {
        matches!(self, Self::Design)
    }
}

/// A registry as a run sees it.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The current entries, by `_id`.
    pub entries: Vec<Value>,
    /// Entries left out because their file has been swept anew or replaced since.
    pub stale: usize,
}

/// The accepted hashes by file key; `None` where the project has no marks.
type Marks = Option<BTreeMap<String, BTreeSet<String>>>;

fn is_current(marks: &Marks, entry: &Value) -> bool {
    let Some(marks) = marks else { return true };
    let lineage = &entry["lineage"];
    match (lineage["source_file"].as_str(), lineage["source_hash"].as_str()) {
        (Some(file), Some(hash)) => marks.get(file).is_some_and(|accepted| accepted.contains(hash)),
        _ => false,
    }
}

/// The registries of one exchange.
#[derive(Clone, Copy)]
pub struct Registry<'a> {
    /// Where they are.
    pub documents: &'a dyn Documents,
    /// By which names.
    pub collections: &'a Collections,
    /// Which of the two.
    pub target: Target,
    /// Whose.
    pub project_id: i64,
}

impl Registry<'_> {
    async fn marks(&self) -> Result<Marks, ExchangeError> {
        let files = self.files().await?;
        let marked: BTreeMap<_, _> = files
            .iter()
            .filter_map(|file| {
                let mark = file["registries"].get(self.target.name())?;
                let accepted = ["registered", "sweeping"].iter().filter_map(|field| mark[field].as_str());
                Some((file["file_key"].as_str()?.to_owned(), accepted.map(str::to_owned).collect()))
            })
            .collect();
        Ok((!marked.is_empty()).then_some(marked))
    }

    async fn files(&self) -> Result<Vec<Value>, ExchangeError> {
        let project = [("project_id", Value::from(self.project_id))];
        find_all(self.documents, &self.collections.project_figma_file, &project, MAX_ENTRIES).await
    }

    /// Every entry of the project, current or stale, by `_id`.
    pub async fn all(&self) -> Result<Vec<Value>, ExchangeError> {
        let project = [("project_id", Value::from(self.project_id))];
        find_all(self.documents, self.target.collection(self.collections), &project, MAX_ENTRIES).await
    }

    /// The current entries: what selection reads at run time.
    pub async fn load(&self) -> Result<Loaded, ExchangeError> {
        let marks = self.marks().await?;
        let all = self.all().await?;
        let before = all.len();
        let entries: Vec<_> = all.into_iter().filter(|entry| is_current(&marks, entry)).collect();
        Ok(Loaded { stale: before - entries.len(), entries })
    }

    /// What the setup view says of the registry (D7).
    pub async fn summary(&self) -> Result<Summary, ExchangeError> {
        let Loaded { entries, stale } = self.load().await?;
        let filled = |entry: &Value, field: &str| match &entry[field] {
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            _ => false,
        };
        let count = |holds: &dyn Fn(&Value) -> bool| entries.iter().filter(|entry| holds(entry)).count();
        let has_slots = |entry: &Value| {
            filled(entry, "text_slots")
                || entry["variants"]
                    .as_array()
                    .is_some_and(|all| all.iter().any(|one| filled(one, "text_slots")))
        };
        Ok(Summary {
            entries: entries.len(),
            with_node_id: count(&|entry| filled(entry, "component_node_id")),
            with_publish_key: count(&|entry| filled(entry, "component_key")),
            with_variant_axes: count(&|entry| filled(entry, "variant_properties")),
            with_text_slots: count(&has_slots),
            unreachable: count(&|entry| {
                !filled(entry, "component_node_id") && !filled(entry, "component_key")
            }),
            stale,
        })
    }

    /// Changes this registry's mark on a file, leaving everything else that others keep there.
    async fn mark(&self, file_key: &str, change: impl FnOnce(&mut Value)) -> Result<(), ExchangeError> {
        let collection = &self.collections.project_figma_file;
        let id = keys::project_file_id(self.project_id, file_key);
        let mut file = self.documents.get(collection, &id).await?.unwrap_or_else(|| json!({}));
        file["project_id"] = Value::from(self.project_id);
        file["file_key"] = Value::from(file_key);
        if !file["registries"].is_object() {
            file["registries"] = json!({});
        }
        change(&mut file["registries"][self.target.name()]);
        self.documents.put(collection, &id, file).await
    }

    /// Whether the last finished sweep of the file had this very hash: then there is nothing to do.
    pub async fn is_registered(&self, file_key: &str, source_hash: &str) -> Result<bool, ExchangeError> {
        let id = keys::project_file_id(self.project_id, file_key);
        let file = self.documents.get(&self.collections.project_figma_file, &id).await?.unwrap_or_default();
        let mark = &file["registries"][self.target.name()];
        Ok(mark["registered"].as_str() == Some(source_hash) && mark["sweeping"].is_null())
    }

    /// Marks the file as being swept: entries with this hash are current from here on.
    pub async fn begin_sweep(&self, file_key: &str, source_hash: &str) -> Result<(), ExchangeError> {
        self.mark(file_key, |mark| {
            if !mark.is_object() {
                *mark = json!({ "registered": null });
            }
            mark["sweeping"] = Value::from(source_hash);
        })
        .await
    }

    /// Registers the file with this hash: its entries with any other are stale from here on. `alone` unregisters
    /// every other file of the target: the kit is swapped.
    pub async fn finish_sweep(
        &self,
        file_key: &str,
        source_hash: &str,
        entries: usize,
        swept_at: &str,
        alone: bool,
    ) -> Result<(), ExchangeError> {
        self.mark(file_key, |mark| {
            *mark = json!({
                "registered": source_hash, "sweeping": null, "swept_at": swept_at, "entries": entries,
            });
        })
        .await?;
        if alone {
            for file in self.files().await? {
                let mark = &file["registries"][self.target.name()];
                match file["file_key"].as_str() {
                    Some(other) if other != file_key && !mark.is_null() => {
                        self.mark(other, |mark| *mark = json!({ "registered": null, "sweeping": null }))
                            .await?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// The setup view's numbers (D7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Current entries.
    pub entries: usize,
    /// Of these, how many carry a node id; without one nothing can be instanced.
    pub with_node_id: usize,
    /// How many carry a publish key.
    pub with_publish_key: usize,
    /// How many declare variant axes.
    pub with_variant_axes: usize,
    /// How many declare text slots, at the top or in a variant.
    pub with_text_slots: usize,
    /// How many carry neither node id nor key, and are dropped by selection.
    pub unreachable: usize,
    /// Entries that are not current.
    pub stale: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn put(registry: &Registry<'_>, file: &str, hash: &str, key: &str) {
        let id = registry.target.document_id(registry.project_id, Some(key), file, "1:2");
        let entry = json!({
            "project_id": registry.project_id, "component_key": key, "component_node_id": "1:2",
            "lineage": { "source_file": file, "source_hash": hash },
        });
        registry.documents.put(registry.target.collection(registry.collections), &id, entry).await.unwrap();
    }

    async fn loaded(registry: &Registry<'_>) -> Vec<String> {
        let entries = registry.load().await.unwrap().entries;
        entries.iter().map(|entry| entry["component_key"].as_str().unwrap().to_owned()).collect()
    }

    // proves D7
    #[tokio::test]
    async fn a_swapped_kit_takes_effect_and_stale_entries_stay_tellable() {
        let exchange = crate::memory::open();
        let collections = Collections::default();
        let kit = Registry {
            documents: &*exchange.documents,
            collections: &collections,
            target: Target::Kit,
            project_id: 7,
        };
        put(&kit, "old", "h1", "button").await;
        assert_eq!(loaded(&kit).await, ["button"], "a registry without marks uses all its entries");

        kit.begin_sweep("old", "h1").await.unwrap();
        put(&kit, "old", "h1", "input").await;
        assert_eq!(loaded(&kit).await, ["button", "input"]);
        kit.finish_sweep("old", "h1", 2, "now", false).await.unwrap();
        assert!(kit.is_registered("old", "h1").await.unwrap());

        // A second sweep of the file, in which "button" is gone, is cut off and then finished.
        kit.begin_sweep("old", "h2").await.unwrap();
        put(&kit, "old", "h2", "input").await;
        assert_eq!(loaded(&kit).await, ["button", "input"], "amid a sweep both are there");
        assert!(!kit.is_registered("old", "h2").await.unwrap());
        kit.finish_sweep("old", "h2", 1, "now", false).await.unwrap();
        assert_eq!(loaded(&kit).await, ["input"]);
        assert_eq!(kit.summary().await.unwrap().stale, 1);

        // Another file takes the kit's place.
        kit.begin_sweep("new", "h3").await.unwrap();
        put(&kit, "new", "h3", "card").await;
        kit.finish_sweep("new", "h3", 1, "now", true).await.unwrap();
        assert_eq!(loaded(&kit).await, ["card"]);
        assert_eq!(kit.summary().await.unwrap().stale, 2);
        assert_eq!(kit.all().await.unwrap().len(), 3);
    }

    // proves D6
    #[tokio::test]
    async fn a_read_of_one_registry_never_sees_the_other() {
        let exchange = crate::memory::open();
        let collections = Collections::default();
        let registry = |target, project_id| Registry {
            documents: &*exchange.documents,
            collections: &collections,
            target,
            project_id,
        };
        put(&registry(Target::Kit, 7), "f", "h", "kit").await;
        put(&registry(Target::Design, 7), "f", "h", "design").await;
        put(&registry(Target::Kit, 8), "f", "h", "other").await;
        assert_eq!(loaded(&registry(Target::Kit, 7)).await, ["kit"]);
        assert_eq!(loaded(&registry(Target::Design, 7)).await, ["design"]);
        assert_eq!(loaded(&registry(Target::Design, 8)).await, [""; 0]);
        // The identity rules differ, and enrichment is the design system's alone.
        assert_eq!(Target::Kit.document_id(7, Some("k"), "f", "1:2"), "7_k");
        assert_eq!(Target::Kit.document_id(7, None, "f", "1:2"), "7_f_1:2");
        assert_eq!(Target::Design.document_id(7, Some("k"), "f", "1:2"), "7_f_1:2");
        assert!(Target::Design.is_enriched() && !Target::Kit.is_enriched());
    }
}
