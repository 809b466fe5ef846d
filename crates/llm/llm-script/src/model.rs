//! The model that plays a script.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsh_json::Json;
use dsh_lifecycle::Cancel;
use dsh_llm::{Chunk, Model, ModelRequest};
use futures_util::stream::BoxStream;

use crate::play::play;
use crate::{Script, ScriptError, Step};

/// Answers each request with the next step of a script, and with an empty message when there is none left.
///
/// A request takes its step when it is made, whether its stream is read to the end or not. One model serves all turns of
/// a session; a second one starts at the first step.
#[derive(Debug)]
pub struct ScriptedModel {
    name: Arc<str>,
    script: Script,
    next: AtomicUsize,
}

impl ScriptedModel {
    /// A model that plays this script from its beginning.
    pub fn new(script: Script) -> Self {
        Self { name: "inline".into(), script, next: AtomicUsize::new(0) }
    }

    /// The same for the text of a script's file; refused as [`Script::from_text`] refuses it.
    pub fn from_text(text: &str) -> Result<Self, ScriptError> {
        Script::from_text(text).map(Self::new)
    }

    /// The same for a script that is JSON already; refused as [`Script::from_json`] refuses it.
    pub fn from_json(json: &Json) -> Result<Self, ScriptError> {
        Script::from_json(json).map(Self::new)
    }

    /// The same model with this name, such as the stem of the script's file name; a model's name is not empty, so an
    /// empty one changes nothing.
    #[must_use]
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        if name.is_empty() { self } else { Self { name, ..self } }
    }
}

impl Model for ScriptedModel {
    fn provider(&self) -> &'static str {
        "script"
    }

    fn model(&self) -> &str {
        &self.name
    }

    fn stream(&self, _request: ModelRequest, cancel: Cancel) -> BoxStream<'static, Chunk> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let step = self.script.steps.get(at).cloned().unwrap_or_else(|| Step::text(""));
        play(step, cancel)
    }
}
