//! What a run used: time, memory, bytes. Numbers for people and for budgets; no program and no model reads them.

use std::time::Duration;

use tokio::time::Instant;

/// What one run used. Each number is in the unit of the bound on it, if there is one; how many calls there were is in
/// [`Outcome::calls`](crate::Outcome::calls). Times and memory differ from run to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    /// From the start until the last call was over. Zero for a program that never started.
    pub wall: Duration,
    /// How much of it the [host excused](crate::Host::excused): `wall` less this counts against `maxWallMs`.
    pub excused: Duration,
    /// How much of it at least one call had no answer.
    pub waiting: Duration,
    /// The engine's own busy time, as `maxComputeMs` counts it: what the engine says; for a worker that was killed, the
    /// processor time of its process, its start included. `None` where nobody knows.
    pub busy: Option<Duration>,
    /// The most memory that the engine held at a time, in the bytes that it asked the system for; `None` for an engine that
    /// did not live to say so. Where small blocks are scattered it is a little more than `maxMemoryBytes` counts.
    pub peak_memory: Option<u64>,
    /// What the arguments of the calls [weighed](crate::lossless::weight), together.
    pub argument_bytes: u64,
    /// What the answers weighed that were sent to the program, together; of a failed call, the length of its message.
    pub result_bytes: u64,
    /// The output that was kept, as `maxOutputBytes` counts it: logs, and value or failure message.
    pub output_bytes: u64,
}

/// What an engine says that it used. A claim, which only its own run's account depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// As [`Receipt::busy`]. It crosses in whole milliseconds.
    pub busy: Duration,
    /// As [`Receipt::peak_memory`].
    pub peak_memory: u64,
    /// How many replies it had taken when the program was over. The program knows nothing of those after them.
    pub replies: u64,
}

/// Adds up the time during which at least one thing goes on: what overlaps counts once.
#[derive(Debug, Default)]
pub struct Stopwatch {
    going_on: usize,
    since: Option<Instant>,
    before: Duration,
}

impl Stopwatch {
    /// One thing begins.
    pub fn begin(&mut self) {
        if self.going_on == 0 {
            self.since = Some(Instant::now());
        }
        self.going_on += 1;
    }

    /// One thing that [began](Self::begin) is over.
    pub fn end(&mut self) {
        self.going_on = self.going_on.saturating_sub(1);
        if self.going_on == 0
            && let Some(since) = self.since.take()
        {
            self.before += since.elapsed();
        }
    }

    /// The time so far.
    pub fn total(&self) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_that_overlaps_counts_once() {
        let mut watch = Stopwatch::default();
        let pass = |ms| tokio::time::advance(Duration::from_millis(ms));
        pass(1).await;
        watch.begin();
        pass(10).await;
        watch.begin();
        pass(100).await;
        watch.end();
        assert_eq!(watch.total().as_millis(), 110);
        pass(1_000).await;
        watch.end();
        pass(10_000).await;
        assert_eq!(watch.total().as_millis(), 1_110);
        watch.end();
        watch.begin();
        pass(2).await;
        assert_eq!(watch.total().as_millis(), 1_112);
    }
}
