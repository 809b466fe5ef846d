//! The registry: layered entries, and registrations that take themselves back.

use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::Arc;

use dsh_lifecycle::Registration;
use dsh_scope::{Layers, Scope, ScopeId};
use parking_lot::Mutex;

use crate::assemble::Plan;
use crate::entry::Variable;
use crate::interpolate::is_variable_name;
use crate::listener::contain;
use crate::{
    AssembleContext, AssembleListener, Assembly, Context, EntryKind, PromptError, Section, ToolOrder,
    ToolsProvider, Variables,
};

/// The registry of everything that heads a request. Clones are the same registry; `default()` is an empty one.
///
/// Each method that adds something takes the layer: `None` for everybody, or the scope that it is for, with the scopes
/// below it. Dropping the returned [`Registration`] takes exactly that entry away again. A refusal changes nothing.
/// Providers may use the registry while they are asked; what they add counts from the next assembly on, except
/// variables.
#[derive(Clone, Default)]
pub struct SystemPrompt {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) sections: Layers<Section>,
    pub(crate) contexts: Layers<Context>,
    pub(crate) variables: Layers<Variable>,
    pub(crate) tools: Layers<Arc<dyn ToolsProvider>>,
    pub(crate) suppressors: Layers<()>,
    pub(crate) listeners: Layers<Arc<dyn AssembleListener>>,
    pub(crate) tool_order: Option<Arc<ToolOrder>>,
    version: u64,
}

impl SystemPrompt {
    /// How many entries there are, of all kinds and for all scopes.
    pub fn rows(&self) -> usize {
        let state = self.state.lock();
        let State { sections, contexts, variables, tools, suppressors, listeners, tool_order, version: _ } =
            &*state;
        let texts = sections.len() + contexts.len() + variables.len() + usize::from(tool_order.is_some());
        texts + tools.len() + suppressors.len() + listeners.len()
    }

    /// Adds a section. Refused with [`PromptError::InvalidName`] when its name is empty, and with
    /// [`PromptError::DuplicateForAll`] or [`PromptError::DuplicateInScope`] when its layer has that name.
    pub fn section(&self, scope: Option<&Scope>, section: Section) -> Result<Registration, PromptError> {
        self.add_named(scope, |state| &mut state.sections, section)
    }

    /// Adds a runtime context; refused as a section is.
    pub fn context(&self, scope: Option<&Scope>, context: Context) -> Result<Registration, PromptError> {
        self.add_named(scope, |state| &mut state.contexts, context)
    }

    /// Adds a variable that texts can refer to as `{{name}}`. The value is asked once per assembly, unless a nearer
    /// layer has that name; `None` means that there is none, and a text that refers to it is refused.
    ///
    /// Refused with [`PromptError::InvalidName`] unless the name is a lower-case letter followed by lower-case letters,
    /// digits and underscores; and as a section is.
    pub fn variable(
        &self,
        scope: Option<&Scope>,
        name: &str,
        value: impl Fn(&AssembleContext) -> Option<Arc<str>> + Send + Sync + 'static,
    ) -> Result<Registration, PromptError> {
        self.add_named(
            scope,
            |state| &mut state.variables,
            Variable { name: name.into(), value: Arc::new(value) },
        )
    }

    /// Adds a provider of tools. All that a scope sees are asked, everybody's first, then from the farthest ancestor on.
    pub fn tools(&self, scope: Option<&Scope>, provider: Arc<dyn ToolsProvider>) -> Registration {
        self.add(scope, |state| &mut state.tools, provider)
    }

    /// Keeps every runtime context away, also those that a listener adds, for as long as one suppressor is registered.
    /// Context providers are not asked meanwhile.
    pub fn suppress_contexts(&self, scope: Option<&Scope>) -> Registration {
        self.add(scope, |state| &mut state.suppressors, ())
    }

    /// Adds a listener. The one that was registered first, in whatever layer, is the outermost.
    pub fn on_assemble(&self, scope: Option<&Scope>, listener: Arc<dyn AssembleListener>) -> Registration {
        self.add(scope, |state| &mut state.listeners, listener)
    }

    /// Grows with every entry that is added or taken away, so that it tells whether anything changed.
    pub fn version(&self) -> u64 {
        self.state.lock().version
    }

    /// Makes the head of a request as this context sees it.
    ///
    /// The first failure of a provider or listener, or its panic, fails the whole assembly and names the entry.
    pub fn assemble(&self, cx: &AssembleContext) -> Result<Assembly, PromptError> {
        let chain = cx.effective_scope().map(Scope::chain).unwrap_or_default();
        let plan = Plan::new(&self.state.lock(), &chain);
        plan.carry_out(cx, self.variables(cx, &chain)?)
    }

    /// Nearest layer first, so that a shadowed provider is never asked. A provider may add variables to its own layer,
    /// which then count already: the lock is released between two rows.
    fn variables(&self, cx: &AssembleContext, chain: &[ScopeId]) -> Result<Variables, PromptError> {
        let mut found = Variables::new();
        for layer in chain.iter().copied().map(Some).chain([None]) {
            let mut at = None;
            loop {
                // A statement of its own, because a `while let` would hold the lock while the provider runs.
                let row = self.state.lock().variables.after(layer, at);
                let Some((cursor, Variable { name, value })) = row else { break };
                at = Some(cursor);
                if let Entry::Vacant(free) = found.entry(name) {
                    let value = contain(EntryKind::Variable, free.key(), || Ok(value(cx)))?;
                    free.insert(value);
                }
            }
        }
        Ok(found)
    }

    /// Sets the tool order; there is one at most.
    pub(crate) fn set_tool_order(&self, order: ToolOrder) -> Result<Registration, PromptError> {
        let mut state = self.state.lock();
        if state.tool_order.is_some() {
            return Err(PromptError::AlreadyConfigured);
        }
        state.tool_order = Some(Arc::new(order));
        state.version += 1;
        Ok(self.undo(|state| state.tool_order.take()))
    }

    fn add_named<T: Named + Send + Sync + 'static>(
        &self,
        scope: Option<&Scope>,
        layers: fn(&mut State) -> &mut Layers<T>,
        row: T,
    ) -> Result<Registration, PromptError> {
        let (kind, name) = (T::KIND, Arc::clone(row.name()));
        if !T::allows(&name) {
            return Err(PromptError::InvalidName { kind, name });
        }
        let layer = scope.map(Scope::id);
        let mut state = self.state.lock();
        if layers(&mut state).layer(layer).any(|other| *other.name() == name) {
            return Err(match scope {
                None => PromptError::DuplicateForAll { kind, name },
                Some(_) => PromptError::DuplicateInScope { kind, name },
            });
        }
        Ok(self.insert(&mut state, layer, layers, row))
    }

    fn add<T: Send + Sync + 'static>(
        &self,
        scope: Option<&Scope>,
        layers: fn(&mut State) -> &mut Layers<T>,
        row: T,
    ) -> Registration {
        self.insert(&mut self.state.lock(), scope.map(Scope::id), layers, row)
    }

    fn insert<T: Send + Sync + 'static>(
        &self,
        state: &mut State,
        layer: Option<ScopeId>,
        layers: fn(&mut State) -> &mut Layers<T>,
        row: T,
    ) -> Registration {
        let id = layers(state).insert(layer, row);
        state.version += 1;
        self.undo(move |state| layers(state).remove(layer, id))
    }

    /// A registration that takes something out of the registry, if there still is one.
    fn undo<T>(&self, take: impl FnOnce(&mut State) -> Option<T> + Send + Sync + 'static) -> Registration {
        let state = Arc::downgrade(&self.state);
        Registration::new(move || {
            let Some(state) = state.upgrade() else { return };
            let taken = {
                let mut state = state.lock();
                state.version += 1;
                take(&mut state)
            };
            // What was registered may use the registry while it is dropped, so the lock is free by now.
            drop(taken);
        })
    }
}

impl fmt::Debug for SystemPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemPrompt").field("version", &self.version()).finish_non_exhaustive()
    }
}

/// A row with a name that is unique in its layer.
pub(crate) trait Named {
    const KIND: EntryKind;

    fn name(&self) -> &Arc<str>;

    fn allows(name: &str) -> bool {
        !name.is_empty()
    }
}

impl Named for Section {
    const KIND: EntryKind = EntryKind::Section;

    fn name(&self) -> &Arc<str> {
        &self.name
    }
}

impl Named for Context {
    const KIND: EntryKind = EntryKind::Context;

    fn name(&self) -> &Arc<str> {
        &self.name
    }
}

impl Named for Variable {
    const KIND: EntryKind = EntryKind::Variable;

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn allows(name: &str) -> bool {
        is_variable_name(name)
    }
}
