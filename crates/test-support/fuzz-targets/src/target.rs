//! The targets by name.

use std::fmt;

use dsh_tool_sdk::Language;

use crate::{erase, import, json, schema, sdk, session_log, validation, wire};

/// One thing that is fuzzed.
#[derive(Clone, Copy)]
pub struct Target {
    /// What it is called, here and on the command line.
    pub name: &'static str,
    /// Looks whether every promise holds for these bytes; panics where one does not.
    pub run: fn(&[u8]) -> Met,
}

/// How far an input came. For tests, which look that seeds come both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// It was refused at the door, as it should be.
    Refused,
    /// It was taken, and what was made of it was looked at.
    Taken,
}

/// All of them. The package in `fuzz/` has a program for each.
pub const TARGETS: &[Target] = &[
    Target { name: "erase", run: erase::erase },
    Target { name: "import", run: import::import },
    Target { name: "json", run: json::json },
    Target { name: "schema", run: schema::schema },
    Target { name: "sdk_python", run: |bytes| sdk::sdk(Language::Python, bytes) },
    Target { name: "sdk_typescript", run: |bytes| sdk::sdk(Language::TypeScript, bytes) },
    Target { name: "session_log", run: session_log::session_log },
    Target { name: "validation", run: validation::validation },
    Target { name: "wire", run: wire::wire },
];

/// Runs the target of that name over one input, as the programs in `fuzz/` do.
///
/// # Panics
/// When there is no such target, and where a promise does not hold.
pub fn run(name: &str, bytes: &[u8]) {
    let target = Target::named(name).unwrap_or_else(|| panic!("no target is called {name:?}"));
    (target.run)(bytes);
}

impl Target {
    /// The target of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }
}

impl Met {
    pub(crate) fn taken(taken: bool) -> Self {
        if taken { Self::Taken } else { Self::Refused }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.name).finish()
    }
}
