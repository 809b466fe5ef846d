//! How a child knows that it is one, and who asked.

use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::FileType;

use crate::{Entry, WorkerError};

/// The name that a worker is started by, which is also what lists of processes show.
const NAME: &str = "dsh-worker";

/// Whether this program's `main` has asked whether it is a worker.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Notes that this is no worker, and that its `main` would have noticed.
pub(crate) fn asked() {
    ASKED.store(true, Ordering::Release);
}

/// What a worker is started with.
pub(crate) struct Summons {
    /// The process that it belongs to.
    pub(crate) parent: u32,
    /// What it answers with.
    pub(crate) token: String,
}

impl Summons {
    /// A summons from this process.
    pub(crate) fn new() -> Self {
        // The library keys its hashes with what the system has of chance, each state differently.
        let [high, low] = [RandomState::new(), RandomState::new()].map(|state| state.hash_one(NAME));
        Self { parent: std::process::id(), token: format!("{high:016x}{low:016x}") }
    }

    /// The command that starts the entry with this summons and nothing else: no environment, no directory of its owner.
    pub(crate) fn command(&self, entry: &Entry) -> io::Result<Command> {
        let mut command = match entry {
            Entry::Reexec => Command::new(this_program()?),
            Entry::Binary(path) => Command::new(path),
        };
        command
            .arg0(NAME)
            .arg(format!("{}:{}", self.parent, self.token))
            .env_clear()
            .current_dir("/")
            .process_group(0);
        Ok(command)
    }

    /// The summons of this process, if it is a worker: it has the name, the argument, no environment, and a socket as
    /// standard input.
    pub(crate) fn received() -> Option<Self> {
        let arguments: Vec<OsString> = std::env::args_os().take(3).collect();
        let [name, summons] = arguments.as_slice() else { return None };
        if name != NAME || std::env::vars_os().next().is_some() {
            return None;
        }
        let (parent, token) = summons.to_str()?.split_once(':')?;
        let stdin = rustix::fs::fstat(rustix::stdio::stdin()).ok()?;
        let is_socket = FileType::from_raw_mode(stdin.st_mode) == FileType::Socket;
        is_socket.then_some(Self { parent: parent.parse().ok()?, token: token.to_owned() })
    }
}

/// Whether this process may start that entry.
///
/// A program whose `main` does not ask would run itself as its own worker, and that again; so it is not started.
pub(crate) fn check(entry: &Entry) -> Result<(), WorkerError> {
    let unavailable = |message: &str| Err(WorkerError::Unavailable(message.to_owned()));
    if std::env::args_os().next().is_some_and(|name| name == NAME) {
        return unavailable("this process is a worker itself");
    }
    match entry {
        Entry::Reexec if !ASKED.load(Ordering::Acquire) => {
            unavailable("call dsh_worker::child_main_if_asked at the top of main, or name a binary that does")
        }
        Entry::Reexec | Entry::Binary(_) => Ok(()),
    }
}

/// This very program, also when its file was replaced.
#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "the other platform can fail")]
fn this_program() -> io::Result<std::path::PathBuf> {
    Ok("/proc/self/exe".into())
}

#[cfg(not(target_os = "linux"))]
fn this_program() -> io::Result<std::path::PathBuf> {
    std::env::current_exe()
}
