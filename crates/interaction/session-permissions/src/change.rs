//! A change of one session.

use dsh_agent::{Agent, InboxError};
use dsh_approval_policy::{ApprovalPolicy, SwitchError};
use dsh_llm::{Message, Role, Source, text};
use dsh_sandbox_policy::{SandboxMode, set_session_mode, standing_rule};
use dsh_session::{AppendError, Session};

use crate::order::Knob;
use crate::{Permissions, SessionPermissions};

/// The name that messages about the sandbox mode have as their source.
pub const PLUGIN: &str = "session-permissions";

/// The right to change one session. There is one at a time.
pub struct Change<'a> {
    pub(crate) permissions: &'a SessionPermissions,
    pub(crate) session: &'a Session,
    pub(crate) agent: Option<&'a Agent>,
}

/// What was recorded.
#[derive(Debug, Default)]
#[must_use = "the agent may not have been told"]
pub struct Turned {
    /// Whether the sandbox mode was.
    pub sandbox: bool,
    /// Whether the approval policy was.
    pub approval: bool,
    /// Why the agent could not be told of something, where it could not.
    pub untold: Option<InboxError>,
}

/// Why not all was recorded.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Somebody else changes this session now. Nothing was recorded.
    #[error("the permissions of this session are being changed already; try again")]
    Busy,
    /// The log did not take an event. What it took before holds; doing the same again completes it.
    #[error(
        "the permissions could not be recorded in full: {0}; what was recorded holds, choose again to complete it"
    )]
    Log(#[from] AppendError),
}

impl Change<'_> {
    /// Turns each knob whose value differs from the target. The same again records nothing.
    ///
    /// # Errors
    /// When the log does not take an event; what it took before holds.
    pub fn set(&self, target: Permissions) -> Result<Turned, AppendError> {
        let holds = self.permissions.of(self.session);
        self.turn(holds, target, |knob| holds.differs(target, knob))
    }

    /// The same, and says also what the log does not say yet.
    pub fn say(&self, target: Permissions) -> Result<Turned, AppendError> {
        let (holds, said) = (self.permissions.of(self.session), self.permissions.said(self.session));
        let silent = |knob| match knob {
            Knob::Sandbox => said.sandbox.is_none(),
            Knob::Approval => said.approval.is_none(),
        };
        self.turn(holds, target, |knob| silent(knob) || holds.differs(target, knob))
    }

    fn turn(
        &self,
        holds: Permissions,
        target: Permissions,
        due: impl Fn(Knob) -> bool,
    ) -> Result<Turned, AppendError> {
        let mut turned = Turned::default();
        for knob in holds.order_towards(target).into_iter().filter(|knob| due(*knob)) {
            // Of what holds already nobody is told.
            let agent = self.agent.filter(|_| holds.differs(target, knob));
            let told = match knob {
                Knob::Sandbox => {
                    turned.sandbox = true;
                    self.set_mode(holds.sandbox, target.sandbox, agent)?
                }
                Knob::Approval => {
                    turned.approval = true;
                    self.set_policy(target.approval, agent)?
                }
            };
            turned.untold = turned.untold.or(told.err());
        }
        Ok(turned)
    }

    fn set_mode(
        &self,
        before: SandboxMode,
        mode: SandboxMode,
        agent: Option<&Agent>,
    ) -> Result<Result<(), InboxError>, AppendError> {
        let seq = set_session_mode(self.session, mode, None)?.seq;
        let Some(agent) = agent else { return Ok(Ok(())) };
        let policy = self.permissions.source().policy(Some(self.session.id())).with_mode(mode);
        let rule = standing_rule(&policy);
        let message = Message {
            // One event, one message.
            id: format!("{PLUGIN}:{seq}").into(),
            role: Role::User,
            content: text(format!("The user changed the sandbox mode from {before} to {mode}. {rule}")),
            source: Source::plugin_form(PLUGIN, "notice"),
        };
        Ok(agent.inbox().inject(message))
    }

    fn set_policy(
        &self,
        policy: ApprovalPolicy,
        agent: Option<&Agent>,
    ) -> Result<Result<(), InboxError>, AppendError> {
        let policies = self.permissions.policies();
        let Some(agent) = agent else { return policies.set(self.session, policy, None).map(Ok) };
        match policies.switch(agent, policy) {
            Ok(_) => Ok(Ok(())),
            Err(SwitchError::Untold(error)) => Ok(Err(error)),
            Err(SwitchError::Log(error)) => Err(error),
        }
    }
}

impl Permissions {
    fn differs(self, target: Self, knob: Knob) -> bool {
        match knob {
            Knob::Sandbox => self.sandbox != target.sandbox,
            Knob::Approval => self.approval != target.approval,
        }
    }
}
