//! Behaviour, one clause a test.

use std::panic::AssertUnwindSafe;

use dsh_scheduler::{Limits, run};
use futures_util::{FutureExt, StreamExt, stream};

use crate::work::{Call, Traced, exclusive, limits, parallel, trace};

async fn check(calls: &[Call], cap: usize, expected: &[&str]) {
    let (outcome, got) = trace(&mut Traced::new(), calls, limits(cap)).await;
    assert_eq!(outcome, Ok(()));
    assert_eq!(got, expected);
}

#[tokio::test(start_paused = true)]
async fn results_commit_in_model_order_though_later_ones_settled_first() {
    let expected = [
        "0 start 0",
        "0 begin 0",
        "0 start 1",
        "0 begin 1",
        "0 start 2",
        "0 begin 2", //
        "1 end 2",
        "2 end 1",
        "3 end 0",
        "3 commit 0",
        "3 commit 1",
        "3 commit 2",
    ];
    check(&[parallel(3), parallel(2), parallel(1)], 10, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_is_a_barrier() {
    let expected = [
        "0 start 0",
        "0 begin 0",
        "2 end 0",
        "2 commit 0", //
        "2 start 1",
        "2 begin 1",
        "3 end 1",
        "3 commit 1", //
        "3 start 2",
        "3 begin 2",
        "3 start 3",
        "3 begin 3",
        "4 end 2",
        "4 commit 2",
        "4 end 3",
        "4 commit 3",
    ];
    check(&[parallel(2), exclusive(1), parallel(1), parallel(1)], 10, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn a_place_is_free_when_its_body_settles_not_when_it_commits() {
    let expected = [
        "0 start 0",
        "0 begin 0",
        "0 start 1",
        "0 begin 1", //
        "1 end 1",
        "1 start 2",
        "1 begin 2",
        "2 end 2", //
        "5 end 0",
        "5 commit 0",
        "5 commit 1",
        "5 commit 2",
    ];
    check(&[parallel(5), parallel(1), parallel(1)], 2, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn a_cap_of_one_is_serial() {
    let expected = [
        "0 start 0",
        "0 begin 0",
        "1 end 0",
        "1 commit 0",
        "1 start 1",
        "1 begin 1",
        "2 end 1",
        "2 commit 1",
    ];
    check(&[parallel(1), parallel(1)], 1, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn a_settled_call_takes_no_place_and_keeps_its_turn() {
    let denied = Call { settled: true, ..parallel(0) };
    let expected = ["0 start 0", "0 begin 0", "0 start 1", "2 end 0", "2 commit 0", "2 commit 1"];
    check(&[parallel(2), denied], 2, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_holds_up_starts_and_commits_but_no_body() {
    let slow = Call { start: 5, ..parallel(1) };
    let expected = [
        "0 start 0",
        "0 begin 0",
        "0 start 1",
        "2 end 0", //
        "5 begin 1",
        "5 commit 0",
        "6 end 1",
        "6 commit 1",
    ];
    check(&[parallel(2), slow], 10, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_turns_exclusive_waits_until_the_pool_is_empty() {
    let mut work = Traced::new();
    work.turns_exclusive_at = Some(0);
    let (outcome, got) = trace(&mut work, &[parallel(1), parallel(3), parallel(1)], limits(2)).await;
    assert_eq!(outcome, Ok(()));
    let expected = [
        "0 start 0",
        "0 begin 0",
        "0 start 1",
        "0 begin 1",
        "1 end 0",
        "1 commit 0", //
        "3 end 1",
        "3 commit 1",
        "3 start 2",
        "3 begin 2",
        "4 end 2",
        "4 commit 2",
    ];
    assert_eq!(got, expected);
}

#[tokio::test(start_paused = true)]
async fn after_a_stop_what_runs_is_committed_and_the_rest_skipped_in_order() {
    let mut work = Traced::new();
    work.stop_at = Some(1);
    let calls = [parallel(1), parallel(3), parallel(1), exclusive(1)];
    let (outcome, got) = trace(&mut work, &calls, limits(2)).await;
    assert_eq!(outcome, Ok(()));
    let expected = [
        "0 start 0",
        "0 begin 0",
        "0 start 1",
        "0 begin 1",
        "1 end 0",
        "1 commit 0", //
        "3 end 1",
        "3 commit 1",
        "3 skip 2",
        "3 skip 3",
    ];
    assert_eq!(got, expected);
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_the_first_start_skips_everything() {
    let mut work = Traced::new();
    work.stop_at = Some(0);
    let (_, got) = trace(&mut work, &[parallel(1), exclusive(1)], limits(2)).await;
    assert_eq!(got, ["0 skip 0", "0 skip 1"]);
}

#[tokio::test(start_paused = true)]
async fn the_first_error_drains_what_runs_and_starts_nothing() {
    let mut work = Traced::new();
    work.fail_commit_of = Some(0);
    let (outcome, got) = trace(&mut work, &[parallel(1), parallel(4), parallel(1)], limits(2)).await;
    assert_eq!(outcome, Err("commit 0 failed".to_owned()));
    assert_eq!(got, ["0 start 0", "0 begin 0", "0 start 1", "0 begin 1", "1 end 0", "1 commit 0", "4 end 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_side_work_ends_the_lane() {
    let mut work = Traced::new();
    work.fail_side_of = Some(0);
    let (outcome, _) = trace(&mut work, &[exclusive(1), exclusive(1)], limits(1)).await;
    assert_eq!(outcome, Err("side 0 failed".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn commits_wait_when_too_much_side_work_is_unfinished() {
    let mut work = Traced::new();
    let calls = [10, 10, 10].map(|side| Call { side, ..parallel(0) });
    let (outcome, got) = trace(&mut work, &calls, Limits { side: 1, ..limits(3) }).await;
    assert_eq!(outcome, Ok(()));
    let commits: Vec<_> = got.iter().filter(|row| row.contains("commit")).collect();
    assert_eq!(commits, ["0 commit 0", "0 commit 1", "10 commit 2"]);
}

#[tokio::test(start_paused = true)]
async fn parked_results_are_bounded() {
    let mut work = Traced::new();
    let calls = [9, 1, 1, 1].map(parallel);
    let limits = Limits { uncommitted: 2.try_into().unwrap(), ..limits(4) };
    let (_, got) = trace(&mut work, &calls, limits).await;
    let starts: Vec<_> = got.iter().filter(|row| row.contains("start")).collect();
    assert_eq!(starts, ["0 start 0", "0 start 1", "9 start 2", "9 start 3"]);
}

#[tokio::test(start_paused = true)]
async fn the_source_is_asked_for_no_more_than_may_wait() {
    let asked = std::cell::Cell::new(0);
    let source = stream::iter([parallel(1); 100]).inspect(|_| asked.set(asked.get() + 1));
    let limits = Limits { waiting: 3.try_into().unwrap(), ..limits(1) };
    let mut work = Traced::new();
    work.fail_commit_of = Some(0);
    assert!(run(&mut work, source, limits).await.is_err());
    assert!(asked.get() <= 5, "{} calls were taken from the source", asked.get());
}

#[tokio::test(start_paused = true)]
async fn calls_that_arrive_later_join_the_running_pool() {
    let source = stream::iter([parallel(5)]).chain(stream::once(async {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        parallel(1)
    }));
    let mut work = Traced::new();
    assert_eq!(run(&mut work, source, limits(4)).await, Ok(()));
    let got: Vec<_> = work.trace.lock().iter().map(|(at, what)| format!("{at} {what}")).collect();
    assert_eq!(
        got,
        [
            "0 start 0",
            "0 begin 0",
            "2 start 1",
            "2 begin 1",
            "3 end 1",
            "5 end 0",
            "5 commit 0",
            "5 commit 1"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_panic_reaches_the_caller_after_the_others_have_settled() {
    let mut work = Traced::new();
    let calls = [Call { panics: true, ..parallel(1) }, parallel(5)];
    let outcome = AssertUnwindSafe(run(&mut work, stream::iter(calls), limits(4))).catch_unwind().await;
    assert!(outcome.is_err());
    assert!(work.trace.lock().contains(&(5, "end 1".to_owned())), "the sibling was not awaited");
}

#[tokio::test(start_paused = true)]
async fn a_panicking_body_cuts_no_commit_short() {
    let mut work = Traced::new();
    let calls = [Call { commit: 5, ..parallel(1) }, Call { panics: true, ..parallel(3) }];
    let outcome = AssertUnwindSafe(run(&mut work, stream::iter(calls), limits(4))).catch_unwind().await;
    assert!(outcome.is_err());
    assert!(work.trace.lock().contains(&(6, "commit 0".to_owned())), "the commit was dropped in its middle");
}

#[test]
fn the_lane_is_as_sendable_as_its_work() {
    fn sendable<T: Send>(_: T) {}
    sendable(async {
        let _ = run(&mut Traced::new(), stream::iter([parallel(1)]), limits(1)).await;
    });
}
