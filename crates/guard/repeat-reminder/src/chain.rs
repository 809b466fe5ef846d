//! One chain of calls, and the rounds in which it repeats itself.

use std::collections::VecDeque;
use std::sync::Arc;

use dsh_json::Json;

/// The longest cycle that can be asked for, in calls.
pub(crate) const MAX_PERIOD: usize = 4;

/// The last calls, and for each period how many calls in a row, up to the last, were the same as the one a period before.
#[derive(Default)]
pub(crate) struct Chain {
    /// From the newest on. The arguments are shared with the calls; comparing them takes no text of them.
    recent: VecDeque<(Arc<str>, Json)>,
    streaks: Streaks,
}

/// From period 1 on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Streaks([usize; MAX_PERIOD]);

/// The same calls in the same order, again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// How many calls a round has.
    pub(crate) period: usize,
    /// How many whole rounds there were; 1 is no repetition yet.
    pub(crate) rounds: usize,
    /// Whether the last call ends a round.
    pub(crate) ends_round: bool,
}

impl Chain {
    /// What would be repeated if this call came next.
    pub(crate) fn ahead(&self, tool: &str, arguments: &Json) -> Streaks {
        let mut streaks = Streaks::default();
        let earlier = self.streaks.0.iter().zip(&self.recent);
        for (streak, (before, (name, given))) in streaks.0.iter_mut().zip(earlier) {
            if **name == *tool && given == arguments {
                *streak = before.saturating_add(1);
            }
        }
        streaks
    }

    /// Adds a call, and keeps as many as a cycle may have.
    pub(crate) fn push(&mut self, tool: &Arc<str>, arguments: &Json, max_period: usize) -> Streaks {
        self.streaks = self.ahead(tool, arguments);
        self.recent.push_front((Arc::clone(tool), arguments.clone()));
        self.recent.truncate(max_period);
        self.streaks
    }

    /// The tools of the last calls, in the order of the calls.
    pub(crate) fn tools(&self, calls: usize) -> Vec<Arc<str>> {
        self.recent.iter().take(calls).rev().map(|(tool, _)| Arc::clone(tool)).collect()
    }
}

impl Streaks {
    /// From the shortest period on, without those that are a shorter one said several times.
    pub(crate) fn repeats(self) -> impl Iterator<Item = Repeat> {
        let shorter = move |period| {
            let mut shorter = (1..).zip(self.0).take_while(move |(part, _)| *part < period);
            shorter.any(|(part, streak)| period % part == 0 && streak >= period - part)
        };
        (1..).zip(self.0).filter(move |(period, _)| !shorter(*period)).map(|(period, streak)| Repeat {
            period,
            rounds: streak / period + 1,
            ends_round: streak % period == 0,
        })
    }
}
