//! The time of a turn: its limit, and who does not listen when it is stopped.

use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use dsh_agent::{Agent, Notice};
use dsh_lifecycle::{Cancel, Cause, contain_async};
use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::turn::Turn;

pub(crate) struct Watch<'a> {
    agent: &'a Agent,
    turn: u32,
    cancel: Cancel,
    limit: Option<u64>,
    grace: Duration,
}

impl<'a> Turn<'a> {
    pub(crate) fn watch(&self) -> Watch<'a> {
        let config = &self.driver.config;
        Watch {
            agent: self.agent,
            turn: self.number,
            cancel: self.cancel.clone(),
            limit: config.max_turn_ms.map(std::num::NonZeroU64::get),
            grace: Duration::from_millis(config.abort_grace_ms.get()),
        }
    }
}

impl Watch<'_> {
    /// Awaits the work of a turn to its end, however long that takes. A runtime without timers stops the watch and not
    /// the work.
    pub(crate) async fn over<T>(&self, work: impl Future<Output = T>) -> T {
        let (mut work, mut watch) = (pin!(work), pin!(contain_async(self.run())));
        tokio::select! {
            biased;
            done = &mut work => return done,
            Err(panic) = &mut watch => {
                tracing::warn!(turn = self.turn, %panic, "nobody watches the time of a turn");
            }
        }
        work.await
    }

    async fn run(&self) -> Infallible {
        if let Some(ms) = self.limit {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => {}
                () = sleep(Duration::from_millis(ms)) => {
                    let words = format!("the turn used up its {ms} ms (`maxTurnMs`)");
                    self.cancel.cancel(Cause::Hook(words.into()));
                }
            }
        }
        self.cancel.cancelled().await;
        if Handle::try_current().is_ok() {
            sleep(self.grace).await;
            let (turn, waited) = (self.turn, self.grace);
            tracing::warn!(turn, ?waited, "a cancelled turn is not over: something in it does not listen");
            self.agent.tell(&Notice::Overdue { turn, waited });
        }
        pending().await
    }
}
