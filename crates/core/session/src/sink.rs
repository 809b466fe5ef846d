//! Where a session's events are stored.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::event::Event;

/// A store for the events of one session.
///
/// Events are given in order, one at a time, never concurrently. What was written survives the end of the process, what
/// was flushed the end of the machine (design §6).
#[async_trait]
pub trait Sink: Send + Sync {
    /// Stores one event; blocking, and short. When it returns `Ok` the event is stored whole, when it returns `Err` not
    /// at all.
    fn write(&self, event: &Event) -> Result<(), SinkError>;

    /// Waits until everything written so far is on the device.
    async fn flush(&self) -> Result<(), SinkError>;
}

/// Why an event could not be stored: the store's own error, kept as it is.
#[derive(Debug, Clone)]
pub struct SinkError(Arc<dyn Error + Send + Sync>);

impl SinkError {
    /// An error of a store.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The store's error, when it is a `T`.
    pub fn downcast_ref<T: Error + 'static>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Display for SinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for SinkError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
