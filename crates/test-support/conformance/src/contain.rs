//! Running one vector so that whatever it does stays its own failure.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use crate::Fault;

/// Deep values are walked by simple recursion here; only the touched part is ever real.
const STACK: usize = 512 << 20;

/// Runs the work on a thread of its own. A panic and a missed time limit are faults; a thread that misses it is left
/// behind, and ends with the program.
pub(crate) fn contained<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let (done, outcome) = sync_channel(1);
    let started = thread::Builder::new().name("vector".into()).stack_size(STACK).spawn(move || {
        let caught = catch_unwind(AssertUnwindSafe(work));
        // Nobody listens any more after the limit.
        let _ = done.send(caught.unwrap_or_else(|panic| Err(Fault::Panicked(said(&*panic)))));
    });
    started.map_err(Fault::scene)?;
    match outcome.recv_timeout(limit) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => Err(Fault::Late(limit)),
        Err(RecvTimeoutError::Disconnected) => Err(Fault::Panicked("without a word".to_owned())),
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a word".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_vector_does_stays_its_own() {
        type Row = (fn() -> Result<u8, Fault>, &'static str);
        let rows: [Row; 4] = [
            (|| Ok(1), "1"),
            (|| Err(Fault::Missing("x".into())), "the vector has no `x`"),
            (|| panic!("oh {}", 1), "it panicked: oh 1"),
            (
                || loop {
                    thread::park();
                },
                "it did not end within 0 s",
            ),
        ];
        for (work, expected) in rows {
            let outcome = contained(Duration::from_millis(500), work);
            assert_eq!(outcome.map_or_else(|fault| fault.to_string(), |value| value.to_string()), expected);
        }
    }
}
