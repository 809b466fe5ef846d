//! Typed outside, erased inside.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use dsh_json::Json;
use dsh_json_schema::{LowerError, Schema};
use dsh_llm::Content;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::definition::projector;
use crate::{
    AnyTool, CallView, Execution, Projection, ResultView, RunContext, StoredResult, ToolError, ToolResult,
    codes, text,
};

/// A tool with static types: implement this, and [`Definition::typed`](crate::Definition::typed) does the rest.
///
/// Arguments are checked against the schema of [`Args`](Self::Args) before the body is entered, all violations at once
/// (`INVALID_ARGS`); the value is checked against the schema of [`Output`](Self::Output) before anybody sees it
/// (`INVALID_TOOL_OUTPUT`).
///
/// ```
/// use std::borrow::Cow;
/// use dsh_tools_core::{Definition, RunContext, Tool, ToolError};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Args {
///     /// The text whose words are counted.
///     text: String,
/// }
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct Output {
///     words: usize,
/// }
///
/// struct CountWords;
///
/// impl Tool for CountWords {
///     const NAME: &'static str = "count_words";
///     type Args = Args;
///     type Output = Output;
///
///     fn description(&self) -> Cow<'_, str> {
///         "Counts the words of a text.".into()
///     }
///
///     async fn run(&self, args: Args, _: &RunContext) -> Result<Output, ToolError> {
///         Ok(Output { words: args.text.split_whitespace().count() })
///     }
/// }
///
/// assert_eq!(&**Definition::typed(CountWords).unwrap().name(), "count_words");
/// ```
pub trait Tool: Send + Sync + 'static {
    /// The name that models call.
    const NAME: &'static str;
    /// Whether calling it again and again is its use ([`Definition::polling`](crate::Definition::polling)).
    const POLLS: bool = false;
    /// Whether it keeps its results within a limit of its own and says how to read on
    /// ([`Definition::paging`](crate::Definition::paging)).
    const PAGES: bool = false;
    /// What it takes. Doc comments of the fields become their descriptions.
    type Args: DeserializeOwned + JsonSchema + Send + Sync;
    /// What it returns: the true value, not text for the model.
    type Output: Serialize + DeserializeOwned + JsonSchema + Send + Sync;

    /// What models are told about it.
    fn description(&self) -> Cow<'_, str>;

    /// Does the work. It stops when [`RunContext::cancel`] is cancelled.
    fn run(
        &self,
        args: Self::Args,
        cx: &RunContext,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// What the model reads of the output: by default its JSON.
    fn render(&self, _args: &Self::Args, output: &Self::Output) -> Result<Content, ToolError> {
        let json = Json::from_serialize(output).map_err(|error| ToolError::plain(error.to_string()))?;
        Ok(text(json.to_pretty()))
    }

    /// What a person's screen is drawn from, for calls that a model made directly.
    fn meta(&self, _args: &Self::Args, _output: &Self::Output) -> Option<Json> {
        None
    }

    /// Whether a call with these arguments may overlap with others.
    fn parallel(&self, _args: &Self::Args) -> bool {
        false
    }

    /// A time limit, which a timeout policy enforces.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// What a person has to allow before the body may run with these arguments
    /// ([`AnyTool::needs_approval`]). The arguments may be invalid here, hence not typed.
    fn needs_approval(&self, _execution: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        Ok(None)
    }

    /// The schema of the arguments, where configuration belongs into it.
    fn parameters(&self) -> Result<Schema, LowerError> {
        Schema::for_input::<Self::Args>()
    }

    /// The last word on what the model reads. The arguments may be invalid here, hence not typed.
    fn finalize_content(&self, _arguments: &Json, _result: &ToolResult) -> Option<Content> {
        None
    }

    /// How a call is shown before it has a result.
    fn present_call(&self, _args: &Self::Args) -> Option<CallView> {
        None
    }

    /// How a result is shown. It is also asked for stored results, whose arguments still fit.
    fn present_result(&self, _args: &Self::Args, _result: &StoredResult<'_>) -> Option<ResultView> {
        None
    }
}

pub(crate) struct Typed<T> {
    pub(crate) tool: T,
    pub(crate) parameters: Schema,
}

impl<T: Tool> Typed<T> {
    fn args(&self, arguments: &Json) -> Result<T::Args, ToolError> {
        if !self.parameters.is_valid(arguments) {
            let violations = self.parameters.violations(arguments, "");
            return Err(ToolError::invalid_args(text::invalid_arguments(T::NAME, &violations)));
        }
        // What the schema can't say (ranges, formats) is said by the type.
        arguments.read().map_err(|error| ToolError::invalid_args(text::unreadable_arguments(T::NAME, &error)))
    }

    /// For everything that shows or classifies: arguments of an older version are no error there.
    fn args_if_valid(&self, arguments: &Json) -> Option<T::Args> {
        if self.parameters.is_valid(arguments) { arguments.read().ok() } else { None }
    }

    fn output(value: &Json) -> Result<T::Output, ToolError> {
        value.read().map_err(|error| invalid_output(&error))
    }
}

impl<T: Tool> AnyTool for Typed<T> {
    fn execute<'a>(
        &'a self,
        arguments: &'a Json,
        cx: &'a RunContext,
    ) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            let output = self.tool.run(self.args(arguments)?, cx).await?;
            Json::from_serialize(&output).map_err(|error| invalid_output(&error))
        })
    }

    fn render(&self, arguments: &Json, value: &Json) -> Result<Content, ToolError> {
        self.tool.render(&self.args(arguments)?, &Self::output(value)?)
    }

    fn meta(&self, arguments: &Json, value: &Json) -> Result<Option<Json>, ToolError> {
        Ok(self.tool.meta(&self.args(arguments)?, &Self::output(value)?))
    }

    fn project(&self, arguments: &Json, value: &Json, top_level: bool) -> Result<Projection, ToolError> {
        // Both are read once for the two of them.
        let (args, output) = (self.args(arguments)?, Self::output(value)?);
        let content = projector("render", || self.tool.render(&args, &output))?;
        let meta = if top_level { projector("meta", || Ok(self.tool.meta(&args, &output)))? } else { None };
        Ok(Projection { content, meta })
    }

    fn parallel(&self, arguments: &Json) -> bool {
        self.args_if_valid(arguments).is_some_and(|args| self.tool.parallel(&args))
    }

    fn needs_approval(&self, execution: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        self.tool.needs_approval(execution)
    }

    fn finalize_content(&self, arguments: &Json, result: &ToolResult) -> Option<Content> {
        self.tool.finalize_content(arguments, result)
    }

    fn present_call(&self, arguments: &Json) -> Option<CallView> {
        self.tool.present_call(&self.args_if_valid(arguments)?)
    }

    fn present_result(&self, arguments: &Json, result: &StoredResult<'_>) -> Option<ResultView> {
        self.tool.present_result(&self.args_if_valid(arguments)?, result)
    }
}

fn invalid_output(error: &dsh_json::JsonError) -> ToolError {
    ToolError::new("ToolOutputError", codes::INVALID_TOOL_OUTPUT, error.to_string())
}
