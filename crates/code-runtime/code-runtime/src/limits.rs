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

#[cfg(test)]
mod tests {
    use dsh_json::{Json, object};

    use super::*;

    fn read(written: &Json) -> Result<Limits, String> {
        written.read().map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_written_has_its_default() {
        assert_eq!(read(&object! {}), Ok(Limits::default()));
        let written = object! {
            "maxWallMs": MAX_MILLISECONDS, "maxComputeMs": 1, "maxMemoryBytes": 1 << 20, "maxOutputBytes": 4,
            "maxSubCalls": 0, "maxInFlightBytes": 1,
        };
        let limits = Limits {
            max_wall: Duration::from_millis(MAX_MILLISECONDS),
            max_compute: Duration::from_millis(1),
            max_memory_bytes: 1 << 20,
            max_output_bytes: 4,
            max_sub_calls: 0,
            max_in_flight_bytes: 1,
        };
        assert_eq!(read(&written), Ok(limits));
    }

    #[test]
    fn a_bound_that_can_not_be_kept_is_refused_by_name() {
        for (written, problem) in [
            (object! { "maxWallMs": 0 }, "maxWallMs is 0, expected 1 to 2147483647"),
            (object! { "maxWallMs": 1_u64 << 31 }, "maxWallMs is 2147483648, expected 1 to 2147483647"),
            (object! { "maxComputeMs": 0 }, "maxComputeMs is 0, expected 1 to 2147483647"),
            (object! { "maxMemoryBytes": 1_048_575 }, "maxMemoryBytes is 1048575, expected at least 1048576"),
            (object! { "maxOutputBytes": 3 }, "maxOutputBytes is 3, expected at least 4"),
            (object! { "maxInFlightBytes": 0 }, "maxInFlightBytes is 0, expected at least 1"),
        ] {
            let error = read(&written).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn bounds_are_whole_numbers_and_keys_are_known() {
        for written in [
            r#"{"maxWallMs": -1}"#,
            r#"{"maxWallMs": 1.5}"#,
            r#"{"maxOutputBytes": "64"}"#,
            r#"{"maxOutputBytes": 1e300}"#,
            r#"{"maxOldGenerationSizeMb": 512}"#,
        ] {
            assert!(read(&Json::parse(written).unwrap()).is_err(), "{written}");
        }
    }
}
