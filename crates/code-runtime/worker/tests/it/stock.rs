//! The pool: what it has ready, and why it has nothing.

use std::path::PathBuf;
use std::time::Duration;

use dsh_worker::{Demand, Entry, Level, WorkerPool, WorkerSpec};

use crate::cell::{attempt, next_one_works, pool, spec};

/// Why there is no worker.
async fn refusal(spec: WorkerSpec) -> String {
    let pool = WorkerPool::new(spec);
    let error = pool.take().await.err().unwrap();
    pool.close().await;
    assert_eq!(pool.living(), 0);
    format!("{}: {error}", error.code())
}

#[tokio::test]
async fn each_worker_is_used_once() {
    let pool = pool();
    let mut seen = Vec::new();
    for _ in 0..5 {
        let mut worker = pool.take().await.unwrap();
        assert!(!seen.contains(&worker.id()));
        seen.push(worker.id());
        assert_eq!(attempt(&mut worker, "environment").await, "[]");
    }
}

#[tokio::test]
async fn a_worker_that_died_in_stock_is_not_given_out() {
    let pool = pool();
    let ready = loop {
        match pool.in_stock().as_slice() {
            [ready] => break *ready,
            _ => tokio::task::yield_now().await,
        }
    };
    let pid = rustix::process::Pid::from_raw(ready.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    while pool.living() > 0 {
        tokio::task::yield_now().await;
    }
    next_one_works(&pool).await;
}

#[tokio::test]
async fn beyond_the_bound_a_taker_waits_for_a_worker_to_be_gone() {
    let pool = WorkerPool::new(WorkerSpec { max_workers: 1, ..spec("echo") });
    let first = pool.take().await.unwrap();
    let mut second = Box::pin(pool.take());
    tokio::select! {
        biased;
        _ = &mut second => panic!("two at once"),
        () = tokio::task::yield_now() => {}
    }
    let gone = first.id();
    drop(first);
    assert_ne!(second.await.unwrap().id(), gone);
}

#[tokio::test]
async fn a_taker_that_gives_up_leaves_nothing() {
    let pool = WorkerPool::new(WorkerSpec { idle: 0, ..spec("echo") });
    let mut taking = Box::pin(pool.take());
    tokio::select! {
        biased;
        _ = &mut taking => panic!("too early to be ready"),
        () = tokio::task::yield_now() => {}
    }
    drop(taking);
    pool.close().await;
    assert_eq!(pool.living(), 0);
}

#[tokio::test]
async fn a_pool_says_why_it_has_no_worker() {
    let binary = |path: &str| WorkerSpec { entry: Entry::Binary(PathBuf::from(path)), ..spec("echo") };
    assert_eq!(
        refusal(binary("/no/such/worker")).await,
        "WORKER_UNAVAILABLE: no worker can be started: starting /no/such/worker: No such file or directory (os error 2)"
    );
    assert_eq!(
        refusal(WorkerSpec { entry: Entry::Reexec, ..spec("echo") }).await,
        "WORKER_UNAVAILABLE: no worker can be started: call dsh_worker::child_main_if_asked at the top of main, or name \
         a binary that does"
    );
    // Programs that are no workers: one that ends, one that answers in its own way.
    assert_eq!(
        refusal(binary("/bin/false")).await,
        "WORKER_UNAVAILABLE: no worker can be started: it ended before it was ready (exited 1)"
    );
    let lost = refusal(binary("/bin/ls")).await;
    assert!(lost.contains("it ended before it was ready (exited 2); it said: "), "{lost}");
    assert!(lost.contains("cannot access"), "{lost}");
    assert_eq!(
        refusal(spec("nobody")).await,
        "WORKER_UNAVAILABLE: no worker can be started: this program has no such role"
    );
    assert_eq!(
        refusal(spec("gone")).await,
        "WORKER_UNAVAILABLE: no worker can be started: it ended before it was ready (exited 3); it said: no interpreter \
         here"
    );
    assert_eq!(
        refusal(WorkerSpec { start_timeout: Duration::from_millis(50), ..spec("mute") }).await,
        "WORKER_UNAVAILABLE: no worker can be started: it was not ready within 50 ms (startTimeoutMs)"
    );
    let forged = refusal(spec("forge")).await;
    assert!(
        forged.starts_with("WORKER_UNAVAILABLE: no worker can be started: what was started does not answer"),
        "{forged}"
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn full_confinement_can_be_demanded() {
    let pool = WorkerPool::new(WorkerSpec { demand: Demand::Full, ..spec("escape") });
    assert_eq!(pool.take().await.unwrap().level(), &Level::Full);
    next_one_works(&pool).await;
}

/// Waits until so many are ready.
async fn stocked(pool: &WorkerPool, count: usize) {
    while pool.in_stock().len() != count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_first_taker_gets_the_worker_that_is_starting() {
    let pool = pool();
    let worker = pool.take().await.unwrap();
    assert_eq!((pool.living(), pool.in_stock().len()), (1, 0));
    // The next one is started when this one has ended, so that it does not compete with it.
    drop(worker);
    stocked(&pool, 1).await;
    pool.close().await;
    assert_eq!(pool.living(), 0);
}

#[tokio::test]
async fn takers_that_come_at_once_each_get_their_own() {
    let pool = pool();
    let (a, b, c) = tokio::join!(pool.take(), pool.take(), pool.take());
    let mut ids = [a.unwrap(), b.unwrap(), c.unwrap()].map(|worker| worker.id()).to_vec();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert_eq!(pool.in_stock().len(), 0);
}

/// A start that is under way when the pool is closed is waited for, too.
#[tokio::test]
async fn a_closed_pool_starts_nothing_any_more() {
    for _ in 0..50 {
        let pool = WorkerPool::new(spec("escape"));
        pool.close().await;
        assert_eq!((pool.living(), pool.in_stock().len()), (0, 0));
        // Long enough for a process to be started, which takes a millisecond or two.
        let began = tokio::time::Instant::now();
        while began.elapsed() < Duration::from_millis(5) {
            assert_eq!(pool.living(), 0, "it came after the end");
            std::thread::yield_now();
        }
    }
}
