//! An engine that lies (spec 06 §8.12): it ends its own run, and nothing else.

use dsh_code_runtime::{CallEnd, FailureKind, Limits, json_bytes, string_bytes};
use dsh_json::{Array, Json, array};
use dsh_lifecycle::Cause;

use super::kit::{
    Engine, Next, Setting, call, call_of, done, driven, driven_within, ends, failed, log, message,
};

fn output(max_output_bytes: usize) -> Limits {
    Limits { max_output_bytes, ..Limits::default() }
}

#[tokio::test]
async fn calls_of_no_function_are_answered_by_name_and_reach_no_host() {
    let forged =
        [("tools", "constructor"), ("tools", "__proto__"), ("tools", ""), ("tools", "Echo"), ("", "echo")];
    let calls = forged.iter().zip(1..).map(|((global, name), id)| call_of(global, id, name, 1));
    let (setting, engine, outcome) = driven(calls.chain([Next::Await(5), done(0)])).await;
    let expected: Vec<_> = forged
        .iter()
        .zip(1..)
        .map(|((global, name), id)| (id, Err(format!("there is no function {global}.{name}"))))
        .collect();
    assert_eq!(engine.replies(), expected);
    assert_eq!((setting.called(), outcome.calls), (vec![], vec![]));
}

#[tokio::test]
async fn an_id_is_called_and_answered_once() {
    let again = || call(1, "echo", "again");
    let (setting, engine, outcome) = driven([
        call(1, "echo", "once"),
        again(),
        Next::Await(1),
        again(),
        call(2, "wait", 0),
        call(2, "echo", 0),
        done(0),
    ])
    .await;
    assert_eq!(setting.called(), ["echo", "wait"]);
    assert_eq!(engine.replies(), [(1, Ok(Json::from("once")))]);
    assert_eq!(ends(&outcome), [(1, CallEnd::Succeeded), (2, CallEnd::Stopped)]);
}

#[tokio::test]
async fn nothing_counts_after_the_end() {
    let (setting, engine, outcome) =
        driven([done(1), log("late"), call(1, "echo", 1), failed(FailureKind::Exception, "late")]).await;
    assert_eq!((outcome.logs, outcome.calls, outcome.result), (vec![], vec![], Ok(Some(Json::from(1)))));
    assert_eq!((setting.called(), setting.heard(), engine.next.len()), (vec![], vec![], 3));
}

#[tokio::test]
async fn the_host_counts_calls_again() {
    let limits = Limits { max_sub_calls: 3, ..Limits::default() };
    let (setting, engine, outcome) =
        driven_within(limits.clone(), (1..9).map(|id| call(id, "wait", 0))).await;
    assert!(message(&outcome, FailureKind::CallLimit).contains("more than 3 calls (maxSubCalls)"));
    assert_eq!((setting.called().len(), outcome.calls.len()), (3, 3));
    assert!(engine.was_stopped());

    // Calls of no function count as well: each has an answer that waits.
    let (_, engine, outcome) = driven_within(limits, (1..9).map(|id| call(id, "none", 0))).await;
    message(&outcome, FailureKind::CallLimit);
    assert_eq!(engine.replies().len(), 3);

    let limits = Limits { max_in_flight_bytes: 1_000, ..Limits::default() };
    let (setting, _, outcome) =
        driven_within(limits, (1..9).map(|id| call(id, "wait", "x".repeat(400)))).await;
    assert!(message(&outcome, FailureKind::CallLimit).contains("1000 bytes (maxInFlightBytes)"));
    assert_eq!(setting.called().len(), 2);
}

#[tokio::test]
async fn a_flood_of_logs_ends_at_the_bound() {
    let (setting, engine, outcome) =
        driven_within(output(200), (0..10_000).map(|n| log(format!("line {n}")))).await;
    let text = message(&outcome, FailureKind::OutputLimit);
    let logs = Json::from(Array::from(
        outcome.logs.iter().map(|entry| Json::from(entry.as_str())).collect::<Vec<_>>(),
    ));
    let total = json_bytes(&logs, usize::MAX).unwrap() + string_bytes(text, usize::MAX).unwrap();
    assert!((190..=200).contains(&total) && outcome.logs[0] == "line 0", "{total}");
    assert!(setting.heard().concat().len() <= 200);
    assert!(engine.was_stopped() && engine.next.len() > 9_000);
}

#[tokio::test]
async fn one_huge_entry_is_cut_before_anybody_hears_it() {
    let (setting, _, outcome) = driven_within(output(200), [log("😀\n".repeat(1 << 20))]).await;
    message(&outcome, FailureKind::OutputLimit);
    let heard = setting.heard().concat();
    assert!(heard.len() <= 200 && heard.starts_with(&outcome.logs[0]) && outcome.logs[0].starts_with("😀\n"));

    // Of the second, nothing fits.
    let (setting, _, _) = driven_within(output(9), [log("12345"), log("x")]).await;
    assert_eq!(setting.heard(), ["12345"]);
}

#[tokio::test]
async fn an_end_passes_through_the_ledger() {
    for forged in [done("x".repeat(1 << 20)), failed(FailureKind::Exception, &"x".repeat(1 << 20))] {
        let (_, _, outcome) = driven_within(output(200), [log("kept"), forged]).await;
        assert!(message(&outcome, FailureKind::OutputLimit).contains("200 bytes (maxOutputBytes)"));
        assert_eq!(outcome.logs, ["kept"]);
    }
    // An engine may say that the bound was hit; the words are the host's.
    let (_, _, outcome) =
        driven_within(output(200), [log("kept"), failed(FailureKind::OutputLimit, "so many")]).await;
    assert!(message(&outcome, FailureKind::OutputLimit).contains("200 bytes (maxOutputBytes)"));
}

#[tokio::test]
async fn a_deep_value_is_no_end_of_the_host() {
    let mut value = Json::Null;
    for _ in 0..10_000 {
        value = array![value];
    }
    let (_, engine, outcome) =
        driven([call(1, "echo", value.clone()), Next::Await(1), done(value.clone())]).await;
    assert_eq!(engine.replies(), [(1, Ok(value.clone()))]);
    assert_eq!(outcome.result, Ok(Some(value)));
}

/// Whoever lies is not listened to after the end either, so that a flood of lies does not hold the host.
#[tokio::test]
async fn a_lie_ends_the_hearing() {
    for lie in [call(1, "echo", "again"), call(2, "none", 0), call_of("none", 2, "echo", 0)] {
        let setting = Setting::within(Limits::default());
        setting.request.cancel.cancel(Cause::User);
        let mut engine = Engine::new([log("a"), call(1, "echo", 1), lie, log("b")]);
        let outcome = setting.drive(&mut engine).await;
        assert_eq!(
            (outcome.logs.as_slice(), ends(&outcome)),
            (["a".to_owned()].as_slice(), vec![(1, CallEnd::NotStarted)])
        );
        assert_eq!(engine.next.len(), 1);
    }
}
