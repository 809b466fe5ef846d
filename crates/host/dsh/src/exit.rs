//! How the program ends: its exit codes, and which failure ends in which (spec 12 §1).

use std::process::ExitCode;

use anyhow::anyhow;
use dsh_harness::{ConfigError, EnvironmentError, HarnessError, SessionFailure, TurnError, TurnFailure};
use dsh_session::AppendError;
use dsh_session_jsonl::{ForkLogError, OpenError, ReadError, RepairError, WriteError};

use crate::output::{self, Unwritten};

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// The call or the turn ended in an error.
    Failed = 1,
    /// Bad usage or configuration, a root or script that can't be read.
    Usage = 2,
    /// A policy refused.
    Refused = 3,
    /// The log is damaged or can't be written.
    Log = 4,
    /// Interrupted.
    Interrupted = 130,
}

/// Why a command did not do all that it was asked for.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What to say; nothing where whoever is there knows already.
    error: Option<anyhow::Error>,
}

impl Failure {
    /// With a message: what was wrong, where, and what to do.
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self { exit, error: Some(error.into()) }
    }

    /// Somebody interrupted the program, and knows.
    pub(crate) fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, error: None }
    }

    /// Says what there is to say.
    pub(crate) fn tell(self) -> Exit {
        if let Some(error) = self.error {
            output::error(&error.to_string());
        }
        self.exit
    }
}

/// Bad usage.
pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Failure {
    Failure::new(Exit::Usage, error)
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<Unwritten> for Failure {
    fn from(unwritten: Unwritten) -> Self {
        match unwritten {
            Unwritten::Closed => Self { exit: Exit::Done, error: None },
            Unwritten::Failed(error) => {
                Self::new(Exit::Failed, anyhow!("failed to write to the standard output: {error}"))
            }
        }
    }
}

impl From<EnvironmentError> for Failure {
    fn from(error: EnvironmentError) -> Self {
        usage(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        usage(error)
    }
}

impl From<HarnessError> for Failure {
    fn from(error: HarnessError) -> Self {
        usage(error)
    }
}

impl From<SessionFailure> for Failure {
    fn from(failure: SessionFailure) -> Self {
        match failure {
            SessionFailure::File(error @ (OpenError::Locked { .. } | OpenError::Read(_))) => {
                Self::new(Exit::Log, anyhow!("{error}; name another file with --session"))
            }
            SessionFailure::File(error) => Self::new(Exit::Log, error),
            SessionFailure::Contents { .. } => {
                Self::new(Exit::Log, anyhow!("{failure}; `dsh verify` tells what else is wrong with it"))
            }
            SessionFailure::NoStateDirectory | SessionFailure::Header(_) => usage(failure),
        }
    }
}

impl From<TurnFailure> for Failure {
    fn from(failure: TurnFailure) -> Self {
        match failure {
            // The store's own words name the file.
            TurnFailure::Turn(TurnError::Log(AppendError::Sink(error)) | TurnError::Flush(error)) => {
                let (code, next) = after_log_failure(error.downcast_ref());
                Self::new(Exit::Log, anyhow!("the turn was stopped: {error}; {next} ({code})"))
            }
            TurnFailure::Turn(error @ TurnError::Log(_)) => Self::new(Exit::Log, error),
            TurnFailure::Turn(error @ (TurnError::Busy | TurnError::Inbox(_))) => {
                Self::new(Exit::Failed, error)
            }
            TurnFailure::Panicked => {
                Self::new(Exit::Failed, anyhow!("{failure}; `-vv` shows where it happened"))
            }
            TurnFailure::ShutDown => Self::new(Exit::Failed, failure),
            TurnFailure::NoLoop => usage(failure),
        }
    }
}

/// The code of a log that can't be written, and what to do.
fn after_log_failure(error: Option<&WriteError>) -> (&'static str, &'static str) {
    let next = match error {
        Some(WriteError::Removed { .. }) => "go on with it by --session",
        Some(WriteError::Lost { .. }) => "begin anew with another --session",
        Some(WriteError::Changed { .. }) => "see `dsh verify`, and let nothing else write to it",
        Some(
            WriteError::Io(_)
            | WriteError::Broken { .. }
            | WriteError::OutOfOrder { .. }
            | WriteError::TooLong { .. }
            | WriteError::TooDeep { .. },
        )
        | None => "make room for it, and go on with --session: what was logged before is kept",
    };
    (error.map_or("LOG_IO_ERROR", WriteError::code), next)
}

impl From<ForkLogError> for Failure {
    fn from(error: ForkLogError) -> Self {
        let code = error.code();
        let next = match code {
            "SESSION_ALREADY_EXISTS" => "; name a new file with --session",
            "OPEN_TURN" => " (--fork-at), or close the turn with `dsh repair`",
            "SESSION_NOT_FOUND" | "INVALID_BOUNDARY" => "",
            _ => return Self::new(Exit::Log, error),
        };
        usage(anyhow!("{error}{next} ({code})"))
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => usage(error),
            ReadError::NotALog { .. } | ReadError::Header { .. } | ReadError::Line { .. } => {
                Self::new(Exit::Log, error)
            }
        }
    }
}

impl From<RepairError> for Failure {
    fn from(error: RepairError) -> Self {
        match error {
            RepairError::Open(OpenError::Io(error)) if error.action == "open" => usage(error),
            RepairError::Open(_) | RepairError::NoHeader { .. } | RepairError::Write(_) => {
                Self::new(Exit::Log, error)
            }
        }
    }
}
