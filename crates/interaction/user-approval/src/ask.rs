//! One question: recorded, put, answered, recorded.

use std::sync::Arc;
use std::time::Duration;

use dsh_agent::Agent;
use dsh_approval_policy::ApprovalPolicy;
use dsh_json::Json;
use dsh_lifecycle::{Cancel, Cause, contain_async};
use dsh_session::{AppendError, Session};
use dsh_tools_core::{Approval, Definition, Execution, ToolError};
use tokio::time::sleep;

use crate::{Answer, Answerer, ApprovalAsked, ApprovalDecided, Question};

/// The code of a call whose question could not be put or recorded.
pub const APPROVAL_FAILED: &str = "APPROVAL_FAILED";

/// Why nobody is asked under the policy.
const NEVER: &str = "the policy is `never`";

/// What is to be asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Who wants to act. Its answerers are asked, and its log has the record.
    pub agent: &'a Agent,
    /// The tool that is to be called.
    pub tool: &'a Arc<str>,
    /// The call, where one is meant.
    pub call: Option<&'a Arc<Execution>>,
    /// What will run then.
    pub definition: Option<&'a Arc<Definition>>,
    /// Why it is asked about.
    pub reason: Option<&'a str>,
    /// What withdraws the question.
    pub cancel: &'a Cancel,
}

/// Why there is no answer. Nothing may run then.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// There is no turn that the record would belong to. Nothing was appended.
    #[error("a question can be asked within a turn only")]
    OutsideTurn,
    /// The log did not take the question or the answer.
    #[error("the question could not be recorded, so its answer does not count: {0}")]
    Log(#[from] AppendError),
}

impl From<ApprovalError> for ToolError {
    fn from(error: ApprovalError) -> Self {
        Self::new("ApprovalError", APPROVAL_FAILED, format!("{error}. The call did not run."))
    }
}

/// What came of a question, who said so, and why if nobody did.
pub(crate) struct Decision {
    pub(crate) outcome: Approval,
    pub(crate) by: Option<Arc<str>>,
    pub(crate) cause: Option<Arc<str>>,
    /// The policy from now on, where it is to be another.
    pub(crate) policy: Option<ApprovalPolicy>,
}

impl Decision {
    pub(crate) fn because(outcome: Approval, cause: impl Into<Arc<str>>) -> Self {
        Self { outcome, by: None, cause: Some(cause.into()), policy: None }
    }
}

/// A question that is in the log. Whatever becomes of it, its decision follows.
pub(crate) struct Asked<'a> {
    session: &'a Session,
    id: Arc<str>,
    decided: bool,
}

impl<'a> Asked<'a> {
    pub(crate) fn record(request: &Request<'a>, id: Arc<str>) -> Result<Self, ApprovalError> {
        let session = request.agent.session();
        if session.open_turn().is_none() {
            return Err(ApprovalError::OutsideTurn);
        }
        session.append(&ApprovalAsked {
            id: Arc::clone(&id),
            tool_name: Arc::clone(request.tool),
            call_id: request.call.map(|call| Arc::clone(&call.call_id)),
            reason: request.reason.map(Arc::from),
            arguments_digest: request.call.map(|call| digest(&call.arguments)),
        })?;
        Ok(Self { session, id, decided: false })
    }

    /// Records the decision. One that the log does not take is no decision: the question is closed without it, if there is
    /// room for that.
    pub(crate) fn decide(mut self, decision: Decision) -> Result<Approval, ApprovalError> {
        self.decided = true;
        let outcome = decision.outcome;
        if let Err(error) = self.append(decision) {
            self.close(Decision::because(Approval::Unavailable, "its answer could not be recorded"));
            return Err(error.into());
        }
        Ok(outcome)
    }

    fn close(&self, decision: Decision) {
        if let Err(error) = self.append(decision) {
            tracing::warn!(%error, question = &*self.id, "a question could not be closed in the log");
        }
    }

    fn append(&self, Decision { outcome, by, cause, .. }: Decision) -> Result<(), AppendError> {
        let decided = ApprovalDecided { id: Arc::clone(&self.id), outcome, by, cause };
        self.session.append(&decided).map(drop)
    }
}

impl Drop for Asked<'_> {
    /// Whoever waited went away.
    fn drop(&mut self) {
        if !self.decided {
            self.close(Decision::because(Approval::Cancelled, "nobody waits for it any more"));
        }
    }
}

/// What stands for the arguments of a call in the log: of equal ones the same, whatever the order of their keys.
#[must_use]
pub fn digest(arguments: &Json) -> Arc<str> {
    blake3::hash(arguments.canonical().as_bytes()).to_hex().as_str().into()
}

/// Puts the question to those who can answer, one after the other. The first answer counts; nobody has longer than `budget`,
/// all together. It is looked first whether `silenced` has come to its end, and whenever it may have: then nobody is asked,
/// and no answer counts.
pub(crate) async fn put(
    question: &Question,
    answerers: &[Arc<dyn Answerer>],
    budget: Duration,
    silenced: impl Future<Output = ()>,
) -> Decision {
    let stopped =
        || Decision::because(Approval::Cancelled, "the call was cancelled while it was asked about");
    let decision = tokio::select! {
        biased;
        () = question.cancel.cancelled() => return stopped(),
        () = silenced => Decision::because(Approval::Rejected, NEVER),
        decision = answers(question, answerers) => decision,
        () = sleep(budget) => {
            let late = format!("nobody answered within {} ms (`answerMs`)", budget.as_millis());
            tracing::warn!(tool = &*question.tool, ?budget, "a question was not answered in time");
            Decision::because(Approval::Unavailable, late)
        }
    };
    // What is shown of it somewhere goes.
    question.cancel.cancel(Cause::Disposed);
    decision
}

async fn answers(question: &Question, answerers: &[Arc<dyn Answerer>]) -> Decision {
    for answerer in answerers {
        let name: Arc<str> = answerer.name().into();
        let broken = match contain_async(answerer.answer(question)).await {
            Ok(Ok(Some(Answer { outcome, policy }))) => {
                return Decision { outcome, by: Some(name), cause: None, policy };
            }
            Ok(Ok(None)) => continue,
            Ok(Err(error)) => format!("it failed: {error}"),
            Err(panic) => format!("it panicked: {panic}"),
        };
        tracing::warn!(
            answerer = &*name,
            tool = &*question.tool,
            why = broken,
            "a question was not answered"
        );
        return Decision { by: Some(name), ..Decision::because(Approval::Unavailable, broken) };
    }
    Decision::because(Approval::Unavailable, "there was nobody to answer")
}
