//! The frame protocol with a peer that keeps to it, and with one that does not.

use std::time::Duration;

use dsh_worker::{Budgets, WorkerError, WorkerPool, WorkerSpec};

use crate::cell::{attempt, next_one_works, pool, spec};

#[tokio::test]
async fn payloads_come_back_as_they_were() {
    let pool = WorkerPool::new(spec("echo"));
    let mut worker = pool.take().await.unwrap();
    let big: Vec<u8> = (0..=u8::MAX).cycle().take(5_000_000).collect();
    for payload in [&b""[..], b"x", b"\0\xff", &big] {
        worker.send(payload).await.unwrap();
        assert!(worker.recv().await.unwrap() == payload);
    }
}

#[tokio::test]
async fn neither_side_waits_for_the_other_to_read_first() {
    let pool = WorkerPool::new(spec("echo"));
    let mut worker = pool.take().await.unwrap();
    // Much more than the pipes hold, and the worker answers each before it reads the next.
    for number in 0..200_u8 {
        worker.send(&vec![number; 50_000]).await.unwrap();
    }
    for number in 0..200_u8 {
        assert_eq!(worker.recv().await.unwrap(), vec![number; 50_000]);
    }
}

#[tokio::test]
async fn what_is_too_long_is_not_sent_and_the_worker_lives() {
    let spec = WorkerSpec { max_frame_bytes: 1_000, max_queued_bytes: 3_000, ..spec("echo") };
    let pool = WorkerPool::new(spec);
    let mut worker = pool.take().await.unwrap();
    let error = worker.queue(&[0; 1_001]).unwrap_err();
    assert_eq!(error.code(), "WORKER_FRAME_TOO_LARGE");
    assert_eq!(error.to_string(), "a frame of 1001 bytes was to be sent, 1000 are allowed (maxFrameBytes)");
    for _ in 0..2 {
        worker.queue(&[5; 1_000]).unwrap();
    }
    let error = worker.queue(&[5; 1_000]).unwrap_err();
    assert_eq!(error.code(), "WORKER_QUEUE_FULL");
    assert_eq!(
        error.to_string(),
        "3000 bytes are queued for a worker that does not read them, which is all that may be (maxQueuedBytes)"
    );
    for _ in 0..2 {
        assert_eq!(worker.recv().await.unwrap(), [5; 1_000]);
    }
}

#[tokio::test]
async fn a_frame_that_is_too_long_ends_its_worker() {
    let pool = WorkerPool::new(WorkerSpec { max_frame_bytes: 1_000, ..spec("escape") });
    let mut worker = pool.take().await.unwrap();
    // The worker's own library refuses, a program that writes past it is killed.
    let refused = "a frame of 1001 bytes was to be sent, 1000 are allowed (maxFrameBytes)";
    assert_eq!(attempt(&mut worker, "bytes 1001").await, refused);
    worker.send(b"huge-frame").await.unwrap();
    let error = worker.recv().await.unwrap_err();
    assert_eq!(error.code(), "WORKER_FRAME_TOO_LARGE");
    assert_eq!(
        error.to_string(),
        "the worker sent a frame of 2147483646 bytes, 1000 are allowed (maxFrameBytes)"
    );
    let Err(WorkerError::Ended(ended)) = worker.recv().await else { panic!("it lives") };
    assert_eq!((ended.exit.to_string().as_str(), ended.exit.killed), ("signal 9", true));
    next_one_works(&pool).await;
}

#[tokio::test]
async fn what_is_no_frame_ends_its_worker() {
    let pool = pool();
    for what in ["garbage", "second-greeting"] {
        let mut worker = pool.take().await.unwrap();
        worker.send(what.as_bytes()).await.unwrap();
        let error = worker.recv().await.unwrap_err();
        assert_eq!((&error, error.code()), (&WorkerError::NotAFrame, "WORKER_NOT_A_FRAME"), "{what}");
        next_one_works(&pool).await;
    }
}

#[tokio::test]
async fn half_a_frame_is_waited_for_as_long_as_the_budget_lasts() {
    let pool = pool();
    let mut worker = pool.take().await.unwrap();
    let watch = worker.watch(Budgets { max_wall: Some(Duration::from_millis(100)), max_compute: None });
    worker.send(b"half-frame").await.unwrap();
    let expired = tokio::select! {
        expired = watch.expired() => expired,
        frame = worker.recv() => panic!("{frame:?}"),
    };
    assert_eq!(expired.budget.name(), "maxWallMs");
    assert_eq!(worker.kill().await.exit.to_string(), "signal 9");
    next_one_works(&pool).await;
}

#[tokio::test]
async fn a_worker_that_floods_its_host_waits_and_what_comes_after_its_end_is_nobodys() {
    let pool = pool();
    let mut worker = pool.take().await.unwrap();
    worker.send(b"flood x").await.unwrap();
    for _ in 0..10 {
        assert_eq!(worker.recv().await.unwrap().len(), 60_000);
    }
    assert_eq!(worker.kill().await.exit.to_string(), "signal 9");
    next_one_works(&pool).await;
}

#[tokio::test]
async fn dropped_futures_lose_nothing() {
    let pool = WorkerPool::new(spec("echo"));
    let mut worker = pool.take().await.unwrap();
    let payload = vec![9; 3_000_000];
    worker.queue(&payload).unwrap();
    // Looks for a moment only, again and again.
    let echoed = loop {
        tokio::select! {
            biased;
            frame = worker.recv() => break frame.unwrap(),
            () = tokio::task::yield_now() => {}
        }
    };
    assert!(echoed == payload);
}
