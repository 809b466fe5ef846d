//! Stores that are absent, fail, hang, break or lie: the content stays whole and the call what it was (spec 08 §4.5).

use std::time::Duration;

use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::text;
use dsh_tools_core::CallInput;
use tokio::time::Instant;

use crate::scene::{Gives, Scene, only_text, tool};
use crate::shelf::Does;

const CONFIG: &str = r#"{"maxInlineBytes": 300, "saveMs": 70}"#;

fn long() -> String {
    "line\n".repeat(400)
}

#[tokio::test(start_paused = true)]
async fn whatever_a_store_does_the_content_is_whole_and_the_call_what_it_was() {
    for (does, reason) in [
        (Does::Refuse, "the spill store could not write: the disk is full"),
        (Does::RefuseToCommit, "the spill store failed: the disk went away"),
        (Does::Hang, "the spill store did not answer in time: `saveMs` allows 70"),
        (Does::Wait, "the spill store did not answer in time: `saveMs` allows 70"),
        (Does::Panic, "panicked: oh no"),
        (Does::PanicAtReference, "panicked: oh no"),
        (Does::PanicAtCommit, "panicked: oh no"),
        (Does::LoseOne, "the spill store answers for 1999 bytes, and the text has 2000"),
        (Does::LoseOneAtCommit, "the spill store answers for 1999 bytes, and the text has 2000"),
        (Does::Move, "the spill store stored the text elsewhere than it said before"),
        (Does::SayNowhere, "the locator of the spill store can't be shown in a line"),
        (Does::SayTwoLines, "the locator of the spill store can't be shown in a line"),
    ] {
        let mut scene = Scene::with(CONFIG, does);
        let began = Instant::now();
        assert_eq!(scene.says(&long()).await, long(), "{does:?}");
        let hangs = matches!(does, Does::Hang | Does::Wait);
        assert_eq!(began.elapsed(), Duration::from_millis(if hangs { 70 } else { 0 }), "{does:?}");
        let warned = scene.warned();
        assert!(warned.contains(reason) && warned.lines().count() == 1, "{does:?}: {warned}");
        assert!(warned.contains(r#"tool="t" call="c1" label="result""#), "{warned}");
        // The next call is not the worse for it.
        *scene.shelf.does.lock() = Does::Keep;
        assert!(scene.says(&long()).await.len() <= 300, "{does:?}");
        assert_eq!(scene.warned(), "");
    }
}

#[tokio::test]
async fn a_store_is_looked_up_for_each_call() {
    let mut scene = Scene::with(CONFIG, Does::Keep);
    scene.store = None;
    assert_eq!(scene.says(&long()).await, long());
    assert!(scene.warned().contains("reason=no spill store is mounted"));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_is_given_up_at_the_cancellation() {
    let mut scene = Scene::with(CONFIG, Does::Hang);
    scene.tool(tool("t", Gives::Content(text(long()))));
    let (cancel, began) = (Cancel::new(), Instant::now());
    let call = scene.tools.execute(CallInput { cancel: cancel.clone(), ..scene.input("t") });
    let stop = async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        cancel.cancel(Cause::User);
    };
    let (result, ()) = tokio::join!(call, stop);
    assert_eq!(began.elapsed(), Duration::from_millis(30));
    // The body ended before, and what it came to stays.
    assert_eq!((result.is_error(), only_text(&result.content)), (false, long()));
    assert!(scene.warned().contains("reason=saving was aborted"));
}

#[tokio::test(start_paused = true)]
async fn a_late_store_is_told_so() {
    let mut scene = Scene::with(CONFIG, Does::Hang);
    scene.says(&long()).await;
    let told = scene.shelf.cancel.lock().clone().unwrap();
    assert_eq!(told.own_cause(), Some(Cause::Deadline));
}

#[tokio::test]
async fn a_store_that_can_t_say_where_before_is_used_nevertheless() {
    let mut scene = Scene::with(CONFIG, Does::KeepAtOnce);
    let shown = scene.says(&long()).await;
    assert!(shown.len() <= 300 && shown.contains("mem:c1"), "{shown}");
    assert_eq!(scene.shelf.take().len(), 1);
}
