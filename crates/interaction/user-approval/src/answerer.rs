//! Those who can answer.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::Agent;
use dsh_approval_policy::ApprovalPolicy;
use dsh_lifecycle::Cancel;
use dsh_tools_core::{Approval, Definition, Execution};

/// A question as it is put to those who can answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Question {
    /// Its id in the log.
    pub id: Arc<str>,
    /// Who wants to act.
    pub agent: Agent,
    /// The tool that is to be called.
    pub tool: Arc<str>,
    /// The call, where one is meant: exactly this one is allowed, with these arguments, and nothing else.
    pub call: Option<Arc<Execution>>,
    /// What will run then, and can present the call.
    pub definition: Option<Arc<Definition>>,
    /// Why it is asked about.
    pub reason: Option<Arc<str>>,
    /// It is cancelled when nobody waits for the answer any more: withdraw what is shown.
    pub cancel: Cancel,
}

/// What somebody says to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// What becomes of the call.
    pub outcome: Approval,
    /// The policy of the session from now on, where it is to be another.
    pub policy: Option<ApprovalPolicy>,
}

impl Answer {
    /// No, and no more questions in this session.
    pub const NEVER: Self = Self { outcome: Approval::Rejected, policy: Some(ApprovalPolicy::Never) };
}

impl From<Approval> for Answer {
    fn from(outcome: Approval) -> Self {
        Self { outcome, policy: None }
    }
}

/// Why an answerer could not answer, for the operator. The question counts as unanswered.
pub type AnswerError = Box<dyn Error + Send + Sync>;

/// Somebody who can be asked.
#[async_trait]
pub trait Answerer: Send + Sync {
    /// What it is called in the log: `terminal`.
    fn name(&self) -> &str;

    /// Whether it may ever allow anything. Where nobody may, tools don't offer what would only be refused.
    fn may_allow(&self) -> bool {
        true
    }

    /// Answers; `None` passes the question on, such as one about an agent that it does not serve. After an answer nobody
    /// else is asked.
    ///
    /// The future is dropped where it stands when the call is cancelled, and when the time for answers is over; what it
    /// would have said does not count then. A failure or a panic is recorded, and refuses the call.
    async fn answer(&self, question: &Question) -> Result<Option<Answer>, AnswerError>;
}
