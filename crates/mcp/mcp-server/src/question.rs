//! A question in words, for a client that is shown text and nothing else.

use dsh_json::Json;
use dsh_user_approval::{Question, acts, covers};

/// A question as plain text: the tool, what it is called with, why it is asked, what a yes covers. The arguments are shown as
/// far as `most` characters go, and it is said how many are missing; whatever could do something else to a screen than to
/// be seen is made visible.
pub(crate) fn describe(question: &Question, most: usize) -> String {
    let mut parts = vec![format!("Allow `{}`?", visible(&question.tool))];
    if let Some(call) = &question.call {
        if call.parent.is_some() {
            parts.push("It is called by the running program.".to_owned());
        }
        parts.push(cut(&visible(&arguments(&call.arguments)), most));
    }
    parts.extend(question.reason.as_ref().map(|reason| format!("Why: {}", visible(reason))));
    parts.push(covers(&question.tool).to_owned());
    parts.join("\n\n")
}

fn cut(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    let (shown, missing) = text.split_at_checked(end).unwrap_or_default();
    if missing.is_empty() {
        return text.to_owned();
    }
    format!("{shown}\n… and {} more characters that are not shown", missing.chars().count())
}

/// An argument a line, texts as they are.
fn arguments(arguments: &Json) -> String {
    let word = |value: &Json| match value.as_str() {
        Some(text) if text.contains('\n') => format!("\n{text}"),
        Some(text) => text.to_owned(),
        None => value.to_text(),
    };
    match arguments.as_object() {
        Some(fields) => {
            let lines: Vec<_> = fields.iter().map(|(key, value)| format!("{key}: {}", word(value))).collect();
            lines.join("\n")
        }
        None => word(arguments),
    }
}

fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if acts(character) && !matches!(character, '\n' | '\t') {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_a_line_each_and_nothing_acts() {
        let shown = arguments(&dsh_json::object! { "path": "a", "n": 1, "code": "x()\ny()" });
        assert_eq!(shown, "path: a\nn: 1\ncode: \nx()\ny()");
        assert_eq!(arguments(&Json::from("text")), "text");
        assert_eq!(
            (cut("äöü", 3).as_str(), cut("äöü", 2).as_str()),
            ("äöü", "äö\n… and 1 more characters that are not shown")
        );
        assert_eq!(visible("a\u{1b}[2K\u{202e}b\n"), "a\\u{1b}[2K\\u{202e}b\n");
    }
}
