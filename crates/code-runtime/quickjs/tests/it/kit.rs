//! Running one program and looking at what came of it.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test's own functions fail as tests do"
)]

use dsh_code_runtime::contract::{TestHost, request};
use dsh_code_runtime::{CodeRuntime as _, FailureKind, Limits, Outcome};
use dsh_json::Json;
use dsh_quickjs::QuickJs;
use dsh_worker::Entry;

/// Runs a program with the test host's functions.
pub(crate) async fn run(program: &str) -> Outcome {
    run_within(Limits::default(), program).await
}

pub(crate) async fn run_within(limits: Limits, program: &str) -> Outcome {
    let request = request(program);
    let host = TestHost::of(&request);
    QuickJs::on_threads(limits).run(request, &host).await.unwrap()
}

/// A provider with workers, which are the binary of this crate.
pub(crate) fn in_workers(limits: Limits) -> QuickJs {
    let entry = Entry::Binary(env!("CARGO_BIN_EXE_dsh-quickjs-worker").into());
    let spec = QuickJs::worker_spec(entry, &limits);
    QuickJs::in_workers(limits, spec)
}

/// The value of a program that must have one.
pub(crate) async fn value(program: &str) -> Json {
    let outcome = run(program).await;
    outcome.result.unwrap_or_else(|failure| panic!("{program}: {failure}")).unwrap_or_default()
}

/// The message of a program that must have failed so.
pub(crate) async fn failure(program: &str, kind: FailureKind) -> String {
    failure_of(run(program).await, kind)
}

pub(crate) fn failure_of(outcome: Outcome, kind: FailureKind) -> String {
    let failure = outcome.result.expect_err("a failure");
    assert_eq!(failure.kind, kind, "{}", failure.message);
    failure.message
}

/// What a program printed.
pub(crate) async fn printed(program: &str) -> Vec<String> {
    let outcome = run(program).await;
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    outcome.logs
}
