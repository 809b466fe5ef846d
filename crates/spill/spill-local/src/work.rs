//! Blocking work: on a thread of its own, awaited, and stopped by whoever comes first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use dsh_lifecycle::Cancel;
use dsh_spill::SpillError;
use tokio::task::{JoinError, spawn_blocking};

const OPEN: u8 = 0;
const STOPPED: u8 = 1;
const SETTLED: u8 = 2;

/// Whether work goes on. It is stopped at any time before it settles, and never after.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fate(Arc<AtomicU8>);

impl Fate {
    /// `Aborted` when it is stopped.
    pub(crate) fn check(&self) -> Result<(), SpillError> {
        if self.0.load(Ordering::Acquire) == STOPPED { Err(SpillError::Aborted) } else { Ok(()) }
    }

    /// The work is about to have its effect. `Aborted` when it was stopped before.
    pub(crate) fn settle(&self) -> Result<(), SpillError> {
        if self.decide(SETTLED) { Ok(()) } else { Err(SpillError::Aborted) }
    }

    /// Whether that stopped the work.
    pub(crate) fn stop(&self) -> bool {
        self.decide(STOPPED)
    }

    fn decide(&self, to: u8) -> bool {
        match self.0.compare_exchange(OPEN, to, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(now) => now == to,
        }
    }
}

/// Runs `work` on the blocking pool. The cancellation, or dropping this future, stops it. It then ends on its own, and
/// nobody waits for that, unless it had settled: then its result counts.
pub(crate) async fn run<T: Send + 'static>(
    cancel: &Cancel,
    work: impl FnOnce(&Fate) -> Result<T, SpillError> + Send + 'static,
) -> Result<T, SpillError> {
    if cancel.is_cancelled() {
        return Err(SpillError::Aborted);
    }
    let fate = Fate::default();
    let _dropped = StopOnDrop(fate.clone());
    let its = fate.clone();
    let mut task = spawn_blocking(move || {
        its.check()?;
        work(&its)
    });
    let ended = tokio::select! {
        biased;
        ended = &mut task => ended,
        () = cancel.cancelled() => {
            if fate.stop() {
                return Err(SpillError::Aborted);
            }
            task.await
        }
    };
    ended.unwrap_or_else(|broken: JoinError| {
        Err(SpillError::Failed { reason: format!("the work broke down: {broken}") })
    })
}

struct StopOnDrop(Fate);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_lifecycle::Cause;
    use std::sync::mpsc::channel;

    /// Cancels work that is held up at a point, and returns what came of it, and what the work saw.
    async fn cancelled(settles: bool) -> (Result<&'static str, SpillError>, Result<(), SpillError>) {
        let (cancel, (release, held), (tell, seen)) = (Cancel::new(), channel::<()>(), channel());
        let (begin, begun) = tokio::sync::oneshot::channel();
        let work = run(&cancel, move |fate| {
            if settles {
                fate.settle()?;
            }
            begin.send(()).unwrap();
            held.recv().unwrap();
            tell.send(fate.settle()).unwrap();
            Ok("done")
        });
        let stop = async {
            begun.await.unwrap();
            cancel.cancel(Cause::User);
            // Work that is waited for has to come to its end; other work goes on after the answer.
            if settles {
                release.send(()).unwrap();
            }
        };
        let (ended, ()) = tokio::join!(work, stop);
        let _ = release.send(());
        (ended, spawn_blocking(move || seen.recv().unwrap()).await.unwrap())
    }

    #[tokio::test]
    async fn a_cancellation_waits_for_nothing_but_what_has_settled() {
        assert!(matches!(cancelled(false).await, (Err(SpillError::Aborted), Err(SpillError::Aborted))));
        assert!(matches!(cancelled(true).await, (Ok("done"), Ok(()))));
    }

    #[tokio::test]
    async fn work_that_panics_has_failed() {
        let ended = run(&Cancel::new(), |_| -> Result<(), SpillError> { panic!("out of order") }).await;
        assert!(
            matches!(ended, Err(SpillError::Failed { reason }) if reason.contains("the work broke down"))
        );
    }
}
