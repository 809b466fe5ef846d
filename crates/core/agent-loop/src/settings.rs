//! The one setting that may change while the loop runs (spec 02 §C.8).

use std::num::NonZeroUsize;

use dsh_json::Json;
use dsh_lifecycle::Registration;
use dsh_llm::ShapeError;
use parking_lot::Mutex;
use serde::Deserialize;
use std::sync::Arc;

/// The cap on parallel calls: what is stored, or else what is configured. Clones are the same settings.
///
/// It is read when the calls of a step begin, so a change counts from the next step on.
#[derive(Debug, Clone)]
pub struct LoopSettings {
    configured: NonZeroUsize,
    stored: Arc<Mutex<Option<NonZeroUsize>>>,
}

/// Stored settings that are refused. What held before still holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored settings of `agent-loop` are refused: {0}")]
pub struct SettingsError(#[from] ShapeError);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Stored {
    #[serde(default)]
    max_parallel_tool_calls: Option<NonZeroUsize>,
}

impl LoopSettings {
    pub(crate) fn new(configured: NonZeroUsize) -> Self {
        Self { configured, stored: Arc::default() }
    }

    /// How many calls of one step may run at a time.
    pub fn max_parallel_tool_calls(&self) -> NonZeroUsize {
        self.stored.lock().unwrap_or(self.configured)
    }

    /// Takes over what a store of settings says: an object with `maxParallelToolCalls`, a positive integer, or without,
    /// and with nothing else.
    pub fn write(&self, stored: &Json) -> Result<(), SettingsError> {
        let stored: Stored = stored.read().map_err(ShapeError::from)?;
        *self.stored.lock() = stored.max_parallel_tool_calls;
        Ok(())
    }

    /// A store of settings is there as long as the registration: dropping it makes the configuration hold again.
    pub fn attach(&self) -> Registration {
        let stored = Arc::clone(&self.stored);
        Registration::new(move || *stored.lock() = None)
    }
}
