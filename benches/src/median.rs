//! The middle of some times, which one slow round does not move.

use std::time::Duration;

/// The median; `None` where nothing was measured.
pub fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}
