//! The crate through its public API.
#![expect(clippy::items_after_statements, reason = "rows first, then the check that they share")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod depth;
mod hostile;
mod parsing;
mod properties;
mod shared;
mod text;
mod typed;

use dsh_json::{Array, Json, JsonError, Number, Object};

#[test]
fn public_types_cross_threads() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Json>();
    check::<Array>();
    check::<Object>();
    check::<Number>();
    check::<JsonError>();
}

/// Runs on a thread with a 2 MB stack.
fn on_small_stack(body: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(body).unwrap().join().unwrap();
}

fn nested_arrays(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

fn nested_objects(levels: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
}
