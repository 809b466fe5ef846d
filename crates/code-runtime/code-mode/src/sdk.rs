//! The declarations of what a scope sees, rendered once for each set of tools.

use std::sync::Arc;

use dsh_scope::Scope;
use dsh_tool_sdk::{Language, Limits, Sdk, SdkError, ToolDecl, render};
use dsh_tools_core::{Presentation, Tools, View};
use parking_lot::Mutex;

/// The prompt section `tools:sdk`: what the programs of a scope can call, as declarations (spec 06 §12).
///
/// Scopes that see the same tools share one text. It is rendered when it is first asked for, and kept until eight other
/// texts have been asked for.
pub struct SdkSection {
    tools: Tools,
    language: Language,
    limits: Limits,
    kept: Mutex<Vec<Rendered>>,
}

/// The text of one view.
struct Rendered {
    view: Arc<View>,
    text: Arc<str>,
}

/// How many texts are kept.
const KEPT: usize = 8;

impl SdkSection {
    /// The section over these tools, for programs of this language.
    pub fn new(tools: Tools, language: Language, limits: Limits) -> Self {
        Self { tools, language, limits, kept: Mutex::default() }
    }

    /// The text for a scope; empty where the tools are presented natively.
    ///
    /// While the scope sees the same tools, asking again gives the same allocation and takes two look-ups. After a change
    /// of the registry that leaves them as they were, their definitions are compared by address once.
    ///
    /// # Errors
    /// As [`render`]; nothing is kept then.
    pub fn text(&self, scope: Option<&Scope>) -> Result<Arc<str>, SdkError> {
        let view = self.tools.view(scope);
        match view.presentation() {
            Presentation::Native => return Ok(Arc::default()),
            Presentation::Code | Presentation::Both => {}
        }
        if let Some(text) = self.find(|held| Arc::ptr_eq(held, &view)) {
            return Ok(text);
        }
        let text = match self.find(|held| have_the_same_tools(held, &view)) {
            Some(text) => text,
            None => declarations(&view, self.language, &self.limits)?.section().into(),
        };
        self.keep(Rendered { view, text: Arc::clone(&text) });
        Ok(text)
    }

    fn find(&self, is_wanted: impl Fn(&Arc<View>) -> bool) -> Option<Arc<str>> {
        let kept = self.kept.lock();
        kept.iter().find(|rendered| is_wanted(&rendered.view)).map(|rendered| Arc::clone(&rendered.text))
    }

    /// Keeps a text, in place of one whose view is out of date, or else of the oldest.
    fn keep(&self, rendered: Rendered) {
        let mut kept = self.kept.lock();
        let version = rendered.view.version();
        let is_out_of_date =
            |old: &Rendered| Arc::ptr_eq(&old.text, &rendered.text) && old.view.version() < version;
        let place = kept.iter().position(is_out_of_date).or((kept.len() == KEPT).then_some(0));
        let gone = place.map(|place| kept.remove(place));
        kept.push(rendered);
        drop(kept);
        // Outside of the lock: the drop of a view may drop tools.
        drop(gone);
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

fn have_the_same_tools(one: &View, other: &View) -> bool {
    one.tools().len() == other.tools().len()
        && one.tools().zip(other.tools()).all(|(one, other)| Arc::ptr_eq(one, other))
}
