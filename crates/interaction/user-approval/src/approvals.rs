//! The service.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_approval_policy::Policies;
use dsh_lifecycle::{Ids, Registration, Registrations};
use dsh_scope::{Layers, Scope, ScopeId};
use dsh_system_prompt::{PromptError, SystemPrompt};
use dsh_tools_core::{AlreadyProvided, Approval, ApprovalRequest, Approver, ToolError, Tools};
use parking_lot::Mutex;

use crate::ask::{Asked, Decision, put};
use crate::{Answerer, ApprovalConfig, ApprovalError, Question, Request};

/// Asks, and remembers nothing but the policy of each session, which its log says. Clones are the same service.
#[derive(Clone)]
pub struct Approvals(Arc<Inner>);

struct Inner {
    ids: Arc<dyn Ids>,
    budget: Duration,
    policies: Policies,
    first: Answerers,
    answerers: Answerers,
}

type Answerers = Arc<Mutex<Layers<Arc<dyn Answerer>>>>;

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
        let policies = Policies::new(Arc::clone(&ids), config.policy);
        let budget = Duration::from_millis(config.answer_ms.get());
        let (first, answerers) = Default::default();
        Self(Arc::new(Inner { ids, budget, policies, first, answerers }))
    }

    /// Answers for the calls of these tools, and tells models of the policy. Dropping what it returns ends both.
    pub fn mount(&self, tools: &Tools, prompt: &SystemPrompt) -> Result<Registrations, MountError> {
        let told = self.policies().tell(prompt)?;
        let asked = tools.approver().provide(Arc::new(self.clone()))?;
        Ok([told, asked].into_iter().collect())
    }

    /// Adds somebody who can answer: for the agents of a scope and of those below it, or for all. The nearest scope's
    /// are asked first, and within one scope those who came first.
    pub fn answer_with(&self, scope: Option<&Scope>, answerer: Arc<dyn Answerer>) -> Registration {
        added(&self.0.answerers, scope.map(Scope::id), answerer)
    }

    /// Adds somebody who is asked before all those, about every agent: what was said already answers before people do.
    pub fn answer_first(&self, answerer: Arc<dyn Answerer>) -> Registration {
        added(&self.0.first, None, answerer)
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
            let silenced = self.policies().until_never(request.agent.session());
            put(&question, &self.answerers(request.agent.scope()), self.0.budget, silenced).await
        };
        let policy = decision.policy;
        let outcome = asked.decide(decision)?;
        if let Some(policy) = policy
            && let Err(error) = self.policies().switch(request.agent, policy)
        {
            tracing::warn!(%error, "the policy that was asked for with an answer does not hold");
        }
        Ok(outcome)
    }

    /// The policy of each session, which this service asks before anybody else. A session that becomes `never` rejects the
    /// questions that are open in it.
    pub fn policies(&self) -> &Policies {
        &self.0.policies
    }

    /// Those who can answer for a scope, the nearest first.
    fn answerers(&self, scope: &Scope) -> Vec<Arc<dyn Answerer>> {
        let (first, answerers) = (self.0.first.lock(), self.0.answerers.lock());
        let layers = scope.chain().into_iter().map(Some).chain([None]);
        first.layer(None).chain(layers.flat_map(|layer| answerers.layer(layer))).cloned().collect()
    }
}

fn added(answerers: &Answerers, layer: Option<ScopeId>, answerer: Arc<dyn Answerer>) -> Registration {
    let id = answerers.lock().insert(layer, answerer);
    let answerers = Arc::downgrade(answerers);
    Registration::new(move || {
        let Some(answerers) = answerers.upgrade() else { return };
        let gone = answerers.lock().remove(layer, id);
        drop(gone); // outside of the lock: its drop may come back here
    })
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
        let Inner { budget, policies, .. } = &*self.0;
        f.debug_struct("Approvals")
            .field("budget", budget)
            .field("policies", policies)
            .finish_non_exhaustive()
    }
}
