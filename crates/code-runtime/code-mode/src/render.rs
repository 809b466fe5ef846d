//! What the model reads of a program that came to its end (spec 06 §2.3).

use std::sync::Arc;

use dsh_json::Json;
use dsh_tools_core::{Content, ContentBlock};

/// The text of printed entries and a completion value.
pub(crate) fn rendered(logs: &[String], result: Option<&Json>) -> String {
    let printed = logs.join("\n");
    let returned = result.map(value).unwrap_or_default();
    let told: Vec<&str> = [&*printed, &*returned].into_iter().filter(|part| !part.is_empty()).collect();
    if told.is_empty() { NOTHING.to_owned() } else { told.join("\n") }
}

/// The same content with these lines below it.
pub(crate) fn with_notes(content: &Content, notes: &[String]) -> Content {
    let notes = notes.join("\n");
    let mut blocks = content.to_vec();
    match blocks.last_mut() {
        Some(ContentBlock::Text { text }) => *text = format!("{text}\n{notes}").into(),
        Some(_) | None => blocks.push(ContentBlock::Text { text: notes.into() }),
    }
    blocks.into()
}

const NOTHING: &str = "(run_code completed with no output)";

/// A string as it is, anything else as JSON: in lines at the top, compact where lines would be indented by more than
/// ten characters, so that the text is linear in the value.
fn value(value: &Json) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => pretty(value),
    }
}

/// What is left to write.
enum Piece<'a> {
    Value(&'a Json, usize),
    Text(String),
}

const DEEPEST: usize = 5;

fn pretty(root: &Json) -> String {
    let mut out = String::new();
    let mut todo = vec![Piece::Value(root, 0)];
    while let Some(piece) = todo.pop() {
        let (value, level) = match piece {
            Piece::Text(text) => {
                out.push_str(&text);
                continue;
            }
            Piece::Value(value, level) => (value, level),
        };
        let Some(children) = children(value).filter(|children| !children.is_empty() && level < DEEPEST)
        else {
            out.push_str(&value.to_text());
            continue;
        };
        let (open, close) = if matches!(value, Json::Array(_)) { ('[', ']') } else { ('{', '}') };
        out.push(open);
        todo.push(Piece::Text(format!("\n{}{close}", "  ".repeat(level))));
        for (index, (key, child)) in children.into_iter().enumerate().rev() {
            todo.push(Piece::Value(child, level + 1));
            let comma = if index > 0 { "," } else { "" };
            todo.push(Piece::Text(format!("{comma}\n{}{key}", "  ".repeat(level + 1))));
        }
    }
    out
}

/// What stands in a container, each with what comes before it; `None` for a scalar.
fn children(value: &Json) -> Option<Vec<(String, &Json)>> {
    if let Some(items) = value.as_array() {
        return Some(items.iter().map(|item| (String::new(), item)).collect());
    }
    let key = |name: &Arc<str>| format!("{}: ", Json::from(name).to_text());
    value.as_object().map(|members| members.iter().map(|(name, member)| (key(name), member)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_json::{array, object};

    #[test]
    fn logs_result_both_and_nothing() {
        let one = ["a".to_owned(), "b".to_owned()];
        let rows: [(&[String], Option<Json>, &str); 6] = [
            (&one, None, "a\nb"),
            (&[], Some("x".into()), "x"),
            (&one, Some("x".into()), "a\nb\nx"),
            (&[], None, NOTHING),
            (&[String::new()], Some("".into()), NOTHING),
            (&[], Some(Json::Null), "null"),
        ];
        for (logs, result, expected) in rows {
            assert_eq!(rendered(logs, result.as_ref()), expected);
        }
    }

    #[test]
    fn notes_are_the_last_lines_of_the_text() {
        let notes = ["x".to_owned(), "y".to_owned()];
        assert_eq!(with_notes(&dsh_llm::text("a"), &notes), dsh_llm::text("a\nx\ny"));
        let picture = ContentBlock::Image { attachment: "p".into() };
        let expected: Content = [picture.clone(), ContentBlock::Text { text: "x\ny".into() }].into();
        assert_eq!(with_notes(&[picture].into(), &notes), expected);
        assert_eq!(with_notes(&[].into(), &notes), dsh_llm::text("x\ny"));
    }

    #[test]
    fn values_are_indented_by_two_and_empty_ones_short() {
        let shown = pretty(&object! { "a": array![1, object! {}], "b": object! { "c": "d" }, "e": array![] });
        assert_eq!(
            shown,
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": {\n    \"c\": \"d\"\n  },\n  \"e\": []\n}"
        );
    }

    #[test]
    fn a_deep_value_is_linear_in_its_size() {
        let mut deep = Json::from(1);
        for _ in 0..5_000 {
            deep = array![deep];
        }
        let shown = pretty(&deep);
        assert!(shown.len() < 11_000, "{}", shown.len());
        assert!(shown.starts_with("[\n  [\n    [\n      [\n        [\n          [[["), "{}", &shown[..60]);
    }
}
