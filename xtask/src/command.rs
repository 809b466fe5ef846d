//! Starting other programs: said aloud first, in the environment that a person's shell would give them.

use std::env;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::report::Verdict;

/// The cargo that started this task, in `root`.
pub(crate) fn cargo<I, S>(root: &Path, arguments: I) -> Command
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(arguments);
    // `cargo run` describes this package to this process. Build scripts that watch these variables would be run
    // again each time a task and a plain `cargo build` take turns.
    for (name, _) in env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Prints the command as it could be typed.
pub(crate) fn announce(command: &Command) {
    let mut words = vec!["$".to_owned()];
    for (name, value) in command.get_envs() {
        words.extend(value.map(|value| format!("{}={}", name.to_string_lossy(), quoted(value))));
    }
    let program = Path::new(command.get_program());
    words.push(quoted(program.file_stem().unwrap_or(command.get_program())));
    words.extend(command.get_args().map(quoted));
    println!("{}", words.join(" "));
}

/// Announces the command, then runs it to its end on this terminal.
pub(crate) fn run(mut command: Command) -> Result<Verdict> {
    announce(&command);
    let status = command.status().with_context(|| format!("starting {}", program_of(&command)))?;
    Ok(Verdict::of(status.success()))
}

/// Runs a command that has to succeed; the error says what it needs.
pub(crate) fn succeed(command: Command, needs: &str) -> Result<()> {
    if run(command).context(needs.to_owned())?.passed() { Ok(()) } else { bail!("{needs}") }
}

/// What the command prints; an error with its stderr when it fails.
pub(crate) fn text_of(mut command: Command) -> Result<String> {
    let output = command.output().with_context(|| format!("starting {}", program_of(&command)))?;
    if !output.status.success() {
        bail!("{} failed:\n{}", program_of(&command), String::from_utf8_lossy(&output.stderr).trim_end());
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} printed no UTF-8", program_of(&command)))
}

/// Whether `cargo SUBCOMMAND` can be run here.
pub(crate) fn has_cargo_command(root: &Path, subcommand: &str) -> Result<bool> {
    works(cargo(root, [subcommand, "--version"]))
}

/// Whether a command can be started here, and succeeds; what it prints is dropped.
pub(crate) fn works(mut probe: Command) -> Result<bool> {
    match probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) => Ok(status.success()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("starting {}", program_of(&probe))),
    }
}

fn program_of(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    if word.is_empty() || word.contains([' ', '"', '$', '*']) {
        format!("'{word}'")
    } else {
        word.into_owned()
    }
}
