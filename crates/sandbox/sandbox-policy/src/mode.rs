//! The three modes and their order.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How far file effects of a session reach (spec 10 §B). Says nothing about processes or the network.
///
/// The order is that of reach: a later mode allows all that an earlier one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Nothing is written. The floor, and the default.
    #[default]
    ReadOnly,
    /// Files are written below the workspace root only.
    WorkspaceWrite,
    /// Nothing is confined.
    DangerFullAccess,
}

/// A word that names no mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no sandbox mode; use read-only, workspace-write or danger-full-access")]
pub struct UnknownMode(pub String);

impl SandboxMode {
    /// Every mode, narrowest first.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::WorkspaceWrite, Self::DangerFullAccess];

    /// The stable word for it, as in configuration and in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }

    /// Whether this mode allows something that `other` does not: the test that an escalation has to pass before
    /// anyone is asked (spec 10 §B.2).
    #[must_use]
    pub fn wider_than(self, other: Self) -> bool {
        self > other
    }
}

impl fmt::Display for SandboxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SandboxMode {
    type Err = UnknownMode;

    fn from_str(word: &str) -> Result<Self, UnknownMode> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word).ok_or_else(|| UnknownMode(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};

    #[test]
    fn words_are_stable_both_ways() {
        for mode in SandboxMode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        assert_eq!("Read-Only".parse::<SandboxMode>(), Err(UnknownMode("Read-Only".into())));
    }

    #[test]
    fn the_ladder_widens_upwards_only() {
        let wider: Vec<_> = SandboxMode::ALL
            .into_iter()
            .flat_map(|from| SandboxMode::ALL.map(|to| (from, to)))
            .filter(|(from, to)| to.wider_than(*from))
            .collect();
        assert_eq!(
            wider,
            [(ReadOnly, WorkspaceWrite), (ReadOnly, DangerFullAccess), (WorkspaceWrite, DangerFullAccess)]
        );
    }
}
