//! What the log holds of questions. Models see none of it.

use std::sync::Arc;

use dsh_llm::ShapeError;
use dsh_session::{Pair, Payload, Vocabulary, VocabularyError};
use dsh_tools_core::Approval;
use serde::{Deserialize, Serialize};

/// The event `approval/asked`: somebody is asked whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalAsked {
    /// The question's own id.
    pub id: Arc<str>,
    /// The tool that is to be called.
    pub tool_name: Arc<str>,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Arc<str>>,
    /// Why it is asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// The BLAKE3 digest of the arguments in canonical form (RFC 8785), in hexadecimal: what was allowed, and no other call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_digest: Option<Arc<str>>,
}

/// The event `approval/decided`: what came of a question. There is exactly one for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalDecided {
    /// The question's id.
    pub id: Arc<str>,
    /// What came of it.
    pub outcome: Approval,
    /// The answerer who said so, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
    /// Why, where nobody said so: for whoever wants to know whether nobody was there or something broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Arc<str>>,
}

impl Payload for ApprovalAsked {
    const TYPE: &'static str = "approval/asked";

    fn check(&self) -> Result<(), ShapeError> {
        if self.id.is_empty() || self.tool_name.is_empty() {
            return Err(ShapeError::new("a question has no id, or names no tool"));
        }
        Ok(())
    }
}

impl Payload for ApprovalDecided {
    const TYPE: &'static str = "approval/decided";

    fn check(&self) -> Result<(), ShapeError> {
        if self.id.is_empty() {
            return Err(ShapeError::new("a decision names no question"));
        }
        Ok(())
    }
}

/// A vocabulary that also has these events and that of the policy. A question that a killed process left open is closed as cancelled.
pub fn declare(vocabulary: Vocabulary) -> Result<Vocabulary, VocabularyError> {
    dsh_approval_policy::declare(vocabulary)?.with_pair(Pair {
        opened: |asked: &ApprovalAsked| Arc::clone(&asked.id),
        closed: |decided: &ApprovalDecided| Arc::clone(&decided.id),
        close: |asked| ApprovalDecided {
            id: Arc::clone(&asked.id),
            outcome: Approval::Cancelled,
            by: None,
            cause: Some("the process ended before it was answered".into()),
        },
    })
}
