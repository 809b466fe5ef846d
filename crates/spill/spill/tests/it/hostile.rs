//! A store that does what it is told to, however bad that is.

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use dsh_lifecycle::Cancel;
use dsh_spill::{
    Pending, ReadText, SaveText, SpillError, SpillLocator, SpillOwner, SpillPart, SpillReadError, SpillRef,
    SpillSource, SpillStore,
};
use tokio::sync::mpsc::UnboundedSender;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    AnswersAfter(u64),
    Fails,
    Hangs,
    Panics,
    PanicsWhenDropped,
}

/// Does the same in each of its operations, and sends the cancellation that it was given.
pub(crate) struct Hostile(pub(crate) Does, pub(crate) UnboundedSender<Cancel>);

#[async_trait]
impl SpillStore for Hostile {
    async fn save_text(&self, _: SaveText, cancel: &Cancel) -> Result<SpillRef, SpillError> {
        does(self.0, &self.1, cancel).await
    }

    async fn begin(&self, _: SaveText, cancel: &Cancel) -> Result<Box<dyn Pending>, SpillError> {
        does(self.0, &self.1, cancel).await?;
        Ok(pending(self.0, self.1.clone()))
    }

    fn reads(&self, locator: &str) -> bool {
        assert!(self.0 != Does::Panics, "out of order");
        locator.starts_with("mem:")
    }

    async fn read_range(
        &self,
        _: &ReadText,
        range: Range<u64>,
        cancel: &Cancel,
    ) -> Result<SpillPart, SpillReadError> {
        let done = does(self.0, &self.1, cancel).await;
        done.map_err(|_| SpillReadError::Failed { reason: "no room".to_owned() })?;
        Ok(SpillPart::of(b"abc", range))
    }
}

/// What a store that behaves hands out at first.
pub(crate) fn pending(does: Does, seen: UnboundedSender<Cancel>) -> Box<dyn Pending> {
    Box::new(Begun(does, seen, reference()))
}

struct Begun(Does, UnboundedSender<Cancel>, SpillRef);

#[async_trait]
impl Pending for Begun {
    fn reference(&self) -> &SpillRef {
        &self.2
    }

    async fn commit(self: Box<Self>, cancel: &Cancel) -> Result<SpillRef, SpillError> {
        does(self.0, &self.1, cancel).await
    }
}

#[expect(clippy::panic, reason = "what is tested")]
async fn does(does: Does, seen: &UnboundedSender<Cancel>, cancel: &Cancel) -> Result<SpillRef, SpillError> {
    seen.send(cancel.clone()).unwrap();
    let _bomb = Bomb(does == Does::PanicsWhenDropped);
    match does {
        Does::AnswersAfter(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
        Does::Fails => return Err(SpillError::Failed { reason: "no room".to_owned() }),
        Does::Hangs | Does::PanicsWhenDropped => std::future::pending().await,
        Does::Panics => panic!("out of order"),
    }
    Ok(reference())
}

struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.0, "dropped");
    }
}

pub(crate) fn reference() -> SpillRef {
    SpillRef { locator: SpillLocator::new("mem:1"), bytes: 3, retrieval_hint: "Ask for it.".into() }
}

/// The text of [`reference`], for its own session.
pub(crate) fn text() -> ReadText {
    ReadText { owners: [request().owner].into(), locator: reference().locator }
}

pub(crate) fn request() -> SaveText {
    SaveText {
        owner: SpillOwner { session_id: "s".into() },
        source: SpillSource { tool_name: "t".into(), call_id: "c".into(), label: SpillSource::RESULT.into() },
        suggested_name: "t.txt".into(),
        content: "abc".into(),
    }
}
