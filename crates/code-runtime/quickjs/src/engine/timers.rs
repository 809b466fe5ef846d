//! `setTimeout` and its kin: a bounded list of callbacks by time. Waiting for one is idle time.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use rquickjs::{Ctx, Exception, Function, Result, Value};

/// Timers that may wait at once.
const MAX_TIMERS: usize = 10_000;
/// Arguments that their callbacks may be called with, all together: what is held here the engine does not see.
const MAX_ARGUMENTS: usize = 100_000;
/// The longest delay that 32 bits hold; a longer one is as good as none in a program of minutes.
const MAX_DELAY_MS: f64 = 2_147_483_647.0;

/// Callbacks that wait.
#[derive(Default)]
pub(super) struct Timers<'js> {
    /// By due time and then by age.
    queue: BTreeMap<(Instant, u32), Timer<'js>>,
    due: HashMap<u32, Instant>,
    /// How many arguments wait.
    arguments: usize,
    last: u32,
}

#[derive(Clone)]
pub(super) struct Timer<'js> {
    pub(super) callback: Function<'js>,
    pub(super) arguments: Vec<Value<'js>>,
    every: Option<Duration>,
}

impl<'js> Timers<'js> {
    /// Starts a timer; its number clears it.
    pub(super) fn start(
        &mut self,
        ctx: &Ctx<'js>,
        now: Instant,
        mut arguments: Vec<Value<'js>>,
        repeats: bool,
    ) -> Result<u32> {
        if self.due.len() >= MAX_TIMERS {
            let message = format!("more than {MAX_TIMERS} timers wait: clear some, or await them in turn");
            return Err(Exception::throw_range(ctx, &message));
        }
        let callback = arguments.first().and_then(|value| value.as_function().cloned());
        let Some(callback) = callback else {
            return Err(Exception::throw_type(ctx, "the first argument of a timer must be a function"));
        };
        let delay = arguments.get(1).and_then(Value::as_number).unwrap_or(0.0);
        // NaN is no delay.
        let delay = if delay >= 1.0 { delay.min(MAX_DELAY_MS) } else { 1.0 };
        let delay = Duration::from_secs_f64(delay / 1_000.0);
        arguments.drain(..arguments.len().min(2));
        if arguments.len() > MAX_ARGUMENTS - self.arguments {
            let message = format!(
                "more than {MAX_ARGUMENTS} arguments wait in timers: use a function that holds its values"
            );
            return Err(Exception::throw_range(ctx, &message));
        }
        arguments.shrink_to_fit();
        self.last += 1;
        self.put(self.last, now + delay, Timer { callback, arguments, every: repeats.then_some(delay) });
        Ok(self.last)
    }

    /// Stops a timer; what is none is no error.
    pub(super) fn clear(&mut self, number: &Value<'js>) {
        let number = number.as_int().and_then(|number| u32::try_from(number).ok());
        if let Some((number, due)) = number.and_then(|number| self.due.remove_entry(&number)) {
            let timer = self.queue.remove(&(due, number));
            self.arguments -= timer.map_or(0, |timer| timer.arguments.len());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// How long the next one has to wait.
    pub(super) fn patience(&self, now: Instant) -> Option<Duration> {
        self.queue.keys().next().map(|(due, _)| due.saturating_duration_since(now))
    }

    /// The next one that is due. One that repeats is put back.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Timer<'js>> {
        let entry = self.queue.first_entry().filter(|entry| entry.key().0 <= now)?;
        let ((_, number), timer) = entry.remove_entry();
        self.due.remove(&number);
        self.arguments -= timer.arguments.len();
        if let Some(every) = timer.every {
            self.put(number, now + every, timer.clone());
        }
        Some(timer)
    }

    fn put(&mut self, number: u32, due: Instant, timer: Timer<'js>) {
        self.arguments += timer.arguments.len();
        self.due.insert(number, due);
        self.queue.insert((due, number), timer);
    }
}
