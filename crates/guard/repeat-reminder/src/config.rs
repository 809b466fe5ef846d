//! When a model is reminded, of which tools, and how much is quoted.

use std::num::NonZeroUsize;

use dsh_tools_core::Pattern;
use serde::Deserialize;

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
}

impl Default for RepeatConfig {
    fn default() -> Self {
        Self {
            thresholds: vec![3, 5, 8],
            include: Vec::new(),
            exclude: Vec::new(),
            arguments_preview_chars: NonZeroUsize::new(500).unwrap_or(NonZeroUsize::MIN),
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
}

/// A configuration that was looked at.
#[derive(Debug)]
pub(crate) struct Settings {
    /// From the smallest to the largest; there is one.
    pub(crate) thresholds: Vec<usize>,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    pub(crate) preview: usize,
}

impl Settings {
    pub(crate) fn of(config: RepeatConfig) -> Result<Self, ConfigError> {
        let RepeatConfig { mut thresholds, include, exclude, arguments_preview_chars } = config;
        thresholds.sort_unstable();
        match thresholds.first() {
            None => return Err(ConfigError::NoThreshold),
            Some(&smallest) if smallest < 2 => return Err(ConfigError::Threshold(smallest)),
            Some(_) => {}
        }
        let mut pairs = thresholds.iter().zip(thresholds.iter().skip(1));
        if let Some((twice, _)) = pairs.find(|(this, next)| this == next) {
            return Err(ConfigError::Twice(*twice));
        }
        let patterns = |names: Vec<String>| names.iter().map(|name| Pattern::new(name)).collect();
        let (include, exclude) = (patterns(include), patterns(exclude));
        Ok(Self { thresholds, include, exclude, preview: arguments_preview_chars.get() })
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
        assert_eq!(settings("{}").unwrap().thresholds, [3, 5, 8]);
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
