//! The policy in force, for everybody who asks per call.

use std::path::Path;
use std::sync::Arc;

use dsh_sandbox_policy::{PolicySource, SandboxMode, SandboxPolicy};
use parking_lot::RwLock;

/// One policy for all sessions, whose mode can be switched between two calls.
#[derive(Debug)]
pub struct SharedPolicy(RwLock<Arc<SandboxPolicy>>);

impl SharedPolicy {
    /// A policy to begin with.
    pub fn new(policy: SandboxPolicy) -> Self {
        Self(RwLock::new(Arc::new(policy)))
    }

    /// The policy that a call would be told now.
    pub fn current(&self) -> Arc<SandboxPolicy> {
        Arc::clone(&self.0.read())
    }

    /// Keeps a file from being written by tools, by its canonical path.
    pub fn protect(&self, file: &Path) {
        let mut policy = self.0.write();
        let mut protecting = SandboxPolicy::clone(&policy);
        protecting.protected_files.push(file.canonicalize().unwrap_or_else(|_| file.to_owned()));
        *policy = Arc::new(protecting);
    }

    /// Switches the mode, and returns the one before. A call that has asked already keeps what it was told.
    pub fn set_mode(&self, mode: SandboxMode) -> SandboxMode {
        let mut policy = self.0.write();
        let before = policy.mode;
        *policy = Arc::new(policy.with_mode(mode));
        before
    }
}

impl PolicySource for SharedPolicy {
    fn policy(&self, _session: Option<&str>) -> Arc<SandboxPolicy> {
        self.current()
    }
}
