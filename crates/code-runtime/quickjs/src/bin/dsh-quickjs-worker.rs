//! A worker for TypeScript programs, for hosts that are no workers themselves: they name this binary as the entry.

use std::process::ExitCode;

fn main() -> ExitCode {
    dsh_quickjs::become_worker();
    // Started by hand: nobody speaks at the other end.
    ExitCode::from(2)
}
