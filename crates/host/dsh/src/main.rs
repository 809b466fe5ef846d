//! The program `dsh`: runs a turn, makes a call, draws and checks session logs (spec 12 §1).
//!
//! It parses the command line, builds a harness, and shows what happens; what happens is the harness's. Documented
//! output goes to stdout, everything else to stderr.

mod approval;
mod cards;
mod cli;
mod commands;
mod exit;
mod floor;
mod fork;
mod input;
mod interrupt;
mod output;
mod report;
mod screen;
mod setup;

use std::process::ExitCode;

use clap::Parser as _;

use cli::Cli;
use exit::Exit;

fn main() -> ExitCode {
    // Programs of models run in this program again; such a process never gets any further.
    dsh_harness::become_worker();
    report::quiet_panics();
    // What is left of a panic here was told by the hook, in one line.
    std::panic::catch_unwind(program).unwrap_or(Exit::Failed).into()
}

fn program() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            // Help goes to stdout, a refusal to stderr; nobody is left to tell when they are closed.
            let _ = usage.print();
            return if usage.use_stderr() { Exit::Usage } else { Exit::Done };
        }
    };
    match report::start_tracing(&cli.global).and_then(|()| commands::execute(cli)) {
        Ok(()) => Exit::Done,
        Err(failure) => failure.tell(),
    }
}
