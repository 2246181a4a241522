//! The two registries of components, each bound to its own collection (D6), and which of their entries are current.
//!
//! A sweep writes entries whose lineage says where they come from (`source_file`, `source_hash`) and what made them
//! (`processor_version`), and marks the file in `project_figma_file`:
//!
//! ```json
//! { "_id": "7_hK3jd", "project_id": 7, "file_key": "hK3jd",
//!   "registries": { "kit": { "registered": "<sha256>", "processor": "sweep@1.0", "sweeping": null,
//!                            "swept_at": "…", "entries": 25 } } }
//! ```
//!
//! An entry is current while its file is registered with the very hash and processor that it came from, or is being
//! swept with them; a mark that names no processor, of an older sweep, takes any. Everything else is stale: still there, never loaded. So a swapped kit takes effect on the next run, a sweep that
//! was cut off leaves the old and new entries usable side by side, and nothing has to be deleted. A project without
//! any mark (its registry was filled by other means) uses all its entries.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::keys;
use crate::{Collections, Documents, ExchangeError, find_all};

/// Most entries of one registry in one project.
pub const MAX_ENTRIES: usize = 20_000;

/// Which registry, with the facts in which the wireframe kit and the design system differ (D6): collection and
/// identity. The third, the semantic enrichment of the design system, is not built.
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
}

/// A registry as a run sees it.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The current entries, by `_id`.
    pub entries: Vec<Value>,
    /// Entries left out because their file has been swept anew or replaced since.
    pub stale: usize,
}

/// One version of a library file: what its entries are made from, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileVersion<'a> {
    /// The file's key in Figma.
    pub key: &'a str,
    /// The SHA-256 of its bytes, in hex.
    pub hash: &'a str,
    /// The version of the sweep: another one may make something else of the same bytes.
    pub processor: &'a str,
}

/// The accepted hashes by file key, each with its processor where the mark names one; `None` where the project has no
/// marks.
type Marks = Option<BTreeMap<String, Vec<(String, Option<String>)>>>;

fn is_current(marks: &Marks, entry: &Value) -> bool {
    let Some(marks) = marks else { return true };
    let lineage = &entry["lineage"];
    match (lineage["source_file"].as_str(), lineage["source_hash"].as_str()) {
        (Some(file), Some(hash)) => marks.get(file).is_some_and(|accepted| {
            accepted.iter().any(|(accepted, processor)| {
                let made_by = lineage["processor_version"].as_str();
                accepted == hash && processor.as_deref().is_none_or(|processor| made_by == Some(processor))
            })
        }),
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
                let accepted = |(hash, processor): (&str, &str)| {
                    Some((mark[hash].as_str()?.to_owned(), mark[processor].as_str().map(str::to_owned)))
                };
                let versions = [("registered", "processor"), ("sweeping", "sweeping_processor")];
                let accepted = versions.into_iter().filter_map(accepted).collect();
                Some((file["file_key"].as_str()?.to_owned(), accepted))
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

    /// Whether the last finished sweep of the file was of this very version: then there is nothing to do.
    pub async fn is_registered(&self, file: FileVersion<'_>) -> Result<bool, ExchangeError> {
        let id = keys::project_file_id(self.project_id, file.key);
        let found = self.documents.get(&self.collections.project_figma_file, &id).await?.unwrap_or_default();
        let mark = &found["registries"][self.target.name()];
        Ok(mark["registered"].as_str() == Some(file.hash)
            && mark["processor"].as_str() == Some(file.processor)
            && mark["sweeping"].is_null())
    }

    /// Marks the file as being swept: entries of this version are current from here on.
    pub async fn begin_sweep(&self, file: FileVersion<'_>) -> Result<(), ExchangeError> {
        self.mark(file.key, |mark| {
            if !mark.is_object() {
                *mark = json!({ "registered": null });
            }
            mark["sweeping"] = Value::from(file.hash);
            mark["sweeping_processor"] = Value::from(file.processor);
        })
        .await
    }

    /// Registers this version of the file: its entries of any other are stale from here on. `alone` unregisters every
    /// other file of the target: the kit is swapped.
    pub async fn finish_sweep(
        &self,
        file: FileVersion<'_>,
        entries: usize,
        swept_at: &str,
        alone: bool,
    ) -> Result<(), ExchangeError> {
        let file_key = file.key;
        self.mark(file_key, |mark| {
            *mark = json!({
                "registered": file.hash, "processor": file.processor, "sweeping": null, "swept_at": swept_at,
                "entries": entries,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn version<'a>(key: &'a str, hash: &'a str) -> FileVersion<'a> {
        FileVersion { key, hash, processor: "sweep@1" }
    }

    async fn put(registry: &Registry<'_>, file: &str, hash: &str, key: &str) {
        put_by(registry, version(file, hash), key).await;
    }

    async fn put_by(registry: &Registry<'_>, file: FileVersion<'_>, key: &str) {
        let FileVersion { key: file, hash, processor } = file;
        let id = registry.target.document_id(registry.project_id, Some(key), file, "1:2");
        let entry = json!({
            "project_id": registry.project_id, "component_key": key, "component_node_id": "1:2",
            "lineage": { "source_file": file, "source_hash": hash, "processor_version": processor },
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

        kit.begin_sweep(version("old", "h1")).await.unwrap();
        put(&kit, "old", "h1", "input").await;
        assert_eq!(loaded(&kit).await, ["button", "input"]);
        kit.finish_sweep(version("old", "h1"), 2, "now", false).await.unwrap();
        assert!(kit.is_registered(version("old", "h1")).await.unwrap());

        // A second sweep of the file, in which "button" is gone, is cut off and then finished.
        kit.begin_sweep(version("old", "h2")).await.unwrap();
        put(&kit, "old", "h2", "input").await;
        assert_eq!(loaded(&kit).await, ["button", "input"], "amid a sweep both are there");
        assert!(!kit.is_registered(version("old", "h2")).await.unwrap());
        kit.finish_sweep(version("old", "h2"), 1, "now", false).await.unwrap();
        assert_eq!(loaded(&kit).await, ["input"]);
        assert_eq!(kit.load().await.unwrap().stale, 1);

        // Another file takes the kit's place.
        kit.begin_sweep(version("new", "h3")).await.unwrap();
        put(&kit, "new", "h3", "card").await;
        kit.finish_sweep(version("new", "h3"), 1, "now", true).await.unwrap();
        assert_eq!(loaded(&kit).await, ["card"]);
        assert_eq!(kit.load().await.unwrap().stale, 2);
        assert_eq!(kit.all().await.unwrap().len(), 3);
    }

    /// Another processor may make something else of the same bytes: the file counts as changed, and what only the old
    /// one made is stale once the new one is done. A mark that names none takes any.
    // proves D7
    #[tokio::test]
    async fn another_processor_registers_the_same_bytes_anew() {
        let exchange = crate::memory::open();
        let collections = Collections::default();
        let kit = Registry {
            documents: &*exchange.documents,
            collections: &collections,
            target: Target::Kit,
            project_id: 7,
        };
        let (old, new) = (version("f", "h"), FileVersion { processor: "sweep@2", ..version("f", "h") });
        put_by(&kit, old, "button").await;
        put_by(&kit, old, "gone").await;
        kit.finish_sweep(old, 2, "now", false).await.unwrap();
        assert!(kit.is_registered(old).await.unwrap() && !kit.is_registered(new).await.unwrap());
        kit.begin_sweep(new).await.unwrap();
        put_by(&kit, new, "button").await;
        assert_eq!(loaded(&kit).await, ["button", "gone"], "amid a sweep both are there");
        kit.finish_sweep(new, 1, "now", false).await.unwrap();
        assert_eq!(loaded(&kit).await, ["button"]);
        assert!(kit.is_registered(new).await.unwrap() && !kit.is_registered(old).await.unwrap());

        kit.mark("f", |mark| *mark = json!({ "registered": "h", "sweeping": null })).await.unwrap();
        assert_eq!(loaded(&kit).await, ["button", "gone"]);
        assert!(!kit.is_registered(new).await.unwrap(), "of a sweep that didn't say what it was");
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
        // The identity rules differ.
        assert_eq!(Target::Kit.document_id(7, Some("k"), "f", "1:2"), "7_k");
        assert_eq!(Target::Kit.document_id(7, None, "f", "1:2"), "7_f_1:2");
        assert_eq!(Target::Design.document_id(7, Some("k"), "f", "1:2"), "7_f_1:2");
    }
}
