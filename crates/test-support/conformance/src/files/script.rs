//! What a vector does: calls, and changes from outside.

use dsh_json::{Json, Limits};
use dsh_tools_core::Arguments;

use super::layout::{Entry, entries};
use crate::Fault;
use crate::fault::{optional_list, required_text};
use crate::file::Vector;

/// What a vector does, in order.
pub(super) struct Script {
    pub(super) steps: Vec<Step>,
    /// Whether its calls stand in a list, and so their results.
    pub(super) is_list: bool,
}

/// One thing of it.
pub(super) enum Step {
    /// A call, with the text of its arguments; `$DIR` is not replaced yet.
    Call { tool: String, arguments: String },
    /// Somebody else changes files.
    Outside(Vec<(String, Entry)>),
}

impl Script {
    pub(super) fn of(vector: &Vector) -> Result<Self, Fault> {
        let input = &vector.input;
        let own = vector.kind.strip_suffix("-tool").unwrap_or(&vector.kind);
        let default = if input.get("tool").is_some() { required_text(input, "tool")? } else { own };
        if input.get("calls").is_none() {
            let call = call_of(input, default)?.ok_or_else(|| Fault::Missing("args".into()))?;
            return Ok(Self { steps: vec![call], is_list: false });
        }
        let mut steps = Vec::new();
        for row in optional_list(input, "calls")? {
            let before = steps.len();
            if row.get("external_write").is_some() {
                steps.push(Step::Outside(entries(row.get("external_write"))?));
            }
            let tool = if row.get("tool").is_some() { required_text(row, "tool")? } else { default };
            steps.extend(call_of(row, tool)?);
            if steps.len() == before {
                return Err(Fault::form("calls", row, "calls with `args`, or `external_write`"));
            }
        }
        Ok(Self { steps, is_list: true })
    }
}

fn call_of(row: &Json, tool: &str) -> Result<Option<Step>, Fault> {
    let arguments = if row.get("args_text").is_some() {
        required_text(row, "args_text")?.to_owned()
    } else if let Some(arguments) = row.get("args") {
        arguments.to_text()
    } else {
        return Ok(None);
    };
    Ok(Some(Step::Call { tool: tool.to_owned(), arguments }))
}

/// The arguments of a call in this directory, read as a model's are.
pub(super) fn arguments(text: &str, dir: &str) -> Arguments {
    Arguments::parse(&text.replace("$DIR", dir), &Limits::default())
}
