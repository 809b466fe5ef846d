//! The program behind the seeds of `cargo xtask fuzz`: writes them below a folder, one folder for each target.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program talks to the terminal it was started from"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dsh_fuzz_targets::{TARGETS, seeds};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: dsh-fuzz-seeds FOLDER");
        return ExitCode::from(2);
    };
    match written(&folder) {
        Ok(count) => {
            println!("{count} seeds below {}", folder.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("dsh-fuzz-seeds: {error}");
            ExitCode::FAILURE
        }
    }
}

fn written(folder: &Path) -> Result<usize, Box<dyn std::error::Error>> {
    let mut count = 0;
    for target in TARGETS {
        let below = folder.join(target.name);
        fs::create_dir_all(&below)?;
        for seed in seeds(target.name)? {
            fs::write(below.join(&seed.name), &seed.bytes)?;
            count += 1;
        }
    }
    Ok(count)
}
