use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::Settings;
use crate::limits::{MAX_MESSAGE_BYTES, MAX_VISIBILITY};
use crate::{Delivery, Exchange, ExchangeError};

const LONG: Duration = Duration::from_secs(60);

async fn take(exchange: &Exchange, visibility: Duration) -> Delivery {
    let wait = Duration::from_secs(10);
    exchange.queue.receive(visibility, wait).await.unwrap().expect("a message is there")
}

async fn nothing_there(exchange: &Exchange) -> bool {
    exchange.queue.receive(LONG, Duration::ZERO).await.unwrap().is_none()
}

/// Bytes of any kind come back as they were sent, once.
pub async fn a_message_comes_back_as_sent(exchange: &Exchange, _: Settings) {
    assert!(nothing_there(exchange).await);
    let body: Vec<u8> = (0..=255).cycle().take(MAX_MESSAGE_BYTES).collect();
    exchange.queue.send(&body, Duration::ZERO).await.unwrap();
    assert_eq!(exchange.queue.depth().await.unwrap(), 1);
    let delivery = take(exchange, LONG).await;
    assert_eq!(delivery.body, body);
    assert_eq!(delivery.receive_count, 1);
    assert!(nothing_there(exchange).await);
    assert!(exchange.queue.acknowledge(&delivery.receipt).await.unwrap());
    assert_eq!(exchange.queue.depth().await.unwrap(), 0);
}

/// A delay hides a message from the start.
pub async fn a_delayed_message_waits(exchange: &Exchange, settings: Settings) {
    let delay = settings.tick * 3;
    let begun = Instant::now();
    exchange.queue.send(b"later", delay).await.unwrap();
    assert!(nothing_there(exchange).await);
    assert_eq!(take(exchange, LONG).await.body, b"later");
    assert!(begun.elapsed() + Duration::from_millis(2) >= delay, "came after {:?}", begun.elapsed());
}

/// A holder that dies gives its message back when its time is up, and the count says so.
pub async fn a_held_message_is_hidden_then_comes_again(exchange: &Exchange, settings: Settings) {
    exchange.queue.send(b"work", Duration::ZERO).await.unwrap();
    let first = take(exchange, settings.tick * 3).await;
    assert!(nothing_there(exchange).await);
    let second = take(exchange, LONG).await;
    assert_eq!(second.body, b"work");
    assert_eq!((first.receive_count, second.receive_count), (1, 2));
    assert_ne!(first.receipt, second.receipt);
}

/// Extensions keep a message hidden well past its first timeout; an extension to nothing gives it back.
pub async fn extending_keeps_a_message(exchange: &Exchange, settings: Settings) {
    exchange.queue.send(b"work", Duration::ZERO).await.unwrap();
    let delivery = take(exchange, settings.tick * 4).await;
    for _ in 0..6 {
        tokio::time::sleep(settings.tick).await;
        assert!(exchange.queue.extend(&delivery.receipt, settings.tick * 4).await.unwrap());
        assert!(nothing_there(exchange).await);
    }
    assert!(exchange.queue.extend(&delivery.receipt, Duration::ZERO).await.unwrap());
    assert_eq!(take(exchange, LONG).await.receive_count, 2);
}

/// Once a message has been delivered again, the first receipt neither extends nor removes it. Nonsense neither.
pub async fn a_stale_receipt_holds_nothing(exchange: &Exchange, settings: Settings) {
    exchange.queue.send(b"work", Duration::ZERO).await.unwrap();
    let first = take(exchange, settings.tick).await;
    let second = take(exchange, LONG).await;
    for receipt in [first.receipt.as_str(), "", "-", "nonsense", "0-0", "ffffffffffffffffffff-x"] {
        assert!(!exchange.queue.extend(receipt, LONG).await.unwrap(), "{receipt:?} extended a message");
        assert!(!exchange.queue.acknowledge(receipt).await.unwrap(), "{receipt:?} removed a message");
    }
    assert_eq!(exchange.queue.depth().await.unwrap(), 1);
    assert!(exchange.queue.acknowledge(&second.receipt).await.unwrap());
}

/// What was acknowledged never comes again, and can't be acknowledged or extended again.
pub async fn an_acknowledged_message_is_gone(exchange: &Exchange, settings: Settings) {
    exchange.queue.send(b"work", Duration::ZERO).await.unwrap();
    let delivery = take(exchange, settings.tick).await;
    assert!(exchange.queue.acknowledge(&delivery.receipt).await.unwrap());
    assert!(!exchange.queue.acknowledge(&delivery.receipt).await.unwrap());
    assert!(!exchange.queue.extend(&delivery.receipt, LONG).await.unwrap());
    tokio::time::sleep(settings.tick * 2).await;
    assert!(nothing_there(exchange).await);
    // A later message never answers to an old receipt.
    exchange.queue.send(b"next", Duration::ZERO).await.unwrap();
    let next = take(exchange, LONG).await;
    assert!(!exchange.queue.acknowledge(&delivery.receipt).await.unwrap());
    assert!(exchange.queue.acknowledge(&next.receipt).await.unwrap());
}

/// A receiver that waits gets a message soon after it is sent, and nothing when its time is up.
pub async fn a_waiting_receiver_is_woken(exchange: &Exchange, settings: Settings) {
    let begun = Instant::now();
    assert!(exchange.queue.receive(LONG, settings.tick * 2).await.unwrap().is_none());
    assert!(begun.elapsed() + Duration::from_millis(2) >= settings.tick * 2);
    let waiting = {
        let exchange = exchange.clone();
        tokio::spawn(async move { take(&exchange, LONG).await })
    };
    tokio::time::sleep(settings.tick).await;
    let sent = Instant::now();
    exchange.queue.send(b"now", Duration::ZERO).await.unwrap();
    assert_eq!(waiting.await.unwrap().body, b"now");
    assert!(sent.elapsed() < Duration::from_secs(2), "woken only after {:?}", sent.elapsed());
}

/// Eight receivers, many messages, some of them dropped and redelivered: no message is held twice at one time, and
/// none is lost.
pub async fn concurrent_receivers_never_hold_the_same_message(exchange: &Exchange, settings: Settings) {
    const MESSAGES: u32 = 60;
    /// Message → until when its holder may rely on it.
    type Held = Arc<Mutex<BTreeMap<Vec<u8>, Instant>>>;
    for n in 0..MESSAGES {
        exchange.queue.send(format!("message {n}").as_bytes(), Duration::ZERO).await.unwrap();
    }
    let held: Held = Arc::default();
    let done: Arc<Mutex<BTreeMap<Vec<u8>, u32>>> = Arc::default();
    let visibility = settings.tick * 5;
    let receivers: Vec<_> = (0..8_u32)
        .map(|receiver| {
            let (exchange, held, done) = (exchange.clone(), Arc::clone(&held), Arc::clone(&done));
            tokio::spawn(async move {
                let mut taken = receiver;
                loop {
                    // Asked before, so that the holder's own view of its time is never the longer one.
                    let until = Instant::now() + visibility;
                    let Some(delivery) = exchange.queue.receive(visibility, Duration::ZERO).await.unwrap()
                    else {
                        if exchange.queue.depth().await.unwrap() == 0 {
                            return;
                        }
                        tokio::time::sleep(settings.tick / 4).await;
                        continue;
                    };
                    {
                        let mut held = held.lock().unwrap();
                        let now = Instant::now();
                        if until <= now {
                            continue; // Its time was up before this task was scheduled again.
                        }
                        let before = held.insert(delivery.body.clone(), until);
                        assert!(before.is_none_or(|until| until <= now), "a message was held twice");
                    }
                    taken += 1;
                    if taken.is_multiple_of(5) && delivery.receive_count < 3 {
                        continue; // This holder dies.
                    }
                    tokio::time::sleep(settings.tick / 10).await;
                    if exchange.queue.acknowledge(&delivery.receipt).await.unwrap() {
                        held.lock().unwrap().remove(&delivery.body);
                        *done.lock().unwrap().entry(delivery.body).or_default() += 1;
                    }
                }
            })
        })
        .collect();
    for receiver in receivers {
        receiver.await.unwrap();
    }
    let done = done.lock().unwrap();
    assert_eq!(done.len(), MESSAGES as usize, "messages were lost");
    assert!(done.values().all(|times| *times == 1), "a message was acknowledged twice");
}

/// What no backend would keep is refused, and leaves nothing behind.
pub async fn messages_are_bounded(exchange: &Exchange, _: Settings) {
    let refused = |result: Result<(), ExchangeError>| matches!(result, Err(ExchangeError::Refused { .. }));
    assert!(refused(exchange.queue.send(&vec![0; MAX_MESSAGE_BYTES + 1], Duration::ZERO).await));
    assert!(refused(exchange.queue.send(b"x", Duration::from_secs(60 * 60)).await));
    assert!(refused(exchange.queue.receive(MAX_VISIBILITY * 2, Duration::ZERO).await.map(drop)));
    assert!(refused(exchange.queue.receive(LONG, Duration::from_secs(60)).await.map(drop)));
    assert_eq!(exchange.queue.depth().await.unwrap(), 0);
}
