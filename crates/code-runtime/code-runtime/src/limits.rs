//! What one run may use.

use std::time::Duration;

use serde::Deserialize;

/// The bounds on one run. Each is named in the failure when it is hit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
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
    /// `maxInFlightBytes`: arguments of the calls that run, together. 64 MiB.
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

/// The bounds as a configuration writes them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the keys are the original's")]
struct Written {
    max_wall_ms: Option<u64>,
    max_compute_ms: Option<u64>,
    max_memory_bytes: Option<usize>,
    max_output_bytes: Option<usize>,
    max_sub_calls: Option<u64>,
    max_in_flight_bytes: Option<usize>,
}

impl TryFrom<Written> for Limits {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let of = Self::default();
        let milliseconds = |name, value: Option<u64>, otherwise| match value {
            None => Ok(otherwise),
            Some(value @ 1..=MAX_MILLISECONDS) => Ok(Duration::from_millis(value)),
            Some(value) => Err(format!("{name} is {value}, expected 1 to {MAX_MILLISECONDS}")),
        };
        let least = |name, value: Option<usize>, least, otherwise| match value {
            None => Ok(otherwise),
            Some(value) if value >= least => Ok(value),
            Some(value) => Err(format!("{name} is {value}, expected at least {least}")),
        };
        Ok(Self {
            max_wall: milliseconds("maxWallMs", written.max_wall_ms, of.max_wall)?,
            max_compute: milliseconds("maxComputeMs", written.max_compute_ms, of.max_compute)?,
            max_memory_bytes: least(
                "maxMemoryBytes",
                written.max_memory_bytes,
                LEAST_MEMORY,
                of.max_memory_bytes,
            )?,
            max_output_bytes: least(
                "maxOutputBytes",
                written.max_output_bytes,
                LEAST_OUTPUT,
                of.max_output_bytes,
            )?,
            max_sub_calls: written.max_sub_calls.unwrap_or(of.max_sub_calls),
            max_in_flight_bytes: least(
                "maxInFlightBytes",
                written.max_in_flight_bytes,
                1,
                of.max_in_flight_bytes,
            )?,
        })
    }
}

/// The longest time that a timer of 32 bits holds (spec 06 §8.1).
const MAX_MILLISECONDS: u64 = 2_147_483_647;
/// An engine needs some room to say that it has none.
const LEAST_MEMORY: usize = 1 << 20;
/// `[]` and `""`.
const LEAST_OUTPUT: usize = 4;
