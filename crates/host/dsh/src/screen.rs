//! A running session on the two streams.
//!
//! Events are handed to a thread that writes, so that a slow reader never holds up an append; what waits there are
//! handles of events that the session keeps anyway.

mod progress;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use anyhow::Context as _;
use dsh_lifecycle::{Cancel, Cause, Registration};
use dsh_session::{Event, Session, SessionObserver};
use dsh_tools_core::Tools;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::cards::{Card, Fold, Look, draw};
use crate::exit::{Exit, Failure};
use crate::output::{self, Unwritten};
use progress::Progress;

/// What is shown of a session.
pub(crate) enum Show {
    /// Every event on stdout, one JSON object a line.
    Events,
    /// Cards on stderr, and the answer on stdout.
    Turn(Look),
    /// Cards of calls on stderr.
    Calls(Look),
    /// Nothing.
    Nothing,
}

/// Shows a session until it is closed.
pub(crate) struct Screen {
    observing: Registration,
    writer: JoinHandle<Result<(), Unwritten>>,
}

impl Screen {
    /// Shows what happens in `session` from now on. When stdout can't be written to, `cancel` is cancelled.
    pub(crate) fn open(session: &Session, tools: Tools, show: Show, cancel: &Cancel) -> Self {
        let (sender, events) = channel();
        let observing = session.observe(Arc::new(Forward(sender)));
        let cancel = cancel.clone();
        let writer = spawn_blocking(move || {
            let written = write(&events, tools, &show);
            if written.is_err() {
                cancel.cancel(Cause::Disposed);
            }
            written
        });
        Self { observing, writer }
    }

    /// Waits until everything is shown.
    pub(crate) async fn close(self) -> Result<(), Failure> {
        drop(self.observing);
        let written = self.writer.await.context("the session could not be shown");
        Ok(written.map_err(|stopped| Failure::new(Exit::Failed, stopped))??)
    }
}

struct Forward(Sender<Arc<Event>>);

impl SessionObserver for Forward {
    fn appended(&self, event: &Arc<Event>) {
        // Nobody listens once stdout is closed.
        let _ = self.0.send(Arc::clone(event));
    }
}

fn write(events: &Receiver<Arc<Event>>, tools: Tools, show: &Show) -> Result<(), Unwritten> {
    let (look, whole_turn) = match show {
        Show::Events => {
            return events.iter().try_for_each(|event| output::line(&event.to_json().to_text()));
        }
        Show::Nothing => return Ok(()),
        Show::Turn(look) => (*look, true),
        Show::Calls(look) => (*look, false),
    };
    let (mut fold, mut progress) = (Fold::new(tools), Progress::new(&io::stderr()));
    while let Some(event) = progress.next(events, &fold) {
        for card in fold.take(&event) {
            progress.hide();
            match card {
                Card::Answer { text, .. } if whole_turn => output::line(&text)?,
                Card::Call(_) | Card::Decision(_) | Card::Result(_) => output::aside(&draw(&card, look)),
                Card::Prompt { .. } | Card::Said { .. } | Card::End { .. } if whole_turn => {
                    output::aside(&draw(&card, look));
                }
                Card::Prompt { .. } | Card::Said { .. } | Card::End { .. } | Card::Answer { .. } => {}
            }
        }
    }
    Ok(())
}
