//! How tools reach a model: one by one, or through the one reserved transport for programs (design §4.3).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use dsh_llm::ToolSchema;
use serde::Deserialize;

use crate::Definition;

/// The reserved name of the transport for programs.
pub const RUN_CODE: &str = "run_code";

/// How the tools of a scope are presented to its model. It changes what may be called directly and nothing else: a
/// call takes the same path in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presentation {
    /// Every tool by itself.
    #[default]
    Native,
    /// Only `run_code`, whose programs call the tools.
    Code,
    /// Every tool by itself, and `run_code`.
    Both,
}

/// A word that names no presentation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no presentation of tools; use native, code or both")]
pub struct UnknownPresentation(pub String);

impl Presentation {
    /// Every presentation.
    pub const ALL: [Self; 3] = [Self::Native, Self::Code, Self::Both];

    /// The stable word for it, as in configurations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Code => "code",
            Self::Both => "both",
        }
    }
}

impl fmt::Display for Presentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Presentation {
    type Err = UnknownPresentation;

    fn from_str(word: &str) -> Result<Self, UnknownPresentation> {
        let found = Self::ALL.into_iter().find(|held| held.as_str() == word);
        found.ok_or_else(|| UnknownPresentation(word.to_owned()))
    }
}

/// What runs programs that call tools. There is at most one in a registry.
pub trait Transport: Send + Sync {
    /// The tool [`RUN_CODE`]. Asked once, when the transport is mounted.
    fn definition(&self) -> Definition;

    /// Why no program can be run now; asked at each assembly of a prompt that offers it. Quick and pure.
    fn ready(&self) -> Result<(), String>;

    /// What a model is told that called this tool directly where only [`RUN_CODE`] may be: the way to it.
    fn route(&self, tool: &str) -> String;
}

/// What one request offers to a model.
#[derive(Debug, Clone, Default)]
pub struct Offered {
    /// The tools that may be called directly.
    pub schemas: Arc<[ToolSchema]>,
    /// Every name that an order of tools may mention.
    pub known: Arc<[Arc<str>]>,
}

/// A scope presents its tools to programs, and no program can be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tools are presented as `{presentation}`, and no program can be run: {reason}")]
pub struct NoTransport {
    /// How the tools are presented.
    pub presentation: Presentation,
    /// Why not.
    pub reason: String,
}

/// A mounted transport with its definition.
#[derive(Clone)]
pub(crate) struct Mounted {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) run_code: Arc<Definition>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stable_both_ways() {
        for held in Presentation::ALL {
            assert_eq!(held.to_string().parse(), Ok(held));
        }
        let refused = "Code".parse::<Presentation>().unwrap_err();
        assert_eq!(refused.to_string(), "`Code` is no presentation of tools; use native, code or both");
    }
}
