//! Why a vector can't be judged.

use std::error::Error;
use std::time::Duration;

use dsh_json::{Json, JsonError};

/// What is wrong with a vector, or with running it. Each is a failure of that vector, told with its reason.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A field that its kind needs is not there.
    #[error("the vector has no `{0}`")]
    Missing(String),
    /// A field is of another form than its kind says.
    #[error("`{field}` is {found}, not {wanted}")]
    Form {
        /// The name of the field.
        field: String,
        /// What stands there, shortened.
        found: String,
        /// What belongs there.
        wanted: &'static str,
    },
    /// A text that should be JSON is none.
    #[error("{what} is not JSON: {error}")]
    NotJson {
        /// Which text.
        what: String,
        /// Where it stops being JSON.
        error: String,
    },
    /// Our reader refuses a text that is JSON, by a decision of ours: no fault of the vector. It is compared as
    /// `{"refused": code}`.
    #[error("the reader refuses it with {0}")]
    Refused(&'static str),
    /// The scene could not be set: a file, a registry.
    #[error("the scene could not be set: {0}")]
    Scene(#[from] Box<dyn Error + Send + Sync>),
    /// Running it panicked.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// It did not end.
    #[error("it did not end within {} s", .0.as_secs())]
    Late(Duration),
}

impl Fault {
    /// A field of the wrong form.
    pub(crate) fn form(field: impl Into<String>, found: &Json, wanted: &'static str) -> Self {
        let found = found.to_text().chars().take(60).collect();
        Self::Form { field: field.into(), found, wanted }
    }

    /// A text that is no JSON.
    pub(crate) fn not_json(what: impl Into<String>, error: &JsonError) -> Self {
        Self::NotJson { what: what.into(), error: error.to_string() }
    }

    /// Something that the scene needs and did not get.
    pub(crate) fn scene(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Scene(error.into())
    }
}

/// A field that must be there.
pub(crate) fn required<'a>(json: &'a Json, name: &str) -> Result<&'a Json, Fault> {
    json.get(name).ok_or_else(|| Fault::Missing(name.to_owned()))
}

/// A field that must be a text.
pub(crate) fn required_text<'a>(json: &'a Json, name: &str) -> Result<&'a str, Fault> {
    let field = required(json, name)?;
    field.as_str().ok_or_else(|| Fault::form(name, field, "a text"))
}

/// A list that may be left out.
#[cfg(any(feature = "files", feature = "scheduler"))]
pub(crate) fn optional_list<'a>(json: &'a Json, name: &str) -> Result<&'a [Json], Fault> {
    match json.get(name) {
        None | Some(Json::Null) => Ok(&[]),
        Some(field) => field.as_array().ok_or_else(|| Fault::form(name, field, "a list")),
    }
}
