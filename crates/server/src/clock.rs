//! The clock, handed in by whoever starts the server. Nothing else in this crate asks what time it is.

use std::sync::Arc;

use jiff::Timestamp;

/// Tells the time. Cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// A clock that asks `now`.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The machine's clock.
    pub fn system() -> Self {
        Self::new(Timestamp::now)
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}
