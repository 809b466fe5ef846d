//! Foreign schemas (of MCP servers, of `OpenAPI`) as schemas of the subset, node by node.
//!
//! ```text
//! foreign schema ──walk──▶ shape ──emit──▶ Schema     what a model and the renderers see
//!       │                    └──▶ ImportReport        what became of each keyword
//!       └─────────────────────▶ OriginalCheck         what judges calls, word by word (feature `foreign`)
//! ```

#[cfg(feature = "foreign")]
mod cost;
mod emit;
mod kinds;
mod merge;
#[cfg(feature = "foreign")]
mod original;
mod phrase;
mod refs;
mod report;
mod shape;
#[cfg(feature = "foreign")]
mod unmet;
mod walk;

use std::sync::Arc;

use dsh_json::Json;

#[cfg(feature = "foreign")]
pub use self::original::OriginalCheck;
pub use self::report::{Fate, ImportReport, ReportEntry};

use self::kinds::one_object;
use self::report::Finding;
use self::walk::Walk;
use crate::schema::{DEFAULT_LISTED, Schema};
use crate::violation::{JsonSchemaError, Violations};
use crate::words;

/// Bounds on what an import reads, makes and says. Where one is met, a part becomes any JSON, and the report
/// names the bound; the import as a whole does not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportLimits {
    /// Levels of the imported schema, references included.
    pub depth: usize,
    /// Nodes of the foreign schema that are read, each definition once.
    pub nodes: usize,
    /// Properties that are compared or put together for `allOf`, `anyOf` and `oneOf`.
    pub steps: usize,
    /// Forms of objects in one union; more are joined into one.
    pub alternatives: usize,
    /// Members of an `enum`.
    pub literals: usize,
    /// Characters of a description, and bytes of a `default` or of `examples`.
    pub text: usize,
    /// Bytes of the imported schema, about; never more than 1 MiB.
    pub bytes: usize,
    /// Entries that the report lists.
    pub entries: usize,
    /// Levels of a foreign schema, and of a value, that is judged word by word.
    pub judged_depth: usize,
    /// Nodes that a foreign schema may have with all its references written out, to be judged word by word.
    pub judged_nodes: usize,
}

/// More would not pass the assert.
const MAX_BYTES: usize = 1024 * 1024;

impl Default for ImportLimits {
    fn default() -> Self {
        Self {
            depth: 64,
            nodes: 100_000,
            steps: 500_000,
            alternatives: 16,
            literals: 2_000,
            text: 8_192,
            bytes: MAX_BYTES,
            entries: 256,
            judged_depth: 128,
            judged_nodes: 50_000,
        }
    }
}

/// A foreign schema, as far as the subset can say it.
#[derive(Clone, Debug)]
pub struct Imported {
    schema: Schema,
    report: ImportReport,
    #[cfg(feature = "foreign")]
    original: Option<OriginalCheck>,
    unchecked: Option<Arc<str>>,
}

/// Why a foreign schema can't be imported at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The root is no schema.
    #[error("the schema is {found}, and has to be an object or a boolean")]
    NotASchema {
        /// What it is.
        found: String,
    },
    /// The root of parameters takes no object.
    #[error("the schema of the arguments takes {found}, and has to take an object")]
    RootNotObject {
        /// The types that it takes.
        found: String,
    },
    /// What was made of it was refused by the assert, which is a fault of the import.
    #[error("the imported schema was refused")]
    Refused(#[source] JsonSchemaError),
}

impl ImportError {
    /// The stable code: `UNSUPPORTED_SCHEMA`.
    pub fn code(&self) -> &'static str {
        "UNSUPPORTED_SCHEMA"
    }
}

/// Foreign schemas.
impl Schema {
    /// Imports a foreign JSON Schema of any draft, or of `OpenAPI` 3, with any root: the output of a tool.
    ///
    /// What the subset can't say is loosened where it stands, never as a whole. A schema that keeps to the subset
    /// is imported as it is. Time and memory are linear in the schema, within `limits`.
    ///
    /// # Errors
    /// [`ImportError::NotASchema`].
    pub fn import(foreign: &Json, limits: &ImportLimits) -> Result<Imported, ImportError> {
        import(foreign, limits, false)
    }

    /// As [`Schema::import`], for the arguments of a tool, whose root becomes one object.
    ///
    /// A root that takes anything is an open object; alternatives at the root are joined into one object, and told in
    /// its description; what is no object is left out.
    ///
    /// # Errors
    /// [`ImportError::NotASchema`], and [`ImportError::RootNotObject`] when the root takes no object.
    pub fn import_params(foreign: &Json, limits: &ImportLimits) -> Result<Imported, ImportError> {
        import(foreign, limits, true)
    }
}

impl Imported {
    /// The schema of the subset: for models, renderers and typed clients.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What became of the foreign keywords.
    pub fn report(&self) -> &ImportReport {
        &self.report
    }

    /// The check by the foreign schema itself; absent when the imported one says all of it, or when it can't be had
    /// (see [`unchecked`](Imported::unchecked)).
    #[cfg(feature = "foreign")]
    pub fn original(&self) -> Option<&OriginalCheck> {
        self.original.as_ref()
    }

    /// Why values are not judged by the foreign schema itself, although the imported one says less.
    pub fn unchecked(&self) -> Option<&str> {
        self.unchecked.as_deref()
    }

    /// Whether a value is valid by the imported schema and, where it can be had, by the foreign one.
    pub fn is_valid(&self, value: &Json) -> bool {
        if !self.schema.is_valid(value) {
            return false;
        }
        #[cfg(feature = "foreign")]
        if let Some(original) = &self.original {
            return original.is_valid(value);
        }
        true
    }

    /// What is wrong with a value, as [`Schema::violations`] says it: by the imported schema; if that finds nothing, by
    /// the foreign one.
    pub fn violations(&self, value: &Json, root: &str) -> Violations {
        self.violations_up_to(value, root, DEFAULT_LISTED)
    }

    /// As [`Imported::violations`], with another bound on the list.
    pub fn violations_up_to(&self, value: &Json, root: &str, listed: usize) -> Violations {
        let found = self.schema.violations_up_to(value, root, listed);
        if !found.is_empty() {
            return found;
        }
        #[cfg(feature = "foreign")]
        if let Some(original) = &self.original {
            return original.violations(value, root, listed);
        }
        found
    }
}

fn import(foreign: &Json, limits: &ImportLimits, params: bool) -> Result<Imported, ImportError> {
    if foreign.as_object().is_none() && foreign.as_bool().is_none() {
        return Err(ImportError::NotASchema { found: words::found(foreign) });
    }
    if let Some(schema) = as_it_is(foreign, limits, params) {
        return Ok(Imported {
            schema,
            report: ImportReport::default(),
            #[cfg(feature = "foreign")]
            original: None,
            unchecked: None,
        });
    }
    let mut walk = Walk::new(foreign, limits);
    let mut shape = if params {
        Arc::unwrap_or_clone(walk.node(foreign, 0))
    } else {
        Arc::unwrap_or_clone(walk.value(foreign, 0))
    };
    shape.strip_implied();
    if params {
        shape = one_object(&mut walk, shape).map_err(|found| ImportError::RootNotObject { found })?;
    }
    // Remarks stand behind what is said; with them a description is no longer than a second import takes.
    let text = limits.text.max(ImportLimits::default().text);
    let (product, cut) = emit::emit(&shape.shared(), limits.bytes.min(MAX_BYTES), text);
    if cut > 0 {
        let note = format!("{cut} parts do not fit into {} bytes, so anything is taken there", limits.bytes);
        walk.found("(size)", Finding::new(Fate::Dropped, note));
    }
    let schema = Schema::new(&product).map_err(ImportError::Refused)?;
    let report = walk.report;
    #[cfg(feature = "foreign")]
    let (original, unchecked) = if report.is_exact() {
        (None, None)
    } else {
        match OriginalCheck::new(foreign, &walk.document, limits) {
            Ok(original) => (Some(original), None),
            Err(reason) => (None, Some(reason.into())),
        }
    };
    #[cfg(not(feature = "foreign"))]
    let unchecked = (!report.is_exact()).then(|| "this build has no check by foreign schemas".into());
    Ok(Imported {
        schema,
        report,
        #[cfg(feature = "foreign")]
        original,
        unchecked,
    })
}

/// A schema that keeps to the subset, and to the bounds on text.
fn as_it_is(foreign: &Json, limits: &ImportLimits, params: bool) -> Option<Schema> {
    let schema = Schema::new(foreign).ok()?;
    let object = foreign.get("type").and_then(Json::as_str) == Some("object");
    // The bound on all of it comes first: what is shared counts each time.
    let short = phrase::is_small(foreign, limits.bytes) && has_short_texts(foreign, limits.text);
    ((object || !params) && short).then_some(schema)
}

/// Whether no text of a schema has more than `limit` characters.
fn has_short_texts(schema: &Json, limit: usize) -> bool {
    let mut todo = vec![schema];
    while let Some(value) = todo.pop() {
        match value {
            Json::String(text) if text.chars().nth(limit).is_some() => return false,
            Json::Array(items) => todo.extend(items.iter()),
            Json::Object(node) => todo.extend(node.values()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    true
}
