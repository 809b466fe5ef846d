//! The child's half: from the top of `main` to the last frame.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use dsh_confinement::Confinement;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use thiserror::Error;

use crate::attention::Attention;
use crate::entry::{Summons, asked};
use crate::frame::{Inbox, Kind, write};
use crate::greeting::{Answer, Boot, MOST, decode, encode};

/// Becomes a worker, if this process was started as one; else returns at once.
///
/// To be called first in `main`: before there is a second thread, a runtime or an open file. In a worker it does not
/// return: `role` is called with the role's name, the process exits with 0 when it returns.
///
/// A role prepares what needs files (an interpreter), then calls [`Start::confine`] and speaks with its host over the
/// [`Channel`] that it gets for that. There is no other way to a channel.
///
/// ```
/// // The first line of `main`:
/// dsh_worker::child_main_if_asked(|role, start| match role {
///     "echo" => {
///         let mut channel = start.confine();
///         while let Ok(Some(payload)) = channel.recv(None) {
///             if channel.send(&payload).is_err() {
///                 break;
///             }
///         }
///     }
///     _ => start.refuse("this program has no such role"),
/// });
/// ```
pub fn child_main_if_asked(role: impl FnOnce(&str, Start)) {
    let Some(summons) = Summons::received() else { return asked() };
    if let Some(start) = Start::new(summons) {
        let name = start.boot.role.clone();
        role(&name, start);
        exit(0);
    }
    exit(UNUSABLE);
}

/// A worker that is not confined yet, and was told nothing.
pub struct Start {
    channel: File,
    token: String,
    boot: Boot,
}

/// A worker's way to its host. It blocks.
pub struct Channel {
    file: File,
    inbox: Inbox,
    max_frame_bytes: usize,
}

/// Why a frame could not be sent or received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ChannelError {
    /// The host is gone, or what it says can't be read. There is nothing left to do but to end.
    #[error("the host of this worker is gone")]
    Gone,
    /// The payload is longer than the host accepts. Nothing was sent.
    #[error("a frame of {bytes} bytes was to be sent, {limit} are allowed (maxFrameBytes)")]
    TooLarge {
        /// How long the payload is.
        bytes: usize,
        /// How long a payload may be.
        limit: usize,
    },
}

/// The status of a child that could not become a worker, or not as demanded. It has said why.
const UNUSABLE: i32 = 69;

impl Start {
    /// Ties this process to its host, takes the channel out of the way, and hears what to be. `None` when the host is gone.
    fn new(summons: Summons) -> Option<Self> {
        die_with(summons.parent)?;
        let mut channel = take_channel().ok()?;
        let mut inbox = Inbox::default();
        let boot = loop {
            match inbox.take(MOST) {
                Ok(Some((Kind::Greeting, payload))) => break decode(&payload)?,
                Ok(None) => {}
                Ok(Some((Kind::Message, _))) | Err(_) => return None,
            }
            if inbox.fill(|room| channel.read(room)).ok()? == 0 {
                return None;
            }
        };
        let start = Self { channel, token: summons.token, boot };
        match threads() {
            1 => Some(start),
            threads => start.refuse(&format!(
                "child_main_if_asked was called too late: there are {threads} threads, call it first in main"
            )),
        }
    }

    /// Gives up everything but memory, clock and channel, and tells the host that this worker is ready. When less is
    /// reached than the host demands, it says so and the process ends.
    pub fn confine(mut self) -> Channel {
        let confinement = Confinement {
            limits: self.boot.limits,
            channel: self.channel.as_fd(),
            threads: self.boot.threads,
        };
        match confinement.enter(self.boot.demand) {
            Ok(level) => {
                let token = std::mem::take(&mut self.token);
                self.answer(&Answer::Ready { token, level });
                Channel {
                    file: self.channel,
                    inbox: Inbox::default(),
                    max_frame_bytes: self.boot.max_frame_bytes,
                }
            }
            Err(short) => {
                self.answer(&Answer::Unconfined { message: short.to_string() });
                exit(UNUSABLE)
            }
        }
    }

    /// Tells the host that there will be no worker, and why; the process ends.
    pub fn refuse(mut self, why: &str) -> ! {
        self.answer(&Answer::Refused { message: why.to_owned() });
        exit(UNUSABLE)
    }

    fn answer(&mut self, answer: &Answer) {
        let mut out = Vec::new();
        let written = write(&mut out, Kind::Greeting, &encode(answer), MOST);
        if written.is_err() || self.channel.write_all(&out).is_err() {
            exit(UNUSABLE);
        }
    }
}

impl Channel {
    /// Sends one frame. Waits while the host does not read.
    ///
    /// # Errors
    /// [`ChannelError`].
    pub fn send(&mut self, payload: &[u8]) -> Result<(), ChannelError> {
        let mut out = Vec::new();
        write(&mut out, Kind::Message, payload, self.max_frame_bytes)
            .map_err(|large| ChannelError::TooLarge { bytes: large.bytes, limit: large.limit })?;
        self.file.write_all(&out).map_err(|_| ChannelError::Gone)
    }

    /// The next frame; `None` when `patience` (forever, if there is none) passed without the beginning of one.
    ///
    /// # Errors
    /// [`ChannelError::Gone`].
    pub fn recv(&mut self, patience: Option<Duration>) -> Result<Option<Vec<u8>>, ChannelError> {
        loop {
            match self.inbox.take(self.max_frame_bytes) {
                Ok(Some((Kind::Message, payload))) => return Ok(Some(payload)),
                Ok(None) => {}
                Ok(Some((Kind::Greeting, _))) | Err(_) => return Err(ChannelError::Gone),
            }
            if patience.is_none_or(|patience| !patience.is_zero()) {
                let mut attention = Attention::raised();
                while !self.arrives_within(Duration::ZERO) && attention.lasts() {}
            }
            if self.inbox.len() == 0 && patience.is_some_and(|patience| !self.arrives_within(patience)) {
                return Ok(None);
            }
            match self.inbox.fill(|room| self.file.read(room)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return Err(ChannelError::Gone),
                Ok(_) => {}
            }
        }
    }

    fn arrives_within(&self, patience: Duration) -> bool {
        // A patience that a kernel can't hold is as good as forever; an interrupted one starts anew.
        let patience = Timespec::try_from(patience).ok();
        loop {
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], patience.as_ref()) {
                Ok(0) => return false,
                Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => return true,
            }
        }
    }
}

/// Moves the channel from standard input to the first descriptor after the standard ones, and closes all others.
fn take_channel() -> io::Result<File> {
    close_from(FIRST);
    let channel: OwnedFd = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), FIRST)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(File::from(channel))
}

/// The first descriptor after the standard ones.
const FIRST: i32 = 3;

#[expect(unsafe_code, reason = "there is no safe way to close descriptors that nobody here has opened")]
fn close_from(first: i32) {
    // SAFETY: this is the beginning of `main`, so every descriptor from here on was inherited; nothing in this process has
    // opened it or will use it. The calls take numbers and no memory.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) == 0 {
            return;
        }
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(1 << 16);
        for descriptor in first..i32::try_from(most).unwrap_or(1 << 16).min(1 << 16) {
            libc::close(descriptor);
        }
    }
}

/// Has the kernel kill this process when its parent is gone; `None` when it is gone already.
fn die_with(parent: u32) -> Option<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        set_parent_process_death_signal(Some(Signal::KILL)).ok()?;
        // For lists of processes only.
        let _ = rustix::thread::set_name(c"dsh-worker");
    }
    (std::os::unix::process::parent_id() == parent).then_some(())
}

#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count)
}

#[cfg(not(target_os = "linux"))]
fn threads() -> usize {
    1
}

/// The end of a worker.
#[expect(clippy::exit, reason = "a worker never becomes the program whose main called it")]
fn exit(status: i32) -> ! {
    std::process::exit(status)
}
