//! The loop's configuration.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use serde::Deserialize;

/// How far a turn may go. Unknown keys and values out of range are refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct LoopConfig {
    /// How many calls of one step may run at a time. 1 runs them one after another.
    pub max_parallel_tool_calls: NonZeroUsize,
    /// How many calls of one step may be started and wait for an earlier one to be committed.
    pub max_uncommitted_tool_calls: NonZeroUsize,
    /// How many steps a turn may take before it ends with the reason `step-limit`.
    pub max_steps_per_turn: NonZeroU32,
    /// How many calls one answer of a model may hold. Beyond it none of them runs, and the model is told so.
    pub max_tool_calls_per_step: NonZeroUsize,
    /// How many bytes the arguments of one call may have.
    pub max_argument_bytes: NonZeroUsize,
    /// The ceiling for one answer in tokens; the provider's own when absent.
    pub max_tokens: Option<NonZeroU64>,
}

impl Default for LoopConfig {
    fn default() -> Self {
        let some = |n| NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
        Self {
            max_parallel_tool_calls: some(10),
            max_uncommitted_tool_calls: some(64),
            max_steps_per_turn: NonZeroU32::new(100).unwrap_or(NonZeroU32::MIN),
            max_tool_calls_per_step: some(1_000),
            max_argument_bytes: some(16 * 1024 * 1024),
            max_tokens: None,
        }
    }
}
