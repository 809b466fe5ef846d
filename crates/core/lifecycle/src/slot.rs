//! A service that may be absent or change.

use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::Registration;

/// An optional, swappable service. Clones are the same slot.
///
/// Whoever may need the service holds the slot and asks [`get`](Self::get) at the moment of use; whoever provides it
/// fills the slot with [`provide`](Self::provide) and empties it by dropping the registration. A service taken out
/// before the slot was emptied stays usable to its holder.
pub struct Slot<T: ?Sized>(Arc<RwLock<Option<Arc<T>>>>);

/// A slot has one provider at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a provider is mounted already; unmount it first")]
pub struct AlreadyProvided;

impl<T: ?Sized + Send + Sync + 'static> Slot<T> {
    /// An empty slot.
    pub fn empty() -> Self {
        Self(Arc::new(RwLock::new(None)))
    }

    /// A slot that is filled for good.
    pub fn filled(service: Arc<T>) -> Self {
        Self(Arc::new(RwLock::new(Some(service))))
    }

    /// The service, if there is one now.
    pub fn get(&self) -> Option<Arc<T>> {
        self.0.read().clone()
    }

    /// Fills the slot until the registration is dropped. Refuses a second provider.
    pub fn provide(&self, service: Arc<T>) -> Result<Registration, AlreadyProvided> {
        let mut held = self.0.write();
        if held.is_some() {
            return Err(AlreadyProvided);
        }
        *held = Some(service);
        let slot = Arc::downgrade(&self.0);
        Ok(Registration::new(move || {
            let Some(slot) = slot.upgrade() else { return };
            let gone = slot.write().take();
            drop(gone); // outside the lock: the service's own drop may come back here
        }))
    }
}

impl<T: ?Sized> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized + Send + Sync + 'static> Default for Slot<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T: ?Sized> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.read().is_some() { "Slot(filled)" } else { "Slot(empty)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_filled_until_its_registration_is_dropped() {
        let slot: Slot<str> = Slot::empty();
        assert!(slot.get().is_none());
        let mounted = slot.provide(Arc::from("one")).unwrap();
        assert_eq!(slot.clone().get().as_deref(), Some("one"));
        assert_eq!(slot.provide(Arc::from("two")).unwrap_err(), AlreadyProvided);
        drop(mounted);
        assert!(slot.get().is_none());
        slot.provide(Arc::from("three")).unwrap().keep();
        assert_eq!(slot.get().as_deref(), Some("three"));
    }

    #[test]
    fn a_service_in_use_outlives_its_slot() {
        let slot: Slot<str> = Slot::empty();
        let mounted = slot.provide(Arc::from("one")).unwrap();
        let held = slot.get().unwrap();
        drop((mounted, slot));
        assert_eq!(&*held, "one");
    }
}
