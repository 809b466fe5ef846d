//! What the calls of a run came to, and how many of them may be.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::lossless::weight;
use crate::wire::Call;
use crate::{Failure, FailureKind, Limits};

/// One call of a program, as the run's end found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord {
    /// Counts the program's calls, from 1.
    pub id: u64,
    /// The namespace's global name.
    pub namespace: Arc<str>,
    /// The function's name.
    pub name: Arc<str>,
    /// What it came to.
    pub end: CallEnd,
}

/// What a call came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallEnd {
    /// The program got its value.
    Succeeded,
    /// The program got its error.
    Failed,
    /// The program was over before it had an answer, and there was none but an error: it was stopped, or failed by itself.
    Stopped,
    /// The program was over before it had an answer, and it succeeded nevertheless: its value went nowhere.
    Late,
    /// It waited for its turn when the program was over, and never ran.
    NotStarted,
}

impl CallEnd {
    /// Every end.
    pub const ALL: [Self; 5] = [Self::Succeeded, Self::Failed, Self::Stopped, Self::Late, Self::NotStarted];

    /// The name that scripts route on.
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Late => "late",
            Self::NotStarted => "not-started",
        }
    }
}

/// What the model is warned of: calls that the program did not wait for, one warning for each thing that became of them.
pub fn unfinished(calls: &[CallRecord]) -> Vec<String> {
    let of = |end| calls.iter().filter(move |call| call.end == end);
    let mut warnings = Vec::new();
    for (end, what) in [
        (CallEnd::Stopped, "without an answer when the program ended; stopped, or failed"),
        (CallEnd::Late, "without an answer when the program ended; succeeded, but its value was lost"),
        (CallEnd::NotStarted, "waiting for its turn when the program ended; never started"),
    ] {
        let count = of(end).count();
        if count == 0 {
            continue;
        }
        let mut warning = format!("{what}: ");
        for (at, call) in of(end).take(NAMED).enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            let name: String = call.name.chars().take(NAME_CHARS).collect();
            let _ = write!(warning, "{comma}{}.{name} (call {})", call.namespace, call.id);
        }
        if count > NAMED {
            let _ = write!(warning, " and {} more", count - NAMED);
        }
        warnings.push(warning);
    }
    if let Some(last) = warnings.last_mut() {
        last.push_str(". Await every call whose effect or result you need.");
    }
    warnings
}

/// Calls named in a warning.
const NAMED: usize = 5;
/// Characters shown of a function's name.
const NAME_CHARS: usize = 80;

/// Counts calls against [`Limits`]. An engine counts, and its host counts again.
#[derive(Debug)]
pub struct CallMeter {
    max_calls: u64,
    max_bytes: usize,
    calls: u64,
    bytes: usize,
    running: HashMap<u64, usize>,
}

impl CallMeter {
    /// A meter for one run.
    pub fn new(limits: &Limits) -> Self {
        Self {
            max_calls: limits.max_sub_calls,
            max_bytes: limits.max_in_flight_bytes,
            calls: 0,
            bytes: 0,
            running: HashMap::new(),
        }
    }

    /// Counts a call that starts.
    ///
    /// # Errors
    /// `call-limit`: the run is over.
    pub fn start(&mut self, call: &Call) -> Result<(), Failure> {
        self.start_weighed(call.id, weight(&call.args))
    }

    /// Counts a call that starts, whose arguments were [weighed](weight) already.
    ///
    /// # Errors
    /// `call-limit`: the run is over.
    pub fn start_weighed(&mut self, id: u64, bytes: usize) -> Result<(), Failure> {
        if self.calls >= self.max_calls {
            let message = format!(
                "the program made more than {} calls (maxSubCalls): do the work in fewer calls, or in several programs",
                self.max_calls
            );
            return Err(Failure::new(FailureKind::CallLimit, message));
        }
        if bytes > self.room() {
            return Err(self.too_heavy());
        }
        self.calls += 1;
        self.bytes += bytes;
        self.running.insert(id, bytes);
        Ok(())
    }

    /// Counts a call that ended.
    pub fn end(&mut self, id: u64) {
        self.bytes -= self.running.remove(&id).unwrap_or(0);
    }

    /// What the arguments of the next call may weigh.
    pub fn room(&self) -> usize {
        self.max_bytes - self.bytes
    }

    /// The failure of a run whose next call would weigh more than [`room`](Self::room).
    pub fn too_heavy(&self) -> Failure {
        let message = format!(
            "the arguments of the calls that run at once exceed {} bytes (maxInFlightBytes): await some before starting more",
            self.max_bytes
        );
        Failure::new(FailureKind::CallLimit, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_name_calls_and_say_what_became_of_them() {
        let call = |id, end| CallRecord { id, namespace: "tools".into(), name: "write".into(), end };
        assert!(unfinished(&[call(1, CallEnd::Succeeded), call(2, CallEnd::Failed)]).is_empty());
        assert_eq!(
            unfinished(&[call(1, CallEnd::Stopped), call(2, CallEnd::Late), call(3, CallEnd::NotStarted)]),
            [
                "without an answer when the program ended; stopped, or failed: tools.write (call 1)",
                "without an answer when the program ended; succeeded, but its value was lost: tools.write (call 2)",
                "waiting for its turn when the program ended; never started: tools.write (call 3). \
                 Await every call whose effect or result you need.",
            ]
        );
        let many: Vec<_> = (1..=7).map(|id| call(id, CallEnd::Stopped)).collect();
        assert!(unfinished(&many).concat().contains("(call 5) and 2 more."));
    }

    #[test]
    fn each_end_has_its_name() {
        assert_eq!(CallEnd::ALL.map(CallEnd::name).join(" "), "succeeded failed stopped late not-started");
    }

    #[test]
    fn the_bound_on_bytes_is_on_calls_that_run() {
        let limits = Limits { max_sub_calls: 3, max_in_flight_bytes: 50, ..Limits::default() };
        let mut meter = CallMeter::new(&limits);
        let call = |id| Call { id, namespace: "t".into(), name: "n".into(), args: "1234".into() };
        assert_eq!(meter.start(&call(1)), Ok(()));
        assert!(meter.start(&call(2)).unwrap_err().message.contains("50 bytes (maxInFlightBytes)"));
        meter.end(1);
        assert_eq!(meter.start(&call(2)), Ok(()));
        meter.end(2);
        assert_eq!(meter.start(&call(3)), Ok(()));
        meter.end(3);
        let failure = meter.start(&call(4)).unwrap_err();
        assert_eq!(failure.kind, FailureKind::CallLimit);
        assert!(failure.message.contains("more than 3 calls (maxSubCalls)"));
    }
}
