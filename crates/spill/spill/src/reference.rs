//! How a saved text is found again.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What a store answers. The names of the fields are stable, for stores that are elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpillRef {
    /// Where the text is.
    pub locator: SpillLocator,
    /// How many bytes were stored: those of the content in UTF-8.
    pub bytes: u64,
    /// How the text is read from its locator, in the store's own words: sentences for the model, shown beside the
    /// locator.
    pub retrieval_hint: Arc<str>,
}

/// Where a saved text is: a path, a URI, a key, whatever its store says. It is shown, and never parsed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SpillLocator(Arc<str>);

impl SpillLocator {
    /// A locator of these words.
    pub fn new(locator: impl Into<Arc<str>>) -> Self {
        Self(locator.into())
    }

    /// The words.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SpillLocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use dsh_json::{Json, object};

    use super::*;

    #[test]
    fn fields_have_their_stable_names() {
        let reference = SpillRef {
            locator: SpillLocator::new("/s/x.txt"),
            bytes: 4,
            retrieval_hint: "Use `read`.".into(),
        };
        let json = object! { "locator": "/s/x.txt", "bytes": 4, "retrievalHint": "Use `read`." };
        assert_eq!(Json::from_serialize(&reference).unwrap(), json);
        assert_eq!(json.read::<SpillRef>().unwrap(), reference);
    }
}
