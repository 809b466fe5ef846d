//! What every provider has to pass (spec 06 §7–10 and 13), whatever its language and place.
//!
//! ```ignore
//! dsh_code_runtime::contract::run_all(&|limits| Arc::new(QuickJs::on_threads(limits))).await;
//! ```
//!
//! Each clause is a function that panics; [`run_all`] runs them one after the other and names all that failed. They need a
//! tokio runtime with time.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;

use crate::{BoxFuture, CodeRuntime, Limits};

mod host;
mod limits;
mod programs;
mod values;

pub use host::{TestHost, helpers, request, tools};

/// Makes providers: a clause that tests a limit asks for one with that limit.
pub type Make<'a> = &'a (dyn Fn(Limits) -> Arc<dyn CodeRuntime> + Sync);

/// One thing that a provider keeps.
pub struct Clause {
    /// The clause, as a sentence.
    pub name: &'static str,
    /// Panics where it is broken.
    pub check: for<'a> fn(Make<'a>) -> BoxFuture<'a, ()>,
}

/// Runs every clause against the providers that `make` gives.
///
/// # Panics
/// When clauses are broken, with their names.
pub async fn run_all(make: Make<'_>) {
    let mut broken = Vec::new();
    for clause in clauses() {
        if AssertUnwindSafe((clause.check)(make)).catch_unwind().await.is_err() {
            broken.push(clause.name);
        }
    }
    assert!(broken.is_empty(), "broken clauses: {}", broken.join(", "));
}

/// Every clause.
pub fn clauses() -> impl Iterator<Item = &'static Clause> {
    [programs::CLAUSES, values::CLAUSES, limits::CLAUSES].into_iter().flatten()
}

/// A program in the languages that the suite knows.
#[derive(Clone, Copy)]
struct Program {
    typescript: &'static str,
    python: &'static str,
}

impl Program {
    fn of(self, runtime: &dyn CodeRuntime) -> &'static str {
        if runtime.language() == "python" { self.python } else { self.typescript }
    }
}

/// Names clauses after their functions.
macro_rules! name_clauses {
    ($($name:ident)*) => {
        pub(super) const CLAUSES: &[super::Clause] = &[$(super::Clause {
            name: stringify!($name),
            check: |make| Box::pin($name(make)),
        }),*];
    };
}
use name_clauses;
