//! Lines: turns of one instance by this node go one behind the other, so that they don't make each other void. Between
//! nodes the rows decide.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use heddle_workflow::InstanceId;
use tokio::sync::OwnedMutexGuard;

/// The line of each instance that anybody stands in.
#[derive(Default)]
pub(crate) struct Lines {
    lines: Mutex<HashMap<InstanceId, Arc<tokio::sync::Mutex<()>>>>,
}

/// The front of a line.
pub(crate) struct Front<'a> {
    lines: &'a Lines,
    id: InstanceId,
    held: Option<OwnedMutexGuard<()>>,
}

impl Lines {
    /// Comes back when it is the caller's turn.
    pub(crate) async fn front(&self, id: &InstanceId) -> Front<'_> {
        let line = {
            let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(lines.entry(id.clone()).or_default())
        };
        let mut front = Front { lines: self, id: id.clone(), held: None };
        front.held = Some(line.lock_owned().await);
        front
    }
}

impl Drop for Front<'_> {
    fn drop(&mut self) {
        drop(self.held.take());
        let mut lines = self.lines.lines.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody else stands in it.
        if lines.get(&self.id).is_some_and(|line| Arc::strong_count(line) == 1) {
            lines.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_line_is_there_as_long_as_somebody_stands_in_it() {
        let lines = Lines::default();
        let id = InstanceId::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV").unwrap();
        let count = || lines.lines.lock().unwrap().len();
        let first = lines.front(&id).await;
        let mut second = Box::pin(lines.front(&id));
        assert!(tokio::time::timeout(Duration::ZERO, &mut second).await.is_err(), "it stands in line");
        drop(first);
        assert_eq!(count(), 1);
        let second = second.await;
        let third = Box::pin(lines.front(&id));
        drop((third, second));
        assert_eq!(count(), 0);
    }
}
