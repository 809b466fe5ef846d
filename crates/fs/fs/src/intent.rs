//! What must be true for a change to happen: decided by whoever remembers what was seen.

use dsh_lifecycle::{Slot, contain};

use crate::{FsError, FsObservation, FsTarget, FsVersion, WriteIntent};

/// The port through which tools ask how a change is guarded, and tell what they saw (spec 07 §2.4).
///
/// Tools hold a slot of it. There is one provider at most, so its decision is the first and the last; without one,
/// changes are unconditional.
///
/// `actor` is the identity of who acts, such as the id of its session; opaque, and `None` for a call that belongs to
/// nobody. All of it is cheap and never blocks.
pub trait Intents: Send + Sync {
    /// The guard of a whole-file write; `None` writes unconditionally. An error refuses the write before anything is
    /// touched.
    fn write_intent(&self, target: &FsTarget, actor: Option<&str>) -> Result<Option<WriteIntent>, FsError>;

    /// The version that a file must still have to be edited; `None` edits unconditionally. An error refuses the edit
    /// before anything is touched.
    fn edit_intent(&self, target: &FsTarget, actor: Option<&str>) -> Result<Option<FsVersion>, FsError>;

    /// Takes note of what an actor knows of a target now: it read or wrote this version, or found nothing.
    fn observed(&self, target: &FsTarget, observation: FsObservation, actor: Option<&str>);
}

/// Tells the provider, if there is one, what was seen.
///
/// By then a change is on the disk, so a provider that panics is reported as a warning and changes nothing for the
/// caller (spec 07 §10.15).
pub fn tell(slot: &Slot<dyn Intents>, target: &FsTarget, observation: FsObservation, actor: Option<&str>) {
    let Some(intents) = slot.get() else { return };
    if let Err(panic) = contain(|| intents.observed(target, observation, actor)) {
        tracing::warn!(%panic, path = &*target.display, "what was seen of a file could not be noted");
    }
}
