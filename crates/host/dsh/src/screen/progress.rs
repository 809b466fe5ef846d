//! A spinner on a terminal while nothing else happens.

use std::io::{IsTerminal, Stderr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use dsh_session::Event;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cards::Fold;
use crate::cards::sheet::fit;
use crate::{floor, output};

const TICK: Duration = Duration::from_millis(120);
/// How many ticks of silence there are before the spinner comes up.
const PATIENCE: u32 = 3;

/// Watches for silence.
pub(super) struct Progress {
    /// The columns of the terminal; none where there is no terminal.
    width: Option<usize>,
    bar: Option<ProgressBar>,
    silent: u32,
}

impl Progress {
    pub(super) fn new(stream: &Stderr) -> Self {
        let width = stream.is_terminal().then(|| output::width(stream));
        Self { width, bar: None, silent: 0 }
    }

    /// Waits for the next event; `None` after the last. What runs is shown meanwhile.
    pub(super) fn next(&mut self, events: &Receiver<Arc<Event>>, fold: &Fold) -> Option<Arc<Event>> {
        let Some(width) = self.width else { return events.recv().ok() };
        loop {
            match events.recv_timeout(TICK) {
                Ok(event) => return Some(event),
                Err(RecvTimeoutError::Timeout) => self.tick(width, fold),
                Err(RecvTimeoutError::Disconnected) => {
                    self.hide();
                    return None;
                }
            }
        }
    }

    /// Makes room for something else.
    pub(super) fn hide(&mut self) {
        self.silent = 0;
        if let Some(bar) = self.bar.take()
            && !floor::unless_taken(|| bar.finish_and_clear())
        {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
    }

    fn tick(&mut self, width: usize, fold: &Fold) {
        self.silent += 1;
        if self.silent >= PATIENCE && !floor::unless_taken(|| self.spin(width, fold)) {
            // A question stands where it was, so nothing of it is drawn or cleared any more.
            self.silent = 0;
            if let Some(bar) = self.bar.take() {
                bar.set_draw_target(ProgressDrawTarget::hidden());
            }
        }
    }

    fn spin(&mut self, width: usize, fold: &Fold) {
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(ProgressStyle::default_spinner());
            bar
        });
        let mut running = fold.running();
        let words = match (running.len(), running.next()) {
            (0, _) | (_, None) => "waiting for the model".to_owned(),
            (1, Some(title)) => title.to_string(),
            (count, Some(title)) => format!("{title}, and {} more", count - 1),
        };
        let words = fit(&words, width.saturating_sub(4));
        if bar.message() != words {
            bar.set_message(words);
        }
        bar.tick();
    }
}
