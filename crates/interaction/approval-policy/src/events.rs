//! What the log holds of policies. Models see none of it.

use dsh_session::{Payload, Vocabulary, VocabularyError};
use serde::{Deserialize, Serialize};

use crate::ApprovalPolicy;

/// The event `approval/policy`: from here on, this policy holds for the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyChanged {
    /// The policy.
    pub policy: ApprovalPolicy,
    /// Where it comes from, if that is not the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PolicySource>,
}

/// Where the policy of a session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicySource {
    /// The session works for another, whose user does not see its questions.
    Delegation,
}

impl Payload for PolicyChanged {
    const TYPE: &'static str = "approval/policy";
}

/// A vocabulary that also has this event.
pub fn declare(vocabulary: Vocabulary) -> Result<Vocabulary, VocabularyError> {
    vocabulary.with::<PolicyChanged>()
}
