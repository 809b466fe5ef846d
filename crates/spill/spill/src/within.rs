//! How whoever saves or reads waits for a store: for so long and no longer, and as long as it is wanted.
//!
//! ```text
//! the operation, under a cancellation of its own ─→ its answer
//!     ├ the caller's cancellation ─→ Aborted
//!     ├ the time is up ───────────→ cancelled with `Deadline`, Late
//!     └ a panic ──────────────────→ Failed
//! ```

use std::time::Duration;

use dsh_lifecycle::{Cancel, Cause, contain_async};

use crate::{Pending, SaveText, SpillError, SpillReadError, SpillRef, SpillStore};

/// [`SpillStore::save_text`], for at most `deadline` (spec 08 §6.6).
///
/// The store's future is dropped at the cancellation and at the deadline, and what the store has begun elsewhere is told
/// by a cancellation of its own, whose cause is [`Deadline`](Cause::Deadline) when it is late. Dropping this future drops
/// the store's.
///
/// # Errors
/// Those of the store. [`Aborted`](SpillError::Aborted) at the cancellation, also when the store does not listen;
/// [`Late`](SpillError::Late) after `deadline`; [`Failed`](SpillError::Failed) when the store panics. An answer that is
/// there in the same moment as the deadline counts.
pub async fn save_within(
    store: &dyn SpillStore,
    request: SaveText,
    cancel: &Cancel,
    deadline: Duration,
) -> Result<SpillRef, SpillError> {
    let cancel = cancel.child();
    within(&cancel, deadline, async { store.save_text(request, &cancel).await }).await
}

/// [`SpillStore::begin`], for at most `deadline`. All else as for [`save_within`].
pub async fn begin_within(
    store: &dyn SpillStore,
    request: SaveText,
    cancel: &Cancel,
    deadline: Duration,
) -> Result<Box<dyn Pending>, SpillError> {
    let cancel = cancel.child();
    within(&cancel, deadline, async { store.begin(request, &cancel).await }).await
}

/// [`Pending::commit`], for at most `deadline`. All else as for [`save_within`].
pub async fn commit_within(
    pending: Box<dyn Pending>,
    cancel: &Cancel,
    deadline: Duration,
) -> Result<SpillRef, SpillError> {
    let cancel = cancel.child();
    within(&cancel, deadline, async { pending.commit(&cancel).await }).await
}

/// The failures that are of the waiting, not of the store.
pub(crate) trait OfWaiting {
    fn aborted() -> Self;
    fn late(after: Duration) -> Self;
    fn failed(reason: String) -> Self;
}

impl OfWaiting for SpillError {
    fn aborted() -> Self {
        Self::Aborted
    }

    fn late(after: Duration) -> Self {
        Self::Late { after }
    }

    fn failed(reason: String) -> Self {
        Self::Failed { reason }
    }
}

impl OfWaiting for SpillReadError {
    fn aborted() -> Self {
        Self::Aborted
    }

    fn late(after: Duration) -> Self {
        Self::Late { after }
    }

    fn failed(reason: String) -> Self {
        Self::Failed { reason }
    }
}

/// `work` listens to `cancel`, which is nobody else's.
pub(crate) async fn within<T, E: OfWaiting>(
    cancel: &Cancel,
    deadline: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    // The race is in the guarded part, because the work may also panic when it is dropped.
    let raced = contain_async(async {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(E::aborted()),
            ended = work => ended,
            () = tokio::time::sleep(deadline) => {
                cancel.cancel(Cause::Deadline);
                Err(E::late(deadline))
            }
        }
    });
    raced.await.unwrap_or_else(|panic| Err(E::failed(format!("the store panicked: {panic}"))))
}
