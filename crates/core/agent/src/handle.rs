//! The handle.

use std::fmt;
use std::sync::Arc;

use dsh_scope::Scope;
use dsh_session::Session;

/// One agent. Clones are the same agent.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

struct Inner {
    scope: Scope,
    session: Session,
}

impl Agent {
    /// An agent that sees what `scope` sees and whose history is `session`.
    pub fn new(scope: Scope, session: Session) -> Self {
        Self(Arc::new(Inner { scope, session }))
    }

    /// The scope that decides which tools, listeners and prompt sections count for it.
    pub fn scope(&self) -> &Scope {
        &self.0.scope
    }

    /// Its history.
    pub fn session(&self) -> &Session {
        &self.0.session
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
            .finish()
    }
}
