//! Why an edit was not made, in the model's words.

use std::fmt::Write as _;

use super::NAMED_PLACES;
use super::near::Near;
use crate::{FsError, FsErrorCode, one_line};

/// Why there is nothing that could be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditMiss {
    /// The old text is empty.
    Empty,
    /// With the replacement the text would be what it is.
    Unchanged,
    /// The old text does not occur.
    Absent {
        /// Its lines begin with numbers, as `read` shows them.
        numbered: bool,
        /// The new text occurs.
        is_there_already: bool,
        /// What is most like it.
        near: Option<Box<Near>>,
    },
    /// It occurs more than once.
    Ambiguous {
        /// How often.
        count: usize,
        /// The lines in which the first ones begin.
        lines: Vec<u64>,
        /// Whether they are equal to the old text. What only looks like it is never replaced more than once.
        exact: bool,
    },
}

impl EditMiss {
    /// The error of an edit of `display`: `FS_AMBIGUOUS_EDIT`, else `FS_EDIT_NOT_FOUND`. Its text is bounded.
    pub fn about(&self, display: &str) -> FsError {
        let path = one_line(display);
        let (code, message) = match self {
            Self::Empty => {
                (FsErrorCode::EditNotFound, "`old_string` is empty; give the text to replace".into())
            }
            Self::Unchanged => (
                FsErrorCode::EditNotFound,
                format!("{path} has the text of `new_string` there already; nothing was changed"),
            ),
            Self::Absent { numbered, is_there_already, near } => {
                let message = absent(&path, *numbered, *is_there_already, near.as_deref());
                (FsErrorCode::EditNotFound, message)
            }
            Self::Ambiguous { count, lines, exact } => {
                (FsErrorCode::AmbiguousEdit, ambiguous(&path, *count, lines, *exact))
            }
        };
        FsError::new(code, message)
    }
}

fn absent(path: &str, numbered: bool, is_there_already: bool, near: Option<&Near>) -> String {
    let mut text = format!("`old_string` does not occur in {path}.");
    if is_there_already {
        text.push_str(" The text of `new_string` does; the change may have been made already.");
    }
    if numbered {
        text.push_str(" Its lines begin with line numbers, which are not part of the file; leave them out.");
    }
    match near {
        None => {
            text.push_str(" Nothing there is like it. Read the file, then copy the text to replace exactly.");
        }
        Some(near) => {
            // Writing to a string can't fail.
            let _ = write!(text, " {near}");
        }
    }
    text
}

fn ambiguous(path: &str, count: usize, lines: &[u64], exact: bool) -> String {
    let mut named: Vec<String> = lines.iter().map(u64::to_string).collect();
    named.dedup();
    let more = if count > lines.len() && lines.len() == NAMED_PLACES { ", …" } else { "" };
    let plural = if named.len() == 1 && more.is_empty() { "" } else { "s" };
    let places = format!("line{plural} {}{more}", named.join(", "));
    if exact {
        format!(
            "`old_string` occurs {count} times in {path} ({places}). Add lines around it to `old_string` until it occurs \
             once, or set `replace_all` to true to replace all of them"
        )
    } else {
        format!(
            "`old_string` does not occur in {path} as it is, and with other blanks, quotes or dashes it occurs {count} \
             times ({places}). Read those lines, and copy the text to replace exactly"
        )
    }
}
