//! The declarations of what a scope sees, rendered once for each view.

use std::sync::Arc;

use dsh_tool_sdk::{Language, Limits, Sdk, SdkError, ToolDecl, render};
use dsh_tools_core::View;
use parking_lot::Mutex;

/// The sections of the views that were rendered last. Scopes that share a view share its text.
#[derive(Default)]
pub(crate) struct Sections(Mutex<Vec<(Arc<View>, Arc<str>)>>);

/// How many views' sections are kept.
const KEPT: usize = 8;

impl Sections {
    /// The section for a view: the same tools give the same text (spec 06 §12).
    pub(crate) fn of(
        &self,
        view: &Arc<View>,
        language: Language,
        limits: &Limits,
    ) -> Result<Arc<str>, SdkError> {
        let found =
            self.0.lock().iter().find(|(held, _)| Arc::ptr_eq(held, view)).map(|(_, text)| Arc::clone(text));
        if let Some(text) = found {
            return Ok(text);
        }
        let text: Arc<str> = declarations(view, language, limits)?.section().into();
        let mut kept = self.0.lock();
        let gone = if kept.len() == KEPT { Some(kept.remove(0)) } else { None };
        kept.push((Arc::clone(view), Arc::clone(&text)));
        drop(kept);
        // Outside of the lock: the drop of a view may drop tools.
        drop(gone);
        Ok(text)
    }
}

/// What programs can call in a view, as declarations; exactly the names that a run binds.
///
/// # Errors
/// As [`render`].
pub fn declarations(view: &View, language: Language, limits: &Limits) -> Result<Sdk, SdkError> {
    let tools: Vec<ToolDecl> = view
        .callable(true)
        .map(|tool| ToolDecl {
            name: Arc::clone(tool.name()),
            description: Arc::clone(tool.description()),
            parameters: Some(tool.parameters().clone()),
            output: Some(tool.output().clone()),
        })
        .collect();
    render(language, &tools, limits)
}
