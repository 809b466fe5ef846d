//! A tool as the registry holds it.

use std::sync::Arc;
use std::time::Duration;

use dsh_json::Json;
use dsh_json_schema::{LowerError, Schema};
use dsh_lifecycle::contain;
use dsh_llm::Content;
use futures_util::future::BoxFuture;

use crate::typed::Typed;
use crate::{CallView, Execution, ResultView, RunContext, StoredResult, Tool, ToolError, ToolResult};

/// A tool without static types: what a bridge to foreign tools implements. Authors of tools in Rust implement
/// [`Tool`] and get this from it.
///
/// Everything but [`execute`](Self::execute) is a pure and quick function of what it is given, may be called at any
/// time and also for stored calls of an older version, and may panic without harm.
pub trait AnyTool: Send + Sync {
    /// Does the work and returns the value, never text for the model. It checks its own arguments.
    ///
    /// It stops when [`RunContext::cancel`] is cancelled; work outside this process is its own to end.
    fn execute<'a>(
        &'a self,
        arguments: &'a Json,
        cx: &'a RunContext,
    ) -> BoxFuture<'a, Result<Json, ToolError>>;

    /// What the model reads of a value that fits the output schema.
    fn render(&self, arguments: &Json, value: &Json) -> Result<Content, ToolError>;

    /// What a person's screen is drawn from, for calls that a model made directly.
    fn meta(&self, _arguments: &Json, _value: &Json) -> Result<Option<Json>, ToolError> {
        Ok(None)
    }

    /// Both at once, for tools whose two projections share work. `top_level`: whether meta is asked for.
    fn project(&self, arguments: &Json, value: &Json, top_level: bool) -> Result<Projection, ToolError> {
        let content = projector("render", || self.render(arguments, value))?;
        let meta = if top_level { projector("meta", || self.meta(arguments, value))? } else { None };
        Ok(Projection { content, meta })
    }

    /// Whether a call with these arguments may overlap with others. When in doubt, not.
    fn parallel(&self, _arguments: &Json) -> bool {
        false
    }

    /// What a person has to allow before the body may run with these arguments: the reason that is put to them. An
    /// `Err` refuses the call, and nobody is asked. A body that was entered was allowed what is asked for here.
    ///
    /// A call asks it once, after the `pre-execute` listeners and before the guards; the arguments are those of the model,
    /// not checked yet.
    fn needs_approval(&self, _execution: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        Ok(None)
    }

    /// The last word on what the model reads; `None` keeps it. It is asked once for each call, failed ones included.
    fn finalize_content(&self, _arguments: &Json, _result: &ToolResult) -> Option<Content> {
        None
    }

    /// How a call is shown before it has a result; `None` for the plain card.
    fn present_call(&self, _arguments: &Json) -> Option<CallView> {
        None
    }

    /// How a result is shown; `None` for the plain card.
    fn present_result(&self, _arguments: &Json, _result: &StoredResult<'_>) -> Option<ResultView> {
        None
    }
}

/// What is made of a value for its readers.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// For the model.
    pub content: Content,
    /// For a person's screen.
    pub meta: Option<Json>,
}

/// A tool, ready to be registered. It never changes; a call keeps the one that it began with.
#[derive(Clone)]
pub struct Definition {
    pub(crate) name: Arc<str>,
    pub(crate) description: Arc<str>,
    pub(crate) parameters: Schema,
    pub(crate) output: Schema,
    pub(crate) timeout: Option<Duration>,
    pub(crate) polls: bool,
    pub(crate) pages: bool,
    pub(crate) tool: Arc<dyn AnyTool>,
}

/// Why a tool can't be defined. For its author.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// A typed tool's arguments can't be expressed as a supported schema.
    #[error("tool `{tool}`: the type of its arguments has no schema: {source}")]
    Parameters {
        /// The tool.
        tool: Arc<str>,
        /// Where and why.
        source: LowerError,
    },
    /// A typed tool's output can't be expressed as a supported schema.
    #[error("tool `{tool}`: the type of its output has no schema: {source}")]
    Output {
        /// The tool.
        tool: Arc<str>,
        /// Where and why.
        source: LowerError,
    },
    /// A name that no provider takes.
    #[error("tool `{tool}`: a name has 1 to 64 letters, digits, `_` and `-`")]
    Name {
        /// The tool.
        tool: Arc<str>,
    },
    /// Parameters that are no object.
    #[error("tool `{tool}`: its parameters must be a schema of `type: object`")]
    NotAnObject {
        /// The tool.
        tool: Arc<str>,
    },
    /// A time limit of nothing can't be met.
    #[error("tool `{tool}`: its time limit must be longer than zero")]
    ZeroTimeout {
        /// The tool.
        tool: Arc<str>,
    },
}

impl Definition {
    /// A tool from its Rust types: schemas, checks and rendering come from them (spec 04 §4).
    pub fn typed<T: Tool>(tool: T) -> Result<Self, DefinitionError> {
        let name: Arc<str> = T::NAME.into();
        let named = |source| DefinitionError::Parameters { tool: Arc::clone(&name), source };
        let parameters = tool.parameters().map_err(named)?;
        let output = Schema::for_output::<T::Output>()
            .map_err(|source| DefinitionError::Output { tool: Arc::clone(&name), source })?;
        let (description, timeout) = (tool.description().into(), tool.timeout());
        let tool = Arc::new(Typed { tool, parameters: parameters.clone() });
        let (polls, pages) = (T::POLLS, T::PAGES);
        Self { name, description, parameters, output, timeout, polls, pages, tool }.checked()
    }

    /// A tool that brings its own schemas and checks its own arguments.
    pub fn raw(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        parameters: Schema,
        output: Schema,
        tool: impl AnyTool + 'static,
    ) -> Result<Self, DefinitionError> {
        let (name, description) = (name.into(), description.into());
        let tool = Arc::new(tool);
        let (timeout, polls, pages) = (None, false, false);
        Self { name, description, parameters, output, timeout, polls, pages, tool }.checked()
    }

    /// The same tool with a time limit, which a timeout policy enforces. Declaring one promises that the body listens
    /// to its cancellation.
    pub fn with_timeout(self, timeout: Duration) -> Result<Self, DefinitionError> {
        Self { timeout: Some(timeout), ..self }.checked()
    }

    /// The same tool, of which the same call again is its use: it asks how something stands. Policies that speak up about
    /// repeated calls pass over it.
    #[must_use]
    pub fn polling(self) -> Self {
        Self { polls: true, ..self }
    }

    /// The same tool, which keeps its results within a limit of its own and says how to read on. A policy that stores what
    /// is too large, and shows a part of it, passes over it.
    #[must_use]
    pub fn paging(self) -> Self {
        Self { pages: true, ..self }
    }

    fn checked(self) -> Result<Self, DefinitionError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if !(1..=64).contains(&self.name.len()) || !self.name.bytes().all(fits) {
            return Err(DefinitionError::Name { tool: self.name });
        }
        if self.parameters.json().get("type").and_then(Json::as_str) != Some("object") {
            return Err(DefinitionError::NotAnObject { tool: self.name });
        }
        if self.timeout == Some(Duration::ZERO) {
            return Err(DefinitionError::ZeroTimeout { tool: self.name });
        }
        Ok(self)
    }

    /// The name that models call.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// What models are told about it.
    pub fn description(&self) -> &Arc<str> {
        &self.description
    }

    /// What its arguments must be.
    pub fn parameters(&self) -> &Schema {
        &self.parameters
    }

    /// What its value will be.
    pub fn output(&self) -> &Schema {
        &self.output
    }

    /// Its time limit, if it declares one.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Whether calling it again and again is its use.
    pub fn polls(&self) -> bool {
        self.polls
    }

    /// Whether it keeps its results within a limit of its own.
    pub fn pages(&self) -> bool {
        self.pages
    }

    /// How a call is shown. A presenter that panics gives the plain card.
    pub fn present_call(&self, arguments: &Json) -> Option<CallView> {
        quietly(|| self.tool.present_call(arguments))
    }

    /// How a result is shown. A presenter that panics gives the plain card.
    pub fn present_result(&self, arguments: &Json, result: &StoredResult<'_>) -> Option<ResultView> {
        quietly(|| self.tool.present_result(arguments, result))
    }

    /// Whether the tool itself wants a person to be asked about this call, whoever else does. One that fails over it or panics
    /// wants it.
    pub fn asks(&self, execution: &Execution) -> bool {
        !matches!(contain(|| self.tool.needs_approval(execution)), Ok(Ok(None)))
    }

    /// Whether a call may overlap with others. A classifier that panics says no.
    pub fn parallel(&self, arguments: &Json) -> bool {
        quietly(|| Some(self.tool.parallel(arguments))).unwrap_or(false)
    }
}

impl std::fmt::Debug for Definition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Definition").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Runs one projector; a failure or a panic of it says which one it was.
pub(crate) fn projector<T>(
    name: &str,
    project: impl FnOnce() -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    let why = match contain(project) {
        Ok(Ok(projected)) => return Ok(projected),
        Ok(Err(error)) => error.message,
        Err(panic) => panic.to_string(),
    };
    Err(ToolError::plain(format!("{name}: {why}")))
}

fn quietly<T>(pure: impl FnOnce() -> Option<T>) -> Option<T> {
    contain(pure).unwrap_or_default()
}
