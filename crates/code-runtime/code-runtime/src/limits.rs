//! What one run may use.

use std::time::Duration;

/// The bounds on one run. Each is named in the failure when it is hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// `maxWallMs`: from start to end, less what [`Host::excused`](crate::Host::excused) says. 300,000.
    pub max_wall: Duration,
    /// `maxComputeMs`: the engine's own busy time; waiting for calls and timers is free. 60,000.
    pub max_compute: Duration,
    /// `maxMemoryBytes`: what the engine may allocate. 64 MiB.
    pub max_memory_bytes: usize,
    /// `maxOutputBytes`: logs and value, or logs and failure message, as the ledger counts them. 64 MiB.
    pub max_output_bytes: usize,
    /// `maxSubCalls`: calls in all. 10,000.
    pub max_sub_calls: u64,
    /// `maxInFlightBytes`: what is on its way, as [`lossless::weight`](crate::lossless::weight) weighs: arguments of the calls that
    /// run, together; one result; results that the program has not taken yet, together. 64 MiB.
    pub max_in_flight_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_wall: Duration::from_millis(300_000),
            max_compute: Duration::from_millis(60_000),
            max_memory_bytes: 64 << 20,
            max_output_bytes: 64 << 20,
            max_sub_calls: 10_000,
            max_in_flight_bytes: 64 << 20,
        }
    }
}

impl Limits {
    /// These bounds, if each can be kept.
    ///
    /// # Errors
    /// Which bound is out of range, by the name of its configuration, and what is expected.
    pub fn checked(self) -> Result<Self, String> {
        for (name, bound) in [("maxWallMs", self.max_wall), ("maxComputeMs", self.max_compute)] {
            let bound = bound.as_millis();
            if bound == 0 || bound > u128::from(MAX_MILLISECONDS) {
                return Err(format!("{name} is {bound}, expected 1 to {MAX_MILLISECONDS}"));
            }
        }
        for (name, bound, least) in [
            ("maxMemoryBytes", self.max_memory_bytes, LEAST_MEMORY),
            ("maxOutputBytes", self.max_output_bytes, LEAST_OUTPUT),
            ("maxInFlightBytes", self.max_in_flight_bytes, 1),
        ] {
            if bound < least {
                return Err(format!("{name} is {bound}, expected at least {least}"));
            }
        }
        Ok(self)
    }
}

/// The longest time that a timer of 32 bits holds (spec 06 §8.1).
const MAX_MILLISECONDS: u64 = 2_147_483_647;
/// An engine needs some room to say that it has none.
const LEAST_MEMORY: usize = 1 << 20;
/// `[]` and `""`.
const LEAST_OUTPUT: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_can_not_be_kept_is_refused_by_name() {
        let of = Limits::default;
        let milliseconds = Duration::from_millis;
        assert_eq!(of().checked(), Ok(of()));
        let least = Limits {
            max_wall: milliseconds(MAX_MILLISECONDS),
            max_compute: milliseconds(1),
            max_memory_bytes: 1 << 20,
            max_output_bytes: 4,
            max_sub_calls: 0,
            max_in_flight_bytes: 1,
        };
        assert_eq!(least.clone().checked(), Ok(least));
        for (limits, problem) in [
            (Limits { max_wall: Duration::ZERO, ..of() }, "maxWallMs is 0, expected 1 to 2147483647"),
            (
                Limits { max_wall: milliseconds(1 << 31), ..of() },
                "maxWallMs is 2147483648, expected 1 to 2147483647",
            ),
            (Limits { max_compute: Duration::ZERO, ..of() }, "maxComputeMs is 0, expected 1 to 2147483647"),
            (
                Limits { max_memory_bytes: 1_048_575, ..of() },
                "maxMemoryBytes is 1048575, expected at least 1048576",
            ),
            (Limits { max_output_bytes: 3, ..of() }, "maxOutputBytes is 3, expected at least 4"),
            (Limits { max_in_flight_bytes: 0, ..of() }, "maxInFlightBytes is 0, expected at least 1"),
        ] {
            assert_eq!(limits.checked(), Err(problem.to_owned()));
        }
    }
}
