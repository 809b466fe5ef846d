//! Whether anybody is asked at all, and how long an answer may take.

use std::num::NonZeroU64;

use dsh_approval_policy::ApprovalPolicy;
use serde::Deserialize;

/// The configuration of approvals. Unknown keys are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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
