//! What a client is offered: the tools of a view as MCP describes them.

use std::sync::Arc;

use dsh_json::{Json, Object};
use dsh_scope::Scope;
use dsh_tools_core::{CallView, Definition, Kind, RUN_CODE, Tools, View};
use parking_lot::Mutex;
use rmcp::model::{ErrorData, JsonObject, Tool, ToolAnnotations};

use crate::SdkText;

/// The tools of one scope, listed once for each version of the registry.
pub(crate) struct Listing {
    tools: Tools,
    scope: Scope,
    sdk: Arc<dyn SdkText>,
    kept: Mutex<Option<(u64, Vec<Tool>)>>,
}

impl Listing {
    pub(crate) fn new(tools: Tools, scope: Scope, sdk: Arc<dyn SdkText>) -> Self {
        Self { tools, scope, sdk, kept: Mutex::default() }
    }

    /// The tools that a client may call, in the order of their names.
    pub(crate) fn tools(&self) -> Result<Vec<Tool>, ErrorData> {
        let view = self.tools.view(Some(&self.scope));
        if let Some((version, tools)) = &*self.kept.lock()
            && *version == view.version()
        {
            return Ok(tools.clone());
        }
        view.offered().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let tools = callable(&view).iter().map(|tool| self.describe(tool)).collect::<Result<Vec<_>, _>>()?;
        *self.kept.lock() = Some((view.version(), tools.clone()));
        Ok(tools)
    }

    /// Whether clients may send programs.
    pub(crate) fn has_programs(&self) -> bool {
        self.tools.view(Some(&self.scope)).resolve(RUN_CODE, false).is_some()
    }

    /// The declarations for programs.
    pub(crate) fn sdk(&self) -> Result<Arc<str>, ErrorData> {
        self.sdk.text(Some(&self.scope)).map_err(|error| ErrorData::internal_error(error, None))
    }

    /// Where a client finds them.
    pub(crate) fn sdk_uri(&self) -> String {
        format!("dsh://sdk/{}", self.sdk.language())
    }

    /// What is callable now, to compare with later.
    pub(crate) fn state(&self) -> State {
        let view = self.tools.view(Some(&self.scope));
        State { version: view.version(), callable: callable(&view) }
    }

    /// Waits until the registry is another than then.
    pub(crate) async fn changed_since(&self, then: &State) {
        self.tools.changed_since(then.version).await;
    }

    fn describe(&self, tool: &Definition) -> Result<Tool, ErrorData> {
        let mut description = tool.description().to_string();
        if &**tool.name() == RUN_CODE {
            description = format!("{description}\n\n{}", self.sdk()?);
        }
        let mut described =
            Tool::new(tool.name().to_string(), description, Arc::new(schema(tool.parameters().json())?));
        let output = tool.output().json();
        if is_object(output) {
            described = described.with_raw_output_schema(Arc::new(schema(output)?));
        }
        if only_reads(tool) {
            described = described.with_annotations(ToolAnnotations::new().read_only(true));
        }
        Ok(described)
    }
}

/// The tools of one moment.
pub(crate) struct State {
    version: u64,
    callable: Vec<Arc<Definition>>,
}

impl State {
    /// Whether a client would be offered the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.version == other.version
            || (self.callable.len() == other.callable.len()
                && self.callable.iter().zip(&other.callable).all(|(one, other)| Arc::ptr_eq(one, other)))
    }
}

fn callable(view: &View) -> Vec<Arc<Definition>> {
    let mut tools: Vec<_> = view.callable(false).cloned().collect();
    tools.sort_by(|one, other| one.name().cmp(other.name()));
    tools
}

fn is_object(schema: &Json) -> bool {
    schema.get("type").and_then(Json::as_str) == Some("object")
}

/// Deep schemas are refused before they are registered, so that this does not recurse far.
fn schema(schema: &Json) -> Result<JsonObject, ErrorData> {
    let failed = |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
    serde_json::to_value(schema).and_then(serde_json::from_value).map_err(failed)
}

/// A tool says of a call whether it may overlap, and what kind it is; it is asked about the plainest call that fits.
fn only_reads(tool: &Definition) -> bool {
    let plain = plain_arguments(tool.parameters().json());
    let kind = tool.present_call(&plain).map(|view| match view {
        CallView::Generic { kind, .. } => kind,
        CallView::Terminal { .. } | CallView::Diff { .. } => Kind::Other,
    });
    tool.parallel(&plain) && matches!(kind, Some(Kind::Read | Kind::Search))
}

fn plain_arguments(parameters: &Json) -> Json {
    let required = parameters.get("required").and_then(Json::as_array).unwrap_or_default();
    let property = |name: &str| parameters.get("properties")?.get(name)?.get("type")?.as_str();
    let mut arguments = Object::new();
    for name in required.iter().filter_map(Json::as_str) {
        let value = match property(name) {
            Some("integer" | "number") => Json::from(1_u64),
            Some("boolean") => Json::from(false),
            Some("array") => Json::from(Vec::<Json>::new()),
            Some("object") => Json::from(Object::new()),
            _ => Json::from("x"),
        };
        arguments.insert(name, value);
    }
    arguments.into()
}
