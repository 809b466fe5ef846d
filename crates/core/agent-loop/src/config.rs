//! The loop's configuration.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use dsh_agent::InboxLimits;
use serde::Deserialize;

/// How far a turn may go, and how many may follow each other. Unknown keys and values out of range are refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct LoopConfig {
    /// How many calls of one step may run at a time, unless the live settings say otherwise. 1 runs them one after
    /// another.
    pub max_parallel_tool_calls: NonZeroUsize,
    /// How many calls of one step may be started and wait for an earlier one to be committed.
    pub max_uncommitted_tool_calls: NonZeroUsize,
    /// How many steps a turn may take before it ends with the reason `step-limit`.
    pub max_steps_per_turn: NonZeroU32,
    /// How many turns a driver takes in a row in which no person has said anything. Then what waits is left for the next
    /// wake.
    pub max_turns_without_input: NonZeroU32,
    /// How many milliseconds a turn may take before it is cancelled; no limit when absent. Needs a runtime with timers.
    pub max_turn_ms: Option<NonZeroU64>,
    /// How many milliseconds a cancelled turn may take to end before observers are told that something in it does not
    /// listen. It is awaited all the same.
    pub abort_grace_ms: NonZeroU64,
    /// How often one step makes its request, when hooks ask for it again.
    pub max_attempts_per_request: NonZeroU32,
    /// How many calls one answer of a model may hold. Beyond it none of them runs, and the model is told so.
    pub max_tool_calls_per_step: NonZeroUsize,
    /// How many bytes the arguments of one call may have.
    pub max_argument_bytes: NonZeroUsize,
    /// The ceiling for one answer in tokens; the provider's own when absent.
    pub max_tokens: Option<NonZeroU64>,
    /// How many messages may wait in an inbox.
    pub max_inbox_messages: NonZeroUsize,
    /// How many bytes they may have together.
    pub max_inbox_bytes: NonZeroUsize,
}

impl LoopConfig {
    /// What it says about inboxes, for whoever makes agents.
    pub fn inbox(&self) -> InboxLimits {
        InboxLimits { messages: self.max_inbox_messages, bytes: self.max_inbox_bytes }
    }
}

impl Default for LoopConfig {
    fn default() -> Self {
        let some = |n| NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
        let few = |n| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN);
        let inbox = InboxLimits::default();
        Self {
            max_parallel_tool_calls: some(10),
            max_uncommitted_tool_calls: some(64),
            max_steps_per_turn: few(100),
            max_turns_without_input: few(50),
            max_turn_ms: None,
            abort_grace_ms: NonZeroU64::new(10_000).unwrap_or(NonZeroU64::MIN),
            max_attempts_per_request: few(10),
            max_tool_calls_per_step: some(1_000),
            max_argument_bytes: some(16 * 1024 * 1024),
            max_tokens: None,
            max_inbox_messages: inbox.messages,
            max_inbox_bytes: inbox.bytes,
        }
    }
}
