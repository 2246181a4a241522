//! One job, from its message to its acknowledgement.
//!
//! The order of the writes is what makes a job idempotent: content-addressed and fenced objects, then the result
//! document, then the wireframe, then the manifest, then the report, then the acknowledgement. The manifest settles
//! how the attempt ended: once it is there, a redelivery only reports it again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use heddle_exchange::keys::{ContentHash, ObjectKey, sha256_hex};
use heddle_exchange::registry::{Loaded, Registry, Target};
use heddle_exchange::{Delivery, Fenced, Ordered, limits};
use heddle_generation::Edge;
use heddle_generation::message::{
    Artifact, Effects, Job, MANIFEST_SCHEMA, Manifest, Outcome, REPORT_SCHEMA, Report, RowEffects,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::documents::{self, fits, wireframe_id};
use crate::failure::Trouble;
use crate::library::TenantLibraries;
use crate::message::{Envelope, Message};
use crate::pipeline::{ArtifactFile, Cancel, Conversion, ConversionInput};
use crate::worker::Place;
use crate::{Breakpoint, Lease, ReportError, SourceBytes, Worker};

/// Schema of `inputs.json`.
const INPUTS_SCHEMA: &str = "heddle.generation.inputs/v1";
const JSON: &str = "application/json";
/// Longest pause before a message comes again.
const MAX_BACKOFF: Duration = Duration::from_secs(300);

/// How the work on one message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The attempt's end was reported; whether the row changed.
    Reported {
        /// How the attempt ended.
        outcome: Outcome,
        /// Whether the backend applied it.
        applied: bool,
    },
    /// The backend refused the report; the message is gone.
    Refused,
    /// A newer attempt is at work; the message is gone.
    Superseded,
    /// The message can't be read and nobody can be told; it is gone.
    Dead,
    /// Something passing went wrong; the message comes again.
    GivenBack,
    /// Someone else holds the message.
    Lost,
    /// A test ended it.
    Died,
}

/// What is to become of the message.
enum Verdict {
    Acknowledge(Ended),
    GiveBack,
    LetGo(Ended),
}

/// Works on one message to its end.
pub(crate) async fn handle(worker: &Worker, delivery: &Delivery, place: &Place) -> Ended {
    let lease = Lease::keep(Arc::clone(&worker.exchange.queue), delivery, worker.settings.visibility);
    let verdict = tokio::select! {
        biased;
        () = lease.lost() => Verdict::LetGo(Ended::Lost),
        verdict = work(worker, delivery, &lease, place) => verdict,
    };
    match verdict {
        Verdict::Acknowledge(ended) => {
            match lease.acknowledge().await {
                Ok(true) => {}
                Ok(false) => tracing::info!("the message was held by someone else at its end"),
                // It comes again, and finds everything done.
                Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "not acknowledged"),
            }
            if worker.breakpoints.dies_at(Breakpoint::Acknowledged) { Ended::Died } else { ended }
        }
        Verdict::GiveBack => {
            let delay = backoff(delivery.receive_count);
            if let Err(error) = lease.give_back(delay).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "not given back; it comes again by itself"
                );
            }
            Ended::GivenBack
        }
        Verdict::LetGo(ended) => {
            tracing::warn!(?ended, "let go of a message");
            ended
        }
    }
}

/// 1, 2, 4 … seconds, at most five minutes.
fn backoff(receive_count: u32) -> Duration {
    Duration::from_secs(1 << receive_count.saturating_sub(1).min(16)).min(MAX_BACKOFF)
}

async fn work(worker: &Worker, delivery: &Delivery, lease: &Lease, place: &Place) -> Verdict {
    let tries = worker.settings.max_deliveries;
    let message = Message::read(&delivery.body);
    if worker.breakpoints.dies_at(Breakpoint::Received) {
        return Verdict::LetGo(Ended::Died);
    }
    let (envelope, ended) = match message {
        // A newer worker may be on its way: while messages of a new version are sent, both kinds run side by side.
        Message::Unknown { reason, .. } if delivery.receive_count < tries => {
            tracing::warn!(reason, "a message that this worker doesn't understand; left for another");
            return Verdict::GiveBack;
        }
        Message::Unknown { reason, envelope: None } => {
            let beginning =
                String::from_utf8_lossy(&delivery.body[..delivery.body.len().min(200)]).into_owned();
            tracing::error!(reason, beginning, "a dead message: nobody can be told of it");
            return Verdict::Acknowledge(Ended::Dead);
        }
        Message::Unknown { reason, envelope: Some(envelope) } => {
            tracing::error!(reason, job_id = envelope.job_id, "a job that this worker doesn't understand");
            let attempt = Attempt { worker, lease, place, envelope: &envelope };
            let message = "This run was requested in a form that this installation's workers don't understand. \
                           Its workers need to be updated.";
            let ended = attempt.run_to_end(Errand::Fail(message.to_owned())).await;
            (envelope, ended)
        }
        Message::Job(job) => {
            let envelope = Envelope::of(&job);
            let attempt = Attempt { worker, lease, place, envelope: &envelope };
            tracing::info!(
                job_id = envelope.job_id,
                attempt = envelope.attempt,
                edge = envelope.edge.name(),
                delivery = delivery.receive_count,
                "job taken"
            );
            let ended = if delivery.receive_count > tries {
                let message = format!(
                    "The run could not be done in {tries} tries. Start it again; if that fails too, \
                                       tell whoever runs this installation."
                );
                attempt.run_to_end(Errand::Fail(message)).await
            } else {
                attempt.run_to_end(Errand::Make(&job)).await
            };
            (envelope, ended)
        }
    };
    let Envelope { job_id, attempt, .. } = envelope;
    match ended {
        Ok(ended) => {
            tracing::info!(job_id, attempt, ?ended, "job done");
            Verdict::Acknowledge(ended)
        }
        Err(Trouble::Superseded { by }) => {
            tracing::info!(job_id, attempt, by, "superseded by a newer attempt");
            Verdict::Acknowledge(Ended::Superseded)
        }
        Err(Trouble::Passing { attempted, cause }) => {
            let error = &*cause as &dyn std::error::Error;
            tracing::warn!(job_id, attempt, attempted, error, "job put off");
            Verdict::GiveBack
        }
        Err(Trouble::Permanent { message, cause }) => {
            // Even the failure could not be written. There is nothing else to write it with: later, then.
            let error = cause.as_deref().map(|cause| cause as &dyn std::error::Error);
            tracing::error!(job_id, attempt, message, error, "the failure could not be written");
            Verdict::GiveBack
        }
        Err(Trouble::Lost) => Verdict::LetGo(Ended::Lost),
        Err(Trouble::Died) => Verdict::LetGo(Ended::Died),
    }
}

/// What is to be done with an attempt.
enum Errand<'a> {
    Make(&'a Job),
    Fail(String),
}

/// An attempt of a run, under its lease.
struct Attempt<'a> {
    worker: &'a Worker,
    lease: &'a Lease,
    place: &'a Place,
    envelope: &'a Envelope,
}

impl Attempt<'_> {
    fn pass(&self, breakpoint: Breakpoint) -> Result<(), Trouble> {
        if self.worker.breakpoints.dies_at(breakpoint) { Err(Trouble::Died) } else { Ok(()) }
    }

    /// Before every write.
    fn still_holds(&self) -> Result<(), Trouble> {
        if self.lease.is_lost() { Err(Trouble::Lost) } else { Ok(()) }
    }

    /// Settles the attempt, unless it is settled already, and reports it.
    async fn run_to_end(&self, errand: Errand<'_>) -> Result<Ended, Trouble> {
        let settled = if let Some(bytes) = self.settled().await? {
            bytes
        } else {
            let made = match errand {
                Errand::Make(job) => self.make(job).await,
                Errand::Fail(message) => Err(Trouble::permanent(message)),
            };
            let manifest = match made {
                Err(Trouble::Permanent { message, cause }) => {
                    let error = cause.as_deref().map(|cause| cause as &dyn std::error::Error);
                    tracing::warn!(job_id = self.envelope.job_id, message, error, "the run fails");
                    self.failed(message)
                }
                made => made?,
            };
            self.settle(&manifest).await?
        };
        self.pass(Breakpoint::ManifestWritten)?;
        self.report(&settled).await
    }

    /// The manifest of this attempt, if it was written before.
    async fn settled(&self) -> Result<Option<Vec<u8>>, Trouble> {
        let key = self.envelope.job_keys().manifest();
        let stored = self.worker.exchange.objects.get(&key).await;
        let Some(bytes) = stored.map_err(Trouble::from_exchange("look for the run's manifest"))? else {
            return Ok(None);
        };
        match heddle_generation::read_manifest(&bytes) {
            Ok(manifest) if manifest.attempt == self.envelope.attempt => Ok(Some(bytes)),
            Ok(manifest) if manifest.attempt > self.envelope.attempt => {
                Err(Trouble::Superseded { by: manifest.attempt })
            }
            _ => Ok(None),
        }
    }

    /// Writes the manifest; whichever was first for this attempt is the one that counts.
    async fn settle(&self, manifest: &Manifest) -> Result<Vec<u8>, Trouble> {
        let bytes = serde_json::to_vec(manifest).map_err(|error| Trouble::permanent(error.to_string()))?;
        Ok(self.put(&self.envelope.job_keys().manifest(), bytes, JSON).await?.1)
    }

    fn manifest(&self, effects: RowEffects) -> Manifest {
        Manifest {
            schema: MANIFEST_SCHEMA.to_owned(),
            job_id: self.envelope.job_id.clone(),
            attempt: self.envelope.attempt,
            edge: self.envelope.edge,
            artifacts: BTreeMap::new(),
            row_effects: Effects { wf2des: effects },
            timings_ms: BTreeMap::new(),
            written_at: Timestamp::now(),
        }
    }

    /// The manifest of a failure is its own artifact: it says all there is to say.
    fn failed(&self, message: String) -> Manifest {
        self.manifest(RowEffects {
            outcome: Outcome::Failed,
            result_url: Some(self.envelope.job_keys().manifest().into_string()),
            error_message: Some(message),
            flag_count: None,
            score: None,
            score_version: None,
        })
    }

    async fn report(&self, manifest: &[u8]) -> Result<Ended, Trouble> {
        self.still_holds()?;
        let outcome = match heddle_generation::read_manifest(manifest) {
            Ok(manifest) => manifest.row_effects.wf2des.outcome,
            Err(_) => Outcome::Failed,
        };
        let report = Report {
            schema: REPORT_SCHEMA.to_owned(),
            job_id: self.envelope.job_id.clone(),
            attempt: self.envelope.attempt,
            edge: self.envelope.edge,
            manifest_key: self.envelope.job_keys().manifest().into_string(),
            manifest_sha256: sha256_hex(manifest),
        };
        let ended = match self.worker.reporter.report(&report).await {
            Ok(answer) => {
                if let Some(reason) = answer.reason {
                    tracing::info!(
                        job_id = report.job_id,
                        applied = answer.applied,
                        reason,
                        "the backend's answer"
                    );
                }
                Ended::Reported { outcome, applied: answer.applied }
            }
            Err(error @ ReportError::Refused { .. }) => {
                tracing::error!(
                    job_id = report.job_id,
                    error = &error as &dyn std::error::Error,
                    "report refused"
                );
                Ended::Refused
            }
            Err(error @ ReportError::Unreachable { .. }) => {
                return Err(Trouble::Passing { attempted: "report to the backend", cause: error.into() });
            }
        };
        self.pass(Breakpoint::Reported)?;
        Ok(ended)
    }

    /// Writes an object under the attempt's fence; gives what is stored then, which the same attempt may have written
    /// before.
    async fn put(
        &self,
        key: &ObjectKey,
        bytes: Vec<u8>,
        media_type: &str,
    ) -> Result<(Artifact, Vec<u8>), Trouble> {
        self.still_holds()?;
        let objects = &self.worker.exchange.objects;
        let fenced = objects.put_fenced(key, self.envelope.attempt, &bytes, media_type).await;
        let bytes = match fenced.map_err(Trouble::from_exchange("write an artifact"))? {
            Fenced::Written => bytes,
            Fenced::Unchanged => {
                let stored =
                    objects.get(key).await.map_err(Trouble::from_exchange("read an artifact again"))?;
                stored.ok_or_else(|| Trouble::Passing {
                    attempted: "read an artifact again",
                    cause: format!("the object {key} is gone").into(),
                })?
            }
            Fenced::Superseded { by } => return Err(Trouble::Superseded { by }),
        };
        let artifact = Artifact {
            key: key.to_string(),
            sha256: sha256_hex(&bytes),
            bytes: bytes.len() as u64,
            media_type: media_type.to_owned(),
        };
        Ok((artifact, bytes))
    }

    /// Does the job, up to what its manifest will say.
    async fn make(&self, job: &Job) -> Result<Manifest, Trouble> {
        let mut clock = Clock::new();
        let source = self.worker.sources.document(job).await?;
        clock.lap("source");
        let kit = self.load(Target::Kit).await?;
        let design = self.load(Target::Design).await?;
        clock.lap("registries");
        self.pass(Breakpoint::Read)?;

        let inputs = Inputs {
            converter: self.worker.converter.version(),
            origin: source.origin.clone(),
            kit: fingerprint(&kit),
            design: fingerprint(&design),
        };
        let conversion = self.convert(job, source, kit.entries, design.entries).await?;
        clock.lap_with_stages("waiting", &conversion.timings_ms);
        self.pass(Breakpoint::Converted)?;

        let Conversion { artifacts, source_hash, snapshot, result_document, wireframe_document, .. } =
            conversion;
        let source_hash = ContentHash::parse(&source_hash).map_err(|error| {
            Trouble::permanent(format!("The conversion gave no usable content hash: {error}."))
        })?;
        // Nothing is written of a run that can't be written whole.
        let result_document = documents::result(job, &source_hash, result_document);
        let wireframe_document = wireframe_document.map(|document| documents::wireframe(job, document));
        for document in [&result_document].into_iter().chain(&wireframe_document) {
            let bytes = limits::measure_document(document);
            fits(bytes.map_err(Trouble::from_exchange("keep the result"))?, limits::MAX_DOCUMENT_BYTES)?;
        }
        for bytes in artifacts.iter().map(|file| &file.bytes).chain([&snapshot]) {
            fits(bytes.len(), limits::MAX_OBJECT_BYTES)?;
        }
        let keys = self.envelope.job_keys();
        let key = |file: &ArtifactFile| keys.artifact(&file.file_name);
        let named = artifacts.iter().map(key).collect::<Result<Vec<_>, _>>();
        let named = named.map_err(Trouble::from_exchange("name an artifact"))?;
        let result_url = Some(keys.result().into_string());
        if !named.contains(&keys.result()) {
            return Err(Trouble::permanent("The conversion gave no result."));
        }
        let mut index = BTreeMap::new();
        index.insert("snapshot".to_owned(), self.put_snapshot(job, &source_hash, &snapshot).await?);
        self.pass(Breakpoint::SnapshotWritten)?;
        index.insert("inputs".to_owned(), self.put_inputs(&inputs, &source_hash).await?);
        self.pass(Breakpoint::InputsWritten)?;
        for (file, key) in artifacts.into_iter().zip(named) {
            let name = file.file_name.trim_end_matches(".json").replace(['.', '-'], "_");
            index.insert(name, self.put(&key, file.bytes, file.media_type).await?.0);
            self.pass(Breakpoint::ArtifactWritten)?;
        }
        self.commit_result(job, result_document).await?;
        self.pass(Breakpoint::ResultCommitted)?;
        if let Some(document) = wireframe_document {
            self.put_wireframe(job, document).await?;
        }
        self.pass(Breakpoint::WireframeWritten)?;
        clock.lap("writing");

        let (score, score_version) = conversion.score.unzip();
        let mut manifest = self.manifest(RowEffects {
            outcome: Outcome::Completed,
            result_url,
            error_message: None,
            flag_count: conversion.flag_count,
            score,
            score_version,
        });
        manifest.artifacts = index;
        manifest.timings_ms = clock.timings;
        tracing::info!(job_id = job.job_id, warnings = conversion.warnings, "converted");
        Ok(manifest)
    }

    async fn load(&self, target: Target) -> Result<Loaded, Trouble> {
        let registry = Registry {
            documents: &*self.worker.exchange.documents,
            collections: &self.worker.collections,
            target,
            project_id: self.envelope.project_id,
        };
        registry.load().await.map_err(Trouble::from_exchange("read the project's registry"))
    }

    /// On a blocking thread, within the bounds on memory and time.
    async fn convert(
        &self,
        job: &Job,
        source: SourceBytes,
        kit_documents: Vec<Value>,
        design_documents: Vec<Value>,
    ) -> Result<Conversion, Trouble> {
        let room = self.worker.room_for(source.bytes.len()).await;
        let converter = Arc::clone(&self.worker.converter);
        let libraries = TenantLibraries {
            tenant: self.envelope.tenant(),
            objects: Arc::clone(&self.worker.exchange.objects),
            cache: Arc::clone(&self.worker.libraries),
            runtime: tokio::runtime::Handle::current(),
        };
        let job = job.clone();
        let abandoned = CancelOnDrop(Cancel::default());
        let cancel = abandoned.0.clone();
        let place = Arc::clone(self.place);
        let converting = tokio::task::spawn_blocking(move || {
            // Held until the thread is done, also where nobody waits for it any more.
            let (_room, _place) = (room, place);
            converter.convert(ConversionInput {
                job: &job,
                source: &source,
                kit_documents,
                design_documents,
                libraries: &libraries,
                cancel: &cancel,
            })
        });
        let limit = self.worker.settings.conversion_timeout;
        match tokio::time::timeout(limit, converting).await {
            Ok(Ok(converted)) => Ok(converted?),
            Ok(Err(panicked)) => {
                tracing::error!(
                    job_id = self.envelope.job_id,
                    error = &panicked as &dyn std::error::Error,
                    "a defect"
                );
                Err(Trouble::permanent(
                    "The conversion broke down on this frame: a defect in Heddle. Please report it.",
                ))
            }
            Err(_) => Err(Trouble::permanent(format!(
                "The conversion took longer than {} seconds, the most that is allowed. Try a smaller frame.",
                limit.as_secs()
            ))),
        }
    }

    async fn put_snapshot(&self, job: &Job, hash: &ContentHash, bytes: &[u8]) -> Result<Artifact, Trouble> {
        self.still_holds()?;
        let key = self.envelope.edge_keys().snapshot(&job.figma_file_key, &job.wf_node_id, hash);
        let put = self.worker.exchange.objects.put_once(&key, bytes, JSON).await;
        put.map_err(Trouble::from_exchange("write the snapshot"))?;
        Ok(Artifact {
            key: key.into_string(),
            sha256: sha256_hex(bytes),
            bytes: bytes.len() as u64,
            media_type: JSON.to_owned(),
        })
    }

    /// Notes what the artifacts are made from, before the first of them. A redelivery that finds other inputs must
    /// not go on: its artifacts would be half of the one and half of the other.
    async fn put_inputs(&self, inputs: &Inputs, source_hash: &ContentHash) -> Result<Artifact, Trouble> {
        let noted = json!({
            "schema": INPUTS_SCHEMA,
            "job_id": self.envelope.job_id,
            "attempt": self.envelope.attempt,
            "converter": inputs.converter,
            "source": inputs.origin,
            "source_hash": source_hash.as_str(),
            "kit": inputs.kit,
            "design": inputs.design,
        });
        let bytes = serde_json::to_vec(&noted).map_err(|error| Trouble::permanent(error.to_string()))?;
        let key = self.envelope.job_keys().artifact("inputs.json");
        let key = key.map_err(Trouble::from_exchange("name an artifact"))?;
        let (artifact, stored) = self.put(&key, bytes.clone(), JSON).await?;
        if stored != bytes {
            return Err(Trouble::permanent(
                "The source, the kit or Heddle itself changed while this run was being repeated after an \
                 interruption. Start it again.",
            ));
        }
        Ok(artifact)
    }

    async fn commit_result(&self, job: &Job, document: Value) -> Result<(), Trouble> {
        self.still_holds()?;
        let collections = &self.worker.collections;
        let collection = match job.edge {
            Edge::Des2wf => &collections.des2wf_generation_result,
            Edge::Wf2des => &collections.design_generation_result,
        };
        let documents = &self.worker.exchange.documents;
        let committed = documents.put_fenced(collection, &job.job_id, job.attempt, document).await;
        match committed.map_err(Trouble::from_exchange("commit the result"))? {
            Fenced::Written | Fenced::Unchanged => Ok(()),
            Fenced::Superseded { by } => Err(Trouble::Superseded { by }),
        }
    }

    /// The wireframe is shared by all runs of its node: of these, and of their attempts, the latest has the last word.
    async fn put_wireframe(&self, job: &Job, document: Value) -> Result<(), Trouble> {
        self.still_holds()?;
        let (documents, collection) = (&self.worker.exchange.documents, &self.worker.collections.wireframe);
        let put = documents.put_ordered(collection, &wireframe_id(job), &job.write_order(), document).await;
        if let Ordered::Overtaken { by } = put.map_err(Trouble::from_exchange("write the wireframe"))? {
            tracing::info!(job_id = job.job_id, by, "a later run has written the node's wireframe; it stays");
        }
        Ok(())
    }
}

/// Where a conversion is waited for: when that ends, for whatever reason, it is told.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What a job is made from, the source's content aside.
struct Inputs {
    /// What converts: another version may make something else of the same.
    converter: String,
    origin: String,
    kit: Value,
    design: Value,
}

/// Which registry this was: its entries and where they come from.
fn fingerprint(loaded: &Loaded) -> Value {
    let mut text = Vec::new();
    for entry in &loaded.entries {
        let lineage = if entry["lineage"].is_object() { &entry["lineage"] } else { entry };
        text.extend_from_slice(json!([entry["_id"], lineage]).to_string().as_bytes());
    }
    json!({ "entries": loaded.entries.len(), "sha256": sha256_hex(&text) })
}

/// Milliseconds by stage.
struct Clock {
    since: Instant,
    timings: BTreeMap<String, f64>,
}

impl Clock {
    fn new() -> Self {
        Self { since: Instant::now(), timings: BTreeMap::new() }
    }

    fn lap(&mut self, stage: &str) {
        let now = Instant::now();
        let ms = (now - self.since).as_secs_f64() * 1000.0;
        self.timings.insert(stage.to_owned(), (ms * 100.0).round() / 100.0);
        self.since = now;
    }

    /// A lap with stages of its own: these, and under `rest` what none of them accounts for, so that no time is
    /// counted twice.
    fn lap_with_stages(&mut self, rest: &str, stages: &BTreeMap<String, f64>) {
        self.lap(rest);
        let within: f64 = stages.values().sum();
        if let Some(rest) = self.timings.get_mut(rest) {
            *rest = ((*rest - within).max(0.0) * 100.0).round() / 100.0;
        }
        self.timings.extend(stages.iter().map(|(stage, ms)| (stage.clone(), *ms)));
    }
}
