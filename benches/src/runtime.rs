//! Where the measurements run.

use std::time::Duration;

use criterion::Criterion;
use tokio::runtime::{Builder, Runtime};

/// Criterion with short times, because each question has several rows; the command line overrides them.
pub fn criterion() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2))
}

/// A runtime of this one thread.
pub fn one_thread() -> std::io::Result<Runtime> {
    Builder::new_current_thread().build()
}
