//! The policy in force, for everybody who asks per call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_lifecycle::Registration;
use dsh_sandbox_policy::{PolicySource, SandboxMode, SandboxPolicy, SessionModes};
use dsh_session::Session;
use parking_lot::RwLock;

/// One policy for all sessions, whose mode can be switched between two calls; a session that its log gives a mode of
/// its own has that one.
#[derive(Debug)]
pub struct SharedPolicy {
    shared: RwLock<Arc<SandboxPolicy>>,
    sessions: SessionModes,
}

impl SharedPolicy {
    /// A policy to begin with.
    pub fn new(policy: SandboxPolicy) -> Self {
        Self { shared: RwLock::new(Arc::new(policy)), sessions: SessionModes::new() }
    }

    /// Lets a session have a mode of its own, as its log says it, from now on.
    pub fn follow(&self, session: &Session) {
        self.sessions.follow(session);
    }

    /// The policy that a call of no session would be told now.
    pub fn current(&self) -> Arc<SandboxPolicy> {
        Arc::clone(&self.shared.read())
    }

    /// Keeps a file from being written by tools, by its canonical path.
    pub fn protect(&self, file: &Path) {
        let mut policy = self.shared.write();
        let mut protecting = SandboxPolicy::clone(&policy);
        protecting.protected_files.push(file.canonicalize().unwrap_or_else(|_| file.to_owned()));
        *policy = Arc::new(protecting);
    }

    /// Lets everybody read below a directory, in addition. What it returns takes that back.
    pub fn read_also(self: &Arc<Self>, root: &Path) -> Registration {
        let root = canonical(root);
        let change = |change: &dyn Fn(&mut SandboxPolicy), this: &Self| {
            let mut policy = this.shared.write();
            let mut changed = SandboxPolicy::clone(&policy);
            change(&mut changed);
            *policy = Arc::new(changed);
        };
        change(&|policy| policy.read_roots.push(root.clone()), self);
        let this = Arc::downgrade(self);
        Registration::new(move || {
            let Some(this) = this.upgrade() else { return };
            let last = |policy: &mut SandboxPolicy| {
                if let Some(at) = policy.read_roots.iter().rposition(|held| *held == root) {
                    policy.read_roots.remove(at);
                }
            };
            change(&last, &this);
        })
    }

    /// Switches the mode, and returns the one before. A call that has asked already keeps what it was told.
    pub fn set_mode(&self, mode: SandboxMode) -> SandboxMode {
        let mut policy = self.shared.write();
        let before = policy.mode;
        *policy = Arc::new(policy.with_mode(mode));
        before
    }
}

/// The canonical form of a path whose end need not exist yet.
fn canonical(path: &Path) -> PathBuf {
    if let Ok(canonical) = path.canonicalize() {
        return canonical;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => canonical(parent).join(name),
        _ => path.to_owned(),
    }
}

impl PolicySource for SharedPolicy {
    fn policy(&self, session: Option<&str>) -> Arc<SandboxPolicy> {
        let shared = self.current();
        match session.and_then(|session| self.sessions.of(session)) {
            Some(own) if own != shared.mode => Arc::new(shared.with_mode(own)),
            _ => shared,
        }
    }
}
