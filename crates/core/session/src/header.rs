//! What is known of a session before its first event.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_json::{Json, Object};
use dsh_llm::{Fields, ShapeError};

use crate::event::MAX_SAFE_INTEGER;

/// The session's header, outside of the log (spec 03 §6, design §6). Immutable; each value is checked when it is set.
///
/// Stored as `{"type":"session","version":1,"id","createdAt","cwd"?,"parentSession"?,"seedLength"?}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    id: Arc<str>,
    created_at: i64,
    cwd: Option<PathBuf>,
    parent_session: Option<Arc<str>>,
    seed_length: Option<u64>,
}

/// A header that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Written by another version; said before anything else of it is looked at.
    #[error("the session has version {found}, this program reads version {}", Header::VERSION)]
    Version {
        /// The version that was found, as JSON text.
        found: String,
    },
    /// Not a header, or one with wrong values.
    #[error("not a session header: {0}")]
    Shape(#[from] ShapeError),
}

impl Header {
    /// The version of log and header that is written and read.
    pub const VERSION: u64 = 1;

    /// A header of a session of its own. Refuses an empty id, and a time before 1970 or beyond 2^53.
    pub fn new(id: impl Into<Arc<str>>, created_at: i64) -> Result<Self, HeaderError> {
        let id = id.into();
        if id.is_empty() {
            return Err(ShapeError::new("must not be empty").within("id").into());
        }
        if !u64::try_from(created_at).is_ok_and(|time| time <= MAX_SAFE_INTEGER) {
            return Err(ShapeError::new("not a time in milliseconds since 1970").within("createdAt").into());
        }
        Ok(Self { id, created_at, cwd: None, parent_session: None, seed_length: None })
    }

    /// The same, started in a directory; refuses a path that is relative or not Unicode.
    pub fn in_directory(self, cwd: impl Into<PathBuf>) -> Result<Self, HeaderError> {
        let cwd = cwd.into();
        if !cwd.is_absolute() || cwd.to_str().is_none() {
            return Err(ShapeError::new("must be an absolute path in Unicode").within("cwd").into());
        }
        Ok(Self { cwd: Some(cwd), ..self })
    }

    /// The same, continued from the first `seed_length` events of another session. Refuses an empty id and a length
    /// beyond 2^53.
    pub fn forked_from(self, parent: impl Into<Arc<str>>, seed_length: u64) -> Result<Self, HeaderError> {
        let parent = parent.into();
        if parent.is_empty() {
            return Err(ShapeError::new("must not be empty").within("parentSession").into());
        }
        if seed_length > MAX_SAFE_INTEGER {
            return Err(ShapeError::new("too large").within("seedLength").into());
        }
        Ok(self.seeded(parent, seed_length))
    }

    /// [`forked_from`](Self::forked_from) for values that are checked.
    pub(crate) fn seeded(self, parent: Arc<str>, seed_length: u64) -> Self {
        Self { parent_session: Some(parent), seed_length: Some(seed_length), ..self }
    }

    /// The same, where no more than `seed_length` of the events from elsewhere are left.
    #[must_use]
    pub fn with_seed_length(self, seed_length: u64) -> Self {
        Self { seed_length: self.seed_length.map(|length| length.min(seed_length)), ..self }
    }

    /// The session's id.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// When it was created, in Unix milliseconds.
    pub fn created_at(&self) -> i64 {
        self.created_at
    }

    /// Where it was started.
    pub fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// The session that it was forked from.
    pub fn parent_session(&self) -> Option<&Arc<str>> {
        self.parent_session.as_ref()
    }

    /// How many of its first events it took from there.
    pub fn seed_length(&self) -> Option<u64> {
        self.seed_length
    }

    /// The stored form.
    pub fn to_json(&self) -> Json {
        let mut object = Object::with_capacity(7);
        object.insert("type", "session");
        object.insert("version", Self::VERSION);
        object.insert("id", Arc::clone(&self.id));
        object.insert("createdAt", self.created_at);
        if let Some(cwd) = self.cwd.as_ref().and_then(|cwd| cwd.to_str()) {
            object.insert("cwd", cwd);
        }
        if let Some(parent) = &self.parent_session {
            object.insert("parentSession", Arc::clone(parent));
        }
        if let Some(length) = self.seed_length {
            object.insert("seedLength", length);
        }
        object.into()
    }

    /// Reads the stored form. Another version is refused as such, whatever else the header holds.
    pub fn from_json(json: &Json) -> Result<Self, HeaderError> {
        let mut fields = Fields::of(json)?;
        if &*fields.text("type")? != "session" {
            return Err(ShapeError::new("expected `session`").within("type").into());
        }
        let version = fields.json("version")?;
        if version.as_u64() != Some(Self::VERSION) {
            return Err(HeaderError::Version { found: excerpt(&version.to_text()) });
        }
        let created = fields.json("createdAt")?.as_i64();
        let created = created.ok_or_else(|| ShapeError::new("expected an integer").within("createdAt"))?;
        let mut header = Self::new(fields.text("id")?, created)?;
        if let Some(cwd) = fields.optional_text("cwd")? {
            header = header.in_directory(&*cwd)?;
        }
        header.parent_session =
            fields.optional("parentSession").map(|_| fields.name("parentSession")).transpose()?;
        header.seed_length = fields.optional_u64("seedLength")?;
        if header.seed_length.is_some_and(|length| length > MAX_SAFE_INTEGER) {
            return Err(ShapeError::new("too large").within("seedLength").into());
        }
        fields.end()?;
        Ok(header)
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests;
