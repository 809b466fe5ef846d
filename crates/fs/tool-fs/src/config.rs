//! The bounds of what one call shows.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// The configuration of the file tools (spec 07 §6.2). Unknown keys and zero are refused when it is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FsToolsConfig {
    /// How many lines `read` shows by default and at most. Default 2,000.
    pub read_limit: NonZeroU64,
    /// How many characters (UTF-16 code units) of a line it shows. Default 2,000.
    pub read_max_line_length: NonZeroU64,
    /// How many bytes of text it shows in all. Default 51,200.
    pub read_max_bytes: NonZeroU64,
    /// Files of at least this many bytes are read in pieces instead of in one. Default 10 MiB.
    pub read_stream_min_size: NonZeroU64,
    /// How long the spill store may take to give a whole stored text, in milliseconds. Default 10,000.
    pub read_stored_ms: NonZeroU64,
}

impl Default for FsToolsConfig {
    fn default() -> Self {
        let positive = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        Self {
            read_limit: positive(2000),
            read_max_line_length: positive(2000),
            read_max_bytes: positive(51_200),
            read_stream_min_size: positive(10 * 1024 * 1024),
            read_stored_ms: positive(10_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_json::Json;

    #[test]
    fn bounds_are_positive_integers_and_keys_are_known() {
        let read = |text: &str| Json::parse(text).unwrap().read::<FsToolsConfig>();
        assert_eq!(read("{}").unwrap(), FsToolsConfig::default());
        let limit = read(r#"{"readLimit": 3}"#).unwrap().read_limit;
        assert_eq!(limit.get(), 3);
        for bad in ["0", "-1", "1.5", "\"3\"", "null"] {
            for key in ["readLimit", "readMaxLineLength", "readMaxBytes", "readStreamMinSize", "readStoredMs"]
            {
                let error = read(&format!(r#"{{"{key}": {bad}}}"#)).unwrap_err();
                assert!(error.to_string().contains(key), "{error}");
            }
        }
        assert!(read(r#"{"readLimits": 3}"#).is_err());
    }
}
