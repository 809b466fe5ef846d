//! The service.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_agent::{Agent, InboxError};
use dsh_lifecycle::{Ids, Registration, Registrations};
use dsh_llm::{Message, Role, Source, text};
use dsh_scope::{Layers, Scope};
use dsh_session::{AppendError, Latest, Session};
use dsh_system_prompt::{AssembleContext, Context, PromptError, SystemPrompt, Text};
use dsh_tools_core::{AlreadyProvided, Approval, ApprovalRequest, Approver, ToolError, Tools};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::ask::{Asked, Decision, put};
use crate::{
    Answerer, ApprovalConfig, ApprovalError, ApprovalPolicy, CONTEXT_NAME, CONTEXT_ORDER, PolicyChanged,
    PolicySource, Question, Request, standing_rule,
};

/// The name that messages about the policy have as their source.
const PLUGIN: &str = "user-approval";

/// Asks, and remembers nothing but the policy of each session, which its log says. Clones are the same service.
#[derive(Clone)]
pub struct Approvals(Arc<Inner>);

struct Inner {
    ids: Arc<dyn Ids>,
    config: Mutex<ApprovalConfig>,
    policies: Latest<PolicyChanged>,
    answerers: Arc<Mutex<Layers<Arc<dyn Answerer>>>>,
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

/// Why approvals could not be mounted.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// Somebody else approves calls already.
    #[error("somebody else approves calls already: {0}")]
    Taken(#[from] AlreadyProvided),
    /// The context could not be registered.
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

impl Approvals {
    /// A service with nobody to answer. `ids` names its questions and messages.
    pub fn new(ids: Arc<dyn Ids>, config: ApprovalConfig) -> Self {
        let (config, policies) = (Mutex::new(config), Latest::default());
        Self(Arc::new(Inner { ids, config, policies, answerers: Arc::default(), set: Notify::new() }))
    }

    /// Answers for the calls of these tools, and tells models of the policy. Dropping what it returns ends both.
    pub fn mount(&self, tools: &Tools, prompt: &SystemPrompt) -> Result<Registrations, MountError> {
        let approvals = self.clone();
        let rule = move |cx: &AssembleContext| match &cx.agent {
            Some(agent) => standing_rule(approvals.policy(agent.session())).to_owned(),
            None => String::new(),
        };
        let context = Context::new(CONTEXT_NAME, CONTEXT_ORDER, Text::from_fn(rule));
        let told = prompt.context(None, context)?;
        let asked = tools.approver().provide(Arc::new(self.clone()))?;
        Ok([told, asked].into_iter().collect())
    }

    /// Adds somebody who can answer: for the agents of a scope and of those below it, or for all. The nearest scope's
    /// are asked first, and within one scope those who came first.
    pub fn answer_with(&self, scope: Option<&Scope>, answerer: Arc<dyn Answerer>) -> Registration {
        let layer = scope.map(Scope::id);
        let id = self.0.answerers.lock().insert(layer, answerer);
        let answerers = Arc::downgrade(&self.0.answerers);
        Registration::new(move || {
            let Some(answerers) = answerers.upgrade() else { return };
            let gone = answerers.lock().remove(layer, id);
            drop(gone); // outside of the lock: its drop may come back here
        })
    }

    /// Asks, and waits for the answer.
    ///
    /// The answer is [`Cancelled`](Approval::Cancelled) as soon as the request's cancellation is heard,
    /// [`Rejected`](Approval::Rejected) under the policy `never`, and [`Unavailable`](Approval::Unavailable) when nobody
    /// answers, when whoever is asked fails, and when the time is over. Dropping the future records that the question is
    /// cancelled.
    ///
    /// Errors: [`ApprovalError::OutsideTurn`] with nothing appended, [`ApprovalError::Log`] when the question or its
    /// answer can't be recorded.
    pub async fn request(&self, request: Request<'_>) -> Result<Approval, ApprovalError> {
        let id = self.0.ids.fresh();
        let asked = Asked::record(&request, Arc::clone(&id))?;
        let decision = if request.cancel.is_cancelled() {
            Decision::because(Approval::Cancelled, "the call was cancelled before it was asked about")
        } else {
            let question = Question {
                id,
                agent: request.agent.clone(),
                tool: Arc::clone(request.tool),
                call: request.call.cloned(),
                definition: request.definition.cloned(),
                reason: request.reason.map(Arc::from),
                cancel: request.cancel.child(),
            };
            let budget = Duration::from_millis(self.0.config.lock().answer_ms.get());
            let silenced = self.silenced(request.agent.session());
            put(&question, &self.answerers(request.agent.scope()), budget, silenced).await
        };
        let policy = decision.policy;
        let outcome = asked.decide(decision)?;
        if let Some(policy) = policy
            && let Err(error) = self.switch(request.agent, policy)
        {
            tracing::warn!(%error, "the policy that was asked for with an answer does not hold");
        }
        Ok(outcome)
    }

    /// The policy of a session: the last that its log says, else the configured one.
    pub fn policy(&self, session: &Session) -> ApprovalPolicy {
        self.policy_of(session).unwrap_or_else(|| self.default_policy())
    }

    /// The last policy that the log of a session says, if it says one.
    pub fn policy_of(&self, session: &Session) -> Option<ApprovalPolicy> {
        self.0.policies.last(session).map(|(_, changed)| changed.policy)
    }

    /// The seq of the event that says so.
    pub fn policy_seq(&self, session: &Session) -> Option<u64> {
        self.0.policies.last(session).map(|(seq, _)| seq)
    }

    /// The policy of sessions whose log says none.
    pub fn default_policy(&self) -> ApprovalPolicy {
        self.0.config.lock().policy
    }

    /// Changes the policy of sessions whose log says none, and returns the one before.
    pub fn set_default_policy(&self, policy: ApprovalPolicy) -> ApprovalPolicy {
        std::mem::replace(&mut self.0.config.lock().policy, policy)
    }

    /// Sets the policy of a session, by exactly one event, also when it is the policy already.
    pub fn set_session_policy(
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
    /// already; the answer says whether it was switched. Under `never` the questions that are open are rejected.
    pub fn switch(&self, agent: &Agent, policy: ApprovalPolicy) -> Result<bool, SwitchError> {
        let before = self.policy(agent.session());
        if before == policy {
            return Ok(false);
        }
        self.set_session_policy(agent.session(), policy, None)?;
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

    /// Waits until nobody is to be asked in a session: not at all where that holds already.
    async fn silenced(&self, session: &Session) {
        loop {
            let set = self.0.set.notified();
            if self.policy(session) == ApprovalPolicy::Never {
                return;
            }
            set.await;
        }
    }

    /// Those who can answer for a scope, the nearest first.
    fn answerers(&self, scope: &Scope) -> Vec<Arc<dyn Answerer>> {
        let answerers = self.0.answerers.lock();
        let chain = scope.chain();
        chain
            .iter()
            .map(|layer| Some(*layer))
            .chain([None])
            .flat_map(|layer| answerers.layer(layer))
            .cloned()
            .collect()
    }
}

#[async_trait]
impl Approver for Approvals {
    async fn ask(&self, request: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
        let call = request.execution;
        let request = Request {
            agent: request.agent,
            tool: &call.name,
            call: Some(call),
            definition: request.definition,
            reason: request.reason,
            cancel: &call.cancel,
        };
        Ok(self.request(request).await?)
    }
}

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approvals").field("config", &*self.0.config.lock()).finish_non_exhaustive()
    }
}
