//! From tools to the section of the prompt.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use dsh_json_schema::Schema;

use crate::text::quoted;
use crate::{Language, prose, python, typescript};

/// One tool, as its caller sees it.
#[derive(Clone, Debug)]
pub struct ToolDecl {
    /// What it is called on the wire; any text.
    pub name: Arc<str>,
    /// What it does. Whitespace collapses; nothing in it can end the comment that it stands in.
    pub description: Arc<str>,
    /// Its arguments; none where no supported schema describes them.
    pub parameters: Option<Schema>,
    /// What a call gives; none as above.
    pub output: Option<Schema>,
}

/// Bounds on the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most characters of one description; what is cut off is said in its place.
    pub description_chars: usize,
    /// The most bytes of all declarations; more is [`SdkError::TooLarge`].
    pub declarations_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { description_chars: 16_384, declarations_bytes: 8 * 1024 * 1024 }
    }
}

impl Limits {
    /// Fails when declarations take more bytes than they may.
    pub(crate) fn check(&self, bytes: usize, place: impl FnOnce() -> Place) -> Result<(), SdkError> {
        if bytes <= self.declarations_bytes {
            return Ok(());
        }
        Err(SdkError::TooLarge { limit: self.declarations_bytes, place: place() })
    }
}

/// How a program calls one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The tool's name.
    pub name: Arc<str>,
    /// The expression that a program calls, such as `tools.read` or `tools["word-count"]`.
    pub call: String,
}

/// The declarations of a set of tools, in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sdk {
    language: Language,
    section: String,
    declarations: Range<usize>,
    bindings: Vec<Binding>,
}

/// Why there is no SDK. For the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SdkError {
    /// Two tools have one name, so that a program could reach only one of them.
    #[error("two tools are called {name:?}; rename one or leave it out")]
    DuplicateTool {
        /// The name.
        name: Arc<str>,
    },
    /// The declarations don't fit. What follows was not looked at.
    #[error(
        "the declarations take more than {limit} bytes (declarations_bytes) at {place}; show fewer tools, make the \
         schema smaller, or raise the limit"
    )]
    TooLarge {
        /// The bound.
        limit: usize,
        /// What was being declared.
        place: Place,
    },
}

/// What was being declared when the text was full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The tool of this name.
    Tool(Arc<str>),
    /// A type by itself.
    Type,
    /// What frames the tools.
    Frame,
}

/// What is set aside for the declarations of one tool. A text that outgrows what it has is copied as a whole, and what
/// nobody writes to costs nothing.
const TOOL_BYTES: usize = 6 * 1024;

/// Renders the section that tells a model about the tools (spec 05 §§1–5).
///
/// Tools are sorted by name, in UTF-16 order. [`Sdk::bindings`] are exactly the tools given.
///
/// # Errors
/// [`SdkError::DuplicateTool`], [`SdkError::TooLarge`].
pub fn render(language: Language, tools: &[ToolDecl], limits: &Limits) -> Result<Sdk, SdkError> {
    let mut sorted: Vec<&ToolDecl> = tools.iter().collect();
    sorted.sort_by_cached_key(|tool| tool.name.encode_utf16().collect::<Vec<_>>());
    let same = sorted.iter().zip(sorted.iter().skip(1)).find(|(one, next)| one.name == next.name);
    if let Some((tool, _)) = same {
        return Err(SdkError::DuplicateTool { name: Arc::clone(&tool.name) });
    }
    let mut section = format!("{}\n\n```{}\n", prose::of(language), language.fence());
    section.reserve(limits.declarations_bytes.min(TOOL_BYTES * tools.len()));
    let start = section.len();
    match language {
        Language::TypeScript => typescript::write_declarations(&sorted, limits, &mut section)?,
        Language::Python => python::write_declarations(&sorted, limits, &mut section)?,
    }
    let declarations = start..section.len();
    section.push_str("\n```");
    let binding =
        |tool: &&ToolDecl| Binding { name: Arc::clone(&tool.name), call: call(language, &tool.name) };
    let bindings = sorted.iter().map(binding).collect();
    Ok(Sdk { language, section, declarations, bindings })
}

/// The text of one type (spec 05 §1): in TypeScript indented as at `level`, in Python without names for objects.
///
/// # Errors
/// [`SdkError::TooLarge`].
pub fn type_text(
    language: Language,
    schema: Option<&Schema>,
    level: usize,
    limits: &Limits,
) -> Result<String, SdkError> {
    match language {
        Language::TypeScript => typescript::type_text(schema, level, limits),
        Language::Python => python::type_text(schema, limits),
    }
}

impl Sdk {
    /// The language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The whole section: how to write programs, then the declarations in a block of code. No newline at its end.
    pub fn section(&self) -> &str {
        &self.section
    }

    /// The declarations alone.
    pub fn declarations(&self) -> &str {
        self.section.get(self.declarations.clone()).unwrap_or_default()
    }

    /// How each tool is called, in the order of the declarations.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }
}

impl SdkError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::DuplicateTool { .. } => "SDK_DUPLICATE_TOOL",
            Self::TooLarge { .. } => "SDK_TOO_LARGE",
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(name) => write!(f, "tool {name:?}"),
            Self::Type => f.write_str("a type"),
            Self::Frame => f.write_str("what frames the tools"),
        }
    }
}

fn call(language: Language, name: &Arc<str>) -> String {
    let is_attribute = match language {
        Language::TypeScript => typescript::is_bare(name),
        Language::Python => python::is_method(name),
    };
    if is_attribute { format!("tools.{name}") } else { format!("tools[{}]", quoted(name)) }
}
