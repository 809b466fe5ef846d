//! Text from the standard input, and from a file.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::anyhow;
use tokio::task::spawn_blocking;

use crate::exit::{Exit, Failure, usage};
use crate::output;

/// The longest input that is read.
const MAX_BYTES: u64 = 64 << 20;

/// The prompt as it was given, else one line from a terminal, else everything from the standard input. Cancel-safe as
/// far as a program is that ends then: a thread may be left that waits for input.
pub(crate) async fn prompt(given: Option<String>) -> Result<String, Failure> {
    let text = match given {
        Some(text) => text,
        None => blocking(|| if io::stdin().is_terminal() { line() } else { everything() }).await?,
    };
    let prompt = text.trim_end();
    if prompt.is_empty() {
        return Err(usage(anyhow!(
            "there is no prompt; give one as an argument (`dsh run \"…\"`) or on the standard input"
        )));
    }
    Ok(prompt.to_owned())
}

/// Everything from the standard input.
pub(crate) async fn stdin() -> Result<String, Failure> {
    blocking(everything).await
}

/// The program in a file: a regular one of at most 64 MiB, in UTF-8.
pub(crate) fn program(file: &Path) -> Result<String, Failure> {
    dsh_harness::read_text(file, MAX_BYTES)
        .map_err(|error| usage(anyhow!("failed to read the program {}: {error}", file.display())))
}

fn line() -> io::Result<String> {
    output::ask("prompt: ")?;
    let mut text = String::new();
    io::stdin().lock().take(MAX_BYTES).read_line(&mut text)?;
    Ok(text)
}

fn everything() -> io::Result<String> {
    let mut text = String::new();
    let read = io::stdin().lock().take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MAX_BYTES {
        let words = format!("it is longer than {MAX_BYTES} bytes, the most that is read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    Ok(text)
}

async fn blocking(read: impl FnOnce() -> io::Result<String> + Send + 'static) -> Result<String, Failure> {
    match spawn_blocking(read).await {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(usage(anyhow!("failed to read the standard input: {error}"))),
        Err(stopped) => Err(Failure::new(Exit::Failed, stopped)),
    }
}
