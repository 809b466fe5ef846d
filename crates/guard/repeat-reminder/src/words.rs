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

/// A later one says what is repeated: a call, or a round of several. The arguments are those of the last call.
pub(crate) fn detailed(tools: &[Arc<str>], rounds: usize, arguments: &Json, preview: usize) -> Content {
    let (list, quoted) = (list(tools), quoted(arguments, preview));
    let (what, which) = match tools.len() {
        1 => (format!("called {list} {rounds} times in a row with"), "Repeating it"),
        calls => (
            format!("made the same {calls} calls {rounds} times in a row: {list}, the last one with"),
            "Going round",
        ),
    };
    text(format!("You have {what} these arguments: {quoted}\n{which} makes no progress. {GO_ON}"))
}

/// Why a call is denied that was made too often, or goes on with a round that was.
pub(crate) fn denied(tools: &[Arc<str>], rounds: usize) -> String {
    let (list, calls) = (list(tools), tools.len());
    let what = match calls {
        1 => format!("this is call {rounds} in a row of {list} with the same arguments"),
        calls => {
            format!("this call goes on with the same {calls} calls after {rounds} rounds of them: {list}")
        }
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

fn list(tools: &[Arc<str>]) -> String {
    tools.iter().map(|tool| name(tool)).collect::<Vec<_>>().join(" → ")
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
        let told = plain_text(&detailed(&["echo".into()], 5, &arguments, 24));
        assert_eq!(arguments.canonical().chars().count(), 411);
        let head = format!("{{\"text\":\"{} … (387 more characters)\n", "é".repeat(15));
        assert!(told.contains(&head), "{told}");
        let whole = plain_text(&detailed(&["echo".into()], 5, &arguments, 411));
        assert!(whole.contains(&arguments.canonical()) && !whole.contains("more characters"), "{whole}");
    }
}
