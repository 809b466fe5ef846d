//! The event of the inbox.

use dsh_llm::{Message, ShapeError};
use dsh_session::{Payload, UserMessage, Vocabulary, VocabularyError};
use serde::{Deserialize, Serialize};

/// One of the two lists of an inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Prompts: each gets a turn of its own.
    NextTurn,
    /// Steering and injected messages: all of them go into the next step.
    NextStep,
}

/// Why messages were taken out of an inbox, other than by a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpliceOutcome {
    /// They reach no turn.
    Canceled,
}

/// `agent/inbox/spliced`: one change of one list, in normalised coordinates (spec 02 §B). The lists that it speaks of are
/// without the messages that a `user/message` of their id has said by then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InboxSpliced {
    /// The list.
    pub target: Target,
    /// Where it changes.
    pub start: u64,
    /// How many messages are taken out there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed_count: u64,
    /// What is put in there.
    pub inserted: Vec<Message>,
    /// Absent when a turn claimed what was taken out without saying it, and when nothing was taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<SpliceOutcome>,
}

impl Payload for InboxSpliced {
    const TYPE: &'static str = "agent/inbox/spliced";

    fn check(&self) -> Result<(), ShapeError> {
        for (index, message) in self.inserted.iter().enumerate() {
            let checked = UserMessage(message.clone()).check();
            checked.map_err(|error| error.at(index).within("inserted"))?;
        }
        Ok(())
    }
}

/// The vocabulary with the events of agents; sessions of agents need it.
pub fn declare(vocabulary: Vocabulary) -> Result<Vocabulary, VocabularyError> {
    vocabulary.with::<InboxSpliced>()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
