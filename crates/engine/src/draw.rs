//! Chance: ids, tokens and jitter, so that a simulation can draw them again.

use std::sync::Mutex;
use std::sync::PoisonError;

use heddle_workflow::{Chance, InstanceId, Token, ulid_text};
use jiff::Timestamp;

/// A source of chance.
pub trait Draw: Send + Sync {
    /// 128 bits that nobody can guess, never the same ones again.
    fn draw(&self) -> u128;
}

/// The machine's.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDraw;

impl Draw for SystemDraw {
    fn draw(&self) -> u128 {
        // A random UUID has six fixed bits; two of them make up for it.
        let (left, right) = (uuid::Uuid::new_v4().as_u128(), uuid::Uuid::new_v4().as_u128());
        left ^ right.rotate_left(64)
    }
}

/// The same draws for the same seed. For tests: whoever knows the seed knows them all.
#[derive(Debug)]
pub struct SeededDraw {
    state: Mutex<u64>,
}

impl SeededDraw {
    /// The draws of a seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: Mutex::new(seed) }
    }

    /// 64 bits: `SplitMix64` (Steele, Lea and Flood, 2014).
    pub fn next(&self) -> u64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Draw for SeededDraw {
    fn draw(&self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// A ULID: 48 bits of milliseconds and 80 of chance, in Crockford's base 32.
pub fn ulid(now: Timestamp, chance: u128) -> String {
    let milliseconds = now.as_millisecond().max(0) as u128 & ((1 << 48) - 1);
    ulid_text(milliseconds << 80 | (chance & ((1 << 80) - 1)))
}

pub(crate) fn token(draw: &dyn Draw, now: Timestamp) -> Token {
    Token::new(ulid(now, draw.draw()))
}

pub(crate) fn instance_id(draw: &dyn Draw, now: Timestamp) -> Option<InstanceId> {
    InstanceId::parse(&ulid(now, draw.draw()))
}

pub(crate) fn chance(draw: &dyn Draw) -> Chance {
    Chance(draw.draw() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ulid_has_its_time_in_front() {
        let now = Timestamp::from_millisecond(1_469_922_850_259).unwrap();
        let id = ulid(now, 0);
        assert_eq!(id, "01ARZ3NDEK0000000000000000".replace("01ARZ3NDEK", &id[..10]));
        assert!(InstanceId::parse(&id).is_some());
        assert!(ulid(now, u128::MAX) > id);
        let later = Timestamp::from_millisecond(1_469_922_850_260).unwrap();
        assert!(ulid(later, 0) > ulid(now, u128::MAX));
    }
}
