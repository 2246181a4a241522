//! The sweep of a library into a registry.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use async_trait::async_trait;
use common::{FakeConverter, TENANT};
use heddle_exchange::keys::ContentHash;
use heddle_exchange::registry::{Registry, Target};
use heddle_exchange::{Collections, Documents, Exchange, ExchangeError, Fenced, Ordered};
use heddle_worker::Converter;
use heddle_worker::pipeline::{Conversion, ConversionError, ConversionInput, SweepInput, Swept};
use heddle_worker::sweep::{SweepError, SweepReport, SweepRequest, sweep};
use serde_json::{Value, json};

async fn swept(exchange: &Exchange, target: Target, file_key: &str, library: &Value) -> SweepReport {
    try_sweep(exchange, target, file_key, library, false).await.unwrap()
}

async fn try_sweep(
    exchange: &Exchange,
    target: Target,
    file_key: &str,
    library: &Value,
    alone: bool,
) -> Result<SweepReport, SweepError> {
    sweep_by(exchange, target, file_key, library, alone, FakeConverter::default()).await
}

async fn sweep_by(
    exchange: &Exchange,
    target: Target,
    file_key: &str,
    library: &Value,
    alone: bool,
    converter: impl Converter + 'static,
) -> Result<SweepReport, SweepError> {
    let request = SweepRequest {
        target,
        tenant: TENANT,
        file_key: file_key.to_owned(),
        bytes: serde_json::to_vec(library).unwrap(),
        alone,
        again: false,
    };
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    sweep(exchange, &Collections::default(), Arc::new(converter), request, now).await
}

fn names(named: &[heddle_worker::sweep::Named]) -> Vec<&str> {
    named.iter().map(|one| one.name.as_str()).collect()
}

async fn current(exchange: &Exchange, target: Target) -> Vec<String> {
    let collections = Collections::default();
    let registry =
        Registry { documents: &*exchange.documents, collections: &collections, target, project_id: 7 };
    let loaded = registry.load().await.unwrap();
    loaded.entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

fn component(key: &str, name: &str, size: u32) -> Value {
    json!({ "component_key": key, "component_node_id": "1:1", "name": name, "size": size })
}

// proves D7
#[tokio::test]
async fn a_sweep_names_what_it_added_changed_and_left_stale() {
    let exchange = heddle_exchange::memory::open();
    let first = json!([component("a", "App bar", 1), component("b", "Button", 1), component("c", "Card", 1)]);
    let report = swept(&exchange, Target::Kit, "kit", &first).await;
    assert_eq!(names(&report.added), ["App bar", "Button", "Card"]);
    assert_eq!((report.entries, report.changed.len(), report.unchanged, report.stale.len()), (3, 0, 0, 0));
    let hash = ContentHash::of(&serde_json::to_vec(&first).unwrap());
    assert_eq!(report.source_hash, hash.as_str());
    let library = exchange.objects.get(&TENANT.library(&hash)).await.unwrap().unwrap();
    assert_eq!(library, serde_json::to_vec(&first).unwrap());
    let entry = exchange.documents.get("wireframe_component", "7_b").await.unwrap().unwrap();
    assert_eq!(entry["lineage"]["source_file"], "kit");
    assert_eq!(entry["lineage"]["source_hash"], hash.as_str());

    // The same file again is nothing to do.
    let again = swept(&exchange, Target::Kit, "kit", &first).await;
    assert!(again.unchanged_file && again.added.is_empty() && again.unchanged == 3);

    let second = json!([component("b", "Button", 2), component("c", "Card", 1), component("d", "Dialog", 1)]);
    let report = swept(&exchange, Target::Kit, "kit", &second).await;
    assert_eq!(names(&report.added), ["Dialog"]);
    assert_eq!(names(&report.changed), ["Button"]);
    assert_eq!(names(&report.stale), ["App bar"]);
    assert_eq!(report.unchanged, 1);
    assert_eq!(current(&exchange, Target::Kit).await, ["Button", "Card", "Dialog"]);
    let text = report.to_string();
    assert!(text.contains("3 entries, 1 added, 1 changed, 1 unchanged, 1 left stale"), "{text}");
    assert!(text.contains("stale    App bar (7_a)") && text.contains("warning  odd"), "{text}");

    // A second library beside it, and then one in place of both.
    swept(&exchange, Target::Kit, "more", &json!([component("e", "Extra", 1)])).await;
    assert_eq!(current(&exchange, Target::Kit).await.len(), 4);
    let report =
        try_sweep(&exchange, Target::Kit, "new", &json!([component("z", "Zoom", 1)]), true).await.unwrap();
    assert_eq!(report.stale.len(), 4);
    assert_eq!(current(&exchange, Target::Kit).await, ["Zoom"]);
}

/// A newer Heddle may see more in the same file: it is swept again, once.
// proves D7
#[tokio::test]
async fn an_unchanged_file_is_swept_again_by_another_version() {
    let exchange = heddle_exchange::memory::open();
    let library = json!([component("a", "App bar", 1), component("b", "Button", 1)]);
    swept(&exchange, Target::Kit, "kit", &library).await;
    let newer = || FakeConverter { version: 2.into(), ..FakeConverter::default() };
    let report = sweep_by(&exchange, Target::Kit, "kit", &library, false, newer()).await.unwrap();
    assert!(!report.unchanged_file);
    assert_eq!((report.unchanged, report.stale.len()), (2, 0));
    let entry = exchange.documents.get("wireframe_component", "7_a").await.unwrap().unwrap();
    assert_eq!(entry["lineage"]["processor_version"], "fake sweep 2");
    let report = sweep_by(&exchange, Target::Kit, "kit", &library, false, newer()).await.unwrap();
    assert!(report.unchanged_file);
    assert_eq!(current(&exchange, Target::Kit).await, ["App bar", "Button"]);
}

/// The entries of a converter that doesn't say truly whose they are reach no registry.
#[tokio::test]
async fn an_entry_that_is_not_this_sweeps_is_refused() {
    struct Wrong(&'static str, Value);
    impl Converter for Wrong {
        fn convert(&self, _: ConversionInput<'_>) -> Result<Conversion, ConversionError> {
            unreachable!()
        }
        fn sweep(&self, input: SweepInput<'_>) -> Result<Swept, ConversionError> {
            let mut swept = FakeConverter::default().sweep(input)?;
            *swept.entries[0].pointer_mut(self.0).unwrap() = self.1.clone();
            Ok(swept)
        }
        fn sweep_version(&self) -> String {
            FakeConverter::default().sweep_version()
        }
    }
    let library = json!([component("a", "App bar", 1)]);
    for (at, value) in [
        ("/_id", json!(null)),
        ("/project_id", json!(8)),
        ("/lineage/source_file", json!("other")),
        ("/lineage/source_hash", json!("0123456789abcdef")),
        ("/lineage/processor_version", json!("older")),
    ] {
        let exchange = heddle_exchange::memory::open();
        let refused = sweep_by(&exchange, Target::Kit, "kit", &library, false, Wrong(at, value)).await;
        assert!(matches!(refused, Err(SweepError::Entry { .. })), "{at}: {refused:?}");
        assert!(current(&exchange, Target::Kit).await.is_empty());
    }
}

// proves D6
#[tokio::test]
async fn each_target_has_its_collection_and_identity() {
    let exchange = heddle_exchange::memory::open();
    let library = json!([component("a", "Published", 1), { "component_node_id": "2:2", "name": "Not yet" }]);
    swept(&exchange, Target::Kit, "file", &library).await;
    swept(&exchange, Target::Design, "file", &library).await;
    for (collection, id, name) in [
        ("wireframe_component", "7_a", "Published"),
        ("wireframe_component", "7_file_2:2", "Not yet"),
        ("design_component", "7_file_1:1", "Published"),
        ("design_component", "7_file_2:2", "Not yet"),
    ] {
        let entry = exchange.documents.get(collection, id).await.unwrap().unwrap();
        assert_eq!((&entry["name"], &entry["project_id"]), (&json!(name), &json!(7)));
    }
    assert!(exchange.documents.get("design_component", "7_a").await.unwrap().is_none());
}

/// A library that can't be swept, or has nothing in it, leaves the registry as it was.
#[tokio::test]
async fn a_bad_library_changes_nothing() {
    let exchange = heddle_exchange::memory::open();
    swept(&exchange, Target::Kit, "kit", &json!([component("a", "App bar", 1)])).await;
    for bad in [json!([]), json!({ "not": "a list" }), json!(["not an entry"])] {
        assert!(try_sweep(&exchange, Target::Kit, "kit", &bad, true).await.is_err());
        assert_eq!(current(&exchange, Target::Kit).await, ["App bar"]);
    }
}

/// Documents that can be written so often, and no more.
struct Failing(Arc<dyn Documents>, std::sync::atomic::AtomicI32);

#[async_trait]
impl Documents for Failing {
    async fn get(&self, collection: &str, id: &str) -> Result<Option<Value>, ExchangeError> {
        self.0.get(collection, id).await
    }
    async fn put(&self, collection: &str, id: &str, document: Value) -> Result<(), ExchangeError> {
        if self.1.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) <= 0 {
            return Err(ExchangeError::Backend { attempted: "write".to_owned(), source: "cut off".into() });
        }
        self.0.put(collection, id, document).await
    }
    async fn put_fenced(
        &self,
        collection: &str,
        id: &str,
        attempt: u32,
        document: Value,
    ) -> Result<Fenced, ExchangeError> {
        self.0.put_fenced(collection, id, attempt, document).await
    }
    async fn put_ordered(
        &self,
        collection: &str,
        id: &str,
        order: &str,
        document: Value,
    ) -> Result<Ordered, ExchangeError> {
        self.0.put_ordered(collection, id, order, document).await
    }
    async fn remove(&self, collection: &str, id: &str) -> Result<bool, ExchangeError> {
        self.0.remove(collection, id).await
    }
    async fn find(
        &self,
        collection: &str,
        equals: &[(&str, Value)],
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Value>, ExchangeError> {
        self.0.find(collection, equals, after, limit).await
    }
}

/// A sweep that is cut off at any write leaves a registry that works, with what was there before and perhaps some of
/// what is new; run again, it ends as if nothing had happened.
// proves D7
#[tokio::test]
async fn a_sweep_cut_off_anywhere_can_be_run_again() {
    let first = json!([component("a", "App bar", 1), component("b", "Button", 1), component("c", "Card", 1)]);
    let second = json!([component("b", "Button", 2), component("c", "Card", 1), component("d", "Dialog", 1)]);
    let mut cut_off = 0;
    for writes in 0.. {
        let exchange = heddle_exchange::memory::open();
        swept(&exchange, Target::Kit, "kit", &first).await;
        let failing = Failing(Arc::clone(&exchange.documents), writes.into());
        let failing = Exchange { documents: Arc::new(failing), ..exchange.clone() };
        if try_sweep(&failing, Target::Kit, "kit", &second, false).await.is_ok() {
            break;
        }
        cut_off += 1;
        let names = current(&exchange, Target::Kit).await;
        for name in ["App bar", "Button", "Card"] {
            assert!(names.iter().any(|one| one == name), "after {writes} writes {name} is gone: {names:?}");
        }
        let report = swept(&exchange, Target::Kit, "kit", &second).await;
        assert!(!report.unchanged_file);
        assert_eq!(current(&exchange, Target::Kit).await, ["Button", "Card", "Dialog"]);
    }
    assert_eq!(cut_off, 5, "the mark, three entries, the mark");
}
