//! The bounds of Code Mode.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// The configuration of Code Mode (spec 06 §1.2). Unknown keys and zero are refused when it is loaded. What one program
/// may use is the runtime's to bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CodeModeConfig {
    /// How many calls of one program may run at a time. Default 10.
    pub max_parallel_sub_calls: NonZeroUsize,
    /// How many calls of one program may be started and wait for an earlier one to be answered. Default 64.
    pub max_uncommitted_sub_calls: NonZeroUsize,
    /// How many bytes the declarations of all tools may take in the prompt. Default 1 MiB.
    pub max_sdk_bytes: NonZeroUsize,
}

impl Default for CodeModeConfig {
    fn default() -> Self {
        let some = |number| NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
        Self {
            max_parallel_sub_calls: some(10),
            max_uncommitted_sub_calls: some(64),
            max_sdk_bytes: some(1024 * 1024),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_json::Json;

    #[test]
    fn bounds_are_positive_and_keys_are_known() {
        let read = |text: &str| Json::parse(text).unwrap().read::<CodeModeConfig>();
        assert_eq!(read("{}").unwrap(), CodeModeConfig::default());
        assert_eq!(read(r#"{"maxParallelSubCalls": 1}"#).unwrap().max_parallel_sub_calls.get(), 1);
        for bad in ["0", "-1", "1.5", "null"] {
            let error = read(&format!(r#"{{"maxParallelSubCalls": {bad}}}"#)).unwrap_err();
            assert!(error.to_string().contains("maxParallelSubCalls"), "{error}");
        }
        assert!(read(r#"{"maxParallel": 3}"#).is_err());
    }
}
