//! What a call that arrives by itself brings besides: somebody who may cancel it alone, and who waits for its result.

use std::pin::pin;

use dsh_agent::ArrivingCall;
use dsh_lifecycle::{Cancel, Cause};
use dsh_session::ToolResult;
use tokio::sync::oneshot;

pub(crate) struct Arrival {
    /// The caller's.
    own: Cancel,
    settled: oneshot::Sender<ToolResult>,
}

impl Arrival {
    pub(crate) fn of(call: ArrivingCall) -> (dsh_agent::RequestedCall, Self) {
        let ArrivingCall { call, cancel, settled } = call;
        (call, Self { own: cancel, settled })
    }

    /// What the call hears: its turn, and its caller while work goes on [over](Ear::over) the ear.
    pub(crate) fn ear(&self, turn: &Cancel) -> Ear {
        Ear { own: self.own.clone(), call: turn.child() }
    }

    /// Tells the caller. One that is gone is not told.
    pub(crate) fn settle(self, result: ToolResult) {
        let _ = self.settled.send(result);
    }
}

/// Two cancellations made one.
#[derive(Clone)]
pub(crate) struct Ear {
    own: Cancel,
    pub(crate) call: Cancel,
}

impl Ear {
    /// Awaits the work, and passes the caller's cancellation on meanwhile.
    pub(crate) async fn over<T>(self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            () = self.own.cancelled() => self.call.cancel(self.own.cause().unwrap_or(Cause::User)),
            done = &mut work => return done,
        }
        work.await
    }
}
