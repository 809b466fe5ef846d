//! One module for each command.

mod call;
mod code;
mod mcp;
mod plugins;
mod presets;
mod repair;
mod replay;
mod run;
mod sdk;
mod tools;
mod verify;

use anyhow::Context as _;
use tokio::runtime::Builder;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};
use crate::fork::ForkFrom;
use crate::interrupt::survive_file_limit;

/// Does what was asked for.
pub(crate) fn execute(cli: Cli) -> Result<(), Failure> {
    let Cli { global, command } = cli;
    match command {
        Command::Run { prompt, fork, fork_at } => {
            let fork = fork.map(|source| ForkFrom { source, boundary: fork_at });
            on_runtime(run::run(&global, prompt, fork))
        }
        Command::Call { tool, arguments } => on_runtime(call::call(&global, &tool, arguments)),
        Command::Code { file } => on_runtime(code::code(&global, &file)),
        Command::Mcp => on_runtime(mcp::mcp(&global)),
        Command::Tools => tools::tools(&global),
        Command::Sdk { language } => sdk::sdk(&global, language),
        Command::Replay { file } => replay::replay(&global, &file),
        Command::Verify { file } => verify::verify(&global, &file),
        Command::Repair { file } => on_runtime(async { repair::repair(&global, &file) }),
        Command::Presets => presets::presets(&global),
        Command::Plugins => plugins::plugins(&global),
    }
}

/// Two workers, so that an interrupt is heard whatever one of them does.
fn on_runtime(command: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.context("failed to start").map_err(|error| Failure::new(Exit::Failed, error))?;
    let ended = runtime.block_on(async {
        survive_file_limit()?;
        command.await
    });
    // What a command started has ended; only a thread that waits for input may be left.
    runtime.shutdown_background();
    ended
}
