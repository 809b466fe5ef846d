//! From the text that a model wrote to arguments, once.

use std::sync::Arc;

use dsh_json::{Json, JsonError, Limits};

use crate::{ToolError, object, text};

/// The arguments of a call: a value, or text that is none.
#[derive(Debug, Clone)]
pub enum Arguments {
    /// A lossless JSON value, of any type.
    Value {
        /// The value.
        value: Json,
        /// The paths of keys that the text has more than once; the last value counts.
        duplicate_keys: Arc<[String]>,
    },
    /// Not JSON. Such a call is exclusive, reaches listeners with its text as a string, and never a body.
    Malformed(Malformed),
}

/// Argument text that can't be read.
#[derive(Debug, Clone)]
pub struct Malformed {
    text: Arc<str>,
    error: ToolError,
}

impl Arguments {
    /// Reads argument text. Empty text is `{}`, as models write it for tools without parameters; everything else is
    /// JSON or malformed, white space alone included (spec 02 §A.2, design §4.5).
    pub fn parse(text: &str, limits: &Limits) -> Self {
        if text.is_empty() {
            return object! {}.into();
        }
        match Json::parse_with(text, limits) {
            Ok(parsed) => Self::Value { value: parsed.value, duplicate_keys: parsed.duplicate_keys.into() },
            Err(error) => Self::Malformed(Malformed { text: text.into(), error: explain(&error) }),
        }
    }
}

impl From<Json> for Arguments {
    fn from(value: Json) -> Self {
        Self::Value { value, duplicate_keys: Arc::from([]) }
    }
}

impl Malformed {
    /// The text as the model wrote it.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// What is wrong with it.
    pub fn error(&self) -> &ToolError {
        &self.error
    }
}

/// A lossy number, a lone surrogate and text beyond a limit keep their codes; whatever else is wrong is
/// `INVALID_ARGS`.
fn explain(error: &JsonError) -> ToolError {
    match error.code() {
        code @ ("JSON_TOO_DEEP" | "JSON_NUMBER" | "JSON_STRING" | "JSON_TOO_LONG") => {
            ToolError::new("ToolArgsError", code, text::unusable_arguments(error))
        }
        _ => ToolError::invalid_args(text::malformed_arguments(error)),
    }
}
