//! Ctrl-C and SIGTERM: the first cancels, the second ends the process (spec 12 §1).

use anyhow::Context as _;
use dsh_lifecycle::{Cancel, Cause};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

use crate::exit::{Exit, Failure};

/// Listens until it is dropped.
pub(crate) struct Interrupts {
    cancel: Cancel,
    listener: JoinHandle<()>,
}

impl Interrupts {
    /// Begins to listen. Needs a tokio runtime.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).context("failed to listen for interrupts");
        let failed = |error| Failure::new(Exit::Failed, error);
        let mut signals = Signals {
            interrupt: listen(SignalKind::interrupt()).map_err(failed)?,
            terminate: listen(SignalKind::terminate()).map_err(failed)?,
        };
        let cancel = Cancel::new();
        let of_listener = cancel.clone();
        let listener = tokio::spawn(async move {
            signals.next().await;
            of_listener.cancel(Cause::User);
            signals.next().await;
            leave();
        });
        Ok(Self { cancel, listener })
    }

    /// Cancelled by the first interrupt.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Waits for `work`, unless an interrupt comes first. The work is dropped then.
    pub(crate) async fn unless<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            biased;
            done = work => done,
            () = self.cancel.cancelled() => Err(Failure::interrupted()),
        }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Makes a file that may not grow an error of the write, as a full disk is, where the system would end the process by
/// a signal. Needs a tokio runtime; holds for the rest of the process.
pub(crate) fn survive_file_limit() -> Result<(), Failure> {
    let exceeded = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // The handler stays when the stream is dropped; that it is there is all that is needed.
    let handled = signal(exceeded).map(drop).context("failed to prepare for a limit on the size of files");
    handled.map_err(|error| Failure::new(Exit::Failed, error))
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[expect(clippy::exit, reason = "whoever interrupts twice does not want to wait for anything")]
fn leave() {
    std::process::exit(Exit::Interrupted as i32)
}
