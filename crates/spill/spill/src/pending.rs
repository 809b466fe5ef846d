//! A text between the choice of its place and its being there.

use async_trait::async_trait;
use dsh_lifecycle::Cancel;

use crate::{SpillError, SpillRef};

/// A text whose place is chosen. Dropping it stores nothing.
#[async_trait]
pub trait Pending: Send {
    /// What [`commit`](Self::commit) will answer.
    fn reference(&self) -> &SpillRef;

    /// Stores all of the text, or fails as [`SpillStore::save_text`](crate::SpillStore::save_text) does.
    async fn commit(self: Box<Self>, cancel: &Cancel) -> Result<SpillRef, SpillError>;
}

/// What is stored already.
pub(crate) fn saved(reference: SpillRef) -> Box<dyn Pending> {
    Box::new(Saved(reference))
}

struct Saved(SpillRef);

#[async_trait]
impl Pending for Saved {
    fn reference(&self) -> &SpillRef {
        &self.0
    }

    async fn commit(self: Box<Self>, _: &Cancel) -> Result<SpillRef, SpillError> {
        Ok(self.0)
    }
}
