//! The demonstration: a model without a network that does one real piece of work.

mod apart;
mod conversation;
mod overview;
mod results;
mod survey;

use std::sync::Arc;

use dsh_json::{Json, object};
use dsh_lifecycle::Cancel;
use dsh_llm::{Chunk, Message, Model, ModelRequest};
use futures_util::stream::BoxStream;

use crate::play::play;
use crate::{Step, ToolCall};
use apart::{files_apart, own_files};
use conversation::Turn;
use survey::{KEY_FILES, OPEN_ENDS, Survey};

/// Looks around in the workspace and writes an overview of it, whatever it is asked.
///
/// It sees what every model sees, the text of the conversation, and keeps nothing between two requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct DemoModel;

impl Model for DemoModel {
    fn provider(&self) -> &'static str {
        "demo"
    }

    fn model(&self) -> &'static str {
        "overview"
    }

    fn stream(&self, request: ModelRequest, cancel: Cancel) -> BoxStream<'static, Chunk> {
        play(next_step(&request.messages), cancel)
    }
}

/// What the demonstration says next in this conversation:
///
/// 1. after a person's message: list the project's own files, and apart from them the build output, dependencies and
///    hidden directories; find the files that tell most, and search for open ends, all at once;
/// 2. after those results: read the telling files, at most four; and where the listing was only a page, count by kind
///    and by directory; at most eight calls in all;
/// 3. after those: the overview.
///
/// Calls that failed or were never answered are no obstacle; the overview then says what is missing.
pub fn next_step(messages: &[Arc<Message>]) -> Step {
    let turn = Turn::of(messages);
    let survey = Survey::of(&turn);
    let wanted = match turn.rounds {
        0 => look_around(),
        1 => look_closer(&survey),
        _ => vec![],
    };
    if wanted.is_empty() {
        return Step::text(overview::render(&survey));
    }
    let text = if turn.rounds == 0 { LOOKING_AROUND } else { LOOKING_CLOSER };
    let call = |(number, (name, arguments)): (usize, (&str, Json))| ToolCall {
        id: format!("demo-{number}").into(),
        name: name.into(),
        arguments: arguments.to_text().into(),
    };
    Step::calls(text, (turn.earlier_calls + 1..).zip(wanted).map(call).collect())
}

/// A tool and its arguments.
type Wanted = (&'static str, Json);

fn look_around() -> Vec<Wanted> {
    vec![
        ("glob", object! { "pattern": own_files() }),
        ("glob", object! { "pattern": files_apart() }),
        ("glob", object! { "pattern": KEY_FILES }),
        ("grep", object! { "pattern": OPEN_ENDS }),
    ]
}

fn look_closer(survey: &Survey) -> Vec<Wanted> {
    let reads = survey.telling_files().into_iter().map(|path| ("read", object! { "file_path": path }));
    let counts = survey.searches().into_iter().map(|(pattern, path)| match path {
        Some(path) => ("glob", object! { "pattern": pattern, "path": path }),
        None => ("glob", object! { "pattern": pattern }),
    });
    reads.chain(counts).collect()
}

const LOOKING_AROUND: &str = "I look at what is here first.";
const LOOKING_CLOSER: &str = "Now the files that say most about it.";

#[cfg(test)]
mod tests;
