//! What an event type is.

use std::sync::Arc;

use dsh_json::{Json, JsonError};
use dsh_llm::{Fields, Message, ShapeError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The payload of one event type, declared by the crate that writes it.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use dsh_session::Payload;
/// #[derive(Serialize, Deserialize)]
/// #[serde(rename_all = "camelCase", deny_unknown_fields)]
/// struct NoteTaken {
///     text: String,
/// }
///
/// impl Payload for NoteTaken {
///     const TYPE: &'static str = "note/taken";
///     const IGNORABLE: bool = true;
/// }
/// ```
pub trait Payload: Serialize + DeserializeOwned + 'static {
    /// The event's type.
    const TYPE: &'static str;

    /// Whether the event has a place in what the model sees.
    const SURFACE: bool = false;

    /// Whether a reader that does not know the type may skip the event. A type that changes what a log means is not
    /// ignorable.
    const IGNORABLE: bool = false;

    /// A promise that what [`check`](Self::check) accepts is read back by [`from_json`](Self::from_json) as it was
    /// written by [`to_json`](Self::to_json). Without it each live append reads back what it wrote, so that nothing is
    /// stored that a reload would refuse. Whoever promises it has a test for it.
    const EXACT: bool = false;

    /// Rules beyond the shape, applied to what is appended and to what is loaded.
    fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }

    /// What a surface event adds to the derived history; `None` adds nothing.
    fn message(&self) -> Option<Arc<Message>> {
        None
    }

    /// The stored form; through serde unless a type has a faster way to the same value.
    fn to_json(&self) -> Result<Json, JsonError> {
        Json::from_serialize(self)
    }

    /// Reads the stored form, which is an object: serde takes an array of its fields as well.
    fn from_json(json: &Json) -> Result<Self, ShapeError> {
        Fields::of(json)?;
        json.read().map_err(ShapeError::from)
    }
}
