//! What the log holds of choices. Models see none of it.

use std::sync::Arc;

use dsh_llm::ShapeError;
use dsh_session::{Payload, Vocabulary, VocabularyError};
use serde::{Deserialize, Serialize};

/// The event `permission/preset`: somebody chose this preset. What holds is what the events of the two knobs say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PresetChosen {
    /// Its name; never empty. A later configuration may not know it.
    pub preset: Arc<str>,
}

impl Payload for PresetChosen {
    const TYPE: &'static str = "permission/preset";

    fn check(&self) -> Result<(), ShapeError> {
        if self.preset.is_empty() {
            return Err(ShapeError::new("a choice names no preset"));
        }
        Ok(())
    }
}

/// A vocabulary that also has this event. The events of the knobs are declared where the knobs are.
pub fn declare(vocabulary: Vocabulary) -> Result<Vocabulary, VocabularyError> {
    vocabulary.with::<PresetChosen>()
}
