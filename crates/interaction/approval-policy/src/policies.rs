//! The policy of each session.

use std::sync::Arc;

use dsh_agent::{Agent, InboxError};
use dsh_lifecycle::{Ids, Registration};
use dsh_llm::{Message, Role, Source, text};
use dsh_session::{AppendError, Latest, Session};
use dsh_system_prompt::{AssembleContext, Context, PromptError, SystemPrompt, Text};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{ApprovalPolicy, CONTEXT_NAME, CONTEXT_ORDER, PolicyChanged, PolicySource, standing_rule};

/// The name that messages about the policy have as their source.
pub const PLUGIN: &str = "user-approval";

/// The policy of each session, as its log says it. Asking costs a lookup, whatever the log's length. Clones are the same.
#[derive(Clone)]
pub struct Policies(Arc<Inner>);

struct Inner {
    ids: Arc<dyn Ids>,
    default: Mutex<ApprovalPolicy>,
    said: Latest<PolicyChanged>,
    /// Some policy was set.
    set: Notify,
}

/// Why a policy was not switched.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// The log did not take it; the policy is as before.
    #[error("the policy could not be recorded: {0}")]
    Log(#[from] AppendError),
    /// The policy is switched, and the agent could not be told.
    #[error("the policy is switched, but the agent could not be told: {0}")]
    Untold(#[from] InboxError),
}

impl Policies {
    /// `default` holds for sessions whose log says nothing; `ids` names messages.
    pub fn new(ids: Arc<dyn Ids>, default: ApprovalPolicy) -> Self {
        let (default, said) = (Mutex::new(default), Latest::default());
        Self(Arc::new(Inner { ids, default, said, set: Notify::new() }))
    }

    /// The policy of a session: the last that its log says, else the default.
    pub fn of(&self, session: &Session) -> ApprovalPolicy {
        self.said(session).map_or_else(|| self.default_policy(), |(_, changed)| changed.policy)
    }

    /// The last that the log of a session says of it, with the seq of the event.
    pub fn said(&self, session: &Session) -> Option<(u64, PolicyChanged)> {
        self.0.said.last(session)
    }

    /// The policy of sessions whose log says none.
    pub fn default_policy(&self) -> ApprovalPolicy {
        *self.0.default.lock()
    }

    /// Changes the policy of sessions whose log says none, and returns the one before.
    pub fn set_default_policy(&self, policy: ApprovalPolicy) -> ApprovalPolicy {
        let before = std::mem::replace(&mut *self.0.default.lock(), policy);
        self.0.set.notify_waiters();
        before
    }

    /// Sets the policy of a session, by exactly one event, also when it is the policy already. Where the log takes none,
    /// the policy is as before.
    pub fn set(
        &self,
        session: &Session,
        policy: ApprovalPolicy,
        source: Option<PolicySource>,
    ) -> Result<(), AppendError> {
        session.append(&PolicyChanged { policy, source })?;
        self.0.set.notify_waiters();
        Ok(())
    }

    /// Switches the policy of a living agent, who is told of it before its next step. Nothing happens where it holds
    /// already; the answer says whether it was switched.
    pub fn switch(&self, agent: &Agent, policy: ApprovalPolicy) -> Result<bool, SwitchError> {
        let before = self.of(agent.session());
        if before == policy {
            return Ok(false);
        }
        self.set(agent.session(), policy, None)?;
        let told = format!(
            "The user changed the approval policy from {before} to {policy}. {}",
            standing_rule(policy)
        );
        let message = Message {
            id: self.0.ids.fresh(),
            role: Role::User,
            content: text(told),
            source: Source::plugin_form(PLUGIN, "notice"),
        };
        agent.inbox().inject(message)?;
        Ok(true)
    }

    /// Waits until nobody is to be asked in a session: not at all where that holds already. Dropping the future changes
    /// nothing. What is appended to the log past this service is not noticed.
    pub async fn until_never(&self, session: &Session) {
        loop {
            let set = self.0.set.notified();
            if self.of(session) == ApprovalPolicy::Never {
                return;
            }
            set.await;
        }
    }

    /// Tells models which policy holds, as a runtime context. Dropping what it returns ends that.
    ///
    /// # Errors
    /// When there is a context of this name already.
    pub fn tell(&self, prompt: &SystemPrompt) -> Result<Registration, PromptError> {
        let policies = self.clone();
        let rule = move |cx: &AssembleContext| match &cx.agent {
            Some(agent) => standing_rule(policies.of(agent.session())).to_owned(),
            None => String::new(),
        };
        prompt.context(None, Context::new(CONTEXT_NAME, CONTEXT_ORDER, Text::from_fn(rule)))
    }
}

impl std::fmt::Debug for Policies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Policies").field("default", &self.default_policy()).finish_non_exhaustive()
    }
}
