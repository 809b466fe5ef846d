//! A host for tests: a few functions, and a memory of what was called.

use std::sync::{Arc, Mutex, PoisonError};

use dsh_json::Json;
use dsh_lifecycle::Cancel;

use super::{Make, Program};
use crate::wire::Call;
use crate::{BoxFuture, CodeRuntime, ErrorClass, FailureKind, Host, Limits, Namespace, Outcome, Request};

/// Answers the functions of [`tools`]:
///
/// - `echo` with its arguments;
/// - `fail` with the error message that it is given;
/// - `wait` never, until the run is over;
/// - anything else with `null`.
#[derive(Debug, Default)]
pub struct TestHost {
    /// Every call, in the order in which they came.
    pub calls: Mutex<Vec<Call>>,
    /// What was printed, when it was printed.
    pub printed: Mutex<Vec<String>>,
    cancel: Mutex<Option<Cancel>>,
}

impl TestHost {
    /// A host for a run with this cancellation.
    pub fn of(request: &Request) -> Self {
        Self { cancel: Mutex::new(Some(request.cancel.clone())), ..Self::default() }
    }

    /// The names of the functions that were called.
    pub fn called(&self) -> Vec<String> {
        lock(&self.calls).iter().map(|call| call.name.to_string()).collect()
    }
}

impl Host for TestHost {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Json, String>> {
        lock(&self.calls).push(call.clone());
        let over = lock(&self.cancel).clone();
        Box::pin(async move {
            match &*call.name {
                "echo" => Ok(call.args),
                "fail" => Err(call.args.as_str().unwrap_or("failed").to_owned()),
                "wait" => {
                    if let Some(over) = over {
                        over.cancelled().await;
                    }
                    Err("the run is over".to_owned())
                }
                _ => Ok(Json::Null),
            }
        })
    }

    fn logged(&self, entry: &str) {
        lock(&self.printed).push(entry.to_owned());
    }
}

/// The namespace that most clauses use.
pub fn tools() -> Namespace {
    let functions = ["echo", "fail", "wait", "__proto__", "constructor", "two words"];
    namespace("tools", &functions, Some(("ToolCallError", "toolName")))
}

/// A second namespace, with an error class of its own.
pub fn helpers() -> Namespace {
    namespace("helpers", &["echo", "fail"], Some(("HelperCallError", "helperName")))
}

/// A request for a program with [`tools`].
pub fn request(program: &str) -> Request {
    Request { program: Arc::from(program), namespaces: vec![tools()], cancel: Cancel::new() }
}

pub(super) fn namespace(global: &str, functions: &[&str], class: Option<(&str, &str)>) -> Namespace {
    Namespace {
        global: global.into(),
        functions: functions.iter().map(|name| Arc::from(*name)).collect(),
        error_class: class
            .map(|(name, member)| ErrorClass { name: name.into(), member_name_property: member.into() }),
    }
}

/// Runs a program with the default limits.
pub(super) async fn run(make: Make<'_>, program: Program) -> Outcome {
    run_within(make, Limits::default(), program).await
}

pub(super) async fn run_within(make: Make<'_>, limits: Limits, program: Program) -> Outcome {
    let runtime = make(limits);
    let program = program.of(&*runtime);
    run_text(&*runtime, program).await
}

pub(super) async fn run_text(runtime: &dyn CodeRuntime, program: &str) -> Outcome {
    let request = request(program);
    let host = TestHost::of(&request);
    match runtime.run(request, &host).await {
        Ok(outcome) => outcome,
        Err(misuse) => fail(format_args!("{misuse}")),
    }
}

/// The value of a program that must have one.
pub(super) fn value(outcome: Outcome) -> Json {
    match outcome.result {
        Ok(Some(value)) => value,
        result => fail(format_args!("no value: {result:?}, logs {:?}", outcome.logs)),
    }
}

/// The message of a program that must have failed so.
pub(super) fn message(outcome: Outcome, kind: FailureKind) -> String {
    match outcome.result {
        Err(failure) if failure.kind == kind => failure.message,
        result => fail(format_args!("expected {kind}: {result:?}")),
    }
}

#[expect(clippy::panic, reason = "a clause that is broken")]
pub(super) fn fail(what: std::fmt::Arguments<'_>) -> ! {
    panic!("{what}")
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
