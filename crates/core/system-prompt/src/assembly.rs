//! The result of an assembly, and its two texts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dsh_llm::ToolSchema;

use crate::interpolate::{interpolate, is_variable_name};
use crate::{EntryKind, PromptError};

/// Variables by name; `None` is registered without a value.
pub type Variables = BTreeMap<Arc<str>, Option<Arc<str>>>;

/// What one request is headed with. It belongs to whoever asked for it: changing it changes no later assembly, and
/// everything big in it is shared.
#[derive(Debug, Clone, Default)]
pub struct Assembly {
    /// The sections of the prompt, in order, before interpolation.
    pub sections: Vec<AssembledText>,
    /// The runtime contexts, in order, before interpolation.
    pub contexts: Vec<AssembledText>,
    /// The tools, in order.
    pub tools: Arc<[ToolSchema]>,
    /// What the texts may refer to.
    pub variables: Variables,
}

/// A named text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssembledText {
    /// The name of the section or context.
    pub name: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
}

/// The runtime contexts as one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextSnapshot {
    /// The complete text with its lead line; empty when there is no context.
    pub text: String,
    /// The contexts that are in it, filled in, for whoever shows where a part comes from.
    pub sections: Vec<AssembledText>,
}

impl Assembly {
    /// The system prompt: the sections filled in, without empty ones, one blank line between them (spec 11 §A.5).
    ///
    /// Fails with [`PromptError::Interpolation`], which names the section.
    pub fn render_prompt(&self) -> Result<String, PromptError> {
        let filled = self.fill(EntryKind::Section, &self.sections)?;
        Ok(joined(&filled))
    }

    /// The runtime contexts in the same way, under a line which says that they replace what was said earlier.
    ///
    /// Fails with [`PromptError::Interpolation`], which names the context.
    pub fn render_contexts(&self) -> Result<ContextSnapshot, PromptError> {
        let sections = self.fill(EntryKind::Context, &self.contexts)?;
        if sections.is_empty() {
            return Ok(ContextSnapshot::default());
        }
        Ok(ContextSnapshot { text: format!("{CONTEXT_LEAD}\n\n{}", joined(&sections)), sections })
    }

    fn fill(&self, kind: EntryKind, texts: &[AssembledText]) -> Result<Vec<AssembledText>, PromptError> {
        let mut filled = Vec::with_capacity(texts.len());
        for AssembledText { name, text } in texts {
            let name = Arc::clone(name);
            match interpolate(text, &self.variables) {
                Ok(value) if value.is_empty() => {}
                Ok(value) => {
                    let text = if *value == **text { Arc::clone(text) } else { Arc::from(value) };
                    filled.push(AssembledText { name, text });
                }
                Err(problem) => return Err(PromptError::Interpolation { kind, name, problem }),
            }
        }
        Ok(filled)
    }

    /// What holds of every assembly, whatever the listeners did (spec 11 §A.9, item 12).
    pub(crate) fn check(&self) -> Result<(), PromptError> {
        check_names(EntryKind::Section, self.sections.iter().map(|section| &section.name))?;
        check_names(EntryKind::Context, self.contexts.iter().map(|context| &context.name))?;
        check_names(EntryKind::Tool, self.tools.iter().map(|tool| &tool.name))?;
        match self.variables.keys().find(|name| !is_variable_name(name)) {
            Some(name) => Err(PromptError::InvalidName { kind: EntryKind::Variable, name: Arc::clone(name) }),
            None => Ok(()),
        }
    }
}

fn check_names<'n>(kind: EntryKind, names: impl Iterator<Item = &'n Arc<str>>) -> Result<(), PromptError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() {
            return Err(PromptError::InvalidName { kind, name: Arc::clone(name) });
        }
        if !seen.insert(name) {
            return Err(PromptError::Repeated { kind, name: Arc::clone(name) });
        }
    }
    Ok(())
}

fn joined(texts: &[AssembledText]) -> String {
    texts.iter().map(|text| &*text.text).collect::<Vec<_>>().join("\n\n")
}

/// Heads every context snapshot.
const CONTEXT_LEAD: &str =
    "Current state of this session. It replaces every earlier message that begins with this line.";
