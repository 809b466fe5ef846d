//! Edits on a real disk.

use std::num::NonZeroU64;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use dsh_fs::{EditOutcome, EditRequest, FileSystem, FsError, FsVersion, WriteIntent};
use dsh_fs_local::{LocalFs, LocalFsConfig, canonical_policy};
use dsh_lifecycle::Cause;
use dsh_sandbox_policy::SandboxMode;

use crate::world::{World, code, request, specials};

fn edit(old: &str, new: &str, intent: Option<WriteIntent>) -> EditRequest {
    EditRequest { old: old.into(), new: new.into(), replace_all: false, intent }
}

async fn edit_if(
    world: &World,
    path: &str,
    (old, new): (&str, &str),
    intent: Option<WriteIntent>,
) -> Result<EditOutcome, FsError> {
    let target = world.target(path).await?;
    world.fs.edit_text(&target, edit(old, new, intent), &world.policy, &world.cancel).await
}

async fn change(world: &World, path: &str, old: &str, new: &str) -> Result<EditOutcome, FsError> {
    edit_if(world, path, (old, new), None).await
}

async fn version(world: &World, path: &str) -> FsVersion {
    let target = world.target(path).await.unwrap();
    world.fs.stat(&target, &world.policy, &world.cancel).await.unwrap().unwrap().version
}

fn bytes(world: &World, path: &str) -> Vec<u8> {
    std::fs::read(world.at("root").join(path)).unwrap()
}

fn utf16(text: &str, to: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to).collect()
}

#[tokio::test]
async fn bytes_outside_the_piece_stay() {
    let world = World::new();
    let rows: [(Vec<u8>, Vec<u8>); 7] = [
        ("a\r\none\r\nb\n".into(), "a\r\nTWO\r\n2\r\nb\n".into()),
        ("a\r\none\nb\r\n".into(), "a\r\nTWO\n2\nb\r\n".into()),
        ("\u{feff}one".into(), "\u{feff}TWO\n2".into()),
        ("\u{feff}x\r\none\r\n".into(), "\u{feff}x\r\nTWO\r\n2\r\n".into()),
        ("\r\r\none \t\n\n".into(), "\r\r\nTWO\n2 \t\n\n".into()),
        (utf16("\u{feff}路\r\none😀", u16::to_le_bytes), utf16("\u{feff}路\r\nTWO\r\n2😀", u16::to_le_bytes)),
        (utf16("\u{feff}one\n", u16::to_be_bytes), utf16("\u{feff}TWO\n2\n", u16::to_be_bytes)),
    ];
    for (before, after) in rows {
        world.put("a", &before);
        let outcome = change(&world, "a", "one", "TWO\n2").await.unwrap();
        assert_eq!(bytes(&world, "a"), after, "{}", before.escape_ascii());
        let plain = String::from_utf8_lossy(&before).replace("\r\n", "\n");
        if !before.contains(&0) {
            assert_eq!(*outcome.before, *plain.trim_start_matches('\u{feff}'));
        }
        assert_eq!(*outcome.after, outcome.before.replace("one", "TWO\n2"));
    }
}

#[tokio::test]
async fn what_would_lose_bytes_is_refused_and_stays() {
    let world = World::new();
    let rows: [(&[u8], &str); 5] = [
        (b"one\xff\n", "byte 3 (0xff) is invalid"),
        (b"one\0", "a NUL at byte 3"),
        (b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7 one \xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6", "looks like GBK"),
        (b"caf\xe9 cr\xe8me one\n", "looks like Latin-1 (windows-1252)"),
        (b"\xff\xfeo\0n\0e\0\0", "ends within the character at byte 8"),
    ];
    for (content, words) in rows {
        world.put("a", content);
        let error = change(&world, "a", "one", "two").await.unwrap_err();
        assert_eq!(error.code(), "FS_NOT_TEXT");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(bytes(&world, "a"), content);
    }
}

#[tokio::test]
async fn a_guard_is_looked_at_before_the_text_and_the_new_version_is_the_next_guard() {
    let world = World::new();
    world.put("a", "one\n");
    let seen = version(&world, "a").await;
    let replace = |version: &FsVersion| Some(WriteIntent::ReplaceIfVersion(version.clone()));
    let first = edit_if(&world, "a", ("one", "two"), replace(&seen)).await.unwrap();
    assert_eq!(first.version, version(&world, "a").await);
    assert_eq!(code(edit_if(&world, "a", ("no such text", "x"), replace(&seen)).await), "FS_STALE_VERSION");
    let second = edit_if(&world, "a", ("two", "three"), replace(&first.version)).await.unwrap();
    assert_eq!((&*second.before, &*second.after, second.replacements), ("two\n", "three\n", 1));

    // Both wait at the same version: one wins.
    let target = world.target("a").await.unwrap();
    let edits = ["x", "y"].map(|new| edit("three", new, replace(&second.version)));
    let [one, other] = edits.map(|edit| world.fs.edit_text(&target, edit, &world.policy, &world.cancel));
    let write =
        world.fs.write_text(&target, request("z", replace(&second.version)), &world.policy, &world.cancel);
    let (one, other, write) = tokio::join!(one, other, write);
    assert!(one.is_ok());
    assert_eq!((code(other), code(write)), ("FS_STALE_VERSION", "FS_STALE_VERSION"));
    assert_eq!(world.content("a").as_deref(), Some("x\n"));
}

#[tokio::test]
async fn edits_of_one_file_at_once_are_all_made_in_order() {
    let world = World::new();
    let lines = (0..20).map(|number| format!("line {number:02}\n")).collect::<Vec<_>>().concat();
    world.put("a", &lines);
    let target = world.target("a").await.unwrap();
    let edits = (0..20).map(|number| {
        let request = edit(&format!("line {number:02}"), &format!("LINE {number:02}"), None);
        world.fs.edit_text(&target, request, &world.policy, &world.cancel)
    });
    let mut at_once: Vec<_> = edits.collect();
    std::future::poll_fn(|context| {
        at_once.retain_mut(|edit| match edit.as_mut().poll(context) {
            std::task::Poll::Ready(done) => done.map(|_| false).unwrap(),
            std::task::Poll::Pending => true,
        });
        if at_once.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    assert_eq!(world.content("a").unwrap(), lines.replace("line", "LINE"));
}

#[tokio::test]
async fn what_can_not_be_edited_has_a_code_and_stays() {
    let world = World::new();
    world.put("a", "one\none\n");
    world.put("d/x", "one");
    world.link("../outside/secret", "out");
    world.link("gone", "dangling");
    let specials = specials(&world.at("root"));
    let before = world.tree();
    let mut rows = vec![
        ("none", "one", "FS_STALE_VERSION"),
        ("no/such/dir", "one", "FS_STALE_VERSION"),
        ("d", "one", "FS_NOT_REGULAR_FILE"),
        ("a/b", "one", "FS_NOT_FOUND"),
        ("out", "secret", "FS_SANDBOX_DENIED"),
        ("../outside/secret", "secret", "FS_SANDBOX_DENIED"),
        ("../lib/code", "code", "FS_SANDBOX_DENIED"),
        ("a", "", "FS_EDIT_NOT_FOUND"),
        ("a", "three", "FS_EDIT_NOT_FOUND"),
        ("a", "one", "FS_AMBIGUOUS_EDIT"),
    ];
    rows.extend(specials.iter().map(|name| (name.as_str(), "one", "FS_NOT_REGULAR_FILE")));
    for (path, old, expected) in rows {
        assert_eq!(code(change(&world, path, old, "x").await), expected, "{path}");
        assert_eq!(world.tree(), before, "{path}");
    }
    let error = change(&world, "dangling", "one", "x").await.unwrap_err();
    assert_eq!(error.code(), "FS_STALE_VERSION");
    assert!(error.to_string().ends_with(
        "/dangling does not exist: a symbolic link on the way leads nowhere, so there is nothing to edit"
    ));
    assert_eq!(world.tree(), before);

    let mut world = world;
    world.policy = canonical_policy(SandboxMode::ReadOnly, &world.at("root"), []);
    assert_eq!(code(change(&world, "d/x", "one", "x").await), "FS_SANDBOX_DENIED");
    world.policy = canonical_policy(SandboxMode::WorkspaceWrite, &world.at("root"), []);
    world.cancel.cancel(Cause::User);
    let target =
        world.fs.resolve("d/x", &world.at("root"), &world.policy, &dsh_lifecycle::Cancel::new()).await;
    let cancelled =
        world.fs.edit_text(&target.unwrap(), edit("one", "x", None), &world.policy, &world.cancel).await;
    assert_eq!(code(cancelled), "FS_ABORTED");
    assert_eq!(world.tree(), before);
}

#[tokio::test]
async fn links_and_rights_stay_and_other_hard_links_keep_the_old_content() {
    let world = World::new();
    world.put("a", "one\n");
    let file = world.at("root/a");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::hard_link(&file, world.at("root/hard")).unwrap();
    world.link("a", "soft");
    change(&world, "soft", "one", "two").await.unwrap();
    assert!(world.at("root/soft").is_symlink());
    assert_eq!(world.content("a").as_deref(), Some("two\n"));
    assert_eq!(world.content("hard").as_deref(), Some("one\n"));
    let after = std::fs::metadata(&file).unwrap();
    assert_eq!((after.mode() & 0o777, after.nlink()), (0o640, 1));
}

#[tokio::test]
async fn the_bound_is_named_and_inclusive() {
    let bound = NonZeroU64::new(8).unwrap();
    let world =
        World::with(LocalFs::new(LocalFsConfig { edit_max_bytes: bound, ..LocalFsConfig::default() }));
    world.put("a", "12345678");
    change(&world, "a", "1", "one").await.unwrap();
    let error = change(&world, "a", "one", "1").await.unwrap_err();
    assert_eq!(error.code(), "FS_TOO_LARGE");
    assert!(
        error.to_string().ends_with("a has more than 8 bytes (`editMaxBytes`), so it is not edited"),
        "{error}"
    );
}

#[tokio::test]
async fn one_place_in_a_line_of_five_megabytes_is_edited() {
    let world = World::new();
    let line = format!("[{}0]", "1234567,".repeat(625_000));
    world.put("a", line.replacen("1234567,0]", "7,\u{e9},0]", 1));
    let outcome = change(&world, "a", "\u{e9},0", "e").await.unwrap();
    assert_eq!(outcome.replacements, 1);
    assert!(world.content("a").unwrap().ends_with("1234567,7,e]"));
}
