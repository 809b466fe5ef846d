//! Each test starts this binary again as a child, which confines itself, tries things and tells what became of them.

use std::fmt::Display;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;

use dsh_confinement::{Confinement, Demand, Limits};
use rustix::process::{Signal, getpid, getppid, kill_process, test_kill_process};

/// Whether the child may have threads; unset in a normal run of the tests.
const THREADS: &str = "DSH_TEST_THREADS";

const MEBIBYTE: usize = 1 << 20;

/// The child's half.
#[test]
#[expect(clippy::disallowed_methods, reason = "the only way to tell a child of the test harness what it is")]
fn child() {
    let Ok(threads) = std::env::var(THREADS) else { return };
    let (channel, other) = UnixStream::pair().unwrap();
    let [mut channel, mut other] = [channel, other].map(|end| File::from(OwnedFd::from(end)));
    let end = rustix::io::fcntl_dupfd_cloexec(&channel, 0).unwrap();
    let limits = Limits { max_memory_bytes: Some(64 << 20), max_cpu_seconds: Some(60) };
    let confinement = Confinement { limits, channel: channel.as_fd(), threads: threads == "yes" };
    let (parent, this) = (getppid().unwrap(), getpid());
    let level = confinement.enter(Demand::BestEffort).unwrap();

    say("level", Err::<(), _>(level));
    say("read a file", std::fs::read("/etc/hostname"));
    say("look at a file", std::fs::metadata("/etc/hostname"));
    say("write a file", File::create("confined-was-here"));
    say("list a directory", std::fs::read_dir("."));
    say("own memory", File::open("/proc/self/mem"));
    say("listen", TcpListener::bind("127.0.0.1:0"));
    say("connect", UnixStream::connect("/run/nothing"));
    say("start a program", Command::new("/bin/true").status());
    say("signal the parent", test_kill_process(parent));
    say("signal itself", kill_process(this, Signal::CONT));
    say("start a thread", std::thread::Builder::new().spawn(|| ()).map(|thread| thread.join().unwrap()));
    say("some memory", Vec::<u8>::new().try_reserve_exact(16 * MEBIBYTE));
    say("much memory", Vec::<u8>::new().try_reserve_exact(256 * MEBIBYTE));
    say("the channel", channel.write_all(b"x"));
    say("another end", end.try_clone());
    say("the other side", other.read(&mut [0]));
}

fn say<T, E: Display>(what: &str, became: Result<T, E>) {
    match became {
        Ok(_) => println!("\n> {what}: done"),
        Err(error) => println!("\n> {what}: {error}"),
    }
}

fn said(threads: &str) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["confined::child", "--exact", "--nocapture", "--test-threads=1"]).env(THREADS, threads);
    let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
    output.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_confined_process_computes_and_talks_on_its_channel() {
    let refused = "Operation not permitted (os error 1)";
    let expected = |thread: &str| {
        [
            "level: full".to_owned(),
            format!("read a file: {refused}"),
            format!("look at a file: {refused}"),
            format!("write a file: {refused}"),
            format!("list a directory: {refused}"),
            format!("own memory: {refused}"),
            format!("listen: {refused}"),
            format!("connect: {refused}"),
            format!("start a program: {refused}"),
            format!("signal the parent: {refused}"),
            format!("signal itself: {refused}"),
            format!("start a thread: {thread}"),
            "some memory: done".to_owned(),
            "much memory: memory allocation failed because the memory allocator returned an error".to_owned(),
            "the channel: done".to_owned(),
            format!("another end: {refused}"),
            format!("the other side: {refused}"),
        ]
    };
    assert_eq!(said("no"), expected(refused));
    assert_eq!(said("yes"), expected("done"));
}
