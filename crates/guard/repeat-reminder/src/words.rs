//! What the model reads.

use std::sync::Arc;

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
    text(format!(
        "You have called {} {count} times in a row with these arguments: {}\nRepeating it makes no progress. {GO_ON}",
        name(tool),
        quoted(arguments, preview)
    ))
}

/// The reminder of a round of several calls. The arguments are those of the last one.
pub(crate) fn cycle(tools: &[Arc<str>], rounds: usize, arguments: &Json, preview: usize) -> Content {
    text(format!(
        "You have made the same {} calls {rounds} times in a row: {}, the last one with these arguments: {}\n\
         Going round makes no progress. {GO_ON}",
        tools.len(),
        list(tools),
        quoted(arguments, preview)
    ))
}

/// Why a call is denied that was made too often, or goes on with a round that was.
pub(crate) fn denied(tools: &[Arc<str>], rounds: usize) -> String {
    let what = match tools {
        [tool] => {
            format!("this is call {rounds} in a row of {} with the same arguments", name(tool))
        }
        tools => format!(
            "this call goes on with the same {} calls after {rounds} rounds of them: {}",
            tools.len(),
            list(tools)
        ),
    };
    format!("{what}. It did not run, and will not until something else is done. {GO_ON}")
}

const GO_ON: &str = "Take another action, use other arguments, or finish and say what is in the way.";

fn quoted(arguments: &Json, preview: usize) -> String {
    let canonical = arguments.canonical();
    match cut(&canonical, preview) {
        (_, "") => canonical,
        (head, rest) => format!("{head} … ({} more characters)", rest.chars().count()),
    }
}

/// A name of any length, as far as it helps.
pub(crate) fn name(tool: &str) -> String {
    const SHOWN: usize = 100;
    let (head, rest) = cut(tool, SHOWN);
    format!("`{head}{}`", if rest.is_empty() { "" } else { "…" })
}

/// At most so many characters, and the rest.
fn cut(text: &str, chars: usize) -> (&str, &str) {
    text.split_at(text.char_indices().nth(chars).map_or(text.len(), |(end, _)| end))
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
