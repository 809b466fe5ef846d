//! `dsh sdk`: the tools as declarations, without any runtime.

use anyhow::anyhow;
use dsh_code_mode::declarations;
use dsh_tool_sdk::{Language, Limits};

use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::setup::Needs;

/// Prints the section of the prompt for the visible tools.
pub(crate) fn sdk(global: &Global, language: Language) -> Result<(), Failure> {
    let harness = global.harness(Needs::Tools)?;
    let view = harness.host().tools.view(None);
    let sdk = declarations(&view, language, &Limits::default())
        .map_err(|error| Failure::new(Exit::Failed, anyhow!("{error} ({})", error.code())))?;
    Ok(output::line(sdk.section())?)
}
