//! The program behind `cargo xtask conformance`.
//!
//! It prints the report and ends with `N passed, N failed`; it exits with 1 on any failure, on a kind that it does not
//! know, and where there is nothing to be read.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program talks to the terminal it was started from"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Runs vector files and compares with what was recorded.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask conformance")]
struct Arguments {
    /// Run only this kind; may be given several times.
    #[arg(long = "kind", value_name = "K")]
    kinds: Vec<String>,
    /// Where the vector files are.
    #[arg(value_name = "DIR", default_value = "fixtures/vectors")]
    dir: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // What a vector panics with is in the report.
    std::panic::set_hook(Box::new(|_| {}));
    let kinds: Vec<&str> = arguments.kinds.iter().map(String::as_str).collect();
    match dsh_conformance::run(&arguments.dir, &kinds) {
        Ok(report) => {
            print!("{report}");
            if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("conformance: {error}");
            ExitCode::FAILURE
        }
    }
}
