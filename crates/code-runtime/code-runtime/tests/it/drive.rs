//! A conversation with an honest engine.

use dsh_code_runtime::wire::ToEngine;
use dsh_code_runtime::{CallEnd, Failure, FailureKind, Limits, Misuse, NameError};
use dsh_json::Json;
use dsh_lifecycle::Cause;

use super::kit::{Engine, Next, Setting, call, done, driven, ends, failed, log, message};

#[tokio::test]
async fn the_engine_gets_its_job_and_an_answer_to_each_call() {
    let (setting, engine, outcome) = driven([
        log("a"),
        call(1, "echo", 7),
        call(2, "fail", "no such file"),
        Next::Await(2),
        log("b"),
        done("end"),
    ])
    .await;
    let mut told = engine.told.iter();
    assert_eq!(told.next(), Some(&ToEngine::Run(setting.terms().job())));
    assert_eq!(engine.replies(), [(1, Ok(Json::from(7))), (2, Err("no such file".to_owned()))]);
    assert_eq!(told.len(), 2);
    assert_eq!(
        (outcome.logs.as_slice(), setting.heard()),
        (["a", "b"].map(String::from).as_slice(), outcome.logs.clone())
    );
    assert_eq!(ends(&outcome), [(1, CallEnd::Succeeded), (2, CallEnd::Failed)]);
    assert_eq!(outcome.result, Ok(Some(Json::from("end"))));
    assert_eq!(setting.request.cancel.cause(), Some(Cause::Settled));
}

#[tokio::test(start_paused = true)]
async fn calls_run_together_and_are_answered_as_they_end() {
    let (_, engine, outcome) =
        driven([call(1, "slow", 1), call(2, "echo", 2), call(3, "slow", 3), Next::Await(3), done(0)]).await;
    assert_eq!(engine.replies().iter().map(|(id, _)| *id).collect::<Vec<_>>(), [2, 1, 3]);
    assert_eq!(outcome.calls.iter().map(|call| call.id).collect::<Vec<_>>(), [1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn calls_that_nobody_awaited_are_told_and_awaited() {
    let (setting, engine, outcome) =
        driven([call(1, "wait", 1), call(2, "stubborn", 2), call(3, "slow", 3), done(0)]).await;
    assert_eq!(ends(&outcome), [(1, CallEnd::Stopped), (2, CallEnd::Late), (3, CallEnd::Late)]);
    assert_eq!((engine.replies(), outcome.result), (vec![], Ok(Some(Json::from(0)))));
    assert_eq!(std::sync::Arc::strong_count(&setting.host.alive), 1);
}

#[tokio::test]
async fn an_engine_that_is_gone_ends_the_run_with_what_it_said() {
    let (_, engine, outcome) = driven([
        log("a"),
        call(1, "wait", 1),
        Next::Die(Failure::new(FailureKind::WorkerExit, "exit status 7")),
    ])
    .await;
    assert_eq!(
        (outcome.logs.as_slice(), ends(&outcome)),
        (["a".to_owned()].as_slice(), vec![(1, CallEnd::Stopped)])
    );
    assert_eq!(message(&outcome, FailureKind::WorkerExit), "exit status 7");
    assert!(!engine.was_stopped());
}

#[tokio::test]
async fn a_failure_of_the_program_is_the_outcome() {
    let (_, _, outcome) = driven([failed(FailureKind::Exception, "Error: x")]).await;
    assert_eq!(message(&outcome, FailureKind::Exception), "Error: x");
}

/// Spec 06 §8.2: closed, then names, then cancelled.
#[test]
fn what_forbids_a_start_is_looked_at_in_order() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _entered = runtime.enter();
    let mut setting = Setting::within(Limits::default());
    assert_eq!(setting.terms().admit(), Ok(None));
    setting.request.cancel.cancel(Cause::Hook("enough".into()));
    let outcome = setting.terms().admit().unwrap().unwrap();
    assert_eq!(message(&outcome, FailureKind::Abort), "enough");
    setting.request.namespaces[0].global = "lambda".into();
    assert_eq!(setting.terms().admit(), Err(Misuse::Names(NameError::ReservedWord("lambda".into()))));
    setting.closing.cancel(Cause::Disposed);
    assert_eq!(setting.terms().admit(), Err(Misuse::Closed));
}

#[tokio::test]
async fn dropping_a_run_drops_its_calls() {
    let setting = Setting::within(Limits::default());
    let mut engine = Engine::new([call(1, "wait", 1), call(2, "wait", 2)]);
    {
        let mut run = std::pin::pin!(setting.drive(&mut engine));
        assert!(futures_util::poll!(&mut run).is_pending());
        assert_eq!(std::sync::Arc::strong_count(&setting.host.alive), 3);
    }
    assert_eq!(std::sync::Arc::strong_count(&setting.host.alive), 1);
}
