//! The bounds of a server.

use std::num::{NonZeroU64, NonZeroUsize};

use serde::Deserialize;

/// The bounds of a server for one client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct McpServerConfig {
    /// How many bytes one message may have; a longer one is answered with an error and skipped.
    pub max_message_bytes: NonZeroUsize,
    /// How many calls may be unanswered at a time; more are answered with `TOO_MANY_CALLS`.
    pub max_calls_in_flight: NonZeroUsize,
    /// How many calls one turn takes before it lets those that wait begin another.
    pub max_calls_per_turn: NonZeroUsize,
    /// How many milliseconds lie between two notifications of progress of a call, except before the last.
    pub progress_interval_ms: NonZeroU64,
    /// How many characters of a call's arguments a question to the user shows.
    pub max_question_chars: NonZeroUsize,
    /// How many milliseconds tools that come and go are gathered before the client is told that its list is another.
    pub list_interval_ms: NonZeroU64,
}

impl Default for McpServerConfig {
    fn default() -> Self {
        let some = |number| NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
        let ms = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        Self {
            max_message_bytes: some(16 * 1024 * 1024),
            max_calls_in_flight: some(64),
            max_calls_per_turn: some(1_000),
            progress_interval_ms: ms(100),
            max_question_chars: some(4_000),
            list_interval_ms: ms(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_configuration_and_no_others() {
        let read =
            |text: &str| serde_json::from_str::<McpServerConfig>(text).map_err(|error| error.to_string());
        assert_eq!(read("{}"), Ok(McpServerConfig::default()));
        let expected = McpServerConfig {
            max_message_bytes: NonZeroUsize::new(9).unwrap(),
            ..McpServerConfig::default()
        };
        assert_eq!(read(r#"{"maxMessageBytes": 9}"#), Ok(expected));
        assert!(read(r#"{"maxMessageBytes": 0}"#).is_err());
        assert!(read(r#"{"maxMessages": 9}"#).unwrap_err().contains("unknown field"));
    }
}
