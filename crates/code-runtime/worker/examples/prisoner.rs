//! A program whose workers misbehave, for the tests: each attempt is made from inside a confined worker.
//!
//! Whatever succeeds because the confinement is broken does no harm: signals are those that do nothing, a child that is forked
//! exits at once, and every bomb has a measure.
//!
//! Called with `host` it is a host itself: it starts workers of its own, tells their numbers, and waits to be killed. With
//! `leaks` it uses many workers and tells what is left of them.

use std::convert::Infallible;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::process::Command;
use std::time::Duration;

use dsh_worker::{Channel, Entry, Start, WorkerPool, WorkerSpec, child_main_if_asked};
use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

/// What a bomb that meets no bound comes to: mebibytes, or threads.
const MEASURE: usize = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    child_main_if_asked(role);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut spec = WorkerSpec::new(Entry::Reexec, "echo");
    spec.limits.max_cpu_seconds = Some(60);
    match std::env::args().nth(1).as_deref() {
        Some("host") => runtime.block_on(host(spec)),
        Some("leaks") => {
            spec.idle = 2;
            runtime.block_on(leaks(&spec))
        }
        _ => Err("this program is for the tests: its arguments are `host` or `leaks`".into()),
    }
}

fn role(role: &str, start: Start) {
    match role {
        "echo" => echo(&mut start.confine()),
        "escape" => escape(&mut start.confine()),
        "mute" => {
            // Never ready.
            loop {
                std::thread::park();
            }
        }
        "gone" => {
            say("no interpreter here");
            exit(3);
        }
        "forge" => {
            // The channel is where every channel is, so a role can write to it before it is ready.
            raw_write(3, b"\x05\0\0\0\0{}{}");
            start.confine();
        }
        _ => start.refuse("this program has no such role"),
    }
}

fn echo(channel: &mut Channel) {
    while let Ok(Some(payload)) = channel.recv(None) {
        if channel.send(&payload).is_err() {
            return;
        }
    }
}

/// Makes the attempts that it is told of, and tells what became of each.
fn escape(channel: &mut Channel) {
    while let Ok(Some(attempt)) = channel.recv(None) {
        let told = String::from_utf8_lossy(&attempt).into_owned();
        let (what, about) = told.split_once(' ').unwrap_or((&told, ""));
        let became = attempt_to(what, about, channel).unwrap_or_else(|error| error.to_string());
        if channel.send(became.as_bytes()).is_err() {
            return;
        }
    }
}

#[expect(clippy::too_many_lines, reason = "one line for each attempt")]
fn attempt_to(what: &str, about: &str, channel: &mut Channel) -> Result<String, Box<dyn Error>> {
    let number = || about.parse::<i64>();
    let this = i64::from(std::process::id());
    match what {
        // Files.
        "open" => done(File::open(about)),
        "create" => done(File::create(about)),
        "look" => done(fs::metadata(about)),
        "list" => done(fs::read_dir(about)),
        "remove" => done(fs::remove_file(about)),
        "link" => done(std::os::unix::fs::symlink("/etc/passwd", about)),
        "change-directory" => done(std::env::set_current_dir(about)),
        "mount" => raw(libc::SYS_mount, [0; 6]),
        "chroot" => raw(libc::SYS_chroot, [c"/".as_ptr() as i64, 0, 0, 0, 0, 0]),
        "open-by-handle" => raw(libc::SYS_open_by_handle_at, [0; 6]),
        "memfd" => raw(libc::SYS_memfd_create, [c"x".as_ptr() as i64, 0, 0, 0, 0, 0]),
        "io-uring" => raw(libc::SYS_io_uring_setup, [8, 0, 0, 0, 0, 0]),
        "bpf" => raw(libc::SYS_bpf, [0; 6]),
        "userfaultfd" => raw(libc::SYS_userfaultfd, [0; 6]),
        // Network.
        "tcp" => done(TcpStream::connect("127.0.0.1:1")),
        "listen" => done(TcpListener::bind("127.0.0.1:0")),
        "udp" => done(UdpSocket::bind("127.0.0.1:0")),
        "unix" => done(UnixListener::bind("/tmp/dsh-prisoner")),
        "datagram" => done(UnixDatagram::unbound()),
        "send-descriptor" => raw(libc::SYS_sendmsg, [3, 0, 0, 0, 0, 0]),
        // Processes.
        "exec" => done(Command::new("/bin/true").status()),
        "bare-exec" => raw(libc::SYS_execve, [c"/bin/true".as_ptr() as i64, 0, 0, 0, 0, 0]),
        "fork" => fork(libc::SYS_clone, libc::SIGCHLD),
        "new-fork" => raw(libc::SYS_clone3, [0; 6]),
        #[cfg(target_arch = "x86_64")]
        "old-fork" => fork(libc::SYS_fork, 0),
        "namespace" => raw(libc::SYS_unshare, [i64::from(libc::CLONE_NEWUSER), 0, 0, 0, 0, 0]),
        "thread" => done(std::thread::Builder::new().spawn(|| ())),
        "ptrace" => raw(libc::SYS_ptrace, [i64::from(libc::PTRACE_PEEKDATA), number()?, 0, 0, 0, 0]),
        "read-memory" => raw(libc::SYS_process_vm_readv, [number()?, 0, 0, 0, 0, 0]),
        "kill" => raw(libc::SYS_kill, [number()?, 0, 0, 0, 0, 0]),
        "pidfd" => raw(libc::SYS_pidfd_open, [number()?, 0, 0, 0, 0, 0]),
        "wake-itself" => raw(libc::SYS_kill, [this, i64::from(libc::SIGCONT), 0, 0, 0, 0]),
        "wake-its-thread" => raw(libc::SYS_tgkill, [this, this, i64::from(libc::SIGCONT), 0, 0, 0]),
        "set-user" => raw(libc::SYS_setuid, [65_534, 0, 0, 0, 0, 0]),
        "more-memory" => raw(libc::SYS_prlimit64, [0, 9, c"".as_ptr() as i64, 0, 0, 0]),
        "outlive-parent" => raw(libc::SYS_prctl, [i64::from(libc::PR_SET_PDEATHSIG), 0, 0, 0, 0, 0]),
        "executable-memory" => {
            let rights = i64::from(libc::PROT_EXEC | libc::PROT_READ);
            raw(libc::SYS_mmap, [0, 4096, rights, i64::from(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS), -1, 0])
        }
        // What it has.
        "descriptors" => Ok(format!("{:?}", (0..4096).filter(|fd| is_open(*fd)).collect::<Vec<_>>())),
        "read-descriptor" => raw(libc::SYS_read, [number()?, 0, 0, 0, 0, 0]),
        "environment" => Ok(format!("{:?}", std::env::vars_os().collect::<Vec<_>>())),
        "arguments" => Ok(format!("{:?}", std::env::args_os().next())),
        "input" => Ok(format!("{:?}", io::stdin().read(&mut [0])?)),
        "clock" => Ok(format!("{}", Instant::now().elapsed() < Duration::from_mins(1))),
        "compute" => {
            let enough = Duration::from_millis(about.parse()?);
            while Duration::try_from(clock_gettime(ClockId::ProcessCPUTime))? < enough {}
            Ok("done".to_owned())
        }
        // Frames.
        "output" => {
            say(about);
            Ok("said".to_owned())
        }
        "chatter" => {
            let line = "chatter ".repeat(128);
            for _ in 0..number()? {
                say(&line);
            }
            Ok("said".to_owned())
        }
        "bytes" => {
            channel.send(&vec![7; usize::try_from(number()?)?])?;
            Ok("sent".to_owned())
        }
        "huge-frame" => wait_after(b"\xff\xff\xff\x7f\x01"),
        "half-frame" => wait_after(b"\x64\0\0\0\x01half"),
        "garbage" => wait_after(b"\x01\0\0\0\x2a"),
        "second-greeting" => wait_after(b"\x03\0\0\0\0{}"),
        "flood" => loop {
            channel.send(about.repeat(60_000).as_bytes())?;
        },
        "close-channel" => {
            raw(libc::SYS_close, [3, 0, 0, 0, 0, 0])?;
            never()
        }
        // Ends.
        "exit" => exit(i32::try_from(number()?)?),
        "panic" => Err(Box::<dyn Error>::from(panicking(about))),
        "abort" => std::process::abort(),
        "fault" => {
            // Without the pages that it stands on nobody returns.
            let stack = (&raw const what) as i64 & !0xfff;
            raw(libc::SYS_munmap, [stack - 0x4000, 0x8000, 0, 0, 0, 0])
        }
        "allocate" => {
            let hoard: Vec<_> = (0..MEASURE).map(|_| vec![1_u8; 1 << 20]).collect();
            Ok(hoard.len().to_string())
        }
        "map" => Ok(maps().to_string()),
        "threads" => Ok(many_threads().to_string()),
        "forks" => {
            let forked = (0..100).filter(|_| fork(libc::SYS_clone, libc::SIGCHLD).is_ok());
            Ok(forked.count().to_string())
        }
        "loop" => loop {
            std::hint::spin_loop();
        },
        "deep" => Ok(deep(0).to_string()),
        _ => Err(format!("no such attempt: {what}").into()),
    }
}

fn done<T>(became: io::Result<T>) -> Result<String, Box<dyn Error>> {
    became?;
    Ok("done".to_owned())
}

/// Asks the kernel itself.
#[expect(unsafe_code, reason = "the library would not ask for what is refused here")]
fn raw(number: libc::c_long, arguments: [i64; 6]) -> Result<String, Box<dyn Error>> {
    // SAFETY: every call that is made here is refused by the kernel before it looks at its arguments, or would be a failed
    // test; what it does to this process harms no other.
    let became = unsafe {
        libc::syscall(
            number,
            arguments[0],
            arguments[1],
            arguments[2],
            arguments[3],
            arguments[4],
            arguments[5],
        )
    };
    if became < 0 { Err(io::Error::last_os_error().into()) } else { Ok("done".to_owned()) }
}

/// Forks by one of the calls for it. The child exits at once.
#[expect(unsafe_code, reason = "the library would not fork")]
fn fork(number: libc::c_long, flags: libc::c_int) -> Result<String, Box<dyn Error>> {
    // SAFETY: where it is not refused, the child does nothing but to exit, which is allowed in the copy of any process.
    unsafe {
        match libc::syscall(number, i64::from(flags), 0, 0, 0, 0) {
            0 => libc::_exit(0),
            1.. => Ok("done".to_owned()),
            _ => Err(io::Error::last_os_error().into()),
        }
    }
}

#[expect(unsafe_code, reason = "a descriptor that is another's")]
fn raw_write(descriptor: i32, bytes: &[u8]) {
    // SAFETY: the bytes are there for the length that is given, and writing to a descriptor touches no memory.
    let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
    assert_eq!(usize::try_from(written), Ok(bytes.len()));
}

#[expect(unsafe_code, reason = "a number that may be no descriptor")]
fn is_open(descriptor: i32) -> bool {
    // SAFETY: the call only looks whether the number is a descriptor.
    unsafe { libc::fcntl(descriptor, libc::F_GETFD) >= 0 }
}

fn wait_after(bytes: &[u8]) -> Result<String, Box<dyn Error>> {
    raw_write(3, bytes);
    never()
}

fn never() -> Result<String, Box<dyn Error>> {
    loop {
        std::thread::park();
    }
}

#[expect(clippy::panic, reason = "what the test is about")]
fn panicking(about: &str) -> String {
    panic!("{about}")
}

/// How many mebibytes can be mapped without being used.
fn maps() -> usize {
    let map = || {
        let mut mebibyte = Vec::<u8>::new();
        mebibyte.try_reserve_exact(1 << 20).ok().map(|()| mebibyte)
    };
    (0..MEASURE).map_while(|_| map()).collect::<Vec<_>>().len()
}

/// How many threads can be there at once.
fn many_threads() -> usize {
    let (release, held) = std::sync::mpsc::channel::<Infallible>();
    let held = std::sync::Arc::new(std::sync::Mutex::new(held));
    let start = || {
        let held = std::sync::Arc::clone(&held);
        let wait = move || drop(held.lock().map(|held| held.recv()));
        std::thread::Builder::new().stack_size(64 << 10).spawn(wait)
    };
    let threads: Vec<_> = (0..MEASURE).map_while(|_| start().ok()).collect();
    drop(release);
    threads.into_iter().filter_map(|thread| thread.join().ok()).count()
}

#[expect(unconditional_recursion, reason = "what the test is about")]
fn deep(level: u64) -> u64 {
    std::hint::black_box([level; 64]);
    deep(level + 1) + 1
}

/// Writes past the frames.
fn say(what: &str) {
    let _ = writeln!(io::stdout(), "{what}");
}

#[expect(clippy::exit, reason = "what the test is about")]
fn exit(status: i32) -> ! {
    std::process::exit(status)
}

/// A host with two busy workers and one in stock.
async fn host(spec: WorkerSpec) -> Result<(), Box<dyn Error>> {
    let pool = WorkerPool::new(WorkerSpec { role: "escape".to_owned(), ..spec });
    let mut workers = [pool.take().await?, pool.take().await?];
    for worker in &mut workers {
        worker.send(b"loop").await?;
    }
    say(&format!("{} {}", workers[0].id(), workers[1].id()));
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Uses up workers in every way, and tells what was left: before and after, descriptors, children and threads.
async fn leaks(spec: &WorkerSpec) -> Result<(), Box<dyn Error>> {
    let before = left()?;
    for _ in 0..5 {
        let pool = WorkerPool::new(spec.clone());
        drop(pool.take().await?);
        let mut used = pool.take().await?;
        used.send(b"hello").await?;
        used.recv().await?;
        used.kill().await;
        // A start that nobody waits for any more.
        tokio::select! {
            biased;
            taken = pool.take() => drop(taken?),
            () = std::future::ready(()) => {}
        }
        let kept = pool.take().await?;
        pool.close().await;
        drop(kept);
        let never = WorkerPool::new(WorkerSpec { role: "nobody".to_owned(), ..spec.clone() });
        assert!(never.take().await.is_err());
        never.close().await;
    }
    // The thread of a process that was reaped is on its way out; what is left for good stays.
    for _ in 0..400 {
        if left()? == before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    say(&format!("before {before}"));
    say(&format!("after {}", left()?));
    Ok(())
}

fn left() -> io::Result<String> {
    let count = |path: &str| fs::read_dir(path).map(Iterator::count);
    let children = fs::read_dir("/proc")?
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| parent_in(stat) == Some(std::process::id()))
        .count();
    let (descriptors, threads) = (count("/proc/self/fd")?, count("/proc/self/task")?);
    Ok(format!("{descriptors} descriptors, {children} children, {threads} threads"))
}

fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
