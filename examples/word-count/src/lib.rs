//! A plugin from outside: a row with a typed configuration and one tool, `word_count`.
//!
//! Add [`row`] to a harness, and its table in `dsh.toml` is read like any other:
//!
//! ```toml
//! [word-count]
//! minLength = 4
//! maxWords = 10
//! ```

mod tool;

use dsh_harness::{Host, MountError, Row};
use dsh_tools_core::{Definition, Registrations};

pub use tool::{WordCount, WordCountConfig};

/// The plugin. Give it to `HarnessBuilder::row`.
pub fn row() -> Row {
    dsh_harness::row("word-count", "the tool `word_count`", mount)
}

/// Dropping what it returns takes the tool away again.
fn mount(config: WordCountConfig, host: &Host) -> Result<Registrations, MountError> {
    let tool = Definition::typed(WordCount::new(config))?;
    Ok(host.tools.register(None, tool)?.into())
}
