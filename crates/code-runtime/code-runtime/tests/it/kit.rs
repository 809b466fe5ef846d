//! An engine that is a list of what it says, and a host that remembers.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test's own functions fail as tests do")]

use std::collections::VecDeque;
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dsh_code_runtime::wire::{Call, FromEngine, Link, ToEngine};
use dsh_code_runtime::{
    BoxFuture, CallEnd, ErrorClass, Failure, FailureKind, Host, Limits, Namespace, Outcome, Request, Terms,
    drive,
};
use dsh_json::Json;
use dsh_lifecycle::Cancel;

/// What an engine does next.
pub(crate) enum Next {
    Say(FromEngine),
    /// Says nothing until it was told so many replies.
    Await(usize),
    /// Is gone.
    Die(Failure),
}

/// An engine at the other end of a link. When its list is over it is silent.
pub(crate) struct Engine {
    pub(crate) next: VecDeque<Next>,
    pub(crate) told: Vec<ToEngine>,
    /// What it says it has not taken.
    pub(crate) backlog: usize,
}

impl Engine {
    pub(crate) fn new(next: impl IntoIterator<Item = Next>) -> Self {
        Self { next: next.into_iter().collect(), told: Vec::new(), backlog: 0 }
    }

    /// The replies that it was told.
    pub(crate) fn replies(&self) -> Vec<(u64, Result<Json, String>)> {
        self.told
            .iter()
            .filter_map(|message| match message {
                ToEngine::Reply { id, answer } => Some((*id, answer.clone())),
                ToEngine::Run(_) | ToEngine::Cancel => None,
            })
            .collect()
    }

    /// Whether it was told to stop, last.
    pub(crate) fn was_stopped(&self) -> bool {
        self.told.last() == Some(&ToEngine::Cancel)
    }
}

impl Link for Engine {
    fn send(&mut self, message: ToEngine) {
        self.told.push(message);
    }

    fn backlog(&self) -> usize {
        self.backlog
    }

    async fn receive(&mut self) -> Result<FromEngine, Failure> {
        // As a channel does it, a receiver gives way now and then.
        tokio::task::coop::consume_budget().await;
        let replies = self.replies().len();
        self.next.pop_front_if(|next| matches!(next, Next::Await(count) if *count <= replies));
        match self.next.front() {
            None | Some(Next::Await(_)) => pending().await,
            Some(Next::Say(_) | Next::Die(_)) => match self.next.pop_front().unwrap() {
                Next::Say(message) => Ok(message),
                Next::Die(failure) => Err(failure),
                Next::Await(_) => unreachable!(),
            },
        }
    }
}

pub(crate) fn call(id: u64, name: &str, args: impl Into<Json>) -> Next {
    call_of("tools", id, name, args)
}

pub(crate) fn call_of(global: &str, id: u64, name: &str, args: impl Into<Json>) -> Next {
    Next::Say(FromEngine::Call(Call { id, namespace: global.into(), name: name.into(), args: args.into() }))
}

pub(crate) fn log(text: impl Into<String>) -> Next {
    Next::Say(FromEngine::Log { text: text.into() })
}

pub(crate) fn done(value: impl Into<Json>) -> Next {
    Next::Say(FromEngine::Done { result: Ok(Some(value.into())), used: None })
}

pub(crate) fn failed(kind: FailureKind, message: &str) -> Next {
    Next::Say(FromEngine::Done { result: Err(Failure::new(kind, message)), used: None })
}

/// Answers `echo` with the arguments, `fail` with them as an error, `slow` after 500 ms, `wait` with an error and
/// `stubborn` with a value, both when the run is over.
pub(crate) struct Remembers {
    pub(crate) called: Mutex<Vec<String>>,
    pub(crate) heard: Mutex<Vec<String>>,
    /// Time of which this says how much does not count, from what has passed.
    pub(crate) excuse: fn(Duration) -> Duration,
    /// How often it was asked for that.
    pub(crate) looks: Arc<AtomicUsize>,
    started: tokio::time::Instant,
    over: Cancel,
    /// One for the host, and one for each call that is there.
    pub(crate) alive: Arc<()>,
}

impl Host for Remembers {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Json, String>> {
        self.called.lock().unwrap().push(call.name.to_string());
        let alive = Arc::clone(&self.alive);
        Box::pin(async move {
            let answer = match &*call.name {
                "fail" => Err(call.args.as_str().unwrap_or_default().to_owned()),
                "slow" => {
                    tokio::time::sleep(Duration::from_millis(500)).await;
                    Ok(call.args)
                }
                "wait" => {
                    self.over.cancelled().await;
                    Err("the run is over".to_owned())
                }
                "stubborn" => {
                    self.over.cancelled().await;
                    Ok(call.args)
                }
                _ => Ok(call.args),
            };
            drop(alive);
            answer
        })
    }

    fn logged(&self, entry: &str) {
        self.heard.lock().unwrap().push(entry.to_owned());
    }

    fn excused(&self) -> Duration {
        self.looks.fetch_add(1, Ordering::Relaxed);
        (self.excuse)(self.started.elapsed())
    }
}

/// One run to be: what it is asked, who answers, and within what.
pub(crate) struct Setting {
    pub(crate) request: Request,
    pub(crate) host: Remembers,
    pub(crate) limits: Limits,
    pub(crate) closing: Cancel,
}

impl Setting {
    pub(crate) fn within(limits: Limits) -> Self {
        let functions = ["echo", "fail", "slow", "wait", "stubborn"].map(Arc::from).to_vec();
        let error_class =
            Some(ErrorClass { name: "ToolCallError".into(), member_name_property: "toolName".into() });
        let namespaces = vec![Namespace { global: "tools".into(), functions, error_class }];
        let request = Request { program: "return 1".into(), namespaces, cancel: Cancel::new() };
        let host = Remembers {
            called: Mutex::default(),
            heard: Mutex::default(),
            excuse: |_| Duration::ZERO,
            looks: Arc::default(),
            started: tokio::time::Instant::now(),
            over: request.cancel.clone(),
            alive: Arc::default(),
        };
        Self { request, host, limits, closing: Cancel::new() }
    }

    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms { request: &self.request, host: &self.host, limits: &self.limits, closing: &self.closing }
    }

    pub(crate) async fn drive(&self, engine: &mut Engine) -> Outcome {
        drive(engine, &self.terms()).await
    }

    pub(crate) fn called(&self) -> Vec<String> {
        self.host.called.lock().unwrap().clone()
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.host.heard.lock().unwrap().clone()
    }
}

/// Drives an engine that says this, with the default bounds.
pub(crate) async fn driven(next: impl IntoIterator<Item = Next>) -> (Setting, Engine, Outcome) {
    driven_within(Limits::default(), next).await
}

pub(crate) async fn driven_within(
    limits: Limits,
    next: impl IntoIterator<Item = Next>,
) -> (Setting, Engine, Outcome) {
    let setting = Setting::within(limits);
    let mut engine = Engine::new(next);
    let outcome = setting.drive(&mut engine).await;
    (setting, engine, outcome)
}

/// What a run's calls came to, by id.
pub(crate) fn ends(outcome: &Outcome) -> Vec<(u64, CallEnd)> {
    outcome.calls.iter().map(|call| (call.id, call.end)).collect()
}

/// The message of a run that must have failed so.
pub(crate) fn message(outcome: &Outcome, kind: FailureKind) -> &str {
    let failure = outcome.result.as_ref().expect_err("a failure");
    assert_eq!(failure.kind, kind, "{}", failure.message);
    &failure.message
}
