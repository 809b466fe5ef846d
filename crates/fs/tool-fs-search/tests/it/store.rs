//! A store of complete results that is played.
#![expect(clippy::panic, reason = "a store may panic, and so may the helpers of a test")]

use std::sync::{Arc, Mutex};

use dsh_lifecycle::{Cancel, Slot};
use dsh_spill::{SaveText, SpillError, SpillLocator, SpillRef, SpillStore};
use dsh_tools_core::async_trait;

/// What the store does when it is asked to save.
#[derive(Clone, Copy)]
pub(crate) enum Does {
    Keep,
    Fail,
    Hang,
    Panic,
}

/// Remembers what it was given, and where it was stopped.
pub(crate) struct FakeStore {
    does: Does,
    pub(crate) given: Mutex<Vec<SaveText>>,
    pub(crate) cancels: Mutex<Vec<Cancel>>,
}

impl FakeStore {
    pub(crate) fn new(does: Does) -> Arc<Self> {
        Arc::new(Self { does, given: Mutex::default(), cancels: Mutex::default() })
    }

    pub(crate) fn slot(self: &Arc<Self>) -> Slot<dyn SpillStore> {
        Slot::filled(Arc::clone(self) as _)
    }

    /// The only text that was given.
    pub(crate) fn text(&self) -> String {
        let given = self.given.lock().unwrap();
        let [only] = given.as_slice() else { panic!("{given:?}") };
        only.content.to_string()
    }

    pub(crate) fn is_unused(&self) -> bool {
        self.given.lock().unwrap().is_empty()
    }
}

#[async_trait]
impl SpillStore for FakeStore {
    async fn save_text(&self, request: SaveText, cancel: &Cancel) -> Result<SpillRef, SpillError> {
        let locator =
            SpillLocator::new(format!("/spill/{}/1-{}", request.owner.session_id, request.suggested_name));
        let bytes = request.content.len() as u64;
        self.given.lock().unwrap().push(request);
        self.cancels.lock().unwrap().push(cancel.clone());
        match self.does {
            Does::Keep => {
                Ok(SpillRef { locator, bytes, retrieval_hint: "Page through it with `read`.".into() })
            }
            Does::Fail => Err(SpillError::Failed { reason: "/secret/disk is full".to_owned() }),
            Does::Hang => std::future::pending().await,
            Does::Panic => panic!("on purpose"),
        }
    }
}
