//! What can be registered, and for whom an assembly is made.

use std::fmt;
use std::sync::Arc;

use dsh_agent::Agent;
use dsh_llm::ToolSchema;
use dsh_scope::Scope;

use crate::ProviderError;

/// For whom an assembly is made. Providers get it, and must do with whatever is absent.
#[derive(Debug, Clone, Default)]
pub struct AssembleContext {
    /// Whose layers count; only everybody's when absent and there is no agent.
    pub scope: Option<Scope>,
    /// The agent that the request is for.
    pub agent: Option<Agent>,
}

impl AssembleContext {
    /// The context of one agent, in the agent's scope.
    pub fn of(agent: &Agent) -> Self {
        Self { scope: Some(agent.scope().clone()), agent: Some(agent.clone()) }
    }

    /// The scope that counts: the one that is named, else the agent's.
    pub fn effective_scope(&self) -> Option<&Scope> {
        self.scope.as_ref().or_else(|| self.agent.as_ref().map(Agent::scope))
    }
}

/// A text that is fixed, or made for each assembly.
#[derive(Clone)]
pub enum Text {
    /// The same for every assembly.
    Static(Arc<str>),
    /// Asked once per assembly, unless its entry is shadowed or suppressed. A failure or a panic fails the assembly.
    Provided(Arc<TextFn>),
}

/// Makes one text. Shared text costs nothing, so a provider may cache it.
type TextFn = dyn Fn(&AssembleContext) -> Result<Arc<str>, ProviderError> + Send + Sync;

impl Text {
    /// A text from a function that can't fail.
    pub fn from_fn<T: Into<Arc<str>>>(
        provider: impl Fn(&AssembleContext) -> T + Send + Sync + 'static,
    ) -> Self {
        Self::Provided(Arc::new(move |cx| Ok(provider(cx).into())))
    }

    /// A text from a function that can fail; the error is named after the entry and fails the assembly.
    pub fn try_from_fn<T: Into<Arc<str>>, E: Into<ProviderError>>(
        provider: impl Fn(&AssembleContext) -> Result<T, E> + Send + Sync + 'static,
    ) -> Self {
        Self::Provided(Arc::new(move |cx| provider(cx).map(Into::into).map_err(Into::into)))
    }

    pub(crate) fn evaluate(&self, cx: &AssembleContext) -> Result<Arc<str>, ProviderError> {
        match self {
            Self::Static(text) => Ok(Arc::clone(text)),
            Self::Provided(provider) => provider(cx),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Static(text.into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Static(text.into())
    }
}

impl From<Arc<str>> for Text {
    fn from(text: Arc<str>) -> Self {
        Self::Static(text)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static(text) => f.debug_tuple("Static").field(text).finish(),
            Self::Provided(_) => f.write_str("Provided"),
        }
    }
}

/// A part of the prompt.
#[derive(Debug, Clone)]
pub struct Section {
    /// Unique in its layer; in a nearer layer the same name replaces this section.
    pub name: Arc<str>,
    /// Its place, ascending; equal places go by name. Spec 11 §A.7 says who sits where.
    pub order: i32,
    /// The text, with `{{variable}}` groups. An empty text leaves no trace.
    pub text: Text,
    /// Whether this section is the whole prompt: all others are left out (spec 11 §A.3).
    pub complete: bool,
}

impl Section {
    /// An ordinary section.
    pub fn new(name: impl Into<Arc<str>>, order: i32, text: impl Into<Text>) -> Self {
        Self { name: name.into(), order, text: text.into(), complete: false }
    }

    /// The same section as the whole prompt.
    #[must_use]
    pub fn complete(self) -> Self {
        Self { complete: true, ..self }
    }
}

/// A part of the runtime context: what may change while a session runs, and therefore stays out of the prompt.
#[derive(Debug, Clone)]
pub struct Context {
    /// Unique in its layer; in a nearer layer the same name replaces this context.
    pub name: Arc<str>,
    /// Its place, ascending; equal places go by name.
    pub order: i32,
    /// The text, with `{{variable}}` groups. An empty text leaves no trace.
    pub text: Text,
}

impl Context {
    /// A context.
    pub fn new(name: impl Into<Arc<str>>, order: i32, text: impl Into<Text>) -> Self {
        Self { name: name.into(), order, text: text.into() }
    }
}

/// Says which tools a request offers.
pub trait ToolsProvider: Send + Sync {
    /// The tools for this context. Called once per assembly; an error or a panic fails the assembly.
    fn tools(&self, cx: &AssembleContext) -> Result<OfferedTools, ProviderError>;
}

impl<F> ToolsProvider for F
where
    F: Fn(&AssembleContext) -> Result<OfferedTools, ProviderError> + Send + Sync,
{
    fn tools(&self, cx: &AssembleContext) -> Result<OfferedTools, ProviderError> {
        self(cx)
    }
}

/// What a [`ToolsProvider`] offers.
#[derive(Debug, Clone, Default)]
pub struct OfferedTools {
    /// The tools, in any order. They are shared, not copied: a provider hands out the same list while nothing changes.
    pub schemas: Arc<[ToolSchema]>,
    /// Every name that a configured tool order may mention, also of tools that are hidden here. Absent: the names of
    /// `schemas`.
    pub known_names: Option<Arc<[Arc<str>]>>,
}

/// Makes the value of one variable; `None` means registered, but without a value here.
pub(crate) type VariableFn = dyn Fn(&AssembleContext) -> Option<Arc<str>> + Send + Sync;

#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: Arc<str>,
    pub(crate) value: Arc<VariableFn>,
}
