//! Every way in which a worker ends, told as data; the next one works.

use dsh_worker::{Ended, Hint, How, Worker, WorkerError, WorkerPool, WorkerSpec};

use crate::cell::{attempt, next_one_works, pool, spec};

/// How a worker ended that was told to do this.
async fn end_of(pool: &WorkerPool, what: &str) -> Ended {
    let mut worker = pool.take().await.unwrap();
    worker.send(what.as_bytes()).await.unwrap();
    let ended = end(&mut worker).await;
    assert_eq!(end(&mut worker).await, ended);
    ended
}

async fn end(worker: &mut Worker) -> Ended {
    match worker.recv().await {
        Err(WorkerError::Ended(ended)) => *ended,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_end_is_told_as_it_was() {
    let pool = pool();
    for (what, exit, killed, said, hint) in [
        ("exit 0", "exited 0", false, "", None),
        ("exit 7", "exited 7", false, "", None),
        ("exit 255", "exited 255", false, "", None),
        ("panic so it goes", "exited 101", false, "so it goes", None),
        ("abort", "signal 6", false, "", None),
        ("fault", "signal 11", false, "", None),
        ("deep", "signal 6", false, "overflowed its stack", None),
        ("allocate", "signal 6", false, "memory allocation of", Some(Hint::OutOfMemory)),
        ("close-channel", "signal 9", true, "", None),
    ] {
        let ended = end_of(&pool, what).await;
        assert_eq!(
            (ended.exit.to_string().as_str(), ended.exit.killed, ended.hint),
            (exit, killed, hint),
            "{what}"
        );
        assert!(ended.stray.to_string().contains(said), "{what}: {}", ended.stray);
        next_one_works(&pool).await;
    }
}

#[tokio::test]
async fn memory_is_refused_at_its_bound() {
    let pool = pool();
    let mut worker = pool.take().await.unwrap();
    let mebibytes: usize = attempt(&mut worker, "map").await.parse().unwrap();
    assert!((48..=64).contains(&mebibytes), "{mebibytes}");
}

#[tokio::test]
async fn the_kernel_ends_what_computes_too_long_also_where_nobody_looks() {
    let mut spec = spec("escape");
    spec.limits.max_cpu_seconds = Some(1);
    let ended = end_of(&WorkerPool::new(spec), "loop").await;
    assert_eq!((ended.exit.how, ended.hint), (How::Signal(24), Some(Hint::OutOfCpu)));
    assert!(ended.exit.cpu.is_some_and(|cpu| cpu.as_millis() >= 500), "{ended:?}");
}

#[tokio::test]
async fn killing_gives_what_was_written_past_the_frames() {
    let pool = pool();
    let mut worker = pool.take().await.unwrap();
    assert_eq!(attempt(&mut worker, "output one").await, "said");
    assert_eq!(attempt(&mut worker, "output two").await, "said");
    let ended = worker.kill().await;
    assert_eq!((ended.exit.how, ended.exit.killed, ended.hint), (How::Signal(9), true, None));
    assert_eq!((ended.stray.bytes.as_slice(), ended.stray.dropped), (&b"one\ntwo\n"[..], 0));
}

#[tokio::test]
async fn what_is_written_past_the_frames_holds_nothing_up_and_is_bounded() {
    let pool = WorkerPool::new(WorkerSpec { max_stray_bytes: 1_000, ..spec("escape") });
    let mut worker = pool.take().await.unwrap();
    assert_eq!(attempt(&mut worker, "chatter 1000").await, "said");
    let stray = worker.kill().await.stray;
    assert_eq!((stray.bytes.len() as u64, stray.dropped), (1_000, 1_025 * 1_000 - 1_000));
}

#[tokio::test]
async fn a_stopped_worker_is_killed_like_any_other() {
    let pool = pool();
    let worker = pool.take().await.unwrap();
    let pid = rustix::process::Pid::from_raw(worker.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    assert_eq!(worker.kill().await.exit.to_string(), "signal 9");
    assert!(rustix::process::test_kill_process(pid).is_err());
}

#[tokio::test]
async fn a_kill_that_was_not_the_owners_looks_like_a_machine_without_memory() {
    let pool = pool();
    let mut worker = pool.take().await.unwrap();
    let pid = rustix::process::Pid::from_raw(worker.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let ended = end(&mut worker).await;
    let expected = (How::Signal(9), false, Some(Hint::OutOfMemory));
    assert_eq!((ended.exit.how, ended.exit.killed, ended.hint), expected);
}

#[tokio::test]
async fn a_dropped_worker_is_killed_and_reaped() {
    let pool = WorkerPool::new(WorkerSpec { idle: 0, ..spec("echo") });
    let worker = pool.take().await.unwrap();
    let pid = rustix::process::Pid::from_raw(worker.id().try_into().unwrap()).unwrap();
    assert_eq!(pool.living(), 1);
    drop(worker);
    pool.close().await;
    assert_eq!(pool.living(), 0);
    assert!(rustix::process::test_kill_process(pid).is_err());
}

#[tokio::test]
async fn closing_a_pool_ends_what_was_taken() {
    let pool = pool();
    let mut worker = pool.take().await.unwrap();
    pool.close().await;
    assert_eq!(pool.living(), 0);
    assert_eq!(end(&mut worker).await.exit.to_string(), "signal 9");
    let error = pool.take().await.err().unwrap();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("WORKER_UNAVAILABLE", "the pool of workers is closed")
    );
}
