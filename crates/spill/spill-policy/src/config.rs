//! The budget of a deployment.

use std::num::NonZeroU64;

use serde::Deserialize;

/// The configuration of the policy. Unknown keys are refused, and so are numbers that are negative or have a fraction.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SpillConfig {
    /// How many bytes of text a result may have, in UTF-8; a larger one is stored and shown in part. Where not even the notice
    /// fits, some 250 bytes, it stays whole. Default none: nothing is bounded, and nothing is registered.
    pub max_inline_bytes: Option<u64>,
    /// How long the store may take for one text, in milliseconds from 1. Later than that, the text stays whole. Default 5,000.
    pub save_ms: NonZeroU64,
    /// How many bytes a result may have for a person's screen, in JSON without escapes; more is left out of it and of the log.
    /// Counts where something is bounded. Default 1,048,576.
    pub max_meta_bytes: u64,
}

impl Default for SpillConfig {
    fn default() -> Self {
        let save_ms = NonZeroU64::new(5_000).unwrap_or(NonZeroU64::MIN);
        Self { max_inline_bytes: None, save_ms, max_meta_bytes: 1 << 20 }
    }
}

#[cfg(test)]
mod tests {
    use dsh_json::Json;

    use super::SpillConfig;

    #[test]
    fn a_cap_is_a_count_of_bytes_and_keys_are_known() {
        let read = |text: &str| Json::parse(text).unwrap().read::<SpillConfig>();
        assert_eq!(read("{}").unwrap(), SpillConfig::default());
        let all = read(r#"{"maxInlineBytes": 0, "saveMs": 1}"#).unwrap();
        assert_eq!((all.max_inline_bytes, all.save_ms.get()), (Some(0), 1));
        for (bad, key) in [
            (r#"{"maxInlineBytes": -1}"#, "maxInlineBytes"),
            (r#"{"maxInlineBytes": 1.5}"#, "maxInlineBytes"),
            (r#"{"maxInlineBytes": "1"}"#, "maxInlineBytes"),
            (r#"{"saveMs": 0}"#, "saveMs"),
            (r#"{"maxBytes": 1}"#, "maxBytes"),
        ] {
            let told = read(bad).expect_err(bad).to_string();
            assert!(told.contains(key), "{bad}: {told}");
        }
    }
}
