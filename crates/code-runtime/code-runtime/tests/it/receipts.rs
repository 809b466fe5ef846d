//! What a run says that it used.

use std::time::Duration;

use dsh_code_runtime::lossless::weight;
use dsh_code_runtime::wire::FromEngine;
use dsh_code_runtime::{CallEnd, Failure, FailureKind, Limits, Receipt, Used};
use dsh_json::Json;

use super::kit::{Engine, Next, Setting, call, done, driven, driven_within, ends, failed, log};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[tokio::test(start_paused = true)]
async fn times_are_those_of_the_clock_and_calls_that_overlap_wait_once() {
    let used = Used { busy: ms(3), peak_memory: 4_096, replies: 3 };
    let (_, _, outcome) = driven([
        call(1, "slow", "abc"),
        call(2, "slow", 7),
        Next::Await(2),
        log("a"),
        call(3, "fail", "no"),
        Next::Await(3),
        Next::Say(FromEngine::Done { result: Ok(Some(true.into())), used: Some(used) }),
    ])
    .await;
    let results = weight(&"abc".into()) + weight(&7.into()) + "no".len();
    let arguments = weight(&"abc".into()) + weight(&7.into()) + weight(&"no".into());
    let expected = Receipt {
        wall: ms(500),
        excused: ms(0),
        waiting: ms(500),
        busy: Some(ms(3)),
        peak_memory: Some(4_096),
        argument_bytes: arguments as u64,
        result_bytes: results as u64,
        // `["a"]` and `true`.
        output_bytes: 9,
    };
    assert_eq!(outcome.receipt, expected);
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_says_nothing_is_not_guessed_about() {
    let (_, _, outcome) = driven([done(0)]).await;
    assert_eq!((outcome.receipt.busy, outcome.receipt.peak_memory), (None, None));
    let died = Failure::new(FailureKind::WorkerExit, "gone");
    let (_, _, outcome) = driven([call(1, "slow", 1), Next::Die(died)]).await;
    assert_eq!((outcome.receipt.busy, outcome.receipt.peak_memory), (None, None));
    // The call was awaited, so that is part of the run.
    assert_eq!((outcome.receipt.wall, outcome.receipt.waiting), (ms(500), ms(500)));
    assert_eq!(outcome.receipt.result_bytes, 0, "the program was given nothing");
}

/// Spec 06 §10: the count is the ledger's, to the byte, also where something was cut.
#[tokio::test]
async fn output_is_counted_as_the_ledger_counts_it() {
    let check = |next: Vec<Next>, bytes: u64| async move {
        let limits = Limits { max_output_bytes: 200, ..Limits::default() };
        let (_, _, outcome) = driven_within(limits, next).await;
        assert_eq!(outcome.receipt.output_bytes, bytes, "{outcome:?}");
    };
    check(vec![Next::Say(FromEngine::Done { result: Ok(None), used: None })], 2).await;
    check(vec![done(Json::Null)], 6).await;
    check(vec![log(""), log("\n"), done("x")], 12).await;
    check(vec![log("a"), failed(FailureKind::Exception, "no")], 9).await;
    check(vec![log("x".repeat(1_000))], 200).await;
}

/// A reply may cross with the end of the program, which then never heard of it.
#[tokio::test]
async fn what_the_engine_did_not_take_never_reached_the_program() {
    let ends_of = async |replies: u64| {
        let used = Used { busy: ms(0), peak_memory: 0, replies };
        let (_, engine, outcome) = driven([
            call(1, "none", 0),
            call(2, "echo", 1),
            Next::Await(2),
            call(3, "echo", 2),
            Next::Await(3),
            call(4, "fail", "no"),
            Next::Await(4),
            call(5, "wait", 0),
            Next::Say(FromEngine::Done { result: Ok(None), used: Some(used) }),
        ])
        .await;
        assert_eq!(engine.replies().len(), 4);
        ends(&outcome).into_iter().map(|(_, end)| end).collect::<Vec<_>>()
    };
    let (succeeded, late, stopped) = (CallEnd::Succeeded, CallEnd::Late, CallEnd::Stopped);
    assert_eq!(ends_of(4).await, [succeeded, succeeded, CallEnd::Failed, stopped]);
    assert_eq!(ends_of(u64::MAX).await, [succeeded, succeeded, CallEnd::Failed, stopped]);
    assert_eq!(ends_of(2).await, [succeeded, late, stopped, stopped]);
    assert_eq!(ends_of(0).await, [late, late, stopped, stopped]);
}

#[tokio::test(start_paused = true)]
async fn what_the_host_excused_is_told() {
    let mut setting = Setting::within(Limits::default());
    setting.host.excuse = |passed| passed.saturating_sub(ms(100));
    let outcome = setting.drive(&mut Engine::new([call(1, "slow", 5), Next::Await(1), done(5)])).await;
    assert_eq!((outcome.receipt.wall, outcome.receipt.excused), (ms(500), ms(400)));
}

#[test]
fn a_program_that_never_started_used_nothing() {
    let setting = Setting::within(Limits::default());
    let outcome = setting.terms().failed(Failure::new(FailureKind::Unavailable, "none"));
    // `[]` and the message.
    assert_eq!(outcome.receipt, Receipt { output_bytes: 8, ..Receipt::default() });
}
