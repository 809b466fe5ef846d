//! The memory and what follows from it.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use dsh_fs::{FsError, FsErrorCode, FsObservation, FsTarget, FsVersion, Intents, WriteIntent, one_line};
use lru::LruCache;
use parking_lot::Mutex;

use crate::ObservationConfig;

/// Guards changes by what the acting session saw (spec 07 §4). The table is in the crate's documentation.
#[derive(Debug)]
pub struct ObservationPolicy {
    sessions: Mutex<LruCache<Arc<str>, Seen>>,
    max_sessions: usize,
    max_targets: usize,
}

/// What one session saw, by key.
type Seen = LruCache<Arc<str>, FsObservation>;

impl ObservationPolicy {
    /// A policy that remembers nothing yet. It is for whoever mounts it to look at [`ObservationConfig::enabled`].
    pub fn new(config: &ObservationConfig) -> Self {
        Self {
            sessions: Mutex::new(LruCache::unbounded()),
            max_sessions: config.max_sessions.get(),
            max_targets: config.max_targets.get(),
        }
    }

    /// What the actor knows of a target; `None` for what it did not see, or saw too long ago.
    fn seen(&self, target: &FsTarget, actor: Option<&str>) -> Option<FsObservation> {
        self.sessions.lock().get_mut(actor?)?.peek(&target.key).cloned()
    }
}

impl Intents for ObservationPolicy {
    fn write_intent(&self, target: &FsTarget, actor: Option<&str>) -> Result<Option<WriteIntent>, FsError> {
        Ok(Some(match self.seen(target, actor) {
            None | Some(FsObservation::Absent) => WriteIntent::CreateIfAbsent,
            Some(FsObservation::Present { version }) => WriteIntent::ReplaceIfVersion(version),
        }))
    }

    fn edit_intent(&self, target: &FsTarget, actor: Option<&str>) -> Result<Option<FsVersion>, FsError> {
        let path = one_line(&target.display);
        match self.seen(target, actor) {
            None => Err(FsError::new(FsErrorCode::NotObserved, format!("{path} was not read before"))),
            Some(FsObservation::Absent) => {
                Err(FsError::new(FsErrorCode::NotFound, format!("{path} did not exist when it was read")))
            }
            Some(FsObservation::Present { version }) => Ok(Some(version)),
        }
    }

    fn observed(&self, target: &FsTarget, observation: FsObservation, actor: Option<&str>) {
        let Some(actor) = actor else { return };
        let mut sessions = self.sessions.lock();
        if !sessions.contains(actor) {
            sessions.push(actor.into(), LruCache::unbounded());
        }
        if let Some(seen) = sessions.get_mut(actor) {
            seen.push(Arc::clone(&target.key), observation);
            while seen.len() > self.max_targets {
                seen.pop_lru();
            }
        }
        while sessions.len() > self.max_sessions {
            sessions.pop_lru();
        }
    }
}
