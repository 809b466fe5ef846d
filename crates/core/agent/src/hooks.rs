//! Where policies take part in turns (spec 02 §C).

mod registry;
mod run;

use std::num::NonZeroU64;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::Cancel;
use dsh_llm::{ErrorFacts, Message, Model};

pub use registry::Hooks;
pub use run::HookFailure;

use crate::Agent;

/// Where in the conversation a hook is asked.
#[derive(Debug, Clone, Copy)]
pub struct StepContext<'a> {
    /// Whose turn it is. A hook may send to its inbox.
    pub agent: &'a Agent,
    /// The turn.
    pub turn: u32,
    /// The step, from 1.
    pub step: u32,
    /// The turn's cancellation.
    pub cancel: &'a Cancel,
}

/// Why a hook failed, for the operator. It ends the turn with an error.
pub type HookError = Box<dyn std::error::Error + Send + Sync>;

/// What shall become of a step that is proposed.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// It is taken, with these messages. None at all: there is no step, unless the model is owed one.
    Enter(Vec<Message>),
    /// It is refused, and the turn ends as blocked. The messages are spent.
    Reject(Arc<str>),
}

/// What a request is about to be made with.
#[derive(Clone, Default)]
pub struct RequestDraft {
    /// The model; `None` when none is mounted.
    pub model: Option<Arc<dyn Model>>,
    /// The ceiling for the answer in tokens; the provider's own when absent.
    pub max_tokens: Option<NonZeroU64>,
}

/// What shall follow a request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterError {
    /// The turn fails.
    Fail,
    /// The request is made again, in the same step.
    Retry,
}

/// Judges each step before it begins, also one without messages that is owed to the model.
///
/// Hooks of all four kinds are asked in the order of their registration, each with what the one before it left. An error
/// or a panic ends the turn with an error. They decide and do no lasting work: when the turn is cancelled while one is
/// waited for, its future is dropped where it stands, and what it would have said does not count. Work that must not be
/// cut short belongs to a task that the hook owns and awaits elsewhere.
#[async_trait]
pub trait PreStep: Send + Sync {
    /// Decides on a step with these messages; they are in the inbox still, and leave it when the step says them or leaves
    /// them out. One that is said in other words keeps its id; with another id, a process killed in between may say it
    /// again. After a refusal the hooks behind it are not asked. After an error, or when the turn is cancelled, they
    /// wait on.
    async fn pre_step(&self, step: &StepContext<'_>, messages: Vec<Message>) -> Result<Entry, HookError>;
}

/// Chooses the model and the settings of each request, also of one that is made again. Called as [`PreStep`] says.
#[async_trait]
pub trait Request: Send + Sync {
    /// Changes the draft. What it leaves is logged as the request's header.
    async fn request(&self, step: &StepContext<'_>, draft: RequestDraft) -> Result<RequestDraft, HookError>;
}

/// Decides whether a request that failed is made again. Called as [`PreStep`] says.
#[async_trait]
pub trait RequestError: Send + Sync {
    /// Looks at the failure of a request. The first retry counts; it may take its time to wait before.
    async fn request_error(
        &self,
        step: &StepContext<'_>,
        error: &ErrorFacts,
    ) -> Result<AfterError, HookError>;
}

/// Is asked before a turn ends that has nothing more to do. Called as [`PreStep`] says.
#[async_trait]
pub trait TurnStopping: Send + Sync {
    /// Steers the agent, if the turn must go on.
    async fn turn_stopping(&self, step: &StepContext<'_>) -> Result<(), HookError>;
}
