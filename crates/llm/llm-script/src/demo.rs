//! The demonstration: a model without a network that does one real piece of work.

mod apart;
mod conversation;
mod overview;
mod programs;
mod results;
mod survey;

use dsh_json::{Json, object};
use dsh_lifecycle::Cancel;
use dsh_llm::{Chunk, Model, ModelRequest};
use futures_util::stream::BoxStream;

use crate::play::play;
use crate::{Step, ToolCall};
use apart::{files_apart, own_files, some_files_apart};
use conversation::Turn;
use programs::{Means, count, relay};
use survey::{KEY_FILES, OPEN_ENDS, Survey};

/// Looks around in the workspace and writes an overview of it, whatever it is asked.
///
/// It sees what every model sees, the conversation and the tools, and keeps nothing between two requests.
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
        play(next_step(&request), cancel)
    }
}

/// What the demonstration says next in this conversation:
///
/// 1. after a person's message: list the project's own files, and apart from them the build output, dependencies and
///    hidden directories; find the files that tell most, and search for open ends, all at once;
/// 2. after those results: read the telling files, at most four, and run a program that counts files and lines. Where
///    programs are not offered, and the listing was only a page, count files by searches; at most eight calls in all;
/// 3. after those: the overview.
///
/// Where programs are the only way to the tools, a program makes the calls. Calls that failed or were never answered are no
/// obstacle; the overview then says what is missing.
pub fn next_step(request: &ModelRequest) -> Step {
    let turn = Turn::of(&request.messages);
    let survey = Survey::of(&turn);
    let means = Means::of(&request.tools);
    let counts = turn.rounds == 1 && means != Means::Calls && survey.has_files();
    let (text, purpose, calls) = match turn.rounds {
        0 => (LOOKING_AROUND, SEARCHING, look_around()),
        1 if counts => (LOOKING_AND_COUNTING, READING, look_closer(&survey, means)),
        1 => (LOOKING_CLOSER, READING, look_closer(&survey, means)),
        _ => ("", "", vec![]),
    };
    let mut wanted = match means {
        Means::Programs if !calls.is_empty() => vec![relay(purpose, calls)],
        Means::Programs | Means::Both | Means::Calls => calls,
    };
    wanted.extend(counts.then(count));
    if wanted.is_empty() {
        return Step::text(overview::render(&survey));
    }
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

fn look_closer(survey: &Survey, means: Means) -> Vec<Wanted> {
    let reads = survey.telling_files().into_iter().map(|path| ("read", object! { "file_path": path }));
    let names = survey.is_apart_unknown().then(|| ("glob", object! { "pattern": some_files_apart() }));
    let counts = if means == Means::Calls { survey.searches() } else { vec![] };
    let counts = counts.into_iter().map(|(pattern, path)| match path {
        Some(path) => ("glob", object! { "pattern": pattern, "path": path }),
        None => ("glob", object! { "pattern": pattern }),
    });
    reads.chain(names).chain(counts).collect()
}

const LOOKING_AROUND: &str = "I look at what is here first.";
const LOOKING_CLOSER: &str = "Now the files that say most about it.";
const LOOKING_AND_COUNTING: &str =
    "Now the files that say most about it, and a program that counts all of them.";

const SEARCHING: &str = "Search for files and for open ends";
const READING: &str = "Read the files that say most";

#[cfg(test)]
mod tests;
