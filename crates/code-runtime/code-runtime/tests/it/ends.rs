//! What the host decides: time, cancellation, closing.

use std::time::Duration;

use dsh_code_runtime::{CallEnd, FailureKind, Limits};
use dsh_json::Json;
use dsh_lifecycle::Cause;
use tokio::time::Instant;

use super::kit::{Engine, Next, Setting, call, done, driven_within, ends, log, message};

fn wall(milliseconds: u64) -> Limits {
    Limits { max_wall: Duration::from_millis(milliseconds), ..Limits::default() }
}

#[tokio::test(start_paused = true)]
async fn the_wall_clock_ends_a_silent_engine() {
    let started = Instant::now();
    let (_, engine, outcome) = driven_within(wall(80), [log("a"), call(1, "wait", 1)]).await;
    assert_eq!(started.elapsed().as_millis(), 80);
    assert_eq!(
        message(&outcome, FailureKind::Timeout),
        "the program ran for 80 ms, 80 ms are allowed (maxWallMs): do less in one program, or start long work and look at it later"
    );
    assert_eq!(
        (outcome.logs.as_slice(), ends(&outcome)),
        (["a".to_owned()].as_slice(), vec![(1, CallEnd::Stopped)])
    );
    assert!(engine.was_stopped());
}

#[tokio::test(start_paused = true)]
async fn excused_time_is_added_once() {
    let mut setting = Setting::within(wall(80));
    setting.host.excuse = |passed| passed.min(Duration::from_millis(50));
    let started = Instant::now();
    let outcome = setting.drive(&mut Engine::new([])).await;
    assert_eq!(started.elapsed().as_millis(), 130);
    assert!(message(&outcome, FailureKind::Timeout).starts_with("the program ran for 80 ms, 80 ms"));
}

/// A person who is being asked stops the clock, however long it takes.
#[tokio::test(start_paused = true)]
async fn a_program_waits_for_a_person_beyond_its_time() {
    let mut setting = Setting::within(wall(80));
    setting.host.excuse = |passed| passed.saturating_sub(Duration::from_millis(10));
    let outcome = setting.drive(&mut Engine::new([call(1, "slow", 5), Next::Await(1), done(5)])).await;
    assert_eq!(outcome.result, Ok(Some(Json::from(5))));
}

/// While a person takes long, the clock is looked at seldom, however little time is left.
#[tokio::test(start_paused = true)]
async fn a_run_with_almost_no_time_left_does_not_watch_the_clock() {
    let mut setting = Setting::within(wall(80));
    setting.host.excuse = |passed| passed.saturating_sub(Duration::from_nanos(79_999_999));
    let looks = std::sync::Arc::clone(&setting.host.looks);
    let outcome = setting.drive(&mut Engine::new([call(1, "slow", 5), Next::Await(1), done(5)])).await;
    assert_eq!(outcome.result, Ok(Some(Json::from(5))));
    assert!(looks.load(std::sync::atomic::Ordering::Relaxed) < 50);
}

#[tokio::test]
async fn the_cause_of_a_cancellation_is_its_message() {
    for (cause, text) in [
        (Cause::User, "a person stopped the program"),
        (Cause::Parent, "the work that this program was part of was stopped"),
        (Cause::Disposed, "the owner of this program went away"),
        (Cause::Deadline, "the time for the call that this program runs in is over"),
        (Cause::Settled, "the call that this program runs in has a result already"),
        (Cause::Hook("no more of this".into()), "no more of this"),
    ] {
        let setting = Setting::within(Limits::default());
        let mut engine = Engine::new([call(1, "wait", 1)]);
        let stop = async {
            while setting.called().is_empty() {
                tokio::task::yield_now().await;
            }
            setting.request.cancel.cancel(cause);
        };
        let (outcome, ()) = futures_util::join!(setting.drive(&mut engine), stop);
        assert_eq!(message(&outcome, FailureKind::Abort), text);
        assert_eq!(ends(&outcome), [(1, CallEnd::Stopped)]);
        assert!(engine.was_stopped());
    }
}

#[tokio::test]
async fn closing_ends_the_run_and_tells_its_calls() {
    let setting = Setting::within(Limits::default());
    let mut engine = Engine::new([call(1, "stubborn", 1)]);
    let close = async {
        while setting.called().is_empty() {
            tokio::task::yield_now().await;
        }
        setting.closing.cancel(Cause::Disposed);
    };
    let (outcome, ()) = futures_util::join!(setting.drive(&mut engine), close);
    assert!(message(&outcome, FailureKind::Abort).starts_with("runtime disposed: "));
    assert_eq!(ends(&outcome), [(1, CallEnd::Late)]);
    assert_eq!(setting.request.cancel.cause(), Some(Cause::Settled));
    assert!(engine.was_stopped());
}

/// Spec 06 §8.7, 8.11: what was printed before the end is kept, and what was called is known, though it never started.
#[tokio::test]
async fn what_was_said_before_the_end_is_heard() {
    let setting = Setting::within(Limits::default());
    let said = (0..1_000).map(|n| log(n.to_string())).chain([
        call(1, "echo", 1),
        log("last"),
        done(1),
        log("never"),
    ]);
    let mut engine = Engine::new(said);
    setting.request.cancel.cancel(Cause::User);
    let outcome = setting.drive(&mut engine).await;
    message(&outcome, FailureKind::Abort);
    assert_eq!((outcome.logs.len(), outcome.logs.last().map(String::as_str)), (1_001, Some("last")));
    assert_eq!((ends(&outcome), setting.called()), (vec![(1, CallEnd::NotStarted)], vec![]));
    assert_eq!((setting.heard(), engine.next.len()), (outcome.logs, 1));
}
