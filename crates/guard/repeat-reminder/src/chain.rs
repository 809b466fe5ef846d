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

impl Chain {
    /// What would be repeated if this call came next.
    pub(crate) fn ahead(&self, tool: &str, arguments: &Json) -> Streaks {
        let mut earlier = self.recent.iter();
        Streaks(self.streaks.0.map(|streak| match earlier.next() {
            Some((name, given)) if **name == *tool && given == arguments => streak.saturating_add(1),
            Some(_) | None => 0,
        }))
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
    /// What the last call repeats: how many calls a round has, how many whole rounds there are (one is no repetition yet), and
    /// whether this call ends one. From the shortest period on, without those that are a shorter one said several times.
    pub(crate) fn repeats(self) -> impl Iterator<Item = (usize, usize, bool)> {
        let periods = move || (1..).zip(self.0);
        let shorter = move |period, (part, streak)| period % part == 0 && streak >= period - part;
        let is_shorter =
            move |period| periods().take_while(|(part, _)| *part < period).any(|of| shorter(period, of));
        let told = periods().filter(move |(period, _)| !is_shorter(*period));
        told.map(|(period, streak)| (period, streak / period + 1, streak % period == 0))
    }
}
