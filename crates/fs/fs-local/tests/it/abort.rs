//! Operations that are cancelled on their way, while they wait for a thread.

use std::sync::mpsc;
use std::time::Duration;

use dsh_fs::{EditRequest, FileSystem, LineWindow};
use dsh_lifecycle::Cause;
use tokio::runtime::{Builder, Runtime};

use crate::world::{World, code, request};

/// One thread for files, so that it can be kept busy.
fn runtime() -> Runtime {
    Builder::new_current_thread().max_blocking_threads(1).enable_time().build().unwrap()
}

#[test]
fn a_look_that_is_cancelled_on_its_way_ends_at_once() {
    let world = World::new();
    world.put("d/a", "x");
    runtime().block_on(async {
        let (file, dir) = (world.target("d/a").await.unwrap(), world.target("d").await.unwrap());
        let (release, held) = mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || held.recv());
        let (fs, policy, cancel) = (&world.fs, &world.policy, &world.cancel);
        // All are begun before the last row cancels them, and the thread is not free before all have ended.
        let looks = async {
            tokio::join!(
                world.target("d/a"),
                fs.stat(&file, policy, cancel),
                fs.read_lines(&file, LineWindow::default(), policy, cancel),
                fs.read_text(&file, 9, policy, cancel),
                fs.read_bytes(&file, 9, policy, cancel),
                fs.list_dir(&dir, policy, cancel),
                async { cancel.cancel(Cause::User) },
            )
        };
        let (resolved, stat, lines, text, bytes, list, ()) =
            tokio::time::timeout(Duration::from_secs(5), looks).await.expect("waits for the thread");
        drop(release);
        assert!(busy.await.unwrap().is_err());
        let codes = [code(resolved), code(stat), code(lines), code(text), code(bytes), code(list)];
        assert_eq!(codes, ["FS_ABORTED"; 6]);
    });
}

#[test]
fn a_change_that_is_cancelled_on_its_way_changes_nothing() {
    let world = World::new();
    world.put("a", "one");
    let before = world.tree();
    runtime().block_on(async {
        let (old, new) = (world.target("a").await.unwrap(), world.target("no/such/b").await.unwrap());
        let (release, held) = mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || held.recv());
        let (fs, policy, cancel) = (&world.fs, &world.policy, &world.cancel);
        let edit = EditRequest { old: "one".into(), new: "two".into(), replace_all: false, intent: None };
        let (edited, written, ()) = tokio::join!(
            fs.edit_text(&old, edit, policy, cancel),
            fs.write_text(&new, request("x", None), policy, cancel),
            async {
                cancel.cancel(Cause::User);
                drop(release);
            },
        );
        assert!(busy.await.unwrap().is_err());
        assert_eq!((code(edited), code(written)), ("FS_ABORTED", "FS_ABORTED"));
    });
    assert_eq!(world.tree(), before);
}
