//! Listeners of the assembly: an onion around the draft.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::{AssembleContext, Assembly, EntryKind, PromptError, ProviderError};

/// May change an assembly before it is used. What it returns is what counts, so it may also answer without the rest.
///
/// Two things are beyond its reach (spec 11 §A.3): a complete section stays the only one, with its own text, and
/// suppressed contexts stay away.
pub trait AssembleListener: Send + Sync {
    /// How errors name it.
    fn name(&self) -> &str;

    /// Receives the draft. `next.run(draft)` hands it to the listeners that were registered later.
    ///
    /// An error or a panic fails the assembly, under this listener's name.
    fn assemble(
        &self,
        cx: &AssembleContext,
        draft: Assembly,
        next: Next<'_>,
    ) -> Result<Assembly, ProviderError>;
}

/// The listeners that come after the one that holds it.
pub struct Next<'a> {
    cx: &'a AssembleContext,
    rest: &'a [Arc<dyn AssembleListener>],
}

impl<'a> Next<'a> {
    pub(crate) fn new(cx: &'a AssembleContext, rest: &'a [Arc<dyn AssembleListener>]) -> Self {
        Self { cx, rest }
    }

    /// Runs them. Without any, the draft is the answer.
    pub fn run(self, draft: Assembly) -> Result<Assembly, PromptError> {
        let Some((first, rest)) = self.rest.split_first() else { return Ok(draft) };
        let next = Next::new(self.cx, rest);
        contain(EntryKind::Listener, first.name(), || first.assemble(self.cx, draft, next))
    }
}

/// Calls a provider, so that its error and its panic carry the entry's name.
pub(crate) fn contain<T>(
    kind: EntryKind,
    name: &str,
    provider: impl FnOnce() -> Result<T, ProviderError>,
) -> Result<T, PromptError> {
    match catch_unwind(AssertUnwindSafe(provider)) {
        Ok(Ok(value)) => Ok(value),
        // An error that has its name already comes from a listener further in.
        Ok(Err(reason)) => Err(match reason.downcast::<PromptError>() {
            Ok(named) => *named,
            Err(reason) => PromptError::Failed { kind, name: name.into(), reason },
        }),
        Err(payload) => {
            let text = payload.downcast_ref::<&str>().copied();
            let message = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let message = message.unwrap_or("no message").to_owned();
            Err(PromptError::Panicked { kind, name: name.into(), message })
        }
    }
}
