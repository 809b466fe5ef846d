//! `dsh sdk`: the tools as declarations, without any runtime.

use std::sync::Arc;

use anyhow::anyhow;
use dsh_tool_sdk::{Language, Limits, ToolDecl, render};
use dsh_tools_core::{Definition, RUN_CODE};

use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::setup::Needs;

/// Prints the section of the prompt for the visible tools.
pub(crate) fn sdk(global: &Global, language: Language) -> Result<(), Failure> {
    let harness = global.harness(Needs::Tools)?;
    let view = harness.host().tools.view(None);
    let declared = |tool: &Arc<Definition>| ToolDecl {
        name: Arc::clone(tool.name()),
        description: Arc::clone(tool.description()),
        parameters: Some(tool.parameters().clone()),
        output: Some(tool.output().clone()),
    };
    let tools: Vec<_> = view.tools().filter(|tool| &**tool.name() != RUN_CODE).map(declared).collect();
    let sdk = render(language, &tools, &Limits::default())
        .map_err(|error| Failure::new(Exit::Failed, anyhow!("{error} ({})", error.code())))?;
    Ok(output::line(sdk.section())?)
}
