//! The languages that programs are written in.

use std::fmt;
use std::str::FromStr;

/// A language that programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// TypeScript, its annotations stripped before it runs.
    TypeScript,
    /// Python 3.11 or later.
    Python,
}

/// A name that is no language's; the message lists those that are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no SDK for language {name:?}; known are \"typescript\" and \"python\"")]
pub struct UnknownLanguage {
    /// The name.
    pub name: String,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::TypeScript, Self::Python];

    /// What a runtime and the command line call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::TypeScript => "typescript",
            Self::Python => "python",
        }
    }

    /// What opens a block of code in the section (spec 05 §1).
    pub(crate) fn fence(self) -> &'static str {
        match self {
            Self::TypeScript => "ts",
            Self::Python => "python",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    /// Reads exactly a [`name`](Self::name).
    fn from_str(name: &str) -> Result<Self, UnknownLanguage> {
        let named = Self::ALL.into_iter().find(|language| language.name() == name);
        named.ok_or_else(|| UnknownLanguage { name: name.to_owned() })
    }
}
