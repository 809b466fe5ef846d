//! The port.

use std::ops::Range;

use async_trait::async_trait;
use dsh_lifecycle::Cancel;

use crate::{Pending, ReadText, SaveText, SpillError, SpillPart, SpillReadError, SpillRef, pending};

/// A place that keeps texts (spec 08 §1.2).
///
/// What every store holds to:
///
/// - Where it keeps texts is private to the user who runs this process.
/// - A final name collides with no other, whatever [`SaveText::suggested_name`] says, and is never that string itself.
/// - A text stays where it is, and its owner's. A fork keeps the locators of its history; what it spills later is filed
///   under its own id.
#[async_trait]
pub trait SpillStore: Send + Sync {
    /// Stores all of the content and says where, with the number of bytes that were stored; or fails.
    ///
    /// Errors: [`Io`](SpillError::Io) where the system refuses, [`Failed`](SpillError::Failed) for what else goes wrong,
    /// [`Aborted`](SpillError::Aborted) when the cancellation came first. After a failure nothing of the text can be
    /// found. The cancellation ends the future soon. Whoever saves sets a deadline, and drops the future when it has
    /// passed; a store then stops the work or ends it unseen, and holds nobody up.
    async fn save_text(&self, request: SaveText, cancel: &Cancel) -> Result<SpillRef, SpillError>;

    /// Says where a text will be, for whoever has to know before it is stored. A store that can say so stores nothing yet;
    /// by default everything is saved here, and [`commit`](Pending::commit) only hands out the reply.
    ///
    /// Errors and cancellation as of [`save_text`](Self::save_text).
    async fn begin(&self, request: SaveText, cancel: &Cancel) -> Result<Box<dyn Pending>, SpillError> {
        Ok(pending::saved(self.save_text(request, cancel).await?))
    }

    /// Whether `locator` is, by its form, one that this store hands out and gives back by
    /// [`read_range`](Self::read_range). By default it is none.
    ///
    /// Asked of every path that a file tool is given, so it looks at the words and at nothing else, and never waits. What it
    /// says yes to is no path any more; a store whose locators are paths that the file tools reach anyway says no.
    fn reads(&self, locator: &str) -> bool {
        let _ = locator;
        false
    }

    /// The bytes of a stored text that lie in `range`, as far as the text has them, and how many it has in all. A range that
    /// begins at its end or behind it has none; that is no failure. The same text answers the same each time.
    ///
    /// Errors: [`Unsupported`](SpillReadError::Unsupported) by default; [`NotFound`](SpillReadError::NotFound) for what is not
    /// there and, where the store keeps sessions apart, for what is none of [`ReadText::owners`]', without a difference;
    /// [`Io`](SpillReadError::Io) and [`Failed`](SpillReadError::Failed) for what goes wrong;
    /// [`Aborted`](SpillReadError::Aborted) when the cancellation came first. The cancellation ends the future soon; whoever
    /// reads sets a deadline, and drops the future when it has passed.
    async fn read_range(
        &self,
        text: &ReadText,
        range: Range<u64>,
        cancel: &Cancel,
    ) -> Result<SpillPart, SpillReadError> {
        let _ = (text, range, cancel);
        Err(SpillReadError::Unsupported)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dsh_lifecycle::Slot;

    use super::*;
    use crate::{SpillLocator, SpillOwner, SpillSource};

    /// Keeps nothing, and says where.
    struct Minimal;

    #[async_trait]
    impl SpillStore for Minimal {
        async fn save_text(&self, request: SaveText, _: &Cancel) -> Result<SpillRef, SpillError> {
            let locator = SpillLocator::new(format!("mem:{}", request.source.call_id));
            let bytes = request.content.len() as u64;
            Ok(SpillRef { locator, bytes, retrieval_hint: "Ask for it.".into() })
        }
    }

    #[tokio::test]
    async fn a_store_is_reached_through_its_slot_and_its_reply_is_unchanged() {
        let slot = Slot::<dyn SpillStore>::empty();
        let mounted = slot.provide(Arc::new(Minimal)).unwrap();
        let request = SaveText {
            owner: SpillOwner { session_id: "s".into() },
            source: SpillSource {
                tool_name: "t".into(),
                call_id: "c".into(),
                label: SpillSource::RESULT.into(),
            },
            suggested_name: "t.txt".into(),
            content: "é€".into(),
        };
        let saved = slot.get().unwrap().save_text(request, &Cancel::new()).await.unwrap();
        assert_eq!(
            (saved.locator.as_str(), saved.bytes, &*saved.retrieval_hint),
            ("mem:c", 5, "Ask for it.")
        );

        assert!(slot.provide(Arc::new(Minimal)).is_err(), "a second store is refused");
        drop(mounted);
        assert!(slot.get().is_none(), "without its registration a store is gone");
    }

    #[tokio::test]
    async fn a_store_that_says_nothing_of_reading_is_not_read() {
        let text = ReadText { owners: [].into(), locator: SpillLocator::new("mem:c") };
        assert!(!Minimal.reads("mem:c"));
        let refused = Minimal.read_range(&text, 0..1, &Cancel::new()).await.unwrap_err();
        assert_eq!(refused.code(), "SPILL_UNSUPPORTED");
    }
}
