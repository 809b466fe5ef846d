//! Budgets of a deployment.

use std::num::NonZeroU64;

use serde::Deserialize;

/// The configuration of the policy. All times are milliseconds from 1; unknown keys are refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TimeoutConfig {
    /// The budget of tools that declare none. Default none: they take as long as they take.
    pub default_ms: Option<NonZeroU64>,
    /// The largest budget that a tool may have; larger ones are cut to it. Default none.
    pub max_ms: Option<NonZeroU64>,
    /// How long a body that was told to stop may go on before that is reported to the operator. Default 10,000.
    pub grace_ms: NonZeroU64,
    /// Whether a body is given up after its grace: the call ends as `TOOL_TIMEOUT_ABANDONED`, and what the body was doing
    /// stops where it stands. Default false: it is waited for.
    pub abandon: bool,
    /// How long the listeners of one stage may take with one call, all of them that this policy is around. Default 60,000.
    pub listener_ms: NonZeroU64,
}

impl Default for TimeoutConfig {
    fn default() -> Self {
        Self {
            default_ms: None,
            max_ms: None,
            grace_ms: NonZeroU64::new(10_000).unwrap_or(NonZeroU64::MIN),
            abandon: false,
            listener_ms: NonZeroU64::new(60_000).unwrap_or(NonZeroU64::MIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use dsh_json::Json;

    use super::TimeoutConfig;

    #[test]
    fn times_are_positive_and_keys_are_known() {
        let read = |text: &str| Json::parse(text).unwrap().read::<TimeoutConfig>();
        assert_eq!(read("{}").unwrap(), TimeoutConfig::default());
        let all =
            read(r#"{"defaultMs": 1, "maxMs": 2, "graceMs": 3, "abandon": true, "listenerMs": 4}"#).unwrap();
        assert_eq!((all.default_ms.unwrap().get(), all.max_ms.unwrap().get()), (1, 2));
        assert_eq!((all.grace_ms.get(), all.abandon, all.listener_ms.get()), (3, true, 4));
        for bad in [
            r#"{"defaultMs": 0}"#,
            r#"{"maxMs": -1}"#,
            r#"{"graceMs": 1.5}"#,
            r#"{"listenerMs": 0}"#,
            r#"{"timeoutMs": 1}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
