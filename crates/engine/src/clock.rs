//! What time it is, and waiting for later.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use jiff::{SignedDuration, Timestamp};

/// A clock.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Comes back after a while.
    fn sleep(&self, length: SignedDuration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// The machine's clock. Needs a tokio runtime with its timer on.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, length: SignedDuration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(length.unsigned_abs()))
    }
}

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub struct VirtualClock {
    face: Arc<Mutex<Face>>,
}

struct Face {
    now: Timestamp,
    sleepers: Vec<Waker>,
}

impl VirtualClock {
    /// A clock at this time.
    pub fn new(now: Timestamp) -> Self {
        Self { face: Arc::new(Mutex::new(Face { now, sleepers: Vec::new() })) }
    }

    /// Moves it. Never backwards: an earlier time moves nothing.
    pub fn set(&self, now: Timestamp) {
        let mut face = self.face();
        face.now = face.now.max(now);
        face.sleepers.drain(..).for_each(Waker::wake);
    }

    fn face(&self) -> MutexGuard<'_, Face> {
        self.face.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.face().now
    }

    fn sleep(&self, length: SignedDuration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let until = self.now().checked_add(length).unwrap_or(Timestamp::MAX);
        Box::pin(Sleep { clock: self.clone(), until })
    }
}

struct Sleep {
    clock: VirtualClock,
    until: Timestamp,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut face = self.clock.face();
        if face.now >= self.until {
            return Poll::Ready(());
        }
        face.sleepers.push(context.waker().clone());
        Poll::Pending
    }
}
