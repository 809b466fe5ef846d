//! The tool and its configuration.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use dsh_tools_core::{Content, RunContext, Tool, ToolError, text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `[word-count]` may say. Unknown keys and zero are refused when it is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct WordCountConfig {
    /// Words with fewer characters are not counted. Default 1.
    pub min_length: NonZeroUsize,
    /// How many words a result lists. Default 5.
    pub max_words: NonZeroUsize,
}

impl Default for WordCountConfig {
    fn default() -> Self {
        Self { min_length: NonZeroUsize::MIN, max_words: NonZeroUsize::MIN.saturating_add(4) }
    }
}

/// Counts words.
#[derive(Debug)]
pub struct WordCount {
    config: WordCountConfig,
}

/// What a model writes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The text whose words are counted.
    text: String,
}

/// The value that the tool returns. What the model reads of it is [`Tool::render`]'s.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// How many words there are.
    words: usize,
    /// The most frequent words, the most frequent first.
    frequent: Vec<Frequent>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Frequent {
    word: String,
    times: usize,
}

impl WordCount {
    /// A tool that keeps to this configuration.
    pub fn new(config: WordCountConfig) -> Self {
        Self { config }
    }
}

impl Tool for WordCount {
    const NAME: &'static str = "word_count";
    type Args = Args;
    type Output = Output;

    fn description(&self) -> Cow<'_, str> {
        "Counts the words of a text, and lists the most frequent ones.".into()
    }

    async fn run(&self, args: Args, _: &RunContext) -> Result<Output, ToolError> {
        let mut counted: BTreeMap<String, usize> = BTreeMap::new();
        for word in args.text.split(|c: char| !c.is_alphanumeric()) {
            if word.chars().count() >= self.config.min_length.get() {
                *counted.entry(word.to_lowercase()).or_default() += 1;
            }
        }
        let words = counted.values().sum();
        let mut frequent: Vec<_> =
            counted.into_iter().map(|(word, times)| Frequent { word, times }).collect();
        frequent.sort_by_key(|frequent| std::cmp::Reverse(frequent.times));
        frequent.truncate(self.config.max_words.get());
        Ok(Output { words, frequent })
    }

    fn render(&self, _: &Args, output: &Output) -> Result<Content, ToolError> {
        let mut lines = vec![format!("Words: {}", output.words)];
        lines
            .extend(output.frequent.iter().map(|frequent| format!("{} × {}", frequent.times, frequent.word)));
        Ok(text(lines.join("\n")))
    }

    /// It touches nothing, so calls may overlap.
    fn parallel(&self, _: &Args) -> bool {
        true
    }
}
