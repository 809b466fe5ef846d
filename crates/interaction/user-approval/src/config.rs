//! Whether anybody is asked at all, and how long an answer may take.

use std::fmt;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// Whether anybody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPolicy {
    /// Those who can answer are asked.
    #[default]
    Ask,
    /// Nobody is asked; what needs approval is rejected.
    Never,
}

impl ApprovalPolicy {
    /// The word for it, in configurations and in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Never => "never",
        }
    }
}

impl fmt::Display for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The configuration of approvals. Unknown keys are refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ApprovalConfig {
    /// The policy of sessions whose log says no other. Default `ask`.
    pub policy: ApprovalPolicy,
    /// How long an answer may take, in milliseconds from 1, the time behind other questions included; the call is refused
    /// then. Default one hour.
    pub answer_ms: NonZeroU64,
}

impl Default for ApprovalConfig {
    fn default() -> Self {
        let hour = NonZeroU64::new(3_600_000).unwrap_or(NonZeroU64::MAX);
        Self { policy: ApprovalPolicy::Ask, answer_ms: hour }
    }
}

#[cfg(test)]
mod tests {
    use dsh_json::Json;

    use super::*;

    #[test]
    fn what_is_no_configuration_is_refused() {
        let read = |text: &str| Json::parse(text).unwrap().read::<ApprovalConfig>();
        assert_eq!(read("{}").unwrap(), ApprovalConfig::default());
        assert_eq!(read(r#"{"policy": "never"}"#).unwrap().policy, ApprovalPolicy::Never);
        assert_eq!(read(r#"{"answerMs": 5}"#).unwrap().answer_ms.get(), 5);
        for bad in [r#"{"policy": "always"}"#, r#"{"policy": 1}"#, r#"{"answerMs": 0}"#, r#"{"ask": true}"#] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
