//! How long does a person wait before the first call is done?
//!
//! Goal: 10 ms from the start of the program `dsh` to the end of `dsh call`, here with a `read` of a small file. The
//! program of the same profile is measured; where it is not built, the question is skipped by name.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dsh_benches::criterion;

#[expect(clippy::print_stdout, reason = "a question that is skipped says so where the answers stand")]
fn main() -> Result<(), Box<dyn Error>> {
    let program = program()?;
    if !program.exists() {
        println!("start_up: skipped, there is no {}", program.display());
        return Ok(());
    }
    let workspace = tempfile::tempdir()?;
    std::fs::write(workspace.path().join("a.txt"), "one line\n")?;
    let first = call(&program, workspace.path())?;
    assert!(
        first.status.success() && String::from_utf8_lossy(&first.stdout).contains("one line"),
        "{} does not make the call ({first:?}); build it again",
        program.display()
    );
    let mut criterion = criterion().configure_from_args();
    criterion.bench_function("start_up/dsh call read", |bencher| {
        bencher.iter(|| call(&program, workspace.path()));
    });
    criterion.final_summary();
    Ok(())
}

/// `target/PROFILE/dsh`; this program is `target/PROFILE/deps/start_up-…`.
fn program() -> Result<PathBuf, Box<dyn Error>> {
    let here = std::env::current_exe()?;
    let profile = here.ancestors().nth(2).ok_or("this program lies in no target directory")?;
    Ok(profile.join(format!("dsh{}", std::env::consts::EXE_SUFFIX)))
}

fn call(program: &Path, workspace: &Path) -> std::io::Result<Output> {
    Command::new(program)
        .args(["call", "read", r#"{"file_path": "a.txt"}"#, "--root"])
        .arg(workspace)
        .env("XDG_STATE_HOME", workspace)
        .output()
}
