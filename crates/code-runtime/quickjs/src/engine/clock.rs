//! Time, as an engine sees it: the hour for timers, and how busy its thread has been.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Now. Timers of a program run by real time, since a program is no part of a simulation.
#[expect(clippy::disallowed_methods, reason = "the one place where an engine looks at the clock")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// The processor time that this thread has used since it was made: waiting is free, whatever else the machine does.
#[derive(Clone, Copy)]
pub(super) struct Busy(Duration);

impl Busy {
    pub(super) fn start() -> Self {
        Self(used())
    }

    pub(super) fn elapsed(&self) -> Duration {
        used().saturating_sub(self.0)
    }
}

fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
