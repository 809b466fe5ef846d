//! The two streams. Documented output goes to stdout, everything else to stderr.
//!
//! A closed stdout is an answer, not an accident: whoever read it has enough. A stderr that can't be written to is
//! ignored, as there is nobody left to tell.

use std::io::{self, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use rustix::fd::AsFd;

use crate::cards::sheet::escaped;
use crate::floor;

/// Why something did not get to stdout.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// Nobody reads any more.
    Closed,
    /// The device refused.
    Failed(io::Error),
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::Closed } else { Self::Failed(error) }
    }
}

/// What a person or a script asked for, as it is. On a terminal, control characters are made visible.
pub(crate) fn text(text: &str) -> Result<(), Unwritten> {
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        out.write_all(escaped(text).as_bytes())?;
    } else {
        out.write_all(text.as_bytes())?;
    }
    Ok(out.flush()?)
}

/// One line of documented output.
pub(crate) fn line(line: &str) -> Result<(), Unwritten> {
    text(&format!("{line}\n"))
}

/// Something drawn, with its colours where they can be seen.
pub(crate) fn drawing(drawing: &str) -> Result<(), Unwritten> {
    let mut out = anstream::stdout().lock();
    out.write_all(drawing.as_bytes())?;
    Ok(out.flush()?)
}

/// The same, beside the documented output. Waits while a question is open.
pub(crate) fn aside(drawing: &str) {
    // Nobody is left to tell.
    let _ = floor::when_free(|| ask(drawing));
}

/// A line beside the documented output, with a word in front that says what it is.
pub(crate) fn note(word: &str, text: &str) {
    aside(&labelled(word, AnsiColor::Cyan.on_default(), text));
}

/// What went wrong, where, and what to do. It waits for nobody: it may be the last word of whoever has the floor.
pub(crate) fn error(text: &str) {
    // Nobody is left to tell.
    let _ = ask(&labelled("error", AnsiColor::Red.on_default().bold(), text));
}

/// A question to a person, who answers on the same line; for whoever has the floor. What can't be seen is no question, so its
/// failure counts.
pub(crate) fn ask(question: &str) -> io::Result<()> {
    anstream::stderr().lock().write_all(question.as_bytes())
}

fn labelled(word: &str, style: Style, text: &str) -> String {
    format!("{style}{word}:{style:#} {}\n", escaped(text))
}

/// How many columns a drawing may have on a stream: those of its terminal, else 80. A terminal of no columns does not
/// know how many it has.
pub(crate) fn width(stream: &(impl io::IsTerminal + AsFd)) -> usize {
    if !stream.is_terminal() {
        return WIDTH;
    }
    let size = rustix::termios::tcgetwinsize(stream);
    size.map_or(WIDTH, |size| columns(size.ws_col))
}

const WIDTH: usize = 80;

fn columns(told: u16) -> usize {
    const LEAST: usize = 20;
    if told == 0 { WIDTH } else { usize::from(told).max(LEAST) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_does_not_know_its_size_is_drawn_as_usual() {
        assert_eq!([0, 5, 60, 200].map(columns), [80, 20, 60, 200]);
    }
}
