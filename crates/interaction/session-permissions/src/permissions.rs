//! What holds for a session, and what its log says of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use dsh_agent::Agent;
use dsh_approval_policy::{ApprovalPolicy, Policies, PolicyChanged};
use dsh_sandbox_policy::{ModeChanged, PolicySource, SandboxMode};
use dsh_session::{AppendError, Latest, Session};
use parking_lot::Mutex;

use crate::{Change, ChangeError};

/// What holds for a session, or shall hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions {
    /// What tools may reach.
    pub sandbox: SandboxMode,
    /// Whether a person is asked.
    pub approval: ApprovalPolicy,
}

/// What the log of a session says, by the last event of each kind and its seq.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Of the sandbox mode.
    pub sandbox: Option<(u64, ModeChanged)>,
    /// Of the approval policy.
    pub approval: Option<(u64, PolicyChanged)>,
}

/// The permissions of all sessions. Asking costs two lookups, whatever the log's length. Clones are the same.
#[derive(Clone)]
pub struct SessionPermissions(Arc<Inner>);

struct Inner {
    policies: Policies,
    source: Arc<dyn PolicySource>,
    modes: Latest<ModeChanged>,
    /// Sessions that are being changed, by their ids.
    under_way: Mutex<BTreeMap<Arc<str>, Weak<Mutex<()>>>>,
}

impl SessionPermissions {
    /// `policies` knows the policy, and `source` the mode, of sessions whose log says nothing.
    pub fn new(policies: Policies, source: Arc<dyn PolicySource>) -> Self {
        let (modes, under_way) = (Latest::default(), Mutex::default());
        Self(Arc::new(Inner { policies, source, modes, under_way }))
    }

    /// What holds where no log says anything.
    pub fn defaults(&self) -> Permissions {
        Permissions { sandbox: self.0.source.policy(None).mode, approval: self.0.policies.default_policy() }
    }

    /// What holds for a session.
    pub fn of(&self, session: &Session) -> Permissions {
        let said = self.0.modes.last(session).map(|(_, changed)| changed.mode);
        Permissions {
            sandbox: said.unwrap_or_else(|| self.0.source.policy(Some(session.id())).mode),
            approval: self.0.policies.of(session),
        }
    }

    /// What the log of a session says.
    pub fn said(&self, session: &Session) -> Said {
        Said { sandbox: self.0.modes.last(session), approval: self.0.policies.said(session) }
    }

    /// Changes a session that no agent works in now.
    ///
    /// # Errors
    /// [`Busy`](ChangeError::Busy) where somebody else changes it, and then `work` is not called;
    /// [`Log`](ChangeError::Log) for what `work` fails with.
    pub fn change<T>(
        &self,
        session: &Session,
        work: impl FnOnce(&Change<'_>) -> Result<T, AppendError>,
    ) -> Result<T, ChangeError> {
        self.changing(session, None, work)
    }

    /// Changes the session of a living agent, who is told before its next step of each knob that is turned. It holds from
    /// the next call on; under `never` questions that are open are rejected. Errors as of [`change`](Self::change).
    pub fn change_living<T>(
        &self,
        agent: &Agent,
        work: impl FnOnce(&Change<'_>) -> Result<T, AppendError>,
    ) -> Result<T, ChangeError> {
        self.changing(agent.session(), Some(agent), work)
    }

    fn changing<T>(
        &self,
        session: &Session,
        agent: Option<&Agent>,
        work: impl FnOnce(&Change<'_>) -> Result<T, AppendError>,
    ) -> Result<T, ChangeError> {
        let turn = self.turn_of(session);
        // Whoever waited here for an observer of the session would wait forever.
        let Some(_turn) = turn.try_lock() else { return Err(ChangeError::Busy) };
        Ok(work(&Change { permissions: self, session, agent })?)
    }

    /// Who holds its lock may change the session.
    fn turn_of(&self, session: &Session) -> Arc<Mutex<()>> {
        let mut under_way = self.0.under_way.lock();
        under_way.retain(|_, turn| turn.strong_count() > 0);
        if let Some(turn) = under_way.get(session.id()).and_then(Weak::upgrade) {
            return turn;
        }
        let turn = Arc::default();
        under_way.insert(Arc::clone(session.id()), Arc::downgrade(&turn));
        turn
    }

    pub(crate) fn policies(&self) -> &Policies {
        &self.0.policies
    }

    pub(crate) fn source(&self) -> &dyn PolicySource {
        &*self.0.source
    }
}

impl std::fmt::Debug for SessionPermissions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionPermissions").field("defaults", &self.defaults()).finish_non_exhaustive()
    }
}
