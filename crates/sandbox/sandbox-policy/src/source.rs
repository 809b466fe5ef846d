//! Where the policy of a call comes from.

use std::sync::Arc;

use crate::SandboxPolicy;

/// The port through which tools ask for the policy, once per call and before anything else of it runs, so that a
/// switch between two calls takes effect with the next one.
///
/// One fixed policy for everybody is an `Arc<SandboxPolicy>`.
pub trait PolicySource: Send + Sync {
    /// The policy in force for this session; `None` for a call that belongs to none. Cheap, never blocks.
    fn policy(&self, session: Option<&str>) -> Arc<SandboxPolicy>;
}

impl PolicySource for Arc<SandboxPolicy> {
    fn policy(&self, _session: Option<&str>) -> Self {
        Self::clone(self)
    }
}

impl PolicySource for SandboxPolicy {
    fn policy(&self, _session: Option<&str>) -> Arc<SandboxPolicy> {
        Arc::new(self.clone())
    }
}
