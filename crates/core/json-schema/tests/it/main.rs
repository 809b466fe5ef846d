//! The crate through its public face.
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::needless_pass_by_value, reason = "rows read better without `&`")]
#![expect(clippy::items_after_statements, reason = "a type stands in the test that it belongs to")]

mod agreement;
mod author;
mod builder;
mod depth;
mod foreign;
mod foreign_arguments;
mod import;
mod import_limits;
mod original;
mod properties;
mod random;
mod rules;
mod texts;
mod typed;
mod vectors;
