//! Blocking work: on its own thread, awaited, stopped between pieces.

use dsh_fs::{FsError, FsErrorCode};
use dsh_lifecycle::{Cancel, Cause};

/// What blocking work asks whether to go on. Also stopped when the caller's future is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Stop(Cancel);

impl Stop {
    /// `FS_ABORTED` when the call was cancelled or dropped.
    pub(crate) fn check(&self) -> Result<(), FsError> {
        if self.0.is_cancelled() { Err(FsError::aborted()) } else { Ok(()) }
    }
}

#[cfg(test)]
impl From<Cancel> for Stop {
    fn from(cancel: Cancel) -> Self {
        Self(cancel)
    }
}

/// Runs work that only looks, as [`run`] does, but waits for it no longer than for the cancellation: a disk that does not
/// answer holds nobody up.
pub(crate) async fn look<T: Send + 'static>(
    cancel: &Cancel,
    work: impl FnOnce(&Stop) -> Result<T, FsError> + Send + 'static,
) -> Result<T, FsError> {
    tokio::select! {
        biased;
        ended = run(cancel, work) => ended,
        () = cancel.cancelled() => Err(FsError::aborted()),
    }
}

/// Runs `work` on the blocking pool and waits for it, so that the disk is quiet when this returns. Not begun at all when
/// the call was cancelled before.
pub(crate) async fn run<T: Send + 'static>(
    cancel: &Cancel,
    work: impl FnOnce(&Stop) -> Result<T, FsError> + Send + 'static,
) -> Result<T, FsError> {
    let stop = Stop(cancel.child());
    stop.check()?;
    let dropped = StopOnDrop(stop.clone());
    let ended = tokio::task::spawn_blocking(move || {
        stop.check()?;
        work(&stop)
    })
    .await;
    drop(dropped);
    ended.unwrap_or_else(|failed| {
        Err(FsError::new(FsErrorCode::IoError, "the file operation broke down").caused_by(failed))
    })
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.cancel(Cause::Disposed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn a_look_ends_with_its_cancellation_and_a_change_with_its_work() {
        for is_look in [true, false] {
            let (release, held) = mpsc::channel();
            let (begin, begun) = tokio::sync::oneshot::channel();
            let cancel = Cancel::new();
            let work = move |_: &Stop| {
                let _ = begin.send(());
                Ok(held.recv().is_ok())
            };
            let ended = async { if is_look { look(&cancel, work).await } else { run(&cancel, work).await } };
            let stopped = async {
                begun.await.unwrap();
                cancel.cancel(Cause::User);
                if !is_look {
                    release.send(()).unwrap();
                }
            };
            let (ended, ()) = tokio::join!(ended, stopped);
            let expected = if is_look { Err("FS_ABORTED") } else { Ok(true) };
            assert_eq!(ended.map_err(|error| error.code()), expected);
        }
    }
}
