//! The handle.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dsh_scope::Scope;
use dsh_session::Session;

use crate::state::Core;
use crate::{Hooks, Inbox, InboxLimits, Notice, SessionSource};

/// One agent. Clones are the same agent.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

/// What an agent has besides its scope and its session.
#[derive(Debug, Clone, Default)]
pub struct AgentParts {
    /// Who takes part in its turns, and who is told of it.
    pub hooks: Hooks,
    /// How much may wait for it.
    pub inbox: InboxLimits,
}

struct Inner {
    scope: Scope,
    session: Session,
    parts: AgentParts,
    core: Core,
    announced: AtomicBool,
}

impl Agent {
    /// An agent that sees what `scope` sees and whose history is `session`, without hooks.
    pub fn new(scope: Scope, session: Session) -> Self {
        Self::with(scope, session, AgentParts::default())
    }

    /// The same, with hooks and limits. What its inbox holds is read from the session's log, from where the session
    /// became its own (spec 02 §B).
    pub fn with(scope: Scope, session: Session, parts: AgentParts) -> Self {
        let core = Core::of(&session);
        Self(Arc::new(Inner { scope, session, parts, core, announced: AtomicBool::new(false) }))
    }

    /// The scope that decides which tools, hooks, listeners and prompt sections count for it.
    pub fn scope(&self) -> &Scope {
        &self.0.scope
    }

    /// Its history.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// Who takes part in its turns.
    pub fn hooks(&self) -> &Hooks {
        &self.0.parts.hooks
    }

    /// What waits for it.
    pub fn inbox(&self) -> Inbox<'_> {
        Inbox::of(self)
    }

    /// Tells the observers that the session began or goes on, the first time that it is called. They may inject.
    ///
    /// Whoever runs turns calls it before the first one.
    pub fn announce(&self) {
        if !self.0.announced.swap(true, Ordering::AcqRel) {
            let resumed = self.0.session.first_live_seq() > 0;
            let source = if resumed { SessionSource::Resume } else { SessionSource::Startup };
            self.tell(&Notice::SessionStarted(source));
        }
    }

    /// Tells the observers that count for its scope. A panic of one is contained.
    pub fn tell(&self, notice: &Notice<'_>) {
        self.hooks().tell(self, notice);
    }

    pub(crate) fn core(&self) -> &Core {
        &self.0.core
    }

    pub(crate) fn limits(&self) -> &InboxLimits {
        &self.0.parts.inbox
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Agent {}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("scope", &self.0.scope.id())
            .field("session", &self.0.session.id())
            .finish_non_exhaustive()
    }
}
