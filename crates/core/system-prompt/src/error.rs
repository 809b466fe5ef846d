//! What can go wrong, for the operator.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::tool_order::UNLISTED_TOOLS;
use crate::{InterpolationError, ToolOrderError};

/// Why a provider has nothing to say; any error will do.
pub type ProviderError = Box<dyn Error + Send + Sync>;

/// What kind of entry an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A prompt section.
    Section,
    /// A runtime context.
    Context,
    /// A variable.
    Variable,
    /// A provider of tools; they have numbers, in the order in which they are asked.
    ToolsProvider,
    /// A tool.
    Tool,
    /// A listener of the assembly.
    Listener,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Section => "section",
            Self::Context => "context",
            Self::Variable => "variable",
            Self::ToolsProvider => "tools provider",
            Self::Tool => "tool",
            Self::Listener => "listener",
        })
    }
}

/// Why an entry was refused, or a prompt could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// At registration: an empty name, or a variable name that is not a lower-case identifier. After the listeners: the
    /// same in what they returned.
    #[error("{kind} name \"{name}\" is not allowed: {}", rule_of(*kind))]
    InvalidName {
        /// What was named.
        kind: EntryKind,
        /// The name.
        name: Arc<str>,
    },
    /// At registration: the layer of everybody has an entry of that name.
    #[error(
        "a {kind} \"{name}\" is registered for everybody already; register yours in an agent's scope to replace it there"
    )]
    DuplicateForAll {
        /// What was registered.
        kind: EntryKind,
        /// The name.
        name: Arc<str>,
    },
    /// At registration: the layer of that scope has an entry of that name.
    #[error("a {kind} \"{name}\" is registered in this scope already")]
    DuplicateInScope {
        /// What was registered.
        kind: EntryKind,
        /// The name.
        name: Arc<str>,
    },
    /// The built-in entries are configured already.
    #[error("this prompt has a tool order already")]
    AlreadyConfigured,
    /// The configured tool order is not one.
    #[error(transparent)]
    ToolOrder(#[from] ToolOrderError),
    /// A provider or listener returned an error.
    #[error("{kind} \"{name}\" failed: {reason}")]
    Failed {
        /// Whose provider.
        kind: EntryKind,
        /// The entry's name.
        name: Arc<str>,
        /// What it said.
        reason: ProviderError,
    },
    /// A provider or listener panicked.
    #[error("{kind} \"{name}\" panicked: {message}")]
    Panicked {
        /// Whose provider.
        kind: EntryKind,
        /// The entry's name.
        name: Arc<str>,
        /// The panic's message, if it was text.
        message: String,
    },
    /// More than one section wants to be the whole prompt.
    #[error("only one section can be the complete prompt, but these are: {}", names.join(", "))]
    SeveralComplete {
        /// Their names, sorted.
        names: Vec<Arc<str>>,
    },
    /// The tool order names tools that nobody knows.
    #[error("the tool order names unknown tools: {}; known tools: {}", unknown.join(", "), or_none(known))]
    UnknownToolsInOrder {
        /// The names that nobody knows, in the order of the configuration.
        unknown: Vec<Arc<str>>,
        /// The names that are known, sorted.
        known: Vec<Arc<str>>,
    },
    /// A provider offers a tool with the name of the marker.
    #[error("a tool can't be called \"{UNLISTED_TOOLS}\": the name is the marker of the tool order")]
    ReservedToolName,
    /// Two entries of one name after the listeners, or two offered tools of one name.
    #[error("the assembly has more than one {kind} \"{name}\"")]
    Repeated {
        /// What is there twice.
        kind: EntryKind,
        /// Its name.
        name: Arc<str>,
    },
    /// A text has a `{{group}}` that can't be filled in.
    #[error("{kind} \"{name}\": {problem}")]
    Interpolation {
        /// Section or context.
        kind: EntryKind,
        /// Its name.
        name: Arc<str>,
        /// What is wrong, and where.
        problem: InterpolationError,
    },
}

fn rule_of(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Variable => "use a lower-case letter, then lower-case letters, digits and underscores",
        EntryKind::Section
        | EntryKind::Context
        | EntryKind::ToolsProvider
        | EntryKind::Tool
        | EntryKind::Listener => "it must not be empty",
    }
}

fn or_none(names: &[Arc<str>]) -> String {
    if names.is_empty() { "(none)".to_owned() } else { names.join(", ") }
}
