//! A store that does what it is told.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::Cancel;
use dsh_spill::{
    Pending, ReadText, SaveText, SpillError, SpillLocator, SpillPart, SpillReadError, SpillRef, SpillStore,
};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// What a store does with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Keep,
    /// Keeps, and can't say where before it has.
    KeepAtOnce,
    Refuse,
    RefuseToCommit,
    Hang,
    /// Keeps a text when it gets a permit.
    Wait,
    Panic,
    PanicAtReference,
    PanicAtCommit,
    /// Says that it has one byte less.
    LoseOne,
    LoseOneAtCommit,
    Move,
    SayNowhere,
    SayTwoLines,
}

pub(crate) struct Shelf {
    pub(crate) does: Mutex<Does>,
    pub(crate) kept: Mutex<Vec<SaveText>>,
    pub(crate) asked: Mutex<usize>,
    pub(crate) gate: Semaphore,
    /// The cancellation that the last text came with.
    pub(crate) cancel: Mutex<Option<Cancel>>,
}

impl Shelf {
    pub(crate) fn new(does: Does) -> Arc<Self> {
        Arc::new(Self {
            does: Mutex::new(does),
            kept: Mutex::default(),
            asked: Mutex::default(),
            gate: Semaphore::new(0),
            cancel: Mutex::default(),
        })
    }

    pub(crate) fn take(&self) -> Vec<SaveText> {
        std::mem::take(&mut *self.kept.lock())
    }
}

/// The store, which its texts need to be put into.
pub(crate) struct Handle(pub(crate) Arc<Shelf>);

struct Held {
    shelf: Arc<Shelf>,
    request: SaveText,
    reference: SpillRef,
    does: Does,
}

fn reference(request: &SaveText, does: Does) -> SpillRef {
    let mut locator = format!("mem:{}", request.source.call_id);
    if does == Does::SayNowhere {
        locator.clear();
    } else if does == Does::SayTwoLines {
        locator.push('\n');
    }
    let bytes = request.content.len() as u64 - u64::from(does == Does::LoseOne);
    SpillRef { locator: SpillLocator::new(locator), bytes, retrieval_hint: "Ask for it.".into() }
}

#[async_trait]
impl SpillStore for Handle {
    async fn save_text(&self, request: SaveText, cancel: &Cancel) -> Result<SpillRef, SpillError> {
        *self.0.cancel.lock() = Some(cancel.clone());
        let reference = reference(&request, Does::Keep);
        self.0.kept.lock().push(request);
        Ok(reference)
    }

    async fn begin(&self, request: SaveText, cancel: &Cancel) -> Result<Box<dyn Pending>, SpillError> {
        let shelf = Arc::clone(&self.0);
        *shelf.cancel.lock() = Some(cancel.clone());
        *shelf.asked.lock() += 1;
        let does = *shelf.does.lock();
        assert!(does != Does::Panic, "oh no");
        if does == Does::Refuse {
            return Err(std::io::Error::other("the disk is full").into());
        }
        if does == Does::Hang {
            std::future::pending::<()>().await;
        }
        let reference = if does == Does::KeepAtOnce {
            self.save_text(request.clone(), cancel).await?
        } else {
            reference(&request, does)
        };
        Ok(Box::new(Held { shelf, request, reference, does }))
    }

    fn reads(&self, locator: &str) -> bool {
        locator.starts_with("mem:")
    }

    async fn read_range(
        &self,
        text: &ReadText,
        range: Range<u64>,
        _: &Cancel,
    ) -> Result<SpillPart, SpillReadError> {
        let is_meant = |kept: &&SaveText| {
            text.admits(&kept.owner) && text.locator.as_str() == format!("mem:{}", kept.source.call_id)
        };
        let kept = self.0.kept.lock();
        let kept = kept.iter().rev().find(is_meant).ok_or(SpillReadError::NotFound)?;
        Ok(SpillPart::of(kept.content.as_bytes(), range))
    }
}

#[async_trait]
impl Pending for Held {
    fn reference(&self) -> &SpillRef {
        assert!(self.does != Does::PanicAtReference, "oh no");
        &self.reference
    }

    async fn commit(self: Box<Self>, _: &Cancel) -> Result<SpillRef, SpillError> {
        let Self { shelf, request, mut reference, does } = *self;
        assert!(does != Does::PanicAtCommit, "oh no");
        if does == Does::RefuseToCommit {
            return Err(SpillError::Failed { reason: "the disk went away".into() });
        }
        if does == Does::Wait {
            shelf.gate.acquire().await.unwrap().forget();
        }
        if does == Does::LoseOneAtCommit {
            reference.bytes -= 1;
        }
        if does == Does::Move {
            reference.locator = SpillLocator::new("mem:elsewhere");
        }
        if does != Does::KeepAtOnce {
            shelf.kept.lock().push(request);
        }
        Ok(reference)
    }
}
