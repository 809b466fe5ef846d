//! The port to whoever can say yes.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::Agent;
use serde::{Deserialize, Serialize};

use crate::{Definition, Execution, ToolError};

/// A question to a person: may this call run?
#[derive(Debug)]
#[non_exhaustive]
pub struct ApprovalRequest<'a> {
    /// Who wants to act.
    pub agent: &'a Agent,
    /// The call: its name, arguments, id and cancellation.
    pub execution: &'a Arc<Execution>,
    /// The tool that will run, which can present the call; none where the name leads to none.
    pub definition: Option<&'a Arc<Definition>>,
    /// Why it is asked about.
    pub reason: Option<&'a str>,
}

/// The answer to one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
    ///
    /// An `Err` says that the question could not be put or its answer not be recorded. The call ends with it and does not
    /// run; policies that judge results do not see it (spec 10 §A.6).
    async fn ask(&self, request: ApprovalRequest<'_>) -> Result<Approval, ToolError>;
}
