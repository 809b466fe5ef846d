//! Saves that nobody wants any more.

use std::time::Duration;

use dsh_lifecycle::{Cancel, Cause};
use dsh_spill::{SpillError, SpillStore as _, save_within};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{spawn_blocking, yield_now};

use crate::scene::{Scene, digits, request, told};

/// A runtime that does one thing at a time on the disk, in order.
fn one_by_one() -> Runtime {
    Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap()
}

/// Everything that was begun before has ended.
async fn quiet() {
    spawn_blocking(|| {}).await.unwrap();
}

#[tokio::test]
async fn after_a_cancellation_nothing_is_begun() {
    let scene = Scene::plain();
    let cancel = Cancel::new();
    cancel.cancel(Cause::User);
    assert!(matches!(scene.store.begin(request("s", "a", "b"), &cancel).await, Err(SpillError::Aborted)));
    let begun = scene.begin("a", "b").await;
    assert!(matches!(begun.commit(&cancel).await, Err(SpillError::Aborted)));
    assert!(!scene.root().exists());
}

#[test]
fn a_disk_that_does_not_answer_holds_nobody_up() {
    one_by_one().block_on(async {
        let scene = Scene::plain();
        for late in [false, true] {
            let (release, held) = std::sync::mpsc::channel::<()>();
            let begun = scene.begin("a", "text").await;
            let busy = spawn_blocking(move || held.recv());
            let cancel = Cancel::new();
            let told = if late {
                drop(begun);
                let request = request("s1", "a", "text");
                told(save_within(&scene.store, request, &cancel, Duration::from_millis(1)).await)
            } else {
                let (saved, ()) = tokio::join!(begun.commit(&cancel), async { cancel.cancel(Cause::User) });
                told(saved)
            };
            let expected =
                if late { "the spill store did not answer within 1 ms" } else { "saving was aborted" };
            assert_eq!(told, expected);
            // It was the disk's turn only now, and nobody wants the text.
            release.send(()).unwrap();
            busy.await.unwrap().unwrap();
            quiet().await;
            assert!(!scene.root().exists());
        }
    });
}

/// How a save is stopped while its text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Cancelled,
    Dropped,
}

#[test]
fn a_save_that_is_stopped_in_the_middle_leaves_all_or_nothing() {
    let content = "0123456789abcdef".repeat(4 << 20);
    for how in [How::Cancelled, How::Dropped].repeat(3) {
        one_by_one().block_on(async {
            let scene = Scene::plain();
            let (begun, cancel) = (scene.begin("a", &content).await, Cancel::new());
            let commit = tokio::spawn({
                let cancel = cancel.clone();
                async move { begun.commit(&cancel).await }
            });
            while scene.files().is_empty() {
                yield_now().await;
            }
            match how {
                How::Cancelled => cancel.cancel(Cause::User),
                How::Dropped => commit.abort(),
            }
            let ended = commit.await;
            quiet().await;
            let whole = format!("session-e8bc163c82ee/{}-a", digits(&content, 0));
            match (how, ended.map(|saved| saved.map(drop))) {
                (How::Cancelled | How::Dropped, Ok(Ok(()))) => assert_eq!(scene.files(), [whole]),
                (How::Cancelled, Ok(Err(SpillError::Aborted))) => assert_eq!(scene.files(), [""; 0]),
                (How::Dropped, Err(dropped)) if dropped.is_cancelled() => {
                    let files = scene.files();
                    assert!(files.is_empty() || files == [whole], "{files:?}");
                }
                other => panic!("{other:?}"),
            }
        });
    }
}
