//! The queue: one row per message, one for its body, and one in the order of visibility.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use tokio::time::Instant;

use super::{Failure, Stores, blocking};
use crate::{Delivery, ExchangeError, Queue, limits};

/// How soon a message sent by another process is seen.
const POLL: Duration = Duration::from_millis(100);

pub(super) struct EmbeddedQueue(pub(super) Arc<Stores>);

/// What changes about a message while it waits and is held.
#[derive(Clone, Copy)]
struct State {
    /// Milliseconds since 1970: visible from then on.
    visible_at_ms: u64,
    receive_count: u32,
    /// Fresh with every delivery.
    token: [u8; 16],
}

impl State {
    fn write(self) -> [u8; 28] {
        let mut bytes = [0; 28];
        bytes[..8].copy_from_slice(&self.visible_at_ms.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.receive_count.to_be_bytes());
        bytes[12..].copy_from_slice(&self.token);
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (visible_at_ms, rest) = bytes.split_first_chunk()?;
        let (receive_count, rest) = rest.split_first_chunk()?;
        Some(Self {
            visible_at_ms: u64::from_be_bytes(*visible_at_ms),
            receive_count: u32::from_be_bytes(*receive_count),
            token: rest.try_into().ok()?,
        })
    }
}

fn order_key(visible_at_ms: u64, seq: u64) -> [u8; 16] {
    ((u128::from(visible_at_ms) << 64) | u128::from(seq)).to_be_bytes()
}

fn read_order_key(key: &[u8]) -> Result<(u64, u64), ExchangeError> {
    let key =
        u128::from_be_bytes(key.try_into().map_err(|_| damaged("a key of its order has the wrong length"))?);
    Ok(((key >> 64) as u64, key as u64))
}

fn damaged(reason: &str) -> ExchangeError {
    ExchangeError::Damaged { what: "the queue".to_owned(), reason: reason.to_owned() }
}

fn receipt(seq: u64, token: [u8; 16]) -> String {
    format!("{seq:016x}-{}", uuid::Uuid::from_bytes(token).simple())
}

fn read_receipt(receipt: &str) -> Option<(u64, [u8; 16])> {
    let (seq, token) = receipt.split_once('-')?;
    Some((u64::from_str_radix(seq, 16).ok()?, uuid::Uuid::try_parse(token).ok()?.into_bytes()))
}

/// The wall clock: the only one that processes share. Set back, it delays messages; set forward, it repeats some.
fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Rounded up, so that no holder loses its message a fraction of a millisecond too soon.
fn after(duration: Duration) -> u64 {
    if duration.is_zero() { now_ms() } else { now_ms().saturating_add(duration.as_millis() as u64 + 1) }
}

impl Stores {
    fn send_message(&self, body: &[u8], delay: Duration) -> Result<(), ExchangeError> {
        self.write("send a message", |writing| {
            if self.messages.len(writing)? >= limits::MAX_QUEUE_MESSAGES {
                return Err(ExchangeError::Backend {
                    attempted: "send a message".to_owned(),
                    source: format!("the queue holds {} already", limits::MAX_QUEUE_MESSAGES).into(),
                }
                .into());
            }
            let seq = match self.messages.last(writing)? {
                Some((key, _)) => {
                    let last = key.try_into().map_err(|_| damaged("a message's key has the wrong length"))?;
                    u64::from_be_bytes(last) + 1
                }
                None => 0,
            };
            let state = State { visible_at_ms: after(delay), receive_count: 0, token: [0; 16] };
            self.messages.put(writing, &seq.to_be_bytes(), &state.write())?;
            self.bodies.put(writing, &seq.to_be_bytes(), body)?;
            Ok(self.order.put(writing, &order_key(state.visible_at_ms, seq), &[])?)
        })
    }

    /// Takes the first visible message; else says how long until one may be visible.
    fn take_message(
        &self,
        visibility: Duration,
    ) -> Result<Result<Delivery, Option<Duration>>, ExchangeError> {
        let next = self.read("look for a message", |reading| {
            Ok(self.order.first(reading)?.map(|(key, _)| read_order_key(key)).transpose()?)
        })?;
        let now = now_ms();
        match next {
            None => return Ok(Err(None)),
            Some((visible_at, _)) if visible_at > now => {
                return Ok(Err(Some(Duration::from_millis(visible_at - now))));
            }
            Some(_) => {}
        }
        self.write("receive a message", |writing| {
            let Some((key, _)) = self.order.first(writing)? else { return Ok(Err(None)) };
            let (visible_at_ms, seq) = read_order_key(key)?;
            if visible_at_ms > now_ms() {
                return Ok(Err(Some(Duration::ZERO)));
            }
            let state = self.messages.get(writing, &seq.to_be_bytes())?.and_then(State::read);
            let body = self.bodies.get(writing, &seq.to_be_bytes())?.map(<[u8]>::to_vec);
            let (Some(state), Some(body)) = (state, body) else {
                return Err(damaged("a message in its order has no body or state").into());
            };
            let held = State {
                visible_at_ms: after(visibility),
                receive_count: state.receive_count.saturating_add(1),
                token: uuid::Uuid::new_v4().into_bytes(),
            };
            self.reorder(writing, seq, visible_at_ms, held)?;
            Ok(Ok(Delivery { body, receipt: receipt(seq, held.token), receive_count: held.receive_count }))
        })
    }

    fn reorder(
        &self,
        writing: &mut heed::RwTxn<'_>,
        seq: u64,
        was_visible_at_ms: u64,
        state: State,
    ) -> Result<(), heed::Error> {
        self.order.delete(writing, &order_key(was_visible_at_ms, seq))?;
        self.order.put(writing, &order_key(state.visible_at_ms, seq), &[])?;
        self.messages.put(writing, &seq.to_be_bytes(), &state.write())
    }

    /// Acts on a message if `receipt` still holds it.
    fn if_held(
        &self,
        attempted: &str,
        receipt: &str,
        act: impl FnOnce(&mut heed::RwTxn<'_>, u64, State) -> Result<(), heed::Error>,
    ) -> Result<bool, ExchangeError> {
        let Some((seq, token)) = read_receipt(receipt) else { return Ok(false) };
        self.write(attempted, |writing| {
            let state = self.messages.get(writing, &seq.to_be_bytes())?.and_then(State::read);
            let held = state.filter(|state| {
                state.receive_count > 0 && state.token == token && state.visible_at_ms > now_ms()
            });
            match held {
                Some(state) => act(writing, seq, state).map_err(Failure::from).map(|()| true),
                None => Ok(false),
            }
        })
    }
}

#[async_trait]
impl Queue for EmbeddedQueue {
    async fn send(&self, body: &[u8], delay: Duration) -> Result<(), ExchangeError> {
        limits::check_message(body)?;
        limits::check_duration("delay", delay, limits::MAX_DELAY)?;
        let (stores, body) = (Arc::clone(&self.0), body.to_vec());
        blocking(move || stores.send_message(&body, delay)).await?;
        self.0.sent.notify_one();
        Ok(())
    }

    async fn receive(&self, visibility: Duration, wait: Duration) -> Result<Option<Delivery>, ExchangeError> {
        limits::check_duration("visibility", visibility, limits::MAX_VISIBILITY)?;
        limits::check_duration("wait", wait, limits::MAX_WAIT)?;
        let deadline = Instant::now() + wait;
        loop {
            let stores = Arc::clone(&self.0);
            let until_next = match blocking(move || stores.take_message(visibility)).await? {
                Ok(delivery) => return Ok(Some(delivery)),
                Err(until_next) => until_next,
            };
            let now = Instant::now();
            if now >= deadline {
                return Ok(None);
            }
            let pause = until_next.unwrap_or(POLL).clamp(Duration::from_millis(1), POLL).min(deadline - now);
            // A message sent since the look above has left its permit here, so that no wake-up is lost.
            let _ = tokio::time::timeout(pause, self.0.sent.notified()).await;
        }
    }

    async fn extend(&self, receipt: &str, visibility: Duration) -> Result<bool, ExchangeError> {
        limits::check_duration("visibility", visibility, limits::MAX_VISIBILITY)?;
        let (stores, receipt) = (Arc::clone(&self.0), receipt.to_owned());
        blocking(move || {
            stores.if_held("extend a message's visibility", &receipt, |writing, seq, state| {
                let extended = State { visible_at_ms: after(visibility), ..state };
                stores.reorder(writing, seq, state.visible_at_ms, extended)
            })
        })
        .await
    }

    async fn acknowledge(&self, receipt: &str) -> Result<bool, ExchangeError> {
        let (stores, receipt) = (Arc::clone(&self.0), receipt.to_owned());
        blocking(move || {
            stores.if_held("acknowledge a message", &receipt, |writing, seq, state| {
                stores.order.delete(writing, &order_key(state.visible_at_ms, seq))?;
                stores.bodies.delete(writing, &seq.to_be_bytes())?;
                stores.messages.delete(writing, &seq.to_be_bytes()).map(drop)
            })
        })
        .await
    }

    async fn depth(&self) -> Result<u64, ExchangeError> {
        let stores = Arc::clone(&self.0);
        blocking(move || {
            stores.read("count the queue's messages", |reading| Ok(stores.messages.len(reading)?))
        })
        .await
    }
}
