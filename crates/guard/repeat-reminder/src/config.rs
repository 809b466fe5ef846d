//! When a model is reminded, of which tools, and how much is quoted.

use std::num::NonZeroUsize;

use dsh_tools_core::Pattern;
use serde::Deserialize;

use crate::chain::MAX_PERIOD;

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
    /// A call would be denied before the model was told everything.
    #[error("`denyAt` is {at}; it must be more than {largest}, the largest of `thresholds`")]
    DenyAt {
        /// The count.
        at: usize,
        /// The largest threshold.
        largest: usize,
    },
}

/// How the model is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Nudge,
    Detailed,
}

/// A configuration that was looked at.
#[derive(Debug)]
pub(crate) struct Settings {
    /// From the smallest to the largest; there is one.
    thresholds: Vec<usize>,
    every: Option<NonZeroUsize>,
    pub(crate) deny_at: Option<usize>,
    pub(crate) max_period: usize,
    pub(crate) resume_calls: usize,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    pub(crate) preview: usize,
}

impl Settings {
    pub(crate) fn of(config: RepeatConfig) -> Result<Self, ConfigError> {
        let RepeatConfig { mut thresholds, include, exclude, arguments_preview_chars, .. } = config;
        let RepeatConfig { max_period, every, deny_at, resume_calls, .. } = config;
        thresholds.sort_unstable();
        let (Some(&smallest), Some(&largest)) = (thresholds.first(), thresholds.last()) else {
            return Err(ConfigError::NoThreshold);
        };
        if smallest < 2 {
            return Err(ConfigError::Threshold(smallest));
        }
        let mut pairs = thresholds.iter().zip(thresholds.iter().skip(1));
        if let Some((twice, _)) = pairs.find(|(this, next)| this == next) {
            return Err(ConfigError::Twice(*twice));
        }
        if !(1..=MAX_PERIOD).contains(&max_period) {
            return Err(ConfigError::Period(max_period));
        }
        if let Some(at) = deny_at.filter(|at| *at <= largest) {
            return Err(ConfigError::DenyAt { at, largest });
        }
        let patterns = |names: Vec<String>| names.iter().map(|name| Pattern::new(name)).collect();
        let (include, exclude) = (patterns(include), patterns(exclude));
        let preview = arguments_preview_chars.get();
        Ok(Self { thresholds, every, deny_at, max_period, resume_calls, include, exclude, preview })
    }

    /// How the model is told at this count, if it is.
    pub(crate) fn due(&self, count: usize) -> Option<Form> {
        if let Some(place) = self.thresholds.iter().position(|threshold| *threshold == count) {
            return Some(if place == 0 { Form::Nudge } else { Form::Detailed });
        }
        let beyond = count.checked_sub(*self.thresholds.last()?)?;
        beyond.is_multiple_of(self.every?.get()).then_some(Form::Detailed)
    }

    /// Whether the calls of a tool are looked at.
    pub(crate) fn tracks(&self, tool: &str) -> bool {
        let in_any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(tool));
        !in_any(&self.exclude) && (self.include.is_empty() || in_any(&self.include))
    }
}

#[cfg(test)]
mod tests {
    use dsh_json::Json;

    use super::*;

    fn settings(text: &str) -> Result<Settings, String> {
        let config = Json::parse(text).unwrap().read::<RepeatConfig>().map_err(|error| error.to_string())?;
        Settings::of(config).map_err(|error| error.to_string())
    }

    #[test]
    fn thresholds_are_put_in_order() {
        let defaults = settings("{}").unwrap();
        assert_eq!((&*defaults.thresholds, defaults.every, defaults.deny_at), (&[3, 5, 8][..], None, None));
        assert_eq!((defaults.max_period, defaults.resume_calls), (1, 1000));
        assert_eq!(settings(r#"{"thresholds": [4, 2]}"#).unwrap().thresholds, [2, 4]);
    }

    #[test]
    fn what_is_no_configuration_is_refused() {
        for (text, says) in [
            (r#"{"thresholds": []}"#, "`thresholds` is empty"),
            (r#"{"thresholds": [3, 1]}"#, "`thresholds` has 1"),
            (r#"{"thresholds": [0]}"#, "`thresholds` has 0"),
            (r#"{"thresholds": [5, 3, 5]}"#, "`thresholds` has 5 twice"),
            (r#"{"thresholds": [2.5]}"#, "thresholds"),
            (r#"{"thresholds": [-3]}"#, "thresholds"),
            (r#"{"argumentsPreviewChars": 0}"#, "argumentsPreviewChars"),
            (r#"{"argumentsPreviewChars": 1.5}"#, "argumentsPreviewChars"),
            (r#"{"maxPeriod": 0}"#, "`maxPeriod` is 0; a round has 1 to 4 calls"),
            (r#"{"maxPeriod": 5}"#, "`maxPeriod` is 5"),
            (r#"{"every": 0}"#, "every"),
            (r#"{"thresholds": [4, 2], "denyAt": 4}"#, "`denyAt` is 4; it must be more than 4"),
            (r#"{"denyAt": 2}"#, "`denyAt` is 2"),
            (r#"{"resumeCalls": -1}"#, "resumeCalls"),
            (r#"{"treshold": [3]}"#, "treshold"),
        ] {
            let told = settings(text).expect_err(text);
            assert!(told.contains(says), "{text}: {told}");
        }
    }

    #[test]
    fn exclusion_wins_and_stars_stand_for_anything() {
        let settings =
            settings(r#"{"include": ["web_*", "probe"], "exclude": ["web_status", "pr.be"]}"#).unwrap();
        for (tool, tracked) in [
            ("web_search", true),
            ("web_", true),
            ("web_status", false),
            ("probe", true),
            ("read", false),
            ("a_web_b", false),
        ] {
            assert_eq!(settings.tracks(tool), tracked, "{tool}");
        }
    }
}
