//! Where texts are kept, for how long, and how much of them.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use serde::Deserialize;

/// The configuration of the store. Unknown keys are refused; so is what [`ConfigError`] lists, by
/// [`LocalSpill::new`](crate::LocalSpill::new).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LocalSpillConfig {
    /// The directory that holds those of the sessions; a relative one is below the base that the store is given. Default
    /// none: a private directory below the system's for temporary files, one for each process.
    pub root: Option<PathBuf>,
    /// How many days a session's texts stay after the last one was saved, from 1. Only
    /// [`sweep`](crate::LocalSpill::sweep) removes any. Default 30.
    pub keep_days: NonZeroU32,
    /// How many bytes a session may have, from 1. A text that would be more is not saved. Default 1 GiB.
    pub max_session_bytes: NonZeroU64,
    /// How many directory entries a sweep looks at, from 1. What it does not reach stays. Default 100,000.
    pub sweep_max_entries: NonZeroU64,
    /// Whether a text is on the device, and its name too, before it counts as saved. Default true.
    pub sync: bool,
}

impl Default for LocalSpillConfig {
    fn default() -> Self {
        let bytes = |bytes| NonZeroU64::new(bytes).unwrap_or(NonZeroU64::MIN);
        Self {
            root: None,
            keep_days: NonZeroU32::new(30).unwrap_or(NonZeroU32::MIN),
            max_session_bytes: bytes(1 << 30),
            sweep_max_entries: bytes(100_000),
            sync: true,
        }
    }
}

/// Why a configuration is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The root is an empty text.
    #[error("`root` is empty; name a directory, or leave it out for a private one")]
    EmptyRoot,
    /// The root is relative, and so is the base.
    #[error("`root` is {}, below a base that is not absolute; name an absolute directory", .0.display())]
    Relative(PathBuf),
    /// The root has bytes that are no text, so a locator could not say it.
    #[error("`root` is {}, which is not UTF-8; name another directory", .0.display())]
    NotText(PathBuf),
}

#[cfg(test)]
mod tests {
    use dsh_json::Json;

    use super::LocalSpillConfig;

    #[test]
    fn numbers_are_positive_and_keys_are_known() {
        let read = |text: &str| Json::parse(text).unwrap().read::<LocalSpillConfig>();
        let default = read("{}").unwrap();
        assert_eq!(default, LocalSpillConfig::default());
        assert_eq!((default.root, default.keep_days.get(), default.sync), (None, 30, true));
        assert_eq!(default.max_session_bytes.get(), 1_073_741_824);
        let all =
            r#"{"root": "a", "keepDays": 1, "maxSessionBytes": 2, "sweepMaxEntries": 3, "sync": false}"#;
        let all = read(all).unwrap();
        assert_eq!((all.root.unwrap().to_str(), all.keep_days.get(), all.sync), (Some("a"), 1, false));
        assert_eq!((all.max_session_bytes.get(), all.sweep_max_entries.get()), (2, 3));
        for bad in [
            r#"{"keepDays": 0}"#,
            r#"{"keepDays": 1.5}"#,
            r#"{"maxSessionBytes": -1}"#,
            r#"{"sweepMaxEntries": 0}"#,
            r#"{"root": 1}"#,
            r#"{"dir": "a"}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
