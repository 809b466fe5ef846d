//! The thread that starts a child, greets it, and waits for it until it is gone.
//!
//! A child dies with the *thread* that started it, which is how it dies with a process that was killed. So a child has a
//! thread that lives as long as it does; and the same thread reaps it, whatever becomes of runtimes and owners.

use std::io::{self, PipeReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::Arc;

use dsh_confinement::Level;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use crate::entry::Summons;
use crate::frame::{Inbox, Kind, write};
use crate::greeting::{Answer, Boot, MOST, decode, encode};
use crate::pool::Shared;
use crate::process::{Leash, Process};
use crate::{Exit, WorkerError, WorkerSpec};

/// A child that is ready. Dropping it kills it.
pub(crate) struct Started {
    pub(crate) leash: Leash,
    pub(crate) channel: UnixStream,
    pub(crate) inbox: Inbox,
    pub(crate) stray: PipeReader,
    pub(crate) level: Level,
}

/// Who is told that a child is ready, or why there is none.
pub(crate) type Deliver = Box<dyn FnOnce(Result<Started, WorkerError>) + Send>;

/// A keeper starts and waits; it calls nothing deep.
const STACK_BYTES: usize = 256 << 10;
/// How much of a child's last words an error quotes.
const WORDS: u64 = 2_000;

/// Starts a child on a thread of its own.
///
/// # Errors
/// When there is no thread; then `deliver` is not called.
pub(crate) fn keep(shared: Arc<Shared>, deliver: Deliver) -> Result<(), WorkerError> {
    let keeper = std::thread::Builder::new().name("dsh-worker".to_owned()).stack_size(STACK_BYTES);
    let spawned = keeper.spawn(move || run(&shared, deliver));
    spawned.map(drop).map_err(|error| WorkerError::Unavailable(format!("no thread for it: {error}")))
}

fn run(shared: &Arc<Shared>, deliver: Deliver) {
    let launched = match Launched::new(&shared.spec) {
        Ok(launched) => launched,
        Err(error) => return deliver(Err(error)),
    };
    let Launched { mut child, process, mut channel, stray, token } = launched;
    let process = Arc::new(process);
    let leash = Leash(Arc::clone(&process));
    shared.enrol(&process);
    let mut inbox = Inbox::default();
    let failed = match greet(&mut channel, &mut inbox, &shared.spec, &token) {
        Ok(level) => {
            deliver(Ok(Started { leash, channel, inbox, stray, level }));
            None
        }
        Err(fault) => {
            if fault == Fault::Ended {
                hung_up(&stray);
            }
            drop(leash);
            Some((fault, deliver, stray))
        }
    };
    let (exit, taken) = process.reap(&mut child);
    shared.strike(&process, taken);
    if let Some((fault, deliver, stray)) = failed {
        deliver(Err(fault.told(exit, &words(stray), &shared.spec)));
    }
}

/// A child that was started, and this side of its two pipes.
struct Launched {
    child: Child,
    process: Process,
    channel: UnixStream,
    stray: PipeReader,
    token: String,
}

impl Launched {
    fn new(spec: &WorkerSpec) -> Result<Self, WorkerError> {
        Self::try_new(spec).map_err(|error| {
            let what = match &spec.entry {
                crate::Entry::Reexec => "this program again".to_owned(),
                crate::Entry::Binary(path) => path.display().to_string(),
            };
            WorkerError::Unavailable(format!("starting {what}: {error}"))
        })
    }

    fn try_new(spec: &WorkerSpec) -> io::Result<Self> {
        let summons = Summons::new();
        let (channel, theirs) = UnixStream::pair()?;
        let (stray, output) = io::pipe()?;
        let mut command = summons.command(&spec.entry)?;
        command.stdin(OwnedFd::from(theirs)).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("the child has no number"))?;
        Ok(Self { child, process: Process::new(pid), channel, stray, token: summons.token })
    }
}

/// Tells the child what it shall be, and hears whether it is.
fn greet(
    channel: &mut UnixStream,
    inbox: &mut Inbox,
    spec: &WorkerSpec,
    token: &str,
) -> Result<Level, Fault> {
    channel.set_read_timeout(Some(spec.start_timeout)).map_err(|_| Fault::Ended)?;
    channel.set_write_timeout(Some(spec.start_timeout)).map_err(|_| Fault::Ended)?;
    let boot = Boot {
        role: spec.role.clone(),
        limits: spec.limits,
        threads: spec.threads,
        demand: spec.demand,
        max_frame_bytes: spec.max_frame_bytes,
    };
    let mut out = Vec::new();
    write(&mut out, Kind::Greeting, &encode(&boot), MOST).map_err(|_| Fault::Stranger)?;
    channel.write_all(&out).map_err(|error| Fault::of(&error))?;
    let answer = loop {
        match inbox.take(MOST) {
            Ok(Some((Kind::Greeting, payload))) => break decode(&payload).ok_or(Fault::Stranger)?,
            Ok(None) => {}
            Ok(Some((Kind::Message, _))) | Err(_) => return Err(Fault::Stranger),
        }
        match inbox.fill(|room| channel.read(room)) {
            Ok(0) => return Err(Fault::Ended),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Fault::of(&error)),
        }
    };
    match answer {
        Answer::Ready { token: answered, level } if answered == token => Ok(level),
        Answer::Ready { .. } => Err(Fault::Stranger),
        Answer::Unconfined { message } => Err(Fault::Unconfined(message)),
        Answer::Refused { message } => Err(Fault::Refused(message)),
    }
}

/// Why a child that was started did not get ready.
#[derive(PartialEq)]
enum Fault {
    Slow,
    Ended,
    Stranger,
    Unconfined(String),
    Refused(String),
}

impl Fault {
    fn of(error: &io::Error) -> Self {
        let is_late = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        if is_late { Self::Slow } else { Self::Ended }
    }

    fn told(self, exit: Exit, words: &str, spec: &WorkerSpec) -> WorkerError {
        let said = if words.is_empty() { String::new() } else { format!("; it said: {words}") };
        WorkerError::Unavailable(match self {
            Self::Unconfined(message) => return WorkerError::Unconfined(message),
            Self::Refused(message) => message,
            Self::Slow => format!(
                "it was not ready within {} ms (startTimeoutMs){said}",
                spec.start_timeout.as_millis()
            ),
            Self::Ended => format!("it ended before it was ready ({exit}){said}"),
            Self::Stranger => format!(
                "what was started does not answer as a worker: its main has to call \
                 dsh_worker::child_main_if_asked first{said}"
            ),
        })
    }
}

/// Waits a moment for a child that has let go of its channel to end by itself, so that its exit is its own.
fn hung_up(stray: &PipeReader) {
    let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    // Without it the exit says that the child was killed.
    let _ = poll(&mut [PollFd::new(stray, PollFlags::empty())], Some(&moment));
}

/// The first that a child wrote past its frames. It is gone.
fn words(mut stray: PipeReader) -> String {
    let mut words = Vec::new();
    // What can't be read was not said. A process that the child left behind is not waited for.
    let _ = rustix::io::ioctl_fionbio(&stray, true);
    let _ = (&mut stray).take(WORDS).read_to_end(&mut words);
    String::from_utf8_lossy(&words).trim().to_owned()
}
