//! Where the tests keep their prisoners.

use std::path::PathBuf;

use dsh_worker::{Entry, Limits, Worker, WorkerPool, WorkerSpec};

/// The program that misbehaves. Cargo builds examples beside the tests.
pub(crate) fn prisoner() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().and_then(|deps| deps.parent()).unwrap().join("examples/prisoner");
    assert!(path.exists(), "build it first: cargo build -p dsh-worker --example prisoner");
    path
}

pub(crate) fn spec(role: &str) -> WorkerSpec {
    WorkerSpec {
        limits: Limits { max_memory_bytes: Some(64 << 20), max_cpu_seconds: Some(60) },
        ..WorkerSpec::new(Entry::Binary(prisoner()), role)
    }
}

/// A pool of workers that make attempts.
pub(crate) fn pool() -> WorkerPool {
    WorkerPool::new(spec("escape"))
}

/// What became of an attempt.
pub(crate) async fn attempt(worker: &mut Worker, what: &str) -> String {
    worker.send(what.as_bytes()).await.unwrap();
    String::from_utf8(worker.recv().await.unwrap()).unwrap()
}

/// That the pool gives a worker that works.
pub(crate) async fn next_one_works(pool: &WorkerPool) {
    let mut next = pool.take().await.unwrap();
    assert_eq!(attempt(&mut next, "arguments").await, r#"Some("dsh-worker")"#);
}
