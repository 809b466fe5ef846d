//! Prints declarations of random tools, the same each time: a JSON array of `{language, declarations}`.
//!
//! `cargo xtask sdk-check` gives them to the compilers of both languages.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "../tests/it/schemas.rs"]
mod schemas;

use std::error::Error;

use dsh_json::{Json, object};
use dsh_tool_sdk::{Language, Limits, render};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// How many sets of tools are rendered, each in every language.
const SETS: usize = 150;

fn main() -> Result<(), Box<dyn Error>> {
    let mut runner = TestRunner::deterministic();
    let mut rendered = Vec::new();
    for _ in 0..SETS {
        let tools = schemas::tools().new_tree(&mut runner).map_err(|reason| reason.to_string())?.current();
        for language in Language::ALL {
            let sdk = render(language, &tools, &Limits::default())?;
            rendered.push(object! { "language": language.name(), "declarations": sdk.declarations() });
        }
    }
    println!("{}", Json::from(rendered));
    Ok(())
}
