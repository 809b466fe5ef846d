//! How calls and results are shown to people: neutral intents that any screen can draw (spec 01 §10).

use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::Content;
use serde::{Deserialize, Serialize};

/// What a call does, for an icon or a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Reads something.
    Read,
    /// Changes something.
    Edit,
    /// Deletes something.
    Delete,
    /// Moves something.
    Move,
    /// Searches.
    Search,
    /// Runs something.
    Execute,
    /// Fetches something from elsewhere.
    Fetch,
    /// Anything else.
    #[default]
    Other,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileLocation {
    /// The file.
    pub path: Arc<str>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// A change of a file, or of one part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The file.
    pub path: Arc<str>,
    /// The text before; `None` when there is none to show.
    pub old_text: Option<Arc<str>>,
    /// The text after.
    pub new_text: Arc<str>,
}

/// How a call is shown while it has no result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "card", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum CallView {
    /// A title, and little else.
    Generic {
        /// The title.
        title: Arc<str>,
        /// What it does.
        #[serde(default)]
        kind: Kind,
        /// The arguments, where the title does not say enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw_input: Option<Json>,
        /// Text below the title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Content>,
        /// The places that it is about.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        locations: Vec<FileLocation>,
    },
    /// A command.
    Terminal {
        /// The command.
        title: Arc<str>,
        /// What it is for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<Arc<str>>,
        /// Where it runs; the workspace when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<Arc<str>>,
    },
    /// A change that will be made.
    Diff {
        /// The title.
        title: Arc<str>,
        /// The changes.
        diffs: Vec<FileDiff>,
        /// The places that it is about.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        locations: Vec<FileLocation>,
    },
}

/// How a result is shown. A missing title keeps that of the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "card", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum ResultView {
    /// Text.
    Generic {
        /// The title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<Arc<str>>,
        /// The text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Content>,
    },
    /// What a command wrote and how it ended.
    Terminal {
        /// The title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<Arc<str>>,
        /// What it wrote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Arc<str>>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<TerminalEnd>,
    },
    /// A change that was made.
    Diff {
        /// The title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<Arc<str>>,
        /// The changes.
        diffs: Vec<FileDiff>,
    },
    /// What a search found.
    Search(SearchView),
    /// Lines of a file.
    Read(ReadView),
    /// What was found or fetched elsewhere.
    Web(WebView),
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TerminalEnd {
    /// It left this code.
    ExitCode(i32),
    /// This signal ended it.
    Signal(Arc<str>),
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case")]
pub enum SearchView {
    /// Lines in files.
    Matches {
        /// The files, in the order of the search.
        files: Vec<FileMatches>,
        /// Whether there is more than is here.
        truncated: bool,
        /// How many matches there are.
        total: u64,
    },
    /// Files.
    Paths {
        /// The files, in the order of the search.
        paths: Vec<Arc<str>>,
        /// Whether there is more than is here.
        truncated: bool,
        /// How many files there are.
        total: u64,
    },
}

/// The matches in one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileMatches {
    /// The file.
    pub path: Arc<str>,
    /// The matches in it.
    pub matches: Vec<Match>,
}

/// One matching line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Match {
    /// Its number, from 1.
    pub line_number: u64,
    /// Its text.
    pub line: Arc<str>,
}

/// Lines of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadView {
    /// The file.
    pub path: Arc<str>,
    /// The first line that was asked for, from 1, also when there is none.
    pub offset: u64,
    /// The lines, with their numbers in the file.
    pub lines: Vec<NumberedLine>,
    /// How many lines the file has.
    pub total_lines: u64,
    /// The language, for colours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<Arc<str>>,
    /// The text that the model read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

/// A line with its number in the file, from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberedLine {
    /// The number.
    pub number: u64,
    /// The text.
    pub text: Arc<str>,
}

/// What was found or fetched elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum WebView {
    /// The answer of a search.
    Search {
        /// Where it comes from.
        sources: Vec<WebSource>,
        /// The answer in one text, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Arc<str>>,
        /// Whether there is more than is here.
        truncated: bool,
    },
    /// A page.
    Fetch {
        /// Its address.
        url: Arc<str>,
        /// The status of the answer.
        status_code: u16,
        /// Whether there is more than was kept.
        truncated: bool,
    },
}

/// One source of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebSource {
    /// Its address.
    pub url: Arc<str>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Arc<str>>,
    /// An excerpt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Arc<str>>,
    /// When it was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Arc<str>>,
}

/// A result as a log holds it: what a presenter may look at, live or years later.
#[derive(Debug, Clone, Copy)]
pub struct StoredResult<'a> {
    /// What the model read.
    pub content: &'a Content,
    /// Whether the call failed.
    pub is_error: bool,
    /// What the tool left for the screen.
    pub meta: Option<&'a Json>,
}
