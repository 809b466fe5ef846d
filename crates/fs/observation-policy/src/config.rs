//! How much is remembered.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// The configuration of the policy. Unknown keys and zero are refused when it is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ObservationConfig {
    /// Whether the policy is mounted at all. Without it every write replaces whatever is there. Default true.
    pub enabled: bool,
    /// How many files are remembered for one session. Beyond, the one that was not looked at for longest is forgotten
    /// and has to be read again before it is changed. Default 10,000.
    pub max_targets: NonZeroUsize,
    /// For how many sessions. Beyond, the one that was idle for longest is forgotten as a whole. Default 1,000.
    pub max_sessions: NonZeroUsize,
}

impl Default for ObservationConfig {
    fn default() -> Self {
        let positive = |number| NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
        Self { enabled: true, max_targets: positive(10_000), max_sessions: positive(1_000) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_json::Json;

    #[test]
    fn bounds_are_positive_integers_and_keys_are_known() {
        let read = |text: &str| Json::parse(text).unwrap().read::<ObservationConfig>();
        assert_eq!(read("{}").unwrap(), ObservationConfig::default());
        let config = read(r#"{"enabled": false, "maxTargets": 3, "maxSessions": 2}"#).unwrap();
        assert_eq!((config.enabled, config.max_targets.get(), config.max_sessions.get()), (false, 3, 2));
        for bad in [r#"{"maxTargets": 0}"#, r#"{"maxSessions": -1}"#, r#"{"enabled": "no"}"#, r#"{"max": 1}"#]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
