//! The kinds of spec 04: schemas, their author form, and values. Each kind is one function from input to output.

pub(crate) mod dsl_cases;
mod findings;
mod lossy;
mod oracle;
pub(crate) mod param_dsl;
mod rounding;
mod rules;
pub(crate) mod schema_cases;
pub(crate) mod schema_support;
#[cfg(test)]
mod tests;
pub(crate) mod validate;
pub(crate) mod value_cases;

pub use oracle::violations;

#[cfg(feature = "sdk")]
pub(crate) use {
    findings::{field, text_field},
    lossy::exposed,
    rules::{DEPTH, WHOLE_TEXT, WIDTH, place},
};

/// The code of every refusal of a schema.
const UNSUPPORTED: &str = "UNSUPPORTED_SCHEMA";
