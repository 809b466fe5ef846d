//! How long the calls of a program waited for a person.

use std::time::Duration;

use dsh_code_runtime::Stopwatch;
use parking_lot::Mutex;

/// The time in which at least one question about a program's calls was open. It does not count against the program.
#[derive(Default)]
pub(crate) struct Asking(Mutex<Stopwatch>);

impl Asking {
    /// Waits for the answer to one question. Dropping the future withdraws the question.
    pub(crate) async fn during<T>(&self, answer: impl Future<Output = T>) -> T {
        let _open = Open::new(self);
        answer.await
    }

    /// The time so far.
    pub(crate) fn total(&self) -> Duration {
        self.0.lock().total()
    }
}

/// An open question.
struct Open<'a>(&'a Asking);

impl<'a> Open<'a> {
    fn new(asking: &'a Asking) -> Self {
        asking.0.lock().begin();
        Self(asking)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.0.lock().end();
    }
}
