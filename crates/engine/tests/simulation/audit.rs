//! What has to hold of the rows, whenever anybody looks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use heddle_workflow::{InstanceId, Rows, Status, StepStatus, Waits};

use crate::clients::Known;
use crate::{INSTANCES, RATE, RATE_SECONDS};

/// Looks at all rows again and again, and remembers what it saw.
#[derive(Default)]
pub struct Audit {
    seen: BTreeMap<InstanceId, Arc<Rows>>,
}

impl Audit {
    /// Looks; whether every instance has ended.
    pub fn look(&mut self, everything: &[Arc<Rows>]) -> bool {
        for rows in everything {
            let before = self.seen.get(&rows.instance.id);
            // What is the same in memory is the same.
            if before.is_some_and(|before| Arc::ptr_eq(before, rows)) {
                continue;
            }
            one(rows);
            if let Some(before) = before {
                follows(before, rows);
            }
            self.seen.insert(rows.instance.id.clone(), Arc::clone(rows));
        }
        assert!(everything.len() >= self.seen.len(), "an instance is lost");
        self.seen.len() == INSTANCES && self.seen.values().all(|rows| rows.instance.status.is_ended())
    }

    /// In no stretch of the rate's length have more started than it says.
    fn rate(&self) {
        let started = self.seen.values().filter_map(|rows| rows.steps.first()?.started_at);
        let mut started: Vec<_> = started.collect();
        started.sort();
        for stretch in started.windows(RATE + 1) {
            let took = stretch[RATE].duration_since(stretch[0]);
            assert!(took.as_secs() >= RATE_SECONDS, "{} have started in {took}", RATE + 1);
        }
    }

    /// What has not ended.
    pub fn left(&self) -> Vec<&Rows> {
        self.seen.values().map(Arc::as_ref).filter(|rows| !rows.instance.status.is_ended()).collect()
    }

    /// What has to hold when all is over.
    pub fn end(&self, effects: &BTreeMap<String, u32>, told: &BTreeMap<InstanceId, Known>) {
        assert_eq!(self.seen.len(), INSTANCES, "one start key, one instance");
        self.rate();
        let mut known = BTreeSet::new();
        for (id, rows) in &self.seen {
            let told = told.get(id).cloned().unwrap_or_default();
            let commands =
                rows.waits.iter().filter(|wait| matches!(wait.what, Waits::Command { .. })).count();
            let expected = told.accepted..=told.tried;
            assert!(expected.contains(&commands), "{commands} commands on record, of {told:?}");
            if told.cancelled {
                assert_eq!(rows.instance.status, Status::Cancelled, "what was called off stays so");
            } else {
                assert_eq!(rows.instance.status, Status::Completed, "{:?}", rows.instance.failure);
                // Two rounds: trigger, first, word, twice flaky, nap, ask, count, again, and the end.
                assert_eq!(rows.instance.steps_count, 3 + 2 * 5 + 1);
            }
            for step in rows.steps.iter().filter(|step| step.node_type == "action") {
                known.insert(step.idempotency_key.clone());
                let runs = effects.get(&step.idempotency_key).copied().unwrap_or_default();
                if step.status == StepStatus::Completed {
                    assert!(runs > 0, "{} went on without its effect", step.idempotency_key);
                }
                let attempts: u32 = rows
                    .steps
                    .iter()
                    .filter(|other| other.idempotency_key == step.idempotency_key)
                    .map(|other| 1 + u32::from(other.resume.is_some()))
                    .sum();
                assert!(runs <= attempts, "{} ran {runs} times in {attempts} attempts", step.idempotency_key);
            }
        }
        assert!(effects.keys().all(|key| known.contains(key)), "an effect that no step stands for");
    }
}

fn one(rows: &Rows) {
    let id = &rows.instance.id;
    let entered: BTreeSet<_> = rows.steps.iter().map(|step| (&step.key.node, step.key.visit)).collect();
    assert_eq!(entered.len(), rows.instance.steps_count as usize, "{id}: steps_count");
    let outcomes: Vec<_> = rows.steps.iter().filter(|step| step.outcome.is_some()).collect();
    let taken: BTreeSet<_> = outcomes.iter().map(|step| (&step.key.node, step.key.visit)).collect();
    assert_eq!(taken.len(), outcomes.len(), "{id}: an outcome taken twice");
    let open = rows.steps.iter().filter(|step| !step.status.is_ended()).count();
    assert_eq!(open, usize::from(!rows.instance.status.is_ended()), "{id}: live steps");
    let keys: BTreeSet<_> = rows.steps.iter().map(|step| &step.key).collect();
    assert_eq!(keys.len(), rows.steps.len(), "{id}: an attempt twice");
}

fn follows(before: &Rows, rows: &Rows) {
    let id = &rows.instance.id;
    assert!(rows.instance.lock_version >= before.instance.lock_version, "{id}: versions go up");
    for (old, new) in before.steps.iter().zip(&rows.steps) {
        assert_eq!(old.key, new.key, "{id}: steps keep their order");
        if old.status.is_ended() {
            assert_eq!(old, new, "{id}: an ended step has changed");
        }
        if let (Some((held, _)), Some((holder, _))) = (&old.claim, &new.claim)
            && held != holder
        {
            panic!("{id}: a second holder beside a live one");
        }
    }
    assert!(rows.steps.len() >= before.steps.len(), "{id}: a step is gone");
    for (old, new) in before.waits.iter().zip(&rows.waits) {
        if !old.status.is_open() {
            assert_eq!(old, new, "{id}: an ended wait has changed");
        }
    }
}
