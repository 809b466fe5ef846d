//! What can be configured.

use std::num::{NonZeroU64, NonZeroUsize};

use serde::{Deserialize, Serialize};

/// The limits of the search tools (spec 07 §7.1). A missing key has its default; an unknown key, and zero where a limit
/// is meant, are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct SearchToolsConfig {
    /// Whether a `glob` with too many results shows some of each top-level entry instead of the first ones.
    /// Default: true.
    pub sample_over_cap_glob_results: bool,
    /// How many paths a `glob` shows to the model. Default: 100.
    pub glob_max_results: NonZeroUsize,
    /// How many matches a `grep` shows to the model. Default: 250.
    pub grep_max_matches: NonZeroUsize,
    /// How many bytes of a matching line are shown to the model. Default: 2,000.
    pub grep_max_line_bytes: NonZeroUsize,
    /// How many bytes of matches a `grep` shows to the model, with their files and numbers; one match is always shown. Less than
    /// what a result may have inline, so that a page of long lines is not stored beside its complete list. Default: 40,000.
    pub grep_max_bytes: NonZeroUsize,
    /// How many bytes of facts for the screen are kept with a result. Default: 65,536.
    pub search_meta_max_bytes: NonZeroUsize,
    /// How many places that could not be searched are named. Default: 10.
    pub search_max_warnings: NonZeroUsize,
    /// How many bytes the complete results of one call may have. Default: 20,000,000.
    pub raw_output_max_bytes: NonZeroUsize,
    /// The time limit that both tools declare, in milliseconds. Default: 30,000.
    pub timeout_ms: NonZeroU64,
    /// How long the store of complete results may take, in milliseconds. Default: 5,000.
    pub spill_timeout_ms: NonZeroU64,
}

impl Default for SearchToolsConfig {
    fn default() -> Self {
        Self {
            sample_over_cap_glob_results: true,
            glob_max_results: positive(100),
            grep_max_matches: positive(250),
            grep_max_line_bytes: positive(2_000),
            grep_max_bytes: positive(40_000),
            search_meta_max_bytes: positive(65_536),
            search_max_warnings: positive(10),
            raw_output_max_bytes: positive(20_000_000),
            timeout_ms: NonZeroU64::MIN.saturating_add(29_999),
            spill_timeout_ms: NonZeroU64::MIN.saturating_add(4_999),
        }
    }
}

const fn positive(number: usize) -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_json::Json;

    #[test]
    fn every_limit_has_a_default_and_none_is_zero() {
        let read = |text: &str| Json::parse(text).unwrap().read::<SearchToolsConfig>();
        assert_eq!(read("{}").unwrap(), SearchToolsConfig::default());
        let default = SearchToolsConfig::default();
        assert_eq!((default.timeout_ms.get(), default.spill_timeout_ms.get()), (30_000, 5_000));
        let custom = read(r#"{"sampleOverCapGlobResults": false, "globMaxResults": 7}"#).unwrap();
        assert_eq!((custom.sample_over_cap_glob_results, custom.glob_max_results.get()), (false, 7));
        for key in [
            "globMaxResults",
            "grepMaxMatches",
            "grepMaxLineBytes",
            "grepMaxBytes",
            "searchMetaMaxBytes",
            "searchMaxWarnings",
            "rawOutputMaxBytes",
            "timeoutMs",
            "spillTimeoutMs",
        ] {
            for value in ["0", "-1", "1.5", "\"1\"", "null"] {
                let refused = read(&format!(r#"{{"{key}": {value}}}"#)).unwrap_err();
                assert!(refused.path().contains(key), "{key} {value}: {refused}");
            }
        }
        assert!(read(r#"{"graceMs": 1}"#).is_err());
    }
}
