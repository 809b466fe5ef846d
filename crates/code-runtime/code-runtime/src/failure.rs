//! How a run can end badly: the closed list of spec 12 §5.

use std::fmt;

/// Why a program came to no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What sort of failure this is.
    pub kind: FailureKind,
    /// What happened, where, and what to do next; written for the model.
    pub message: String,
}

/// The sorts of failure, spelt as the model and scripts see them (spec 12 §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The text is not a program, or uses syntax that can't be erased.
    Syntax,
    /// The check before the run found a call that can't work.
    Check,
    /// The program threw, or left a rejection unhandled.
    Exception,
    /// The program awaits something that nothing in flight can resolve.
    Stalled,
    /// Wall or busy time ran out.
    Timeout,
    /// The memory bound was hit.
    MemoryLimit,
    /// Logs and value together are over the output bound.
    OutputLimit,
    /// Too many calls, or too many bytes in calls that run.
    CallLimit,
    /// The completion value is not lossless JSON.
    InvalidOutput,
    /// The caller cancelled.
    Abort,
    /// The engine or its process died.
    WorkerExit,
    /// There is no runtime that could have run this.
    Unavailable,
}

impl Failure {
    /// A failure of this kind.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Failure {
    /// Writes `kind: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl FailureKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Syntax,
        Self::Check,
        Self::Exception,
        Self::Stalled,
        Self::Timeout,
        Self::MemoryLimit,
        Self::OutputLimit,
        Self::CallLimit,
        Self::InvalidOutput,
        Self::Abort,
        Self::WorkerExit,
        Self::Unavailable,
    ];

    /// The name that programs, scripts and the model route on.
    pub fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Check => "check",
            Self::Exception => "exception",
            Self::Stalled => "stalled",
            Self::Timeout => "timeout",
            Self::MemoryLimit => "memory-limit",
            Self::OutputLimit => "output-limit",
            Self::CallLimit => "call-limit",
            Self::InvalidOutput => "invalid-output",
            Self::Abort => "abort",
            Self::WorkerExit => "worker-exit",
            Self::Unavailable => "unavailable",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::FailureKind;

    #[test]
    fn the_kinds_are_the_table_of_the_specification() {
        let names: Vec<_> = FailureKind::ALL.into_iter().map(FailureKind::name).collect();
        assert_eq!(
            names.join(" "),
            "syntax check exception stalled timeout memory-limit output-limit call-limit invalid-output abort \
             worker-exit unavailable"
        );
        for kind in FailureKind::ALL {
            assert_eq!(FailureKind::named(kind.name()), Some(kind));
        }
        assert_eq!(FailureKind::named("Syntax"), None);
    }
}
