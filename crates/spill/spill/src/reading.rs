//! How a stored text is read from a store that may be anything.
//!
//! ```text
//! a range ─→ the store ─→ as many bytes as the range has? ─→ whole characters ─→ sink ─→ the next range, to the end
//!               │                 └ no ─→ WrongSize, Changed, NotText
//!               └ cancelled, late, panicked ─→ Aborted, Late, Failed
//! ```

use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::Duration;

use dsh_lifecycle::{Cancel, Panic, contain};

use crate::within::within;
use crate::{ReadText, SpillPart, SpillReadError, SpillStore};

/// [`SpillStore::reads`], where a store that panics is an error and nothing more.
pub fn reads(store: &dyn SpillStore, locator: &str) -> Result<bool, Panic> {
    contain(|| store.reads(locator))
}

/// [`SpillStore::read_range`], for at most `deadline`, and held to what it promises.
///
/// The store's future is dropped at the cancellation and at the deadline, and told by a cancellation of its own, as for
/// [`save_within`](crate::save_within).
///
/// # Errors
/// Those of the store. [`WrongSize`](SpillReadError::WrongSize) for more bytes or fewer than a text of the length that the
/// store says has in `range`; [`Aborted`](SpillReadError::Aborted) at the cancellation, [`Late`](SpillReadError::Late) after
/// `deadline`, [`Failed`](SpillReadError::Failed) when the store panics.
pub async fn read_within(
    store: &dyn SpillStore,
    text: &ReadText,
    range: Range<u64>,
    cancel: &Cancel,
    deadline: Duration,
) -> Result<SpillPart, SpillReadError> {
    let cancel = cancel.child();
    within(&cancel, deadline, part(store, text, range, &cancel)).await
}

/// Reads a whole text in ranges of `piece` bytes, one after the other, and gives it to `sink` cut on characters; answers with
/// its length. All of that takes at most `deadline`. Memory is one piece, as far as the store gives no more than it is asked
/// for: what is more is let go of at once.
///
/// After an error `sink` has seen the beginning of a text that is good for nothing.
///
/// # Errors
/// Those of [`read_within`]. [`Changed`](SpillReadError::Changed) when the length is not the same in each answer, and
/// [`NotText`](SpillReadError::NotText) at the first byte that is not UTF-8, the end within a character included.
pub async fn read_text_within(
    store: &dyn SpillStore,
    text: &ReadText,
    piece: NonZeroUsize,
    cancel: &Cancel,
    deadline: Duration,
    sink: impl FnMut(&str),
) -> Result<u64, SpillReadError> {
    let cancel = cancel.child();
    within(&cancel, deadline, whole(store, text, piece, &cancel, sink)).await
}

async fn whole(
    store: &dyn SpillStore,
    text: &ReadText,
    piece: NonZeroUsize,
    cancel: &Cancel,
    mut sink: impl FnMut(&str),
) -> Result<u64, SpillReadError> {
    // A piece has room for any character, so that each one leads on.
    let piece = piece.get().max(char::MAX.len_utf8()) as u64;
    let (mut at, mut length) = (0, None);
    loop {
        let SpillPart { bytes, total } = part(store, text, at..at.saturating_add(piece), cancel).await?;
        let before = *length.get_or_insert(total);
        if before != total {
            return Err(SpillReadError::Changed { before, now: total });
        }
        let end = at + bytes.len() as u64;
        let characters = characters(&bytes, end >= total)
            .map_err(|flaw| SpillReadError::NotText { at: at + flaw as u64 })?;
        sink(characters);
        at += characters.len() as u64;
        if at >= total {
            return Ok(total);
        }
        // A store that has every answer at hand leaves room for others, the deadline among them.
        tokio::task::yield_now().await;
    }
}

/// The characters that `bytes` begin with; a character that is cut off counts as none, except at the end of the text. The
/// error is the place of what is none.
fn characters(bytes: &[u8], is_end: bool) -> Result<&str, usize> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let good = error.valid_up_to();
            if error.error_len().is_some() || is_end {
                return Err(good);
            }
            std::str::from_utf8(bytes.get(..good).unwrap_or_default()).map_err(|error| error.valid_up_to())
        }
    }
}

/// One answer of the store, with as many bytes as there have to be.
async fn part(
    store: &dyn SpillStore,
    text: &ReadText,
    range: Range<u64>,
    cancel: &Cancel,
) -> Result<SpillPart, SpillReadError> {
    let part = store.read_range(text, range.clone(), cancel).await?;
    let due = range.end.min(part.total).saturating_sub(range.start);
    let given = part.bytes.len() as u64;
    if given == due { Ok(part) } else { Err(SpillReadError::WrongSize { given, due }) }
}
