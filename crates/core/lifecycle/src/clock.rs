//! Time and fresh names, passed in.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// The wall clock: Unix time in milliseconds. It may jump; durations are measured by the runtime's clock.
pub trait Clock: Send + Sync {
    /// The time now, in milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> i64;
}

/// A source of names that were never given before: `UUIDv7` text.
pub trait Ids: Send + Sync {
    /// A fresh id.
    fn fresh(&self) -> Arc<str>;
}

/// A clock that moves one millisecond with each reading: the same run gives the same times.
#[derive(Debug)]
pub struct SteppingClock(AtomicI64);

impl SteppingClock {
    /// A clock whose first reading is `start_ms`.
    pub fn starting_at(start_ms: i64) -> Self {
        Self(AtomicI64::new(start_ms))
    }
}

impl Clock for SteppingClock {
    fn now_ms(&self) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Ids that depend on a seed and on how many were taken before, and on nothing else.
#[derive(Debug)]
pub struct SeededIds {
    seed: u64,
    taken: AtomicU64,
}

impl SeededIds {
    /// The sequence of ids that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed, taken: AtomicU64::new(0) }
    }
}

impl Ids for SeededIds {
    fn fresh(&self) -> Arc<str> {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        let mut random = [0_u8; 10];
        let (seed, count) = random.split_at_mut(4);
        seed.copy_from_slice(&fold(self.seed).to_be_bytes());
        count.copy_from_slice(&taken.to_be_bytes()[2..]);
        let id = uuid::Builder::from_unix_timestamp_millis(taken, &random).into_uuid();
        Arc::from(id.to_string())
    }
}

/// Mixes all bits of the seed into the 32 that an id has room for.
fn fold(seed: u64) -> u32 {
    let mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (high, low) = ((mixed >> 32) as u32, u32::try_from(mixed & 0xFFFF_FFFF).unwrap_or_default());
    high ^ low
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_stepping_clock_moves_by_one() {
        let clock = SteppingClock::starting_at(7);
        assert_eq!([clock.now_ms(), clock.now_ms(), clock.now_ms()], [7, 8, 9]);
    }

    #[test]
    fn seeded_ids_repeat_by_seed_and_never_within_one() {
        let take = |seed| {
            let ids = SeededIds::new(seed);
            (0..1_000).map(|_| ids.fresh()).collect::<Vec<_>>()
        };
        assert_eq!(take(1), take(1));
        assert_ne!(take(1), take(2));
        assert_eq!(take(3).into_iter().collect::<BTreeSet<_>>().len(), 1_000);
        assert!(take(4).is_sorted());
    }

    #[test]
    fn an_id_is_a_version_seven_uuid() {
        let id = uuid::Uuid::parse_str(&SeededIds::new(9).fresh()).unwrap();
        assert_eq!(id.get_version_num(), 7);
    }
}
