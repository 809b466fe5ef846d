//! Python (spec 05 §4).

mod names;
mod types;

use std::borrow::Cow;
use std::sync::Arc;

use dsh_json_schema::Schema;

use crate::comment::one_line;
use crate::text::quoted;
use crate::{Limits, Place, SdkError, ToolDecl};

use names::{appended, camel, is_bare, is_reserved};
use types::Types;

const ERROR: &str = "\n\nclass ToolCallError(Exception):\n    toolName: str\n\n";
const TOOLS: &str = "\n\ntools: Tools";

/// Appends the block of declarations (spec 05 §4.9), of tools that are sorted.
pub(crate) fn write_declarations(
    tools: &[&ToolDecl],
    limits: &Limits,
    out: &mut String,
) -> Result<(), SdkError> {
    let start = out.len();
    let mut types = Types::new(tools.len(), limits, out);
    let mut members = String::new();
    for tool in tools {
        let name = camel(&tool.name);
        let args = types.annotation(tool.parameters.as_ref(), Some(appended(&name, "Args")));
        let output = types.annotation(tool.output.as_ref(), Some(appended(&name, "Output")));
        write_member(tool, &args, &output, limits, &mut members);
        limits.check(types.bytes() + members.len(), || Place::Tool(Arc::clone(&tool.name)))?;
    }
    let pass = if tools.iter().any(|tool| is_method(&tool.name)) { "" } else { "\n    pass" };
    let head = format!("{}{ERROR}", types.imports());
    let protocol = format!("class Tools(Protocol):{pass}");
    let bytes = types.bytes() + members.len() + head.len() + protocol.len() + TOOLS.len();
    limits.check(bytes, || Place::Frame)?;
    out.insert_str(start, &head);
    out.extend([&protocol, &members, TOOLS]);
    Ok(())
}

/// The annotation of a schema, without classes.
pub(crate) fn type_text(schema: Option<&Schema>, limits: &Limits) -> Result<String, SdkError> {
    let mut classes = String::new();
    let mut types = Types::new(0, limits, &mut classes);
    let annotation = types.annotation(schema, None);
    limits.check(annotation.len(), || Place::Type)?;
    Ok(annotation)
}

/// Whether a tool is a method of `tools`; any other is reached by subscript.
pub(crate) fn is_method(name: &str) -> bool {
    is_bare(name) && !is_reserved(name) && !name.starts_with('_')
}

/// A tool as a method, or as a comment where it can't be one (spec 05 §4.8).
fn write_member(tool: &ToolDecl, args: &str, output: &str, limits: &Limits, out: &mut String) {
    let (name, says) = (&tool.name, comment(&tool.description, limits));
    if !is_method(name) {
        out.extend(["\n    # tools[", &quoted(name), "](args: ", args, ") -> ", output]);
        if let Some(says) = says {
            out.extend([mark_of(&says), "   ", &says]);
        }
        return;
    }
    out.extend(["\n    async def ", name, "(self, args: ", args, ") -> ", output, ":"]);
    match says {
        Some(says) => {
            let says = says.replace('\\', "\\\\").replace('"', "\\\"");
            out.extend(["\n        \"\"\"", &says, "\"\"\""]);
        }
        None => out.push_str(" ..."),
    }
}

/// What begins a line of comment in a class. Type checkers obey some words behind a bare `#`, and may refuse the block
/// for them.
fn mark_of(line: &str) -> &'static str {
    let is_obeyed = ["type:", "mypy:", "pyright:"].iter().any(|word| line.starts_with(word));
    if is_obeyed { "\n    #:" } else { "\n    #" }
}

/// The words of a description, if it has any.
fn comment<'d>(description: &'d str, limits: &Limits) -> Option<Cow<'d, str>> {
    Some(one_line(description, limits.description_chars)).filter(|line| !line.is_empty())
}
