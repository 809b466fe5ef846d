//! What was added is taken away again by dropping a value.

use std::fmt;

use crate::contain;

/// One thing that was added somewhere. Dropping it takes exactly that thing away again, once.
///
/// A panic of the undo is contained and reported as a warning, so that one owner's teardown can't stop another's
/// (spec 01 §3).
#[must_use = "dropping a registration undoes it at once"]
pub struct Registration(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Registration {
    /// A registration whose drop calls `undo`.
    pub fn new(undo: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(undo)))
    }

    /// Gives up the undo: what was added stays for as long as the place that it was added to.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(undo) = self.0.take()
            && let Err(panic) = contain(undo)
        {
            tracing::warn!(%panic, "a registration panicked while it was undone");
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Registration" } else { "Registration(undone)" })
    }
}

/// Several registrations with one owner. Dropping it undoes them in reverse order.
#[derive(Debug, Default)]
#[must_use = "dropping registrations undoes them at once"]
pub struct Registrations(Vec<Registration>);

impl Registrations {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one; it is undone before those that were added earlier.
    pub fn push(&mut self, registration: Registration) {
        self.0.push(registration);
    }

    /// Adds all of `other`, after those that are here.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives up every undo.
    pub fn keep(mut self) {
        for registration in self.0.drain(..) {
            registration.keep();
        }
    }
}

impl Drop for Registrations {
    fn drop(&mut self) {
        while let Some(registration) = self.0.pop() {
            drop(registration);
        }
    }
}

impl FromIterator<Registration> for Registrations {
    fn from_iter<I: IntoIterator<Item = Registration>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl Extend<Registration> for Registrations {
    fn extend<I: IntoIterator<Item = Registration>>(&mut self, iter: I) {
        self.0.extend(iter);
    }
}

impl From<Registration> for Registrations {
    fn from(registration: Registration) -> Self {
        Self(vec![registration])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::sync::Arc;

    type Log = Arc<Mutex<Vec<u32>>>;

    fn noting(log: &Log, number: u32) -> Registration {
        let log = Arc::clone(log);
        Registration::new(move || log.lock().push(number))
    }

    #[test]
    fn a_drop_undoes_once() {
        let log = Log::default();
        drop(noting(&log, 1));
        assert_eq!(*log.lock(), [1]);
    }

    #[test]
    fn a_kept_one_is_never_undone() {
        let log = Log::default();
        noting(&log, 1).keep();
        Registrations::from_iter([noting(&log, 2), noting(&log, 3)]).keep();
        assert!(log.lock().is_empty());
    }

    #[test]
    fn several_are_undone_in_reverse() {
        let log = Log::default();
        let mut all: Registrations = [1, 2].map(|n| noting(&log, n)).into_iter().collect();
        all.append(noting(&log, 3).into());
        drop(all);
        assert_eq!(*log.lock(), [3, 2, 1]);
    }

    #[test]
    fn a_panicking_undo_does_not_stop_the_others() {
        let log = Log::default();
        let all = Registrations::from_iter([
            noting(&log, 1),
            Registration::new(|| panic!("on purpose")),
            noting(&log, 2),
        ]);
        drop(all);
        assert_eq!(*log.lock(), [2, 1]);
    }
}
