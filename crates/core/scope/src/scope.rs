//! Scope keys.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// The identity of a scope, unique in this process and never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeId(u64);

/// A scope key. Clones are the same scope; its parent is fixed when it is made, so a chain can't close a circle.
#[derive(Debug, Clone)]
pub struct Scope(Arc<Node>);

#[derive(Debug)]
struct Node {
    id: ScopeId,
    parent: Option<Scope>,
}

/// A scope that is not kept alive.
#[derive(Debug, Clone)]
pub struct WeakScope(Weak<Node>);

impl Scope {
    /// A scope without a parent.
    pub fn root() -> Self {
        Self::node(None)
    }

    /// A scope below this one.
    #[must_use]
    pub fn child(&self) -> Self {
        Self::node(Some(self.clone()))
    }

    fn node(parent: Option<Self>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(Arc::new(Node { id: ScopeId(NEXT.fetch_add(1, Ordering::Relaxed)), parent }))
    }

    /// Its identity.
    pub fn id(&self) -> ScopeId {
        self.0.id
    }

    /// This scope and its ancestors, nearest first.
    pub fn ancestry(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.0.parent.as_ref())
    }

    /// The identities of [`ancestry`](Self::ancestry), nearest first.
    pub fn chain(&self) -> Vec<ScopeId> {
        self.ancestry().map(Self::id).collect()
    }

    /// A reference that does not keep the scope alive.
    pub fn downgrade(&self) -> WeakScope {
        WeakScope(Arc::downgrade(&self.0))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // A chain of a hundred thousand scopes must not recurse.
        let mut parent = self.parent.take();
        while let Some(Scope(node)) = parent {
            parent = Arc::into_inner(node).and_then(|mut node| node.parent.take());
        }
    }
}

impl WeakScope {
    /// Whether somebody still holds the scope.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_nearest_first() {
        let parent = Scope::root();
        let child = parent.child();
        assert_eq!(child.chain(), [child.id(), parent.id()]);
        assert_ne!(parent.child().id(), child.id());
    }

    #[test]
    fn a_weak_scope_knows_when_it_is_gone() {
        let scope = Scope::root();
        let weak = scope.downgrade();
        assert!(weak.is_alive());
        drop(scope);
        assert!(!weak.is_alive());
    }

    #[test]
    fn a_very_long_chain_drops_without_recursion() {
        let mut scope = Scope::root();
        for _ in 0..200_000 {
            scope = scope.child();
        }
        drop(scope);
    }
}
