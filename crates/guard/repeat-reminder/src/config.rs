//! When a model is reminded, of which tools, and how much is quoted.

use std::num::NonZeroUsize;
use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::Content;
use dsh_tools_core::Pattern;
use serde::Deserialize;

use crate::chain::{Call, MAX_PERIOD};

/// The configuration of the reminder. Unknown keys are refused; so is what [`ConfigError`] lists, by
/// [`RepeatReminder::new`](crate::RepeatReminder::new).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RepeatConfig {
    /// The counts of same calls in a row at which the model is told, each 2 or more. In any order. Default 3, 5, 8.
    pub thresholds: Vec<usize>,
    /// The tools that are looked at: names in which `*` stands for anything. Empty for all of them, the default.
    pub include: Vec<String>,
    /// The tools that are not looked at, written in the same way; wins over `include`. Default none.
    pub exclude: Vec<String>,
    /// How many characters of the arguments are quoted. Default 500.
    pub arguments_preview_chars: NonZeroUsize,
    /// How many calls a round may have that is made again and again, 1 to 4. Its rounds are counted as same calls are. Default
    /// 1, which are same calls in a row and nothing else; 3 also sees `a b a b` and `a b c a b c`.
    pub max_period: usize,
    /// Whether a call is a repetition only if the same came of it, too: one that gave something else is progress, as that of a
    /// call that polls. A failure is none. Results count as tools gave them, in an earlier life as the log has them. Default false.
    pub same_results: bool,
    /// Beyond the largest threshold the model is told again each time that so many more were counted. Default never.
    pub every: Option<NonZeroUsize>,
    /// The count from which on the call is denied, beyond the largest threshold. Default never. Calls that run at the same time
    /// are counted when they end, so a batch of same calls may pass it.
    pub deny_at: Option<usize>,
    /// How many calls of a session's earlier life are looked at when it goes on, at most. Default 1,000; with 0 a session that goes
    /// on begins at nothing.
    pub resume_calls: usize,
}

impl Default for RepeatConfig {
    fn default() -> Self {
        Self {
            thresholds: vec![3, 5, 8],
            include: Vec::new(),
            exclude: Vec::new(),
            arguments_preview_chars: NonZeroUsize::new(500).unwrap_or(NonZeroUsize::MIN),
            max_period: 1,
            same_results: false,
            every: None,
            deny_at: None,
            resume_calls: 1000,
        }
    }
}

/// Why a configuration is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// There is no threshold.
    #[error("`thresholds` is empty; name one count or more, such as [3, 5, 8], or leave it out")]
    NoThreshold,
    /// A count at which nothing was repeated yet.
    #[error("`thresholds` has {0}; a call is repeated from 2 on")]
    Threshold(usize),
    /// A count that stands there twice.
    #[error("`thresholds` has {0} twice")]
    Twice(usize),
    /// A round of no calls, or of more than can be seen.
    #[error("`maxPeriod` is {0}; a round has 1 to {MAX_PERIOD} calls")]
    Period(usize),
    /// A count at which a call would be denied before the model was told everything; with the largest threshold.
    #[error("`denyAt` is {0}; it must be more than {1}, the largest of `thresholds`")]
    DenyAt(usize, usize),
}

/// A configuration that was looked at.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Its thresholds go from the smallest to the largest; there is one.
    pub(crate) config: RepeatConfig,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

impl Settings {
    pub(crate) fn of(mut config: RepeatConfig) -> Result<Self, ConfigError> {
        config.thresholds.sort_unstable();
        let thresholds = &config.thresholds;
        let (Some(&smallest), Some(&largest)) = (thresholds.first(), thresholds.last()) else {
            return Err(ConfigError::NoThreshold);
        };
        let period = config.max_period;
        let mut pairs = thresholds.iter().zip(thresholds.iter().skip(1));
        let refused = [
            (smallest < 2).then_some(ConfigError::Threshold(smallest)),
            pairs.find(|(this, next)| this == next).map(|(twice, _)| ConfigError::Twice(*twice)),
            (!(1..=MAX_PERIOD).contains(&period)).then_some(ConfigError::Period(period)),
            config.deny_at.filter(|at| *at <= largest).map(|at| ConfigError::DenyAt(at, largest)),
        ];
        if let Some(error) = refused.into_iter().flatten().next() {
            return Err(error);
        }
        let patterns = |names: &[String]| names.iter().map(|name| Pattern::new(name)).collect();
        let (include, exclude) = (patterns(&config.include), patterns(&config.exclude));
        Ok(Self { config, include, exclude })
    }

    /// Whether the model is told at this count, and then whether for the first time.
    pub(crate) fn due(&self, count: usize) -> Option<bool> {
        if let Some(place) = self.config.thresholds.iter().position(|threshold| *threshold == count) {
            return Some(place == 0);
        }
        let beyond = count.checked_sub(*self.config.thresholds.last()?)?;
        beyond.is_multiple_of(self.config.every?.get()).then_some(false)
    }

    /// As much of a call as is compared with others.
    pub(crate) fn call(&self, tool: &Arc<str>, arguments: &Json, failed: bool, gave: &Content) -> Call {
        let gave = (self.config.same_results && !failed).then(|| Arc::clone(gave));
        Call { tool: Arc::clone(tool), arguments: arguments.clone(), gave }
    }

    /// Whether the calls of a tool are looked at.
    pub(crate) fn tracks(&self, tool: &str) -> bool {
        let in_any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(tool));
        !in_any(&self.exclude) && (self.include.is_empty() || in_any(&self.include))
    }
}
