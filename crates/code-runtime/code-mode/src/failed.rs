//! A program that failed, as a failed call, and back (spec 06 §2.5).

use dsh_code_runtime::{Failure, FailureKind};
use dsh_json::{Json, object};
use dsh_tools_core::ToolError;

const OUTPUT: &str = "\nCaptured output:\n";

/// The code of each of these failures.
pub(crate) const CODE: &str = "CODE_RUN_FAILED";

/// What the model reads of a failed program: how it failed, and what it had printed. What was printed is its value too.
pub(crate) fn failed(failure: &Failure, logs: Vec<String>) -> ToolError {
    let mut message = format!("code run failed ({}): {}", failure.kind, failure.message);
    if !logs.is_empty() {
        message.push_str(OUTPUT);
        message.push_str(&logs.join("\n"));
    }
    let logs = Json::from(logs.into_iter().map(Json::from).collect::<Vec<_>>());
    ToolError::new("CodeRunFailedError", CODE, message).with_value(object! { "logs": logs })
}

/// The parts of a failed program's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedRun<'a> {
    /// How it failed.
    pub kind: FailureKind,
    /// What happened.
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
        for kind in FailureKind::ALL {
            let failure = Failure::new(kind, "it did (not): work");
            for (logs, output) in [(vec!["a".to_owned(), "b".to_owned()], Some("a\nb")), (vec![], None)] {
                let error = failed(&failure, logs);
                let read = FailedRun::read(&error.message);
                assert_eq!(read, Some(FailedRun { kind, message: "it did (not): work", output }));
            }
        }
        let printed = failed(&Failure::new(FailureKind::Abort, "x"), vec!["a\nb".to_owned()]);
        assert_eq!(printed.value, Some(object! { "logs": dsh_json::array!["a\nb"] }));
        assert_eq!(FailedRun::read("there is no tool `run_code`"), None);
    }
}
