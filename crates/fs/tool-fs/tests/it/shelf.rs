//! A store that is no directory: texts in memory, each its session's, under `mem:1`, `mem:2` and so on.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::Cancel;
use dsh_spill::{
    ReadText, SaveText, SpillError, SpillLocator, SpillOwner, SpillPart, SpillReadError, SpillRef, SpillStore,
};
use parking_lot::Mutex;

/// What a store does when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Keep,
    GiveMore,
    GiveNothing,
    GiveBytes(&'static [u8]),
    MoveTheEnd,
    NeverEnd,
    Hang,
    Panic,
    PanicOverLocators,
    Fail,
    Refuse,
    /// Says that it reads, and does not.
    Boast,
}

pub(crate) struct Shelf {
    does: Does,
    texts: Mutex<Vec<(SpillOwner, Vec<u8>)>>,
    pub(crate) asked: Mutex<Vec<Range<u64>>>,
}

impl Shelf {
    pub(crate) fn new(does: Does) -> Arc<Self> {
        Arc::new(Self { does, texts: Mutex::default(), asked: Mutex::default() })
    }

    /// Keeps a text of a session, and says where.
    pub(crate) fn keep(&self, session: &str, content: impl Into<Vec<u8>>) -> String {
        let mut texts = self.texts.lock();
        texts.push((SpillOwner { session_id: session.into() }, content.into()));
        format!("mem:{}", texts.len())
    }

    fn part(&self, text: &ReadText, range: Range<u64>) -> Result<SpillPart, SpillReadError> {
        let number =
            text.locator.as_str().strip_prefix("mem:").and_then(|number| number.parse::<usize>().ok());
        let texts = self.texts.lock();
        let kept = number.and_then(|number| texts.get(number.checked_sub(1)?));
        let (_, content) = kept.filter(|(owner, _)| text.admits(owner)).ok_or(SpillReadError::NotFound)?;
        Ok(SpillPart::of(content, range))
    }
}

#[async_trait]
impl SpillStore for Shelf {
    async fn save_text(&self, request: SaveText, _: &Cancel) -> Result<SpillRef, SpillError> {
        let locator = SpillLocator::new(self.keep(&request.owner.session_id, &*request.content));
        let bytes = request.content.len() as u64;
        Ok(SpillRef { locator, bytes, retrieval_hint: "Read on in it with `read`.".into() })
    }

    fn reads(&self, locator: &str) -> bool {
        assert!(self.does != Does::PanicOverLocators, "over {locator}");
        locator.starts_with("mem:")
    }

    #[expect(clippy::panic, reason = "what is tested")]
    async fn read_range(
        &self,
        text: &ReadText,
        range: Range<u64>,
        cancel: &Cancel,
    ) -> Result<SpillPart, SpillReadError> {
        self.asked.lock().push(range.clone());
        let part = |bytes: Vec<u8>, total| Ok(SpillPart { bytes, total });
        let length = usize::try_from(range.end - range.start).unwrap();
        match self.does {
            Does::Keep | Does::PanicOverLocators => self.part(text, range),
            Does::GiveMore => part(vec![b'a'; length + 1], u64::MAX),
            Does::GiveNothing => part(Vec::new(), 10),
            Does::GiveBytes(bytes) => Ok(SpillPart::of(bytes, range)),
            Does::MoveTheEnd => part(vec![b'a'; length], range.end + 1),
            Does::NeverEnd => part(vec![b'\n'; length], u64::MAX),
            Does::Hang => std::future::pending().await,
            Does::Panic => panic!("out of order"),
            Does::Fail => Err(SpillReadError::Failed { reason: "http://10.0.0.1:9000 is down".to_owned() }),
            Does::Refuse => Err(std::io::Error::other("/srv/results is locked").into()),
            Does::Boast => Unread.read_range(text, range, cancel).await,
        }
    }
}

/// What the port does by default.
struct Unread;

#[async_trait]
impl SpillStore for Unread {
    async fn save_text(&self, _: SaveText, _: &Cancel) -> Result<SpillRef, SpillError> {
        Err(SpillError::Aborted)
    }
}
