//! A program that failed, as a failed call, and back (spec 06 §2.5).

use dsh_code_runtime::{Failure, FailureKind};
use dsh_tools_core::ToolError;

const OUTPUT: &str = "\nCaptured output:\n";

/// What the model reads of a failed program: how it failed, what became of its calls, and what it had printed.
pub(crate) fn failed(failure: &Failure, logs: &[String], warning: Option<&str>) -> ToolError {
    let mut message = format!("code run failed ({}): {}", failure.kind, failure.message);
    if let Some(warning) = warning {
        message.push('\n');
        message.push_str(warning);
    }
    if !logs.is_empty() {
        message.push_str(OUTPUT);
        message.push_str(&logs.join("\n"));
    }
    ToolError::new("CodeRunFailedError", "CODE_RUN_FAILED", message)
}

/// The parts of a failed program's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedRun<'a> {
    /// How it failed.
    pub kind: FailureKind,
    /// What happened, and what became of calls that it did not wait for.
    pub message: &'a str,
    /// What it had printed; `None` when that was nothing.
    pub output: Option<&'a str>,
}

impl<'a> FailedRun<'a> {
    /// Reads the message of a `CODE_RUN_FAILED` error; `None` for any other text.
    pub fn read(message: &'a str) -> Option<Self> {
        let (kind, rest) = message.strip_prefix("code run failed (")?.split_once("): ")?;
        let kind = FailureKind::named(kind)?;
        Some(match rest.split_once(OUTPUT) {
            Some((message, output)) => Self { kind, message, output: Some(output) },
            None => Self { kind, message: rest, output: None },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back() {
        let logs = ["a".to_owned(), "b".to_owned()];
        for kind in FailureKind::ALL {
            let failure = Failure::new(kind, "it did (not): work");
            for (logs, output) in [(&logs[..], Some("a\nb")), (&[], None)] {
                let error = failed(&failure, logs, None);
                let read = FailedRun::read(&error.message);
                assert_eq!(read, Some(FailedRun { kind, message: "it did (not): work", output }));
            }
        }
        let warned = failed(&Failure::new(FailureKind::Abort, "x"), &[], Some("warning: y"));
        assert_eq!(FailedRun::read(&warned.message).unwrap().message, "x\nwarning: y");
        assert_eq!(FailedRun::read("there is no tool `run_code`"), None);
    }
}
