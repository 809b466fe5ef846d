//! What is saved, for whom, and where it came from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A text to keep whole. The names of the fields are stable, for stores that are elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaveText {
    /// Under whose name it is filed.
    pub owner: SpillOwner,
    /// What it came from.
    pub source: SpillSource,
    /// A hint for the name, such as `grep-results.txt`. It is never a path: the store makes one safe segment of it.
    pub suggested_name: Arc<str>,
    /// The complete text. It is stored as it is, in UTF-8.
    pub content: Arc<str>,
}

/// Under whose name a text is filed. Whether that is a permission, too, is the store's to say: one that keeps sessions apart
/// gives a text to its owner and to a fork of it, which keeps the locators that its history mentions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpillOwner {
    /// The id of the session.
    pub session_id: Arc<str>,
}

/// What a text came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpillSource {
    /// The tool that made it.
    pub tool_name: Arc<str>,
    /// The call that it belongs to: that of a model, or that of a program within.
    pub call_id: Arc<str>,
    /// What it is of that call, in a word: [`RESULT`](Self::RESULT) or [`DISPATCH`](Self::DISPATCH).
    pub label: Arc<str>,
}

impl SpillSource {
    /// The label of what a model would have read.
    pub const RESULT: &'static str = "result";
    /// The label of what the log would have held of a call within a program.
    pub const DISPATCH: &'static str = "dispatch";
}

#[cfg(test)]
mod tests {
    use dsh_json::{Json, object};

    use super::*;

    #[test]
    fn fields_have_their_stable_names() {
        let request = SaveText {
            owner: SpillOwner { session_id: "s".into() },
            source: SpillSource {
                tool_name: "grep".into(),
                call_id: "c:code:1".into(),
                label: SpillSource::DISPATCH.into(),
            },
            suggested_name: "grep.txt".into(),
            content: "ä\r\n".into(),
        };
        let json = object! {
            "owner": object! { "sessionId": "s" },
            "source": object! { "toolName": "grep", "callId": "c:code:1", "label": "dispatch" },
            "suggestedName": "grep.txt",
            "content": "ä\r\n",
        };
        assert_eq!(Json::from_serialize(&request).unwrap(), json);
        assert_eq!(json.read::<SaveText>().unwrap(), request);
    }
}
