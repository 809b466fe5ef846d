//! What the model reads.

use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::{Content, text};
use dsh_tools_core::short_name;

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
    let list = list(tools);
    let what = match tools.len() {
        1 => format!("this is call {rounds} in a row of {list} with the same arguments"),
        calls => format!(
            "this call goes on with rounds of the same {calls} calls, {rounds} of them by now: {list}"
        ),
    };
    format!("{what}. It did not run, and will not until something else is done. {GO_ON}")
}

const GO_ON: &str = "Take another action, use other arguments, or finish and say what is in the way.";

fn quoted(arguments: &Json, preview: usize) -> String {
    let canonical = arguments.canonical();
    let Some((end, _)) = canonical.char_indices().nth(preview) else { return canonical };
    let (head, rest) = canonical.split_at(end);
    format!("{head} … ({} more characters)", rest.chars().count())
}

fn list(tools: &[Arc<str>]) -> String {
    tools.iter().map(|tool| format!("`{}`", short_name(tool))).collect::<Vec<_>>().join(" → ")
}
