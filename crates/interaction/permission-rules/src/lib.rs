//! Which tools may run, by their names: the strictest rule wins, whatever its place.
//!
//! ```text
//! a call ─→ the rules ─ deny ──────────────────────────────────────────────────→ refused, nobody is asked
//!              ├ ask ───→ the listeners inside ─ Deny: stays ─ else ─→ a person ─→ guard: was it allowed? ─→ the body
//!              └ allow ─→ the listeners inside ─ what they say ─────────────────→ guard: nothing to say ──→ the body
//! ```
//!
//! - `deny` goes before `ask`, `ask` before `allow`; a tool that no rule names is ruled by `otherwise`. The order within
//!   and between the lists means nothing.
//! - What is decided is the name that is called, whoever stands behind it: a tool that is registered anew or shadowed in a
//!   scope is ruled as before. The calls of a program are ruled one by one, each as if a model had made it; `run_code` is
//!   a tool like any other.
//! - A listener tells what is to be asked; a guard has the last word. So no listener that answers without the rest, in
//!   whatever scope, lets a call run that is denied, or that a person had to allow and was not asked about.
//! - `allow` means that no rule asks. A tool that asks by itself still does, and so do other policies.
//!
//! Rules need no person to be there: where nobody can be asked, `ask` refuses.

mod config;
mod rules;
mod words;

pub use config::{ConfigError, List, RulesConfig, Verdict};
pub use rules::PermissionRules;
