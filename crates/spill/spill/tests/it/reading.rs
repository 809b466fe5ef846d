//! What comes of a stored text that is read in ranges, from stores that keep their word and from others.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use dsh_lifecycle::{Cancel, Cause};
use dsh_spill::{
    ReadText, SaveText, SpillError, SpillPart, SpillReadError, SpillRef, SpillStore, read_text_within,
    read_within, reads,
};
use tokio::sync::mpsc::unbounded_channel;

use crate::hostile::{Does, Hostile, text};

const DEADLINE: Duration = Duration::from_millis(100);

/// A store that makes up its answers, and the ranges that it was asked for.
struct Answers<F>(F, Mutex<Vec<Range<u64>>>);

fn answers<F: Fn(Range<u64>) -> SpillPart>(answer: F) -> Answers<F> {
    Answers(answer, Mutex::default())
}

#[async_trait]
impl<F: Fn(Range<u64>) -> SpillPart + Send + Sync> SpillStore for Answers<F> {
    async fn save_text(&self, _: SaveText, _: &Cancel) -> Result<SpillRef, SpillError> {
        Err(SpillError::Aborted)
    }

    async fn read_range(
        &self,
        _: &ReadText,
        range: Range<u64>,
        _: &Cancel,
    ) -> Result<SpillPart, SpillReadError> {
        self.1.lock().unwrap().push(range.clone());
        Ok((self.0)(range))
    }
}

async fn whole(store: &dyn SpillStore, piece: usize) -> Result<(String, u64), SpillReadError> {
    let (mut read, piece) = (String::new(), NonZeroUsize::new(piece).unwrap());
    let sink = |piece: &str| read.push_str(piece);
    let length = read_text_within(store, &text(), piece, &Cancel::new(), DEADLINE, sink).await?;
    Ok((read, length))
}

#[tokio::test(start_paused = true)]
async fn a_text_comes_back_whole_in_pieces_of_any_size() {
    for content in ["", "a", "é路😀\r\nsecond 漢字 ", &"😀".repeat(50)] {
        for piece in [1, 2, 4, 5, 7, 64, 1 << 20] {
            let store = answers(|range| SpillPart::of(content.as_bytes(), range));
            let read = whole(&store, piece).await.unwrap();
            assert_eq!(read, (content.to_owned(), content.len() as u64), "{piece}");
            let asked = store.1.lock().unwrap();
            let most = piece.max(4) as u64;
            assert!(asked.iter().all(|range| range.end - range.start == most), "{asked:?}");
            // Each range begins where whole characters ended.
            assert!(asked.iter().all(|range| content.is_char_boundary(range.start.try_into().unwrap())));
        }
    }
}

type Answer = Box<dyn Fn(Range<u64>) -> SpillPart + Send + Sync>;

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_together_is_an_error_that_says_how() {
    let part = |bytes: &[u8], total| SpillPart { bytes: bytes.into(), total };
    let rows: [(&str, Answer, &str, &str); 9] = [
        (
            "more than asked for",
            Box::new(move |_| part(b"abcdefgh", 8)),
            "SPILL_WRONG_SIZE",
            "gave 8 bytes where 4 were due",
        ),
        (
            "more than there is",
            Box::new(move |_| part(b"abc", 2)),
            "SPILL_WRONG_SIZE",
            "gave 3 bytes where 2 were due",
        ),
        ("nothing", Box::new(move |_| part(b"", 8)), "SPILL_WRONG_SIZE", "gave 0 bytes where 4 were due"),
        (
            "nothing of a text without an end",
            Box::new(move |_| part(b"", u64::MAX)),
            "SPILL_WRONG_SIZE",
            "gave 0 bytes",
        ),
        (
            "an end that moves on",
            Box::new(move |range| part(b"abcd", range.end + 1)),
            "SPILL_CHANGED",
            "gave a text of 5 bytes at first, and then one of 9",
        ),
        (
            "an end that comes sooner",
            Box::new(move |range| if range.start == 0 { part(b"abcd", 9) } else { part(b"", 3) }),
            "SPILL_CHANGED",
            "gave a text of 9 bytes at first, and then one of 3",
        ),
        (
            "what is no text",
            Box::new(|range| SpillPart::of(b"abcdef\xffgh", range)),
            "SPILL_NOT_TEXT",
            "not UTF-8 at byte 6",
        ),
        (
            "half a character at the end",
            Box::new(|range| SpillPart::of("abcd路".as_bytes().split_at(6).0, range)),
            "SPILL_NOT_TEXT",
            "at byte 4",
        ),
        (
            "half a character in the middle",
            Box::new(|range| SpillPart::of(b"abc\xe8defgh", range)),
            "SPILL_NOT_TEXT",
            "at byte 3",
        ),
    ];
    for (what, answer, code, words) in rows {
        let error = whole(&answers(answer), 4).await.expect_err(what);
        assert_eq!(error.code(), code, "{what}");
        assert!(
            error.to_string().starts_with("the spill store gave ") && error.to_string().contains(words),
            "{error}"
        );
    }
    // One range is held to the same; what is behind the end has no bytes.
    let store = answers(|_| SpillPart { bytes: b"ab".into(), total: 9 });
    for (range, due) in [(0..2, None), (0..3, Some(3)), (8..11, Some(1)), (9..11, Some(0)), (12..14, Some(0))]
    {
        let read = read_within(&store, &text(), range.clone(), &Cancel::new(), DEADLINE).await;
        let refused = read.err().map(|error| error.to_string());
        let due = due.map(|due| format!("the spill store gave 2 bytes where {due} were due"));
        assert_eq!(refused, due, "{range:?}");
    }
}

/// The clock of this one goes, as the store is never waited for.
#[tokio::test]
async fn a_text_without_an_end_ends_with_the_deadline_or_the_cancellation() {
    let endless = answers(|range| SpillPart {
        bytes: vec![b'a'; (range.end - range.start).try_into().unwrap()],
        total: u64::MAX,
    });
    let error = whole(&endless, 64).await.unwrap_err();
    assert_eq!(error.to_string(), "the spill store did not answer within 100 ms");

    let (cancel, piece) = (Cancel::new(), NonZeroUsize::new(64).unwrap());
    let (text, mut left) = (text(), 3);
    let read = read_text_within(&endless, &text, piece, &cancel, Duration::MAX, |_| {
        left -= 1;
        if left == 0 {
            cancel.cancel(Cause::User);
        }
    });
    assert_eq!(read.await.unwrap_err().code(), "SPILL_ABORTED");
    assert_eq!(left, 0, "no range is asked for after the cancellation");
}

#[test]
fn a_store_that_panics_about_a_locator_has_said_nothing() {
    let (send, _seen) = unbounded_channel();
    let asked =
        |does, locator| reads(&Hostile(does, send.clone()), locator).map_err(|panic| panic.to_string());
    assert_eq!(asked(Does::Fails, "mem:1"), Ok(true));
    assert_eq!(asked(Does::Fails, "src/lib.rs"), Ok(false));
    assert_eq!(asked(Does::Panics, "mem:1"), Err("out of order".to_owned()));
}
