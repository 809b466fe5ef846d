//! What the model reads of `edit`.

use dsh_fs::{Tolerance, one_line};
use dsh_json_schema::Params;
use dsh_tools_core::Schema;

pub(super) const DESCRIPTION: &str = "Replaces a piece of a text file by another. The piece must occur exactly once, \
                                      unless `replace_all` is true. Everything else in the file stays as it is.";

pub(crate) const PROMPT: &str = "Use `edit` to change a part of a file. Copy `old_string` from what `read` showed, without \
                                 the line numbers, and take as many lines as it needs to occur once. Line endings are \
                                 taken care of.";

pub(super) const EMPTY: &str =
    "`old_string` is empty; give the text to replace, or use `write` to give the file a whole new content";

pub(super) const EQUAL: &str = "`old_string` and `new_string` are the same, so nothing would change; line endings do not count. Give the text as it \
                                is to become in `new_string`";

pub(super) fn parameters() -> Params {
    Schema::params()
        .required(
            "file_path",
            Schema::string().description("The file. A relative path starts at the workspace root."),
        )
        .required(
            "old_string",
            Schema::string().description("The text to replace, with its blanks and line breaks; not empty."),
        )
        .required(
            "new_string",
            Schema::string().description("What takes its place, literally. Empty to take it away."),
        )
        .optional(
            "replace_all",
            Schema::boolean().description("Whether to replace every occurrence. Default false."),
        )
}

/// What was done: one sentence, and one more where the text was found by looking past something.
pub(super) fn edited(path: &str, replace_all: bool, found: Option<(usize, Tolerance)>) -> String {
    let path = one_line(path);
    let (count, tolerance) = found.unwrap_or_default();
    let mut text = match (replace_all, count) {
        (false, _) => format!("Edited {path}: replaced the one occurrence of `old_string`."),
        (true, 1) => {
            format!("Edited {path}: replaced all occurrences of `old_string`, of which there was 1.")
        }
        (true, count) => {
            format!("Edited {path}: replaced all occurrences of `old_string`, of which there were {count}.")
        }
    };
    if !tolerance.is_exact() {
        let names = [
            (tolerance.line_numbers, "pasted line numbers"),
            (tolerance.trailing_blanks, "blanks at the ends of lines"),
            (tolerance.typography, "typographic quotes, dashes or spaces"),
        ];
        let names: Vec<&str> = names.into_iter().filter_map(|(used, name)| used.then_some(name)).collect();
        text.push_str(" It was not there exactly; what matched differs in ");
        text.push_str(&names.join(" and "));
        text.push('.');
    }
    text
}
