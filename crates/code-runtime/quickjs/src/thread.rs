//! The place `thread`: an engine in this process, on a thread of its own, at the end of two channels.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use dsh_code_runtime::wire::{Brake, FromEngine, Gone, Link, Port, ToEngine};
use dsh_code_runtime::{Failure, FailureKind};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The two ends of one run. The queues are bounded by the meters on both sides: of output, of calls, of what they weigh.
pub(crate) fn pair() -> (ThreadLink, ThreadPort) {
    let (to_engine, from_host) = channel();
    let (to_host, from_engine) = unbounded_channel();
    let brake = Brake::default();
    (ThreadLink { to_engine, from_engine, brake: brake.clone() }, ThreadPort { from_host, to_host, brake })
}

pub(crate) struct ThreadLink {
    to_engine: Sender<ToEngine>,
    from_engine: UnboundedReceiver<FromEngine>,
    pub(crate) brake: Brake,
}

pub(crate) struct ThreadPort {
    from_host: Receiver<ToEngine>,
    to_host: UnboundedSender<FromEngine>,
    brake: Brake,
}

impl Link for ThreadLink {
    fn send(&mut self, message: ToEngine) {
        if message == ToEngine::Cancel {
            self.brake.pull();
        }
        // An engine that is gone needs no message.
        let _gone = self.to_engine.send(message);
    }

    async fn receive(&mut self) -> Result<FromEngine, Failure> {
        self.from_engine.recv().await.ok_or_else(|| {
            Failure::new(
                FailureKind::WorkerExit,
                "the engine's thread ended without a result, by a fault of its own",
            )
        })
    }
}

impl Drop for ThreadLink {
    /// Whoever drops a run stops its program.
    fn drop(&mut self) {
        self.brake.pull();
    }
}

impl Port for ThreadPort {
    fn send(&mut self, message: FromEngine) -> Result<(), Gone> {
        self.to_host.send(message).map_err(|_| Gone)
    }

    fn receive(&mut self, patience: Option<Duration>) -> Result<Option<ToEngine>, Gone> {
        match patience {
            None => self.from_host.recv().map(Some).map_err(|_| Gone),
            Some(patience) => match self.from_host.recv_timeout(patience) {
                Ok(message) => Ok(Some(message)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(Gone),
            },
        }
    }

    fn brake(&self) -> Brake {
        self.brake.clone()
    }
}
