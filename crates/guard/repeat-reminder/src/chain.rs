//! One chain of calls, and the rounds in which it repeats itself.

use std::collections::VecDeque;
use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::Content;

/// The longest cycle that can be asked for, in calls.
pub(crate) const MAX_PERIOD: usize = 4;

/// The last calls, and for each period how many calls in a row, up to the last, were the same as the one a period before.
#[derive(Default)]
pub(crate) struct Chain {
    /// From the newest on.
    recent: VecDeque<Call>,
    streaks: Streaks,
}

/// A call that came to an end. All of it is shared with the call; comparing arguments takes no text of them.
#[derive(PartialEq)]
pub(crate) struct Call {
    pub(crate) tool: Arc<str>,
    pub(crate) arguments: Json,
    /// What it gave, where that matters; of a failure, what the last same call did.
    pub(crate) gave: Option<Content>,
}

/// From period 1 on.
#[derive(Clone, Copy, Default)]
pub(crate) struct Streaks([usize; MAX_PERIOD]);

impl Chain {
    /// What would be repeated if this call came next.
    pub(crate) fn ahead(&self, tool: &str, arguments: &Json) -> Streaks {
        self.after(|earlier| earlier.is_of(tool, arguments))
    }

    /// Adds a call, and keeps as many as a cycle may have.
    pub(crate) fn push(&mut self, mut call: Call, max_period: usize) -> Streaks {
        let mut same = self.recent.iter().filter(|earlier| earlier.is_of(&call.tool, &call.arguments));
        call.gave = call.gave.or_else(|| same.next()?.gave.clone());
        self.streaks = self.after(|earlier| *earlier == call);
        self.recent.push_front(call);
        self.recent.truncate(max_period);
        self.streaks
    }

    fn after(&self, same: impl Fn(&Call) -> bool) -> Streaks {
        let mut earlier = self.recent.iter();
        Streaks(self.streaks.0.map(|streak| match earlier.next() {
            Some(earlier) if same(earlier) => streak.saturating_add(1),
            Some(_) | None => 0,
        }))
    }

    /// The tools of the last calls, in the order of the calls.
    pub(crate) fn tools(&self, calls: usize) -> Vec<Arc<str>> {
        self.recent.iter().take(calls).rev().map(|call| Arc::clone(&call.tool)).collect()
    }
}

impl Call {
    fn is_of(&self, tool: &str, arguments: &Json) -> bool {
        *self.tool == *tool && self.arguments == *arguments
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
