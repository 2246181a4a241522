//! Named places in a job where a test may end it, as a killed process would.

use std::sync::Arc;

/// A place that a job passes, in the order in which it passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Breakpoint {
    /// The message is held and read; nothing has been done.
    Received,
    /// The source and the registries are read.
    Read,
    /// The conversion is done; nothing has been written.
    Converted,
    /// The snapshot is written.
    SnapshotWritten,
    /// What the job was made from is noted; the first artifact is next.
    InputsWritten,
    /// An artifact is written; passed once for each.
    ArtifactWritten,
    /// The result document is committed.
    ResultCommitted,
    /// The wireframe document is written.
    WireframeWritten,
    /// The manifest is written: from here on the attempt's end is settled.
    ManifestWritten,
    /// The backend has answered the report.
    Reported,
    /// The message is acknowledged.
    Acknowledged,
}

/// What a worker does at breakpoints: nothing, unless a test says otherwise.
#[derive(Clone, Default)]
pub struct Breakpoints(Option<Arc<dyn Fn(Breakpoint) -> bool + Send + Sync>>);

impl Breakpoints {
    /// Calls `die` at each breakpoint; where it says `true`, the job ends there and then, and nothing more is done
    /// for it, as if the process were gone.
    pub fn new(die: impl Fn(Breakpoint) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(die)))
    }

    pub(crate) fn dies_at(&self, breakpoint: Breakpoint) -> bool {
        self.0.as_ref().is_some_and(|die| die(breakpoint))
    }
}
