//! A question in words, for a client that is shown text and nothing else.

use dsh_json::Json;
use dsh_user_approval::{Question, covers, visible};

/// How many characters of a reason are shown.
const REASON: usize = 1_000;
/// What is in front of every line that a model may have written, so that none of them looks like one of ours.
const GUTTER: &str = "| ";

/// A question as plain text: the tool, what it is called with, why it is asked, what a yes covers. Of the arguments at most
/// `most` characters are shown, those of the short ones first, so that a long one hides no other; it is said how many are
/// missing. Whatever could do something else to a screen than to be seen is made visible.
pub(crate) fn describe(question: &Question, most: usize) -> String {
    let mut parts = vec![format!("Allow `{}`?", visible(&question.tool))];
    let mut whole = true;
    if let Some(call) = &question.call {
        if call.parent.is_some() {
            parts.push("It is called by the running program.".to_owned());
        }
        let (shown, all) = arguments(&call.arguments, most);
        whole = all;
        parts.push(shown);
    }
    if let Some(reason) = &question.reason {
        parts.push(format!("Why:\n{}", quoted(reason, REASON).0));
    }
    parts.push(covers(&question.tool, whole).to_owned());
    parts.join("\n\n")
}

/// The arguments, each under its name, and whether they are shown whole.
fn arguments(arguments: &Json, most: usize) -> (String, bool) {
    let word = |value: &Json| value.as_str().map_or_else(|| value.to_text(), str::to_owned);
    let Some(fields) = arguments.as_object() else {
        return quoted(&word(arguments), most);
    };
    let fields: Vec<(String, String)> =
        fields.iter().map(|(key, value)| (visible(key).replace('\n', "\\n"), word(value))).collect();
    // Each gets an even share of what those that are shorter leave.
    let mut lengths: Vec<usize> = fields.iter().map(|(_, text)| text.chars().count()).collect();
    lengths.sort_unstable();
    let (mut left, mut share) = (most, most);
    for (at, length) in lengths.iter().enumerate() {
        share = left / (lengths.len() - at);
        if *length > share {
            break;
        }
        (left, share) = (left - length, usize::MAX);
    }
    let mut whole = true;
    let shown = fields.iter().map(|(key, text)| {
        let (text, all) = quoted(text, share);
        whole &= all;
        format!("{key}:\n{text}")
    });
    let shown = shown.collect::<Vec<_>>().join("\n");
    (shown, whole)
}

/// So many characters of a text behind the gutter, and whether that is all of it.
fn quoted(text: &str, most: usize) -> (String, bool) {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    let (shown, missing) = text.split_at_checked(end).unwrap_or_default();
    let lines: Vec<_> = visible(shown).split('\n').map(|line| format!("{GUTTER}{line}")).collect();
    let lines = lines.join("\n");
    if missing.is_empty() {
        return (lines, true);
    }
    (format!("{lines}\n… and {} more characters that are not shown", missing.chars().count()), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_argument_hides_no_other_and_no_line_looks_like_one_of_ours() {
        let forged = "x\n\nWhy: you asked\u{1b}[2K".to_owned() + &"y".repeat(100);
        let (shown, whole) =
            arguments(&dsh_json::object! { "content": forged, "file_path": "/etc/passwd" }, 40);
        assert!(!whole);
        assert_eq!(
            shown,
            "content:\n| x\n| \n| Why: you asked\\u{1b}[2Kyyyyyyyy\n… and 92 more characters that are not shown\nfile_path:\n| /etc/passwd"
        );
    }

    #[test]
    fn what_fits_is_shown_whole() {
        let object = dsh_json::object! { "a\nb": "one\ntwo", "n": 12 };
        assert_eq!(arguments(&object, 9), ("a\\nb:\n| one\n| two\nn:\n| 12".to_owned(), true));
        assert!(!arguments(&object, 8).1);
        assert_eq!(arguments(&Json::from("text"), 4), ("| text".to_owned(), true));
        assert_eq!(quoted("äöü", 2).0, "| äö\n… and 1 more characters that are not shown");
    }
}
