//! Strict reading of JSON records: every field is taken by name, a field left over is refused.

use std::borrow::Cow;
use std::sync::Arc;

use dsh_json::{Json, JsonError, Object};

/// A JSON value that does not have the expected shape, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("${path}: {problem}")]
pub struct ShapeError {
    path: String,
    problem: Cow<'static, str>,
}

impl ShapeError {
    /// A problem of the value itself; [`within`](Self::within) and [`at`](Self::at) lead to it from outside.
    pub fn new(problem: impl Into<Cow<'static, str>>) -> Self {
        Self { path: String::new(), problem: problem.into() }
    }

    /// The same problem, seen from the object that holds the value in `field`.
    #[must_use]
    pub fn within(self, field: &str) -> Self {
        Self { path: format!(".{field}{}", self.path), ..self }
    }

    /// The same problem, seen from the array that holds the value at `index`.
    #[must_use]
    pub fn at(self, index: usize) -> Self {
        Self { path: format!("[{index}]{}", self.path), ..self }
    }

    /// Where, as `$.a[3]`.
    pub fn path(&self) -> String {
        format!("${}", self.path)
    }

    /// What is wrong there.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

impl From<JsonError> for ShapeError {
    fn from(error: JsonError) -> Self {
        let (text, path) = (error.to_string(), error.path());
        // The place comes first here.
        let told = [format!(" at {path}"), format!(", in {path}")];
        let problem = told.iter().find_map(|place| text.strip_suffix(place)).unwrap_or(&text).to_owned();
        Self { path: path.strip_prefix('$').unwrap_or(path).to_owned(), problem: problem.into() }
    }
}

/// The fields of one JSON object, taken one by one.
///
/// ```
/// # use dsh_json::object;
/// # use dsh_llm::{Fields, ShapeError};
/// # fn main() -> Result<(), ShapeError> {
/// let json = object! { "turn": 1, "note": "x" };
/// let mut fields = Fields::of(&json)?;
/// assert_eq!(fields.u32("turn")?, 1);
/// assert_eq!(fields.end().unwrap_err().to_string(), "$.note: unknown field");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Fields<'a> {
    object: &'a Object,
    taken: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of `json`, which must be an object.
    pub fn of(json: &'a Json) -> Result<Self, ShapeError> {
        let object = json.as_object().ok_or_else(|| mismatch("an object", json))?;
        Ok(Self { object, taken: Vec::with_capacity(object.len()) })
    }

    /// The value of a field that may be absent. `null` is a value, not absence.
    pub fn optional(&mut self, name: &'static str) -> Option<&'a Json> {
        let value = self.object.get(name)?;
        self.taken.push(name);
        Some(value)
    }

    /// The value of a field that must be there.
    pub fn json(&mut self, name: &'static str) -> Result<&'a Json, ShapeError> {
        self.optional(name).ok_or_else(|| ShapeError::new("missing").within(name))
    }

    /// A string, shared with the value it is read from.
    pub fn text(&mut self, name: &'static str) -> Result<Arc<str>, ShapeError> {
        string(self.json(name)?).map_err(|error| error.within(name))
    }

    /// A string that names something, so must not be empty.
    pub fn name(&mut self, name: &'static str) -> Result<Arc<str>, ShapeError> {
        let text = self.text(name)?;
        if text.is_empty() { Err(ShapeError::new("must not be empty").within(name)) } else { Ok(text) }
    }

    /// A string that may be absent.
    pub fn optional_text(&mut self, name: &'static str) -> Result<Option<Arc<str>>, ShapeError> {
        self.optional(name).map(string).transpose().map_err(|error| error.within(name))
    }

    /// A count that may be absent.
    pub fn optional_u64(&mut self, name: &'static str) -> Result<Option<u64>, ShapeError> {
        let read = |json: &Json| json.as_u64().ok_or_else(|| mismatch("a non-negative integer", json));
        self.optional(name).map(read).transpose().map_err(|error| error.within(name))
    }

    /// A count.
    pub fn u64(&mut self, name: &'static str) -> Result<u64, ShapeError> {
        self.optional_u64(name)?.ok_or_else(|| ShapeError::new("missing").within(name))
    }

    /// A small count: a turn, a step, an index.
    pub fn u32(&mut self, name: &'static str) -> Result<u32, ShapeError> {
        u32::try_from(self.u64(name)?).map_err(|_| ShapeError::new("larger than 4294967295").within(name))
    }

    /// A truth value that may be absent.
    pub fn optional_bool(&mut self, name: &'static str) -> Result<Option<bool>, ShapeError> {
        let read = |json: &Json| json.as_bool().ok_or_else(|| mismatch("true or false", json));
        self.optional(name).map(read).transpose().map_err(|error| error.within(name))
    }

    /// Refuses a field that was not taken, by name.
    pub fn end(self) -> Result<(), ShapeError> {
        if self.taken.len() >= self.object.len() {
            return Ok(());
        }
        match self.rest().next() {
            None => Ok(()),
            Some((name, _)) => Err(ShapeError::new("unknown field").within(name)),
        }
    }

    /// The fields that were not taken.
    pub fn rest(&self) -> impl Iterator<Item = (&'a Arc<str>, &'a Json)> + '_ {
        self.object.iter().filter(|(name, _)| !self.taken.iter().any(|taken| **taken == ***name))
    }
}

pub(crate) fn mismatch(expected: &str, found: &Json) -> ShapeError {
    ShapeError::new(format!("expected {expected}, found {}", found.kind()))
}

fn string(json: &Json) -> Result<Arc<str>, ShapeError> {
    match json {
        Json::String(text) => Ok(Arc::clone(text)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
            Err(mismatch("a string", json))
        }
    }
}

#[cfg(test)]
mod tests {
    use dsh_json::object;

    use super::*;

    #[test]
    fn an_error_of_the_json_crate_keeps_its_place_once() {
        let json = object! { "a": object! { "n": "x" } };
        let error =
            json.read::<std::collections::BTreeMap<String, std::collections::BTreeMap<String, u32>>>();
        let error = ShapeError::from(error.unwrap_err());
        assert_eq!(error.path(), "$.a.n");
        assert_eq!(error.to_string(), "$.a.n: invalid type: string \"x\", expected u32");
    }

    #[test]
    fn null_is_a_value_and_not_absence() {
        let json = object! { "a": Json::Null };
        let error = Fields::of(&json).unwrap().optional_text("a").unwrap_err();
        assert_eq!(error.to_string(), "$.a: expected a string, found null");
    }
}
