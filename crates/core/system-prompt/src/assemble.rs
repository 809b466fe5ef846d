//! One assembly: what the scope sees, evaluated, ordered, and shown to the listeners.

use std::collections::BTreeMap;
use std::sync::Arc;

use dsh_llm::ToolSchema;
use dsh_scope::{Layers, ScopeId};

use crate::listener::contain;
use crate::registry::{Named, State};
use crate::tool_order::arrange;
use crate::{
    AssembleContext, AssembleListener, AssembledText, Assembly, Context, EntryKind, Next, PromptError,
    Section, Text, ToolOrder, ToolsProvider, Variables,
};

/// Everything that one assembly needs, fixed before the first provider is asked: whoever registers during the
/// evaluation joins the next assembly.
pub(crate) struct Plan {
    sections: Vec<Section>,
    contexts: Vec<Context>,
    tools: Vec<Arc<dyn ToolsProvider>>,
    listeners: Vec<Arc<dyn AssembleListener>>,
    tool_order: Option<Arc<ToolOrder>>,
    suppressed: bool,
}

impl Plan {
    pub(crate) fn new(state: &State, chain: &[ScopeId]) -> Self {
        let suppressed = state.suppressors.along(chain).next().is_some();
        Self {
            sections: visible(&state.sections, chain, |section| section.order),
            contexts: if suppressed {
                vec![]
            } else {
                visible(&state.contexts, chain, |context| context.order)
            },
            tools: state.tools.along(chain).map(|(_, provider)| Arc::clone(provider)).collect(),
            listeners: state.listeners.in_order(chain).into_iter().cloned().collect(),
            tool_order: state.tool_order.clone(),
            suppressed,
        }
    }

    /// Asks the providers and the listeners. The order of the steps is the one of spec 11 §A.3.
    pub(crate) fn carry_out(
        self,
        cx: &AssembleContext,
        variables: Variables,
    ) -> Result<Assembly, PromptError> {
        let complete = self.complete_section()?;
        let sections = evaluate(EntryKind::Section, self.sections.iter().map(|s| (&s.name, &s.text)), cx)?;
        let contexts = evaluate(EntryKind::Context, self.contexts.iter().map(|c| (&c.name, &c.text)), cx)?;
        let tools = offered(&self.tools, self.tool_order.as_deref(), cx)?;
        let kept = complete.and_then(|name| sections.iter().find(|section| section.name == name).cloned());

        let draft = Assembly { sections, contexts, tools, variables };
        let mut assembly = Next::new(cx, &self.listeners).run(draft)?;
        if let Some(section) = kept {
            assembly.sections = vec![section];
        }
        if self.suppressed {
            assembly.contexts.clear();
        }
        assembly.check()?;
        Ok(assembly)
    }

    fn complete_section(&self) -> Result<Option<Arc<str>>, PromptError> {
        let mut names: Vec<_> = self
            .sections
            .iter()
            .filter(|section| section.complete)
            .map(|section| Arc::clone(&section.name))
            .collect();
        if names.len() > 1 {
            names.sort_unstable();
            return Err(PromptError::SeveralComplete { names });
        }
        Ok(names.pop())
    }
}

/// The rows that count: of each name the nearest, by order and then by name.
fn visible<T: Named + Clone>(layers: &Layers<T>, chain: &[ScopeId], order: impl Fn(&T) -> i32) -> Vec<T> {
    let nearest: BTreeMap<_, _> = layers.along(chain).map(|(_, row)| (row.name(), row)).collect();
    let mut rows: Vec<_> = nearest.into_values().cloned().collect();
    rows.sort_by_key(order);
    rows
}

fn evaluate<'r>(
    kind: EntryKind,
    rows: impl Iterator<Item = (&'r Arc<str>, &'r Text)>,
    cx: &AssembleContext,
) -> Result<Vec<AssembledText>, PromptError> {
    rows.map(|(name, text)| {
        let text = contain(kind, name, || text.evaluate(cx))?;
        Ok(AssembledText { name: Arc::clone(name), text })
    })
    .collect()
}

fn offered(
    providers: &[Arc<dyn ToolsProvider>],
    order: Option<&ToolOrder>,
    cx: &AssembleContext,
) -> Result<Arc<[ToolSchema]>, PromptError> {
    let offers = providers.iter().zip(1..).map(|(provider, number): (_, usize)| {
        contain(EntryKind::ToolsProvider, &number.to_string(), || provider.tools(cx))
    });
    arrange(offers.collect::<Result<_, _>>()?, order)
}
