//! How a worker ended: facts first, then what they look like.

use std::fmt;
use std::time::Duration;

use dsh_confinement::Limits;

use crate::Stray;

/// What is known of a worker that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How its process ended.
    pub exit: Exit,
    /// What it wrote past its frames.
    pub stray: Stray,
    /// What the two look like. A guess: a program can feign each.
    pub hint: Option<Hint>,
}

/// How a process ended. `Display` says `exited 7` or `signal 9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// By itself, or by a signal.
    pub how: How,
    /// Whether its owner killed it before it had ended.
    pub killed: bool,
    /// The CPU time that it used, its start included, where that is known.
    pub cpu: Option<Duration>,
}

/// The end itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It exited with this status.
    Exited(i32),
    /// This signal ended it.
    Signal(i32),
}

/// What an end looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// It was refused memory, or the machine had none left.
    OutOfMemory,
    /// It used up its CPU seconds.
    OutOfCpu,
}

impl Ended {
    pub(crate) fn new(exit: Exit, stray: Stray, limits: &Limits) -> Self {
        let all_used = || {
            let (used, most) = (exit.cpu?, limits.max_cpu_seconds?);
            Some(used.as_secs() >= most)
        };
        let hint = match exit.how {
            How::Signal(libc::SIGXCPU) => Some(Hint::OutOfCpu),
            How::Signal(libc::SIGKILL) if exit.killed => None,
            How::Signal(libc::SIGKILL) if all_used() == Some(true) => Some(Hint::OutOfCpu),
            How::Signal(libc::SIGKILL) => Some(Hint::OutOfMemory),
            How::Signal(libc::SIGABRT) if stray.says(ALLOCATION_FAILED) => Some(Hint::OutOfMemory),
            How::Signal(_) | How::Exited(_) => None,
        };
        Self { exit, stray, hint }
    }
}

/// What Rust's library says before it aborts.
const ALLOCATION_FAILED: &str = "memory allocation of ";

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.how {
            How::Exited(status) => write!(f, "exited {status}"),
            How::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dsh_confinement::Limits;

    use super::{Ended, Exit, Hint, How};
    use crate::Stray;

    #[test]
    fn an_end_looks_like_what_it_was() {
        let limits = Limits { max_cpu_seconds: Some(5), ..Limits::default() };
        let hint = |how, killed, seconds, said: &str| {
            let exit = Exit { how, killed, cpu: Some(Duration::from_secs(seconds)) };
            let stray = Stray { bytes: said.into(), dropped: 0 };
            (exit.to_string(), Ended::new(exit, stray, &limits).hint)
        };
        let rows = [
            (hint(How::Exited(7), false, 1, ""), ("exited 7", None)),
            (hint(How::Exited(0), true, 9, "memory allocation of 1 bytes failed"), ("exited 0", None)),
            (hint(How::Signal(9), true, 9, ""), ("signal 9", None)),
            (hint(How::Signal(9), false, 1, ""), ("signal 9", Some(Hint::OutOfMemory))),
            (hint(How::Signal(9), false, 5, ""), ("signal 9", Some(Hint::OutOfCpu))),
            (hint(How::Signal(24), false, 5, ""), ("signal 24", Some(Hint::OutOfCpu))),
            (
                hint(How::Signal(6), false, 1, "so: memory allocation of 9 bytes failed"),
                ("signal 6", Some(Hint::OutOfMemory)),
            ),
            (hint(How::Signal(6), false, 1, "assertion failed"), ("signal 6", None)),
            (hint(How::Signal(11), false, 1, ""), ("signal 11", None)),
        ];
        for ((text, hint), expected) in rows {
            assert_eq!((text.as_str(), hint), expected);
        }
    }
}
