//! What a program tries that has taken over its worker, and what the kernel answers.

use dsh_worker::{Level, WorkerError, WorkerPool};

use crate::cell::{attempt, next_one_works, pool, spec};

const REFUSED: &str = "Operation not permitted (os error 1)";

/// All of these are refused. `HOST` is the number of the host's process.
const REFUSED_ATTEMPTS: &[&str] = &[
    "open /etc/passwd",
    "open Cargo.toml",
    "open ../etc/passwd",
    "open /proc/self/mem",
    "open /proc/self/environ",
    "open /proc/HOST/mem",
    "open /proc/HOST/environ",
    "open /dev/null",
    "open /dev/tty",
    "create /tmp/dsh-prisoner",
    "create dsh-prisoner",
    "create /dev/shm/dsh-prisoner",
    "look /etc/passwd",
    "list /",
    "remove /tmp/dsh-prisoner",
    "link /tmp/dsh-prisoner",
    "change-directory /tmp",
    "mount",
    "chroot",
    "open-by-handle",
    "memfd",
    "io-uring",
    "bpf",
    "userfaultfd",
    "tcp",
    "listen",
    "udp",
    "unix",
    "datagram",
    "send-descriptor",
    "exec",
    "bare-exec",
    "fork",
    "namespace",
    "thread",
    "ptrace HOST",
    "read-memory HOST",
    "kill HOST",
    "kill -1",
    "kill 0",
    "pidfd HOST",
    "wake-itself",
    "wake-its-thread",
    "set-user",
    "more-memory",
    "outlive-parent",
    "executable-memory",
    "read-descriptor 1",
    "read-descriptor 17",
];

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_but_its_channel_is_in_reach_of_a_worker() {
    let pool = pool();
    let mut worker = pool.take().await.unwrap();
    assert_eq!(worker.level(), &Level::Full);
    let host = std::process::id().to_string();
    let mut answers = Vec::new();
    for what in REFUSED_ATTEMPTS {
        answers.push((*what, attempt(&mut worker, &what.replace("HOST", &host)).await));
    }
    answers.retain(|(_, answer)| answer != REFUSED);
    assert_eq!(answers, []);
    // A C library that is told that this call is missing uses the other, which is refused.
    assert_eq!(attempt(&mut worker, "new-fork").await, "Function not implemented (os error 38)");
    if cfg!(target_arch = "x86_64") {
        assert_eq!(attempt(&mut worker, "old-fork").await, REFUSED);
    }
    next_one_works(&pool).await;
}

#[tokio::test]
async fn a_worker_inherits_neither_descriptors_nor_environment() {
    // Descriptors that a child inherits, as a careless library leaves them.
    let (kept, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    let careless = [rustix::io::dup(&kept).unwrap(), rustix::io::fcntl_dupfd_cloexec(&kept, 100).unwrap()];
    rustix::io::fcntl_setfd(&careless[1], rustix::io::FdFlags::empty()).unwrap();
    let pool = pool();
    let mut worker = pool.take().await.unwrap();
    assert_eq!(attempt(&mut worker, "descriptors").await, "[0, 1, 2, 3]");
    assert_eq!(attempt(&mut worker, "environment").await, "[]");
    assert_eq!(attempt(&mut worker, "arguments").await, r#"Some("dsh-worker")"#);
    // Standard input is not the channel.
    assert_eq!(attempt(&mut worker, "input").await, "0");
    assert_eq!(attempt(&mut worker, "clock").await, "true");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_bomb_of_forks_is_none_and_one_of_threads_meets_the_memory_bound() {
    let pool = pool();
    let mut worker = pool.take().await.unwrap();
    assert_eq!(attempt(&mut worker, "forks").await, "0");
    assert_eq!(attempt(&mut worker, "threads").await, "0");

    let with_threads = WorkerPool::new(dsh_worker::WorkerSpec { threads: true, ..spec("escape") });
    let mut worker = with_threads.take().await.unwrap();
    assert_eq!(worker.level(), &Level::Full);
    assert_eq!(attempt(&mut worker, "thread").await, "done");
    assert_eq!(attempt(&mut worker, "fork").await, REFUSED);
    worker.send(b"threads").await.unwrap();
    match worker.recv().await {
        Ok(threads) => {
            let threads: usize = String::from_utf8(threads).unwrap().parse().unwrap();
            assert!((10..1_500).contains(&threads), "{threads}");
        }
        // The library gives up where a thread has started and has no memory left to begin with.
        Err(WorkerError::Ended(ended)) => assert_eq!(ended.exit.to_string(), "signal 6", "{}", ended.stray),
        Err(other) => panic!("{other}"),
    }
    next_one_works(&with_threads).await;
}
