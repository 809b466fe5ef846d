//! `dsh tools`: the visible tools.

use dsh_json::{Json, object};
use dsh_tools_core::Definition;

use crate::cards::sheet::escaped;
use crate::cli::Global;
use crate::exit::Failure;
use crate::output;
use crate::setup::Needs;

/// Lists the tools.
pub(crate) fn tools(global: &Global) -> Result<(), Failure> {
    let harness = global.harness(Needs::Tools)?;
    let view = harness.host().tools.view(None);
    if global.json {
        let tools: Vec<Json> = view.tools().map(|tool| to_json(tool)).collect();
        return Ok(output::line(&Json::from(tools).to_text())?);
    }
    for tool in view.tools() {
        output::text(&describe(tool))?;
    }
    Ok(())
}

fn to_json(tool: &Definition) -> Json {
    object! {
        "name": tool.name(),
        "description": tool.description(),
        "parameters": tool.parameters().json().clone(),
        "output": tool.output().json().clone(),
    }
}

fn describe(tool: &Definition) -> String {
    let description = tool.description().lines().next().unwrap_or_default();
    let described = format!("{}({})\n    {description}\n", tool.name(), parameters(tool.parameters().json()));
    escaped(&described)
}

/// Such as `file_path: string, limit?: number`.
fn parameters(schema: &Json) -> String {
    let Some(properties) = schema.get("properties").and_then(Json::as_object) else { return String::new() };
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    let parameter = |(name, schema): (&std::sync::Arc<str>, &Json)| {
        let mark = if required.iter().any(|required| required.as_str() == Some(name)) { "" } else { "?" };
        let kind = schema.get("type").and_then(Json::as_str).unwrap_or("any");
        format!("{name}{mark}: {kind}")
    };
    properties.iter().map(parameter).collect::<Vec<_>>().join(", ")
}
