//! The port to whoever can say yes.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::Agent;

use crate::Execution;

/// A question to a person: may this call run?
#[derive(Debug)]
#[non_exhaustive]
pub struct ApprovalRequest<'a> {
    /// Who wants to act.
    pub agent: &'a Agent,
    /// The call: its name, arguments, id and cancellation.
    pub execution: &'a Arc<Execution>,
    /// Why it is asked about.
    pub reason: Option<&'a str>,
}

/// The answer to one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Yes, this once.
    AllowedOnce,
    /// No.
    Rejected,
    /// The question was withdrawn before it was answered.
    Cancelled,
    /// Nobody could be asked.
    Unavailable,
}

/// Somebody who can be asked. It answers [`Approval::Cancelled`] once the call's cancellation is heard.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Puts the question and waits for the answer.
    async fn ask(&self, request: ApprovalRequest<'_>) -> Approval;
}
