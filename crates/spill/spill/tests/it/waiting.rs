//! How long a store is waited for (spec 08 §6.6).

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::time::Duration;

use dsh_lifecycle::{Cancel, Cause};
use dsh_spill::{begin_within, commit_within, read_text_within, read_within, save_within};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::Instant;

use crate::hostile::{Does, Hostile, pending, reference, request, text};

const DEADLINE: Duration = Duration::from_millis(100);

/// What came of each operation in turn, after how many milliseconds, and the cause that the store was given to stop.
async fn asked(does: Does, cancel: &Cancel) -> [(String, u128, Option<Cause>); 5] {
    let (send, mut seen) = unbounded_channel();
    let store = Hostile(does, send.clone());
    let began = Instant::now();
    let saved = save_within(&store, request(), cancel, DEADLINE).await.map(|saved| saved == reference());
    let saved = ended(saved, began, &mut seen);
    let began = Instant::now();
    let begun = begin_within(&store, request(), cancel, DEADLINE).await;
    let begun = ended(begun.map(|begun| begun.reference() == &reference()), began, &mut seen);
    let began = Instant::now();
    let done = commit_within(pending(does, send), cancel, DEADLINE).await.map(|saved| saved == reference());
    let done = ended(done, began, &mut seen);
    let began = Instant::now();
    let part = read_within(&store, &text(), 1..9, cancel, DEADLINE).await.map(|part| part.bytes == b"bc");
    let part = ended(part, began, &mut seen);
    let began = Instant::now();
    let whole = read_text_within(&store, &text(), NonZeroUsize::MIN, cancel, DEADLINE, |_| {}).await;
    let whole = ended(whole.map(|length| length == 3), began, &mut seen);
    [saved, begun, done, part, whole]
}

fn ended(
    result: Result<bool, impl Display>,
    began: Instant,
    seen: &mut UnboundedReceiver<Cancel>,
) -> (String, u128, Option<Cause>) {
    let told = match result {
        Ok(same) => same.to_string(),
        Err(error) => error.to_string(),
    };
    (told, began.elapsed().as_millis(), seen.try_recv().ok().and_then(|cancel| cancel.cause()))
}

#[tokio::test(start_paused = true)]
async fn a_store_is_waited_for_until_the_deadline_and_no_longer() {
    let late = "the spill store did not answer within 100 ms";
    for (does, told, after, cause) in [
        (Does::AnswersAfter(0), "true", 0, None),
        (Does::AnswersAfter(99), "true", 99, None),
        (Does::AnswersAfter(100), "true", 100, None),
        (Does::AnswersAfter(101), late, 100, Some(Cause::Deadline)),
        (Does::Hangs, late, 100, Some(Cause::Deadline)),
        (Does::Fails, "the spill store failed: no room", 0, None),
    ] {
        for answer in asked(does, &Cancel::new()).await {
            assert_eq!(answer, (told.to_owned(), after, cause.clone()), "{does:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_has_failed() {
    for (does, words, after) in [(Does::Panics, "out of order", 0), (Does::PanicsWhenDropped, "dropped", 100)]
    {
        for (told, took, _) in asked(does, &Cancel::new()).await {
            let expected = format!("the spill store failed: the store panicked: {words}");
            assert_eq!((told, took), (expected, after));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_ends_the_waiting_for_a_store_that_does_not_listen() {
    let cancel = Cancel::new();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(40)).await;
        cancel.cancel(Cause::User);
    };
    let (mut answers, ()) = tokio::join!(asked(Does::Hangs, &cancel), stop);
    // The first was running; the others found the cancellation there, and asked the store for nothing.
    let told = |what: &str| format!("{what} was aborted");
    assert_eq!(std::mem::take(&mut answers[0]), (told("saving"), 40, Some(Cause::User)));
    assert_eq!(answers[1..], ["saving", "saving", "reading", "reading"].map(|what| (told(what), 0, None)));
}

#[tokio::test(start_paused = true)]
async fn a_late_store_cancels_nothing_of_its_caller() {
    let cancel = Cancel::new();
    asked(Does::Hangs, &cancel).await;
    assert!(!cancel.is_cancelled());
}

/// What a late save was given reaches work that the store left elsewhere.
#[tokio::test(start_paused = true)]
async fn the_callers_cancellation_reaches_the_store() {
    let (send, mut seen) = unbounded_channel();
    let (store, cancel) = (Hostile(Does::AnswersAfter(1), send), Cancel::new());
    save_within(&store, request(), &cancel, DEADLINE).await.unwrap();
    let given = seen.try_recv().unwrap();
    assert!(!given.is_cancelled());
    cancel.cancel(Cause::Disposed);
    assert_eq!((given.cause(), given.own_cause()), (Some(Cause::Disposed), None));
}
