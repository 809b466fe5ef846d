//! Time that is watched from outside.

use std::time::Duration;

use dsh_worker::{Budget, Budgets, Expired, WorkerPool};

use crate::cell::{attempt, next_one_works, pool};

/// What ended a worker that was told to do this.
async fn expiry(pool: &WorkerPool, what: &str, budgets: Budgets) -> Expired {
    let mut worker = pool.take().await.unwrap();
    let watch = worker.watch(budgets);
    worker.queue(what.as_bytes()).unwrap();
    let expired = tokio::select! {
        expired = watch.expired() => expired,
        frame = worker.recv() => panic!("{frame:?}"),
    };
    // It is dead already.
    let ended = worker.kill().await;
    assert_eq!((ended.exit.to_string().as_str(), ended.exit.killed), ("signal 9", true));
    expired
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_hot_loop_ends_when_its_computing_time_is_used_up() {
    let pool = pool();
    let allowed = Duration::from_millis(200);
    let budgets = Budgets { max_wall: Some(Duration::from_secs(60)), max_compute: Some(allowed) };
    let expired = expiry(&pool, "loop", budgets).await;
    assert_eq!((expired.budget, expired.allowed), (Budget::Compute, allowed));
    // One look late, and the kernel counts in ticks; on a busy machine the watch itself comes late.
    assert!(expired.used >= allowed && expired.used < allowed + Duration::from_secs(1), "{expired}");
    let used = expired.used.as_millis();
    assert_eq!(expired.to_string(), format!("computed for {used} ms, 200 ms are allowed (maxComputeMs)"));
    next_one_works(&pool).await;
}

#[tokio::test]
async fn waiting_costs_no_computing_time_but_the_wall_clock_goes_on() {
    let pool = pool();
    let budgets =
        Budgets { max_wall: Some(Duration::from_millis(300)), max_compute: Some(Duration::from_millis(200)) };
    let expired = expiry(&pool, "half-frame", budgets).await;
    assert_eq!((expired.budget, expired.allowed.as_millis()), (Budget::Wall, 300));
    let used = expired.used.as_millis();
    assert_eq!(expired.to_string(), format!("ran for {used} ms, 300 ms are allowed (maxWallMs)"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_time_before_the_watch_does_not_count() {
    let pool = pool();
    let mut worker = pool.take().await.unwrap();
    attempt(&mut worker, "compute 100").await;
    let watch = worker.watch(Budgets { max_wall: None, max_compute: Some(Duration::from_millis(50)) });
    tokio::select! {
        biased;
        expired = watch.expired() => panic!("{expired}"),
        () = tokio::task::yield_now() => {}
    }
    assert_eq!(attempt(&mut worker, "input").await, "0");
    let all = worker.kill().await.exit.cpu.unwrap();
    assert!(all >= Duration::from_millis(90), "{all:?}");
}
