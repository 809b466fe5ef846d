//! Chance that is the same each time.

use proptest::prelude::RngExt as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

pub(super) struct Chance(TestRng);

impl Chance {
    /// The chance of this name.
    pub(super) fn of(name: &str) -> Self {
        let mut seed = [0_u8; 32];
        for part in name.as_bytes().chunks(seed.len()) {
            for (slot, byte) in seed.iter_mut().zip(part) {
                *slot = slot.rotate_left(3) ^ byte;
            }
        }
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
    }

    /// A number below `limit`, which is more than none.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0.random_range(0..limit)
    }

    /// A whole number from `low` to `high`.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0.random_range(low..=high)
    }

    /// Once in `times`.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of a list; none of an empty one.
    pub(super) fn one<T: Clone>(&mut self, list: &[T]) -> Option<T> {
        let place = self.below(list.len().max(1));
        list.get(place).cloned()
    }

    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            list.swap(place, self.below(place + 1));
        }
    }
}
