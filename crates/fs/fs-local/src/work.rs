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

/// Runs `work` on the blocking pool and waits for it. Not begun at all when the call was cancelled before.
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
