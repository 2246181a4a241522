//! New keys, in the order in which they are made (W2).

use std::sync::{Mutex, PoisonError};

use heddle_workflow::ulid_text;
use jiff::Timestamp;
use uuid::Uuid;

use super::{Key, KeyType};

const RANDOM_BITS: u32 = 74;

/// Makes keys. Of two that one source makes, the later one is greater, whatever the clock says.
#[derive(Debug, Default)]
pub(super) struct KeySource {
    /// The last key's milliseconds, and what followed them.
    last: Mutex<(u128, u128)>,
}

impl KeySource {
    /// A key of this type; `None` where the database makes it.
    pub(super) fn next(&self, key_type: KeyType, now: Timestamp) -> Option<Key> {
        if key_type == KeyType::Bigint {
            return None;
        }
        let milliseconds = now.as_millisecond().max(0) as u128;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // From the second key of a millisecond on, it counts. Half of the range is left for that.
        let fresh = Uuid::new_v4().as_u128() & ((1 << (RANDOM_BITS - 1)) - 1);
        *last = if milliseconds > last.0 { (milliseconds, fresh) } else { (last.0, last.1 + 1) };
        let (milliseconds, rest) = *last;
        Some(Key(match key_type {
            KeyType::Ulid => ulid_text(milliseconds << 80 | rest << 6),
            _ => Uuid::from_u128(
                milliseconds << 80 | 7 << 76 | (rest >> 62) << 64 | 0b10 << 62 | (rest & ((1 << 62) - 1)),
            )
            .to_string(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_order_and_what_they_say() {
        let now = Timestamp::from_millisecond(1_800_000_000_000).unwrap();
        let earlier = Timestamp::from_millisecond(1_700_000_000_000).unwrap();
        for key_type in [KeyType::Uuid, KeyType::Ulid] {
            let source = KeySource::default();
            let mut keys: Vec<String> = (0..500).map(|_| source.next(key_type, now).unwrap().0).collect();
            // A clock that is set back makes no earlier keys.
            keys.push(source.next(key_type, earlier).unwrap().0);
            assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
            if key_type == KeyType::Uuid {
                let uuid = Uuid::parse_str(&keys[0]).unwrap();
                assert_eq!(uuid.get_version_num(), 7);
                let (seconds, nanoseconds) = uuid.get_timestamp().unwrap().to_unix();
                assert_eq!((seconds, nanoseconds), (1_800_000_000, 0));
            } else {
                assert!(keys.iter().all(|key| key.len() == 26));
            }
        }
        assert_eq!(KeySource::default().next(KeyType::Bigint, now), None);
    }
}
