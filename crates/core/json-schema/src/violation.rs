//! What is wrong with a schema or a value: kind, path and argument are contract, the words are ours.

use std::fmt;
use std::sync::Arc;

use crate::schema::DEFAULT_LISTED;
use crate::words;

/// The longest text of one violation, in characters.
const MAX_TEXT_CHARS: usize = 480;
/// The longest path that a text repeats; [`Violation::path`] is always whole.
const MAX_PATH_CHARS: usize = 160;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// Every kind of violation, with its stable word (spec 04 §2.2, §2.4, §3.3).
        ///
        /// A [`Json`](dsh_json::Json) value is a tree of lossless numbers, so the kinds for cycles and lossy
        /// values do not exist here: such input is refused when it is read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ViolationKind { $($(#[$doc])* $variant,)* }

        impl ViolationKind {
            /// The stable word, such as `wrong_type`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

kinds! {
    /// A schema node is not an object.
    NotSchemaObject = "not_schema_object",
    /// A keyword outside the subset.
    UnknownKeyword = "unknown_keyword",
    /// `description` or `title` is not a string.
    AnnotationNotString = "annotation_not_string",
    /// A node has both `type` and `oneOf`.
    TypeAndOneof = "type_and_oneof",
    /// A constraint stands on a node that has neither `type` nor `oneOf`.
    ConstraintWithoutType = "constraint_without_type",
    /// `oneOf` is not an array of at least two schemas.
    OneofArity = "oneof_arity",
    /// A constraint stands beside `oneOf`.
    BesideOneof = "beside_oneof",
    /// `type` is an array.
    TypeIsArray = "type_is_array",
    /// `type` is none of the seven names.
    TypeUnknown = "type_unknown",
    /// A keyword that does not belong to the node's type; the argument is the type.
    MisplacedKeyword = "misplaced_keyword",
    /// `properties` is not an object.
    PropertiesNotRecord = "properties_not_record",
    /// `required` is not an array of strings.
    RequiredNotStringArray = "required_not_string_array",
    /// `required` lists a name that `properties` does not declare; the argument is the name.
    RequiredUndeclared = "required_undeclared",
    /// `additionalProperties` is not a boolean.
    AdditionalNotBool = "additional_not_bool",
    /// `enum` is not a non-empty array of fitting literals; the argument is the type.
    EnumInvalid = "enum_invalid",
    /// `const` does not fit the type; the argument is the type.
    ConstInvalid = "const_invalid",
    /// `const` is not a member of `enum`.
    ConstNotInEnum = "const_not_in_enum",
    /// A root that has to be `type: object` is not.
    RootNotObject = "root_not_object",
    /// The schema has more entries than the limit; the argument is the limit.
    SchemaTooLarge = "schema_too_large",
    /// An author's node is not an object.
    DslNotValueSchema = "dsl_not_value_schema",
    /// An author's property map is not an object.
    DslNotPropertyMap = "dsl_not_property_map",
    /// A key outside the vocabulary of the author's node.
    DslKey = "dsl_key",
    /// `required` on a property is not exactly `true`.
    DslRequiredNotTrue = "dsl_required_not_true",
    /// An author's `oneOf` is not an array.
    DslOneofNotArray = "dsl_oneof_not_array",
    /// An author's object does not say whether it is open.
    DslOpennessMissing = "dsl_openness_missing",
    /// An author's `enum` is not an array.
    DslEnumNotArray = "dsl_enum_not_array",
    /// An author's `type` is missing or unknown.
    DslBadType = "dsl_bad_type",
    /// A value has another type; the argument is the expected one.
    WrongType = "wrong_type",
    /// A value is not a member of `enum`; the argument is the list as compact JSON.
    NotInEnum = "not_in_enum",
    /// A value is not the `const`; the argument is the literal as compact JSON.
    NotConst = "not_const",
    /// A required property is missing; the path is the property's.
    MissingRequired = "missing_required",
    /// A closed object has a property that it does not declare; the path is the property's.
    UndeclaredProperty = "undeclared_property",
    /// Not exactly one branch of `oneOf` matches; the argument is how many do.
    OneofMismatch = "oneof_mismatch",
    /// A keyword of a foreign schema that the subset does not have is not met; the argument is the keyword.
    UnmetKeyword = "unmet_keyword",
    /// Checking the value takes more steps than the limit, or it is too deep; the argument is the limit.
    ValueTooLarge = "value_too_large",
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that is wrong, and where.
///
/// `Display` writes the path first, then words for whoever has to correct it, in less than 500 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    kind: ViolationKind,
    path: String,
    arg: Option<Arc<str>>,
    words: String,
}

impl Violation {
    pub(crate) fn new(kind: ViolationKind, path: String, arg: Option<Arc<str>>, words: String) -> Self {
        Self { kind, path, arg, words }
    }

    /// What kind of thing is wrong.
    pub fn kind(&self) -> ViolationKind {
        self.kind
    }

    /// Where, as spec 04 §2.2 and §2.5 write it; never shortened.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What the kind carries, if it carries something (see [`ViolationKind`]); never shortened.
    pub fn arg(&self) -> Option<&str> {
        self.arg.as_deref()
    }

    /// The explanation without the path.
    pub fn words(&self) -> &str {
        &self.words
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}: {}", words::shorten_middle(&self.path, MAX_PATH_CHARS), self.words);
        f.write_str(&words::shorten(&text, MAX_TEXT_CHARS))
    }
}

/// The violations of one value, in the order of spec 04 §2.4: at most the cap, and how many more there are.
///
/// `Display` joins the first [`DEFAULT_LISTED`](crate::DEFAULT_LISTED) by `; ` and ends with `and N more` when
/// there are others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    listed: Vec<Violation>,
    more: usize,
}

impl Violations {
    /// The listed violations.
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.listed.iter()
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.listed.len()
    }

    /// Whether the value is valid.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.more == 0
    }

    /// How many were found beyond the cap, and are not listed.
    pub fn truncated(&self) -> usize {
        self.more
    }

    /// Adds what `violation` makes, or only counts it when `cap` are listed already.
    pub(crate) fn add(&mut self, cap: usize, violation: impl FnOnce() -> Violation) {
        if self.listed.len() < cap {
            self.listed.push(violation());
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// How many there are, listed or not.
    pub(crate) fn total(&self) -> usize {
        self.listed.len().saturating_add(self.more)
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.listed.len().min(DEFAULT_LISTED);
        for (index, violation) in self.listed.iter().take(shown).enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            violation.fmt(f)?;
        }
        match (self.total().saturating_sub(shown), shown) {
            (0, _) => Ok(()),
            (more, 0) => write!(f, "{more} violations"),
            (more, _) => write!(f, "; and {more} more"),
        }
    }
}

/// A schema that the subset does not support (spec 04 §2.6).
///
/// The message is a short lead-in and the violations, joined by `; `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unsupported schema: {violations}")]
pub struct JsonSchemaError {
    violations: Violations,
}

impl JsonSchemaError {
    /// The stable name that records of this error carry.
    pub const NAME: &'static str = "JsonSchemaError";

    pub(crate) fn new(violations: Violations) -> Self {
        Self { violations }
    }

    /// The stable code: `UNSUPPORTED_SCHEMA`.
    pub fn code(&self) -> &'static str {
        "UNSUPPORTED_SCHEMA"
    }

    /// What is wrong, in order.
    pub fn violations(&self) -> &Violations {
        &self.violations
    }
}
