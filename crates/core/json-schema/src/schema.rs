//! The asserted schema, the one thing that everybody else holds.

use std::fmt;
use std::sync::Arc;

use dsh_json::Json;

use crate::assert;
use crate::check::{Budget, MAX_CHECK_STEPS, matches};
use crate::explain;
use crate::lower::Dropped;
use crate::program::{NodeId, Program};
use crate::violation::{JsonSchemaError, Violations};

/// How many violations of a value are listed unless the caller says otherwise.
pub const DEFAULT_LISTED: usize = 32;

/// A schema of the subset, asserted and compiled. Clones share everything.
///
/// It never changes, so a value that was valid stays valid.
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    json: Json,
    program: Program,
    drops: Box<[Dropped]>,
}

impl Schema {
    /// Asserts that a schema keeps to the subset, and compiles it.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of spec 04 §2.2; or one `schema_too_large` beyond
    /// [`MAX_SCHEMA_ENTRIES`](crate::MAX_SCHEMA_ENTRIES).
    pub fn new(schema: &Json) -> Result<Self, JsonSchemaError> {
        Ok(Self::compiled(schema, assert::assert(schema)?))
    }

    /// As [`Schema::new`], for a schema whose root has to be `type: object` (spec 04 §2.3).
    ///
    /// # Errors
    /// As [`Schema::new`]; on an otherwise good schema, one `root_not_object`.
    pub fn object_root(schema: &Json) -> Result<Self, JsonSchemaError> {
        Ok(Self::compiled(schema, assert::assert_object_root(schema)?))
    }

    fn compiled(schema: &Json, program: Program) -> Self {
        Self(Arc::new(Inner { json: schema.clone(), program, drops: Box::default() }))
    }

    /// As [`Schema::new`], for a schema that was lowered and has lost something.
    pub(crate) fn lowered(schema: &Json, drops: Vec<Dropped>) -> Result<Self, JsonSchemaError> {
        let program = assert::assert(schema)?;
        Ok(Self(Arc::new(Inner { json: schema.clone(), program, drops: drops.into() })))
    }

    /// The schema as JSON, as it was given.
    pub fn json(&self) -> &Json {
        &self.0.json
    }

    /// What the subset could not express when the schema was made from a Rust type; else empty.
    pub fn drops(&self) -> &[Dropped] {
        &self.0.drops
    }

    /// Whether a value is valid (spec 04 §2.4).
    ///
    /// Recursion is bounded, and nothing is allocated up to sixteen nested containers and unions. A value that takes
    /// more than [`MAX_CHECK_STEPS`] is not valid.
    pub fn is_valid(&self, value: &Json) -> bool {
        matches(&self.0.program, NodeId::ROOT, value, &mut Budget::of(MAX_CHECK_STEPS))
    }

    /// What is wrong with a value: empty when it is valid, at most [`DEFAULT_LISTED`] entries, the rest counted.
    ///
    /// `root` labels the value in paths: `value` for outputs, the empty label for arguments (spec 04 §2.5). A
    /// valid value costs what [`Schema::is_valid`] costs.
    pub fn violations(&self, value: &Json, root: &str) -> Violations {
        self.violations_up_to(value, root, DEFAULT_LISTED)
    }

    /// As [`Schema::violations`], with another bound on the list.
    pub fn violations_up_to(&self, value: &Json, root: &str, listed: usize) -> Violations {
        explain::violations(&self.0.program, value, root, listed, MAX_CHECK_STEPS)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.0.json).finish()
    }
}

/// Schemas are equal when their JSON is.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.json == other.0.json
    }
}
