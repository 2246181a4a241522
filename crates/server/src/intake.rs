//! Uploads on their way in. They are held in memory, so that there is a budget, and each tenant has one of its own
//! within it. Room is taken as bytes arrive: who sends slowly holds little, keeps nobody else waiting, and is let go
//! when next to nothing comes.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes, HttpBody};
use heddle_generation::OrganizationId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use crate::config::Bounds;
use crate::extract::BODY_TIMEOUT;
use crate::problem::Problem;

/// Room is taken in steps of this many bytes.
const STEP_BYTES: usize = 64 * 1024;
/// Least that comes of an upload within [`Bounds::upload_pace`].
const LEAST_BYTES: usize = 64 * 1024;

/// The budgets.
pub(crate) struct Intake {
    all: Arc<Semaphore>,
    each: Mutex<HashMap<OrganizationId, Arc<Semaphore>>>,
    bounds: Bounds,
}

/// A body, and the room that it takes for as long as this lives.
pub(crate) struct Held {
    pub(crate) bytes: Bytes,
    _room: Vec<OwnedSemaphorePermit>,
}

impl Intake {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self {
            all: Arc::new(Semaphore::new(bounds.upload_bytes / STEP_BYTES)),
            each: Mutex::default(),
            bounds,
        }
    }

    /// Takes a body of at most `most` bytes.
    pub(crate) async fn take(
        &self,
        tenant: OrganizationId,
        body: Body,
        most: usize,
    ) -> Result<Held, Problem> {
        match timeout(BODY_TIMEOUT, self.read(tenant, body, most)).await {
            Ok(taken) => taken,
            Err(_) => Err(Problem::body_too_slow()),
        }
    }

    async fn read(&self, tenant: OrganizationId, mut body: Body, most: usize) -> Result<Held, Problem> {
        let told = body.size_hint().lower();
        if told > most as u64 {
            return Err(Problem::too_large(most));
        }
        let own = {
            let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
            let budget = || Arc::new(Semaphore::new(self.bounds.upload_bytes_each / STEP_BYTES));
            Arc::clone(each.entry(tenant).or_insert_with(budget))
        };
        // Pages that nothing is written to are no memory yet.
        let mut bytes = Vec::with_capacity(told as usize);
        let (mut room, mut steps) = (Vec::new(), 0);
        let pace = self.bounds.upload_pace;
        let (mut until, mut came) = (Instant::now() + pace, 0);
        loop {
            let Ok(data) = timeout_at(until, next(&mut body)).await else {
                if came < LEAST_BYTES {
                    return Err(Problem::body_too_slow());
                }
                (until, came) = (Instant::now() + pace, 0);
                continue;
            };
            let Some(data) = data else { break };
            let data = data.map_err(|_| Problem::body_cut_off())?;
            if bytes.len() + data.len() > most {
                return Err(Problem::too_large(most));
            }
            let wanted = (bytes.len() + data.len()).div_ceil(STEP_BYTES);
            if wanted > steps {
                let count = (wanted - steps) as u32;
                for budget in [&own, &self.all] {
                    let taken = Arc::clone(budget).acquire_many_owned(count);
                    let Ok(Ok(taken)) = timeout(self.bounds.upload_wait, taken).await else {
                        return Err(Problem::uploads_busy());
                    };
                    match room.iter_mut().find(|held: &&mut OwnedSemaphorePermit| {
                        Arc::ptr_eq(held.semaphore(), taken.semaphore())
                    }) {
                        Some(held) => held.merge(taken),
                        None => room.push(taken),
                    }
                }
                steps = wanted;
            }
            bytes.extend_from_slice(&data);
            came += data.len();
            if came >= LEAST_BYTES {
                (until, came) = (Instant::now() + pace, 0);
            }
        }
        Ok(Held { bytes: bytes.into(), _room: room })
    }
}

/// The next bytes of a body; trailers are none.
async fn next(body: &mut Body) -> Option<Result<Bytes, axum::Error>> {
    loop {
        match poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await? {
            Ok(frame) => {
                if let Ok(data) = frame.into_data() {
                    return Some(Ok(data));
                }
            }
            Err(error) => return Some(Err(error)),
        }
    }
}
