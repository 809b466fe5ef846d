//! A cancellation with a cause.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// Why work was asked to stop (spec 02 §C.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A person stopped it.
    User,
    /// The work that this was part of was stopped.
    Parent,
    /// Its owner went away.
    Disposed,
    /// A time limit ran out.
    Deadline,
    /// The work that it belonged to has an answer already.
    Settled,
    /// A policy stopped it, with the reason that the policy gave.
    Hook(Arc<str>),
}

/// A cancellation that can be observed, awaited and passed down. Clones are the same cancellation.
///
/// The first cause wins. A [`child`](Self::child) is cancelled with its parent, and never cancels it; whoever set a
/// deadline on a child asks [`own_cause`](Self::own_cause), because "is it cancelled" is also true when the caller
/// stopped everything.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<Node>);

#[derive(Debug)]
struct Node {
    token: CancellationToken,
    own: OnceLock<Cause>,
    parent: Option<Cancel>,
}

impl Cancel {
    /// A cancellation of its own.
    pub fn new() -> Self {
        Self::node(CancellationToken::new(), None)
    }

    /// A cancellation that also hears this one.
    #[must_use]
    pub fn child(&self) -> Self {
        Self::node(self.0.token.child_token(), Some(self.clone()))
    }

    fn node(token: CancellationToken, parent: Option<Self>) -> Self {
        Self(Arc::new(Node { token, own: OnceLock::new(), parent }))
    }

    /// Asks for a stop. The first cause stays; asking again, or after the parent was stopped, changes nothing.
    pub fn cancel(&self, cause: Cause) {
        if !self.is_cancelled() {
            // A race for the first cause has one winner; the loser's cause is rightly lost.
            let _ = self.0.own.set(cause);
        }
        self.0.token.cancel();
    }

    /// Whether this or a parent was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.token.is_cancelled()
    }

    /// Waits until this or a parent is cancelled. Dropping the future is safe at any point.
    pub async fn cancelled(&self) {
        self.0.token.cancelled().await;
    }

    /// What this very node was cancelled for, `None` when only a parent was.
    pub fn own_cause(&self) -> Option<Cause> {
        self.0.own.get().cloned()
    }

    /// What this node, or else the nearest cancelled parent, was cancelled for.
    pub fn cause(&self) -> Option<Cause> {
        let mut node = Some(self);
        while let Some(at) = node {
            if let Some(cause) = at.0.own.get() {
                return Some(cause.clone());
            }
            node = at.0.parent.as_ref();
        }
        None
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // A chain of a hundred thousand children must not recurse.
        let mut parent = self.parent.take();
        while let Some(Cancel(node)) = parent {
            parent = Arc::into_inner(node).and_then(|mut node| node.parent.take());
        }
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_hears_its_parent_and_never_the_other_way() {
        let parent = Cancel::new();
        let child = parent.child();
        child.cancel(Cause::Deadline);
        assert!(child.is_cancelled() && !parent.is_cancelled());
        assert_eq!(parent.cause(), None);

        let sibling = parent.child();
        parent.cancel(Cause::User);
        assert!(sibling.is_cancelled());
        assert_eq!((sibling.own_cause(), sibling.cause()), (None, Some(Cause::User)));
        assert_eq!(child.cause(), Some(Cause::Deadline));
    }

    #[test]
    fn the_first_cause_wins() {
        let cancel = Cancel::new();
        cancel.cancel(Cause::Parent);
        cancel.cancel(Cause::User);
        assert_eq!(cancel.cause(), Some(Cause::Parent));

        let child = cancel.child();
        child.cancel(Cause::Deadline);
        assert_eq!((child.own_cause(), child.cause()), (None, Some(Cause::Parent)));
    }

    #[test]
    fn a_very_long_chain_drops_without_recursion() {
        let mut cancel = Cancel::new();
        for _ in 0..100_000 {
            cancel = cancel.child();
        }
        drop(cancel);
    }

    #[tokio::test]
    async fn waiting_ends_when_a_parent_is_cancelled() {
        let parent = Cancel::new();
        let child = parent.child();
        tokio::join!(child.cancelled(), async { parent.cancel(Cause::Disposed) });
    }
}
