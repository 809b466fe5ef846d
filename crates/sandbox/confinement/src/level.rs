//! How much was taken, and how much had to be.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How far a confinement reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Every part holds.
    Full,
    /// Some part does not.
    Partial {
        /// What does not hold.
        missing: Vec<Part>,
    },
    /// Neither files nor system calls are held back. Limits may be.
    None,
}

/// A part of a confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Memory, CPU seconds, file sizes, descriptors, core dumps.
    Limits,
    /// No program that is started gains privileges.
    Privileges,
    /// No path is in reach.
    Files,
    /// Only harmless system calls are answered.
    Calls,
}

/// What a caller insists on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// As much as this machine can; the level says how much that was.
    #[default]
    BestEffort,
    /// All of it, or an error.
    Full,
}

/// Less was reached than was demanded. What was taken stays taken, so the process is of no more use.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "full confinement was demanded and {level} was reached: use a Linux kernel with Landlock (5.13 or later) and \
     seccomp filters, or demand less"
)]
pub struct Short {
    /// What was reached.
    pub level: Level,
}

impl Level {
    pub(crate) fn without(missing: Vec<Part>) -> Self {
        if missing.is_empty() {
            Self::Full
        } else if missing.contains(&Part::Files) && missing.contains(&Part::Calls) {
            Self::None
        } else {
            Self::Partial { missing }
        }
    }

    /// The level itself, when it is what was demanded.
    ///
    /// # Errors
    /// [`Short`] when it is less.
    pub fn meets(self, demand: Demand) -> Result<Self, Short> {
        match demand {
            Demand::Full if self != Self::Full => Err(Short { level: self }),
            Demand::Full | Demand::BestEffort => Ok(self),
        }
    }
}

impl Short {
    /// The stable code of spec 10 §B.1.
    pub const CODE: &str = "SANDBOX_UNAVAILABLE";
}

impl fmt::Display for Level {
    /// `full`, `none`, or `partial (without calls, limits)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::None => f.write_str("none"),
            Self::Partial { missing } => {
                let names: Vec<_> = missing.iter().map(|part| part.name()).collect();
                write!(f, "partial (without {})", names.join(", "))
            }
        }
    }
}

impl Part {
    /// The part's name, as it travels and is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Limits => "limits",
            Self::Privileges => "privileges",
            Self::Files => "files",
            Self::Calls => "calls",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Demand, Level, Part, Short};

    #[test]
    fn what_is_missing_makes_the_level() {
        let level = |missing: &[Part]| Level::without(missing.to_vec()).to_string();
        assert_eq!(level(&[]), "full");
        assert_eq!(level(&[Part::Limits, Part::Files]), "partial (without limits, files)");
        assert_eq!(level(&[Part::Privileges, Part::Calls]), "partial (without privileges, calls)");
        assert_eq!(level(&[Part::Files, Part::Calls]), "none");
    }

    #[test]
    fn less_than_demanded_is_an_error_that_says_what_is_missing() {
        let partial = Level::without(vec![Part::Files]);
        assert_eq!(Level::Full.meets(Demand::Full), Ok(Level::Full));
        assert_eq!(Level::None.meets(Demand::BestEffort), Ok(Level::None));
        let short = partial.clone().meets(Demand::Full).unwrap_err();
        assert_eq!(short, Short { level: partial });
        assert_eq!(
            short.to_string(),
            "full confinement was demanded and partial (without files) was reached: use a Linux kernel with Landlock \
             (5.13 or later) and seccomp filters, or demand less"
        );
    }
}
