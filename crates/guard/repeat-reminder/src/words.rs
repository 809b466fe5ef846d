//! What the model reads.

use dsh_json::Json;
use dsh_llm::{Content, text};

/// The first reminder: short, and without a quotation.
pub(crate) fn nudge() -> Content {
    text(
        "You have made the same call with the same arguments several times in a row. Read its last result again: \
         if the work is not done, change the arguments or go another way.",
    )
}

/// A later one says what is repeated.
pub(crate) fn detailed(tool: &str, count: usize, arguments: &Json, preview: usize) -> Content {
    let canonical = arguments.canonical();
    let quoted = match canonical.char_indices().nth(preview) {
        None => canonical,
        Some((end, _)) => {
            let (head, rest) = canonical.split_at(end);
            format!("{head} … ({} more characters)", rest.chars().count())
        }
    };
    text(format!(
        "You have called `{tool}` {count} times in a row with these arguments: {quoted}\n\
         Repeating it makes no progress. Take another action, use other arguments, or finish and say what is in the way."
    ))
}

#[cfg(test)]
mod tests {
    use dsh_json::object;
    use dsh_llm::plain_text;

    use super::*;

    #[test]
    fn quotations_are_cut_between_characters_and_say_how_much_is_missing() {
        let arguments = object! { "text": "é".repeat(400) };
        let told = plain_text(&detailed("echo", 5, &arguments, 24));
        assert_eq!(arguments.canonical().chars().count(), 411);
        assert!(
            told.contains(&format!("{{\"text\":\"{} … (387 more characters)\n", "é".repeat(15))),
            "{told}"
        );
        let whole = plain_text(&detailed("echo", 5, &arguments, 411));
        assert!(whole.contains(&arguments.canonical()) && !whole.contains("more characters"), "{whole}");
    }
}
