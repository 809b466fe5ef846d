//! What a session may change, and how it finds its way back.

use std::sync::Arc;

use dsh_fs::{FileSystem, FsObservation};
use dsh_fs_local::{LocalFs, canonical_policy};
use dsh_lifecycle::Cancel;
use dsh_sandbox_policy::SandboxMode;
use dsh_tools_core::{Json, object};
use futures_util::future::join_all;

use crate::world::World;

const ME: Option<&str> = Some("me");

fn read(path: &str) -> (&'static str, Json) {
    ("read", object! { "file_path": path })
}

fn write(path: &str, content: &str) -> (&'static str, Json) {
    ("write", object! { "file_path": path, "content": content })
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Json) {
    ("edit", object! { "file_path": path, "old_string": old, "new_string": new })
}

impl World {
    async fn does(&self, session: Option<&str>, (tool, arguments): (&str, Json)) -> String {
        self.came_to(session, tool, arguments).await
    }
}

#[tokio::test]
async fn what_was_not_read_is_not_overwritten() {
    let world = World::guarded();
    world.put("a", "one");
    assert_eq!(world.does(ME, write("a", "two")).await, "FS_NOT_OBSERVED");
    assert_eq!(world.content("a"), "one");
    assert_eq!(world.does(ME, read("a")).await, "ok");
    assert_eq!(world.does(ME, write("a", "two\r\n")).await, "ok");
    assert_eq!(world.content("a"), "two\r\n");
    // What it wrote itself it knows.
    assert_eq!(world.does(ME, write("a", "three")).await, "ok");
    assert_eq!(world.does(ME, write("new", "x")).await, "ok");
    assert_eq!(world.does(ME, write("new", "y")).await, "ok");
    assert_eq!((world.content("a"), world.content("new")), ("three".into(), "y".into()));
}

#[tokio::test]
async fn a_refusal_says_what_to_do_and_doing_it_helps() {
    let world = World::guarded();
    let dir = world.file("");
    let said = async |(tool, arguments)| {
        let result = world.call(ME, tool, arguments).await;
        dsh_llm::plain_text(&result.content).replace(dir.to_str().unwrap(), "$DIR/")
    };
    world.put("a", "one");
    let unread = said(write("a", "two")).await;
    world.does(ME, read("a")).await;
    world.put("a", "other");
    let stale = said(write("a", "two")).await;
    std::fs::remove_file(world.file("a")).unwrap();
    let deleted = said(write("a", "two")).await;
    let unread_edit = said(edit("b", "one", "two")).await;
    said(read("b")).await;
    let absent_edit = said(edit("b", "one", "two")).await;
    insta::assert_snapshot!([unread, stale, deleted, unread_edit, absent_edit].join("\n"), @r"
    Error: $DIR/a exists already and was not read before. Read it first, then repeat the change.
    Error: $DIR/a was changed after it was read. Read it again, then repeat the change on what it is now.
    Error: $DIR/a was deleted after it was read. Read it again, then repeat the change on what it is now.
    Error: $DIR/b was not read before. Read it first, then repeat the change.
    Error: $DIR/b did not exist when it was read. Check the path, or create the file with `write`.
    ");
}

#[tokio::test]
async fn a_stale_file_is_read_again_and_then_written() {
    let world = World::guarded();
    world.put("a", "one");
    world.does(ME, read("a")).await;
    world.put("a", "theirs");
    assert_eq!(world.does(ME, write("a", "mine")).await, "FS_STALE_VERSION");
    assert_eq!(world.content("a"), "theirs");
    assert_eq!(world.does(ME, read("a")).await, "ok");
    assert_eq!(world.does(ME, write("a", "mine")).await, "ok");
}

#[tokio::test]
async fn an_edit_is_of_what_was_read_and_needs_no_look_in_between() {
    let world = World::guarded();
    world.put("a", "one\ntwo\nthree\n");
    assert_eq!(world.does(ME, edit("a", "one", "1")).await, "FS_NOT_OBSERVED");
    let second = ("read", object! { "file_path": "a", "offset": 2, "limit": 1 });
    assert_eq!(world.does(ME, second).await, "ok");
    for (old, new) in [("three", "3"), ("one", "1")] {
        assert_eq!(world.does(ME, edit("a", old, new)).await, "ok", "outside of the part that was read");
    }
    assert_eq!(world.does(ME, write("a", "x y")).await, "ok");
    assert_eq!(world.does(ME, edit("a", "x", "z")).await, "ok");
    // What fails to be found changes nothing of what is known.
    assert_eq!(world.does(ME, edit("a", "x", "z")).await, "FS_EDIT_NOT_FOUND");
    assert_eq!(world.does(ME, edit("a", "y", "x")).await, "ok");
    world.put("a", "theirs");
    assert_eq!(world.does(ME, edit("a", "theirs", "mine")).await, "FS_STALE_VERSION");
    assert_eq!(world.does(ME, read("a")).await, "ok");
    assert_eq!(world.does(ME, edit("a", "theirs", "mine")).await, "ok");
    assert_eq!(world.does(Some("other"), edit("a", "mine", "x")).await, "FS_NOT_OBSERVED");
    assert_eq!(world.content("a"), "mine");
}

#[tokio::test]
async fn a_file_that_was_deleted_is_looked_for_and_then_created() {
    let world = World::guarded();
    world.put("a", "one");
    world.does(ME, read("a")).await;
    std::fs::remove_file(world.file("a")).unwrap();
    assert_eq!(world.does(ME, edit("a", "one", "two")).await, "FS_STALE_VERSION");
    assert_eq!(world.does(ME, write("a", "two")).await, "FS_STALE_VERSION");
    assert!(!world.file("a").exists(), "a guarded write does not bring back what someone deleted");
    assert_eq!(world.does(ME, read("a")).await, "FS_NOT_FOUND");
    assert_eq!(world.does(ME, edit("a", "one", "two")).await, "FS_NOT_FOUND");
    assert_eq!(world.does(ME, write("a", "two")).await, "ok");
    assert_eq!(world.content("a"), "two");
}

#[tokio::test]
async fn what_was_absent_is_created_and_not_overwritten() {
    let world = World::guarded();
    assert_eq!(world.does(ME, read("a")).await, "FS_NOT_FOUND");
    world.put("a", "theirs");
    assert_eq!(world.does(ME, write("a", "mine")).await, "FS_NOT_OBSERVED");
    assert_eq!(world.content("a"), "theirs");
}

#[tokio::test]
async fn a_failed_look_is_no_look() {
    let world = World::guarded();
    world.put("a", "one\n");
    let beyond = ("read", object! { "file_path": "a", "offset": 9 });
    assert_eq!(world.does(ME, beyond).await, "FS_NOT_FOUND");
    assert_eq!(world.does(ME, write("a", "two")).await, "FS_NOT_OBSERVED");
    // A file without text can't be looked at, and stays.
    world.put("b", "\0");
    assert_eq!(world.does(ME, read("b")).await, "FS_NOT_TEXT");
    assert_eq!(world.does(ME, write("b", "two")).await, "FS_NOT_OBSERVED");
}

#[tokio::test]
async fn a_part_of_a_file_is_enough_and_every_spelling_counts() {
    let world = World::guarded();
    world.put("a", "one\ntwo\n");
    std::os::unix::fs::symlink("a", world.file("link")).unwrap();
    let first = ("read", object! { "file_path": "link", "limit": 1 });
    assert_eq!(world.does(ME, first).await, "ok");
    assert_eq!(world.does(ME, write("x/../a", "three")).await, "ok");
}

#[tokio::test]
async fn one_sessions_look_is_not_anothers() {
    let world = World::guarded();
    world.put("a", "one");
    for session in [ME, Some("other")] {
        assert_eq!(world.does(session, read("a")).await, "ok");
    }
    assert_eq!(world.does(Some("third"), write("a", "two")).await, "FS_NOT_OBSERVED");
    assert_eq!(world.does(None, write("a", "two")).await, "FS_NOT_OBSERVED");
    assert_eq!(world.does(ME, write("a", "two")).await, "ok");
    assert_eq!(world.does(Some("other"), write("a", "three")).await, "FS_STALE_VERSION");
}

#[tokio::test]
async fn what_nobody_reads_gives_nobody_a_right() {
    let world = World::guarded();
    world.put("a", "one");
    assert_eq!(world.does(None, read("a")).await, "ok");
    assert_eq!(world.does(None, write("a", "two")).await, "FS_NOT_OBSERVED");
    assert_eq!(world.does(None, write("new", "x")).await, "ok");
}

#[tokio::test]
async fn an_older_look_that_is_noted_last_fails_closed() {
    let world = World::guarded();
    world.put("a", "one");
    let (fs, cancel, root) = (LocalFs::default(), Cancel::new(), world.file(""));
    let policy = canonical_policy(SandboxMode::WorkspaceWrite, &root, []);
    let target = fs.resolve("a", &root, &policy, &cancel).await.unwrap();
    let old = fs.stat(&target, &policy, &cancel).await.unwrap().unwrap().version;
    assert_eq!(world.does(ME, read("a")).await, "ok");
    assert_eq!(world.does(ME, write("a", "two")).await, "ok");
    // A read that began before the write, and ends after it.
    dsh_fs::tell(&world.intents, &target, FsObservation::Present { version: old }, ME);
    assert_eq!(world.does(ME, write("a", "three")).await, "FS_STALE_VERSION");
    assert_eq!(world.content("a"), "two");
}

#[tokio::test]
async fn a_look_past_the_tools_is_not_noted() {
    let world = World::guarded();
    world.put("a", "one");
    let (fs, cancel) = (LocalFs::default(), Cancel::new());
    let root = world.file("");
    let policy = canonical_policy(SandboxMode::WorkspaceWrite, &root, []);
    let target = fs.resolve("a", &root, &policy, &cancel).await.unwrap();
    assert_eq!(&*fs.read_text(&target, 9, &policy, &cancel).await.unwrap().text, "one");
    assert_eq!(world.does(ME, write("a", "two")).await, "FS_NOT_OBSERVED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_guarded_writes_one_wins() {
    let world = Arc::new(World::guarded());
    let names: Vec<String> = (0..8).map(|number| format!("session-{number}")).collect();
    world.put("a", "start");
    for (file, lost) in [("a", "FS_STALE_VERSION"), ("new", "FS_NOT_OBSERVED")] {
        for name in &names {
            world.does(Some(name), read(file)).await;
        }
        let writes = names.iter().map(|name| world.does(Some(name), write(file, name)));
        let mut ended = join_all(writes).await;
        let winner = names.iter().zip(&ended).find(|(_, ended)| *ended == "ok").unwrap().0.clone();
        assert_eq!(world.content(file), winner);
        ended.sort();
        assert_eq!(ended.iter().filter(|ended| *ended == "ok").count(), 1, "{ended:?}");
        assert_eq!(ended.iter().filter(|ended| *ended == lost).count(), names.len() - 1, "{ended:?}");
    }
}
