//! The two policies.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whether anybody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPolicy {
    /// Those who can answer are asked.
    #[default]
    Ask,
    /// Nobody is asked; what needs approval is rejected.
    Never,
}

impl ApprovalPolicy {
    /// The word for it, in configurations and in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Never => "never",
        }
    }
}

impl fmt::Display for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
