//! TypeScript (spec 05 §3).

mod types;

use std::borrow::Cow;
use std::sync::Arc;

use dsh_json_schema::Schema;

use crate::text::quoted;
use crate::{Limits, Place, SdkError, ToolDecl};

use types::Types;

const VALUE: &str =
    "type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }";

const REST: &str = "\n\ntype ToolName = keyof ToolOutputMap

declare class ToolCallError extends Error {
  readonly name: \"ToolCallError\";
  readonly toolName: ToolName;
}

declare const tools: {
  [K in ToolName]: (args: ToolArgsMap[K]) => Promise<ToolOutputMap[K]>;
}";

/// Appends the block of declarations (spec 05 §3.5), of tools that are sorted.
pub(crate) fn write_declarations(
    tools: &[&ToolDecl],
    limits: &Limits,
    out: &mut String,
) -> Result<(), SdkError> {
    let mut types = Types::new(limits, out);
    let end = if tools.is_empty() { "}" } else { "\n}" };
    types.push(VALUE);
    types.push("\n\ninterface ToolArgsMap {");
    for tool in tools {
        types.doc(&tool.description, 1);
        member(&mut types, tool, tool.parameters.as_ref())?;
    }
    types.push(end);
    types.push("\n\ninterface ToolOutputMap {");
    for tool in tools {
        member(&mut types, tool, tool.output.as_ref())?;
    }
    types.push(end);
    types.push(REST);
    types.check(|| Place::Frame)
}

/// The type of a schema whose first line stands at `level`.
pub(crate) fn type_text(schema: Option<&Schema>, level: usize, limits: &Limits) -> Result<String, SdkError> {
    let mut text = String::new();
    let mut types = Types::new(limits, &mut text);
    types.schema(schema, level);
    types.check(|| Place::Type)?;
    Ok(text)
}

/// Whether a key stands without quotes (spec 05 §3.2). Reserved words do.
pub(crate) fn is_bare(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}

fn member<'t>(types: &mut Types<'t>, tool: &ToolDecl, schema: Option<&'t Schema>) -> Result<(), SdkError> {
    types.line(1);
    types.push(&key(&tool.name));
    types.push(": ");
    types.schema(schema, 1);
    types.push(";");
    types.check(|| Place::Tool(Arc::clone(&tool.name)))
}

fn key(name: &str) -> Cow<'_, str> {
    if is_bare(name) { Cow::Borrowed(name) } else { quoted(name).into() }
}
