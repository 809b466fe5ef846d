//! A look at a program's calls before anything runs: functions that there are not, arguments that can't fit (spec 06 §14.17).
//!
//! Only what is sure to fail when it is reached is reported, so a program that is refused here could not have worked as it
//! stands; and what a program seems to be prepared for is left to it. In doubt nothing is said:
//!
//! - calls in a `try` with a `catch`, before a `.catch(…)`, and in `Promise.allSettled(…)`;
//! - `tools.x?.(…)`, and functions that the program asks for in another way (`tools.x`, `"x" in tools`), as far as they are
//!   unknown;
//! - every call, when the namespace's name may mean something else: it is bound, assigned, handed on or read by a computed
//!   name, or there is an `eval`;
//! - of an argument, what is not written out: what a variable holds, what a spread brings or replaces.
//!
//! ```text
//! program ─ erase::read ─→ tree ─ calls ─→ each call of a namespace ─ arguments ─→ findings ─→ one message
//!                                              literal: the value, and what of it is not known ↗
//! ```
//!
//! Arguments are judged by the schema's own validator, which judges them at the call, too.

use std::fmt::Write as _;

use dsh_code_runtime::{BindingSchemas, Failure, FailureKind};

use crate::erase::read;
use crate::excerpt::{excerpt, place};

mod arguments;
mod calls;
mod literal;

/// The longest program that is looked at, since its sender waits meanwhile. A longer one is only run.
const LONGEST: usize = 1 << 20;
/// Findings in one message.
const LISTED: usize = 5;

/// A call that can't work.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// The byte in the program that it is about.
    at: u32,
    what: String,
}

/// Nothing, when the program is one and every call may work, and for programs longer than [`LONGEST`].
///
/// # Errors
/// `syntax`, as erasing gives it; `check` with at most [`LISTED`] calls that can't work.
pub(crate) fn check(program: &str, namespaces: &[&dyn BindingSchemas]) -> Result<(), Failure> {
    if program.len() > LONGEST {
        return Ok(());
    }
    let (_, findings) = read(program, |tree| calls::findings(tree, namespaces))?;
    if findings.is_empty() {
        return Ok(());
    }
    Err(Failure::new(FailureKind::Check, message(program, &findings)))
}

fn message(program: &str, findings: &[Finding]) -> String {
    let mut text = match findings.len() {
        1 => "nothing has run, because this call can't work. Correct it, and send the program again."
            .to_owned(),
        count if count > LISTED => format!(
            "nothing has run, because these calls can't work, and others like them. Here are the first {LISTED}: correct \
             all, and send the program again."
        ),
        _ => "nothing has run, because these calls can't work. Correct them, and send the program again."
            .to_owned(),
    };
    for (n, finding) in findings.iter().take(LISTED).enumerate() {
        let (line, column) = place(program, usize::try_from(finding.at).unwrap_or(usize::MAX));
        let _ = write!(text, "\nline {line}, column {column}: {}", finding.what);
        let shown = excerpt(program, line, column);
        if n == 0
            && let Some((_, shown)) = shown.split_once('\n')
        {
            text.push('\n');
            text.push_str(shown);
        }
    }
    text
}

#[cfg(test)]
mod tests;
