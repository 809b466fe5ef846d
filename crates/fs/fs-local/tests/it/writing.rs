//! Writes on a real disk.

use std::num::NonZeroU64;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use dsh_fs::{FileSystem, WriteIntent, WriteOperation};
use dsh_fs_local::{LocalFs, LocalFsConfig};
use dsh_lifecycle::Cause;

use crate::world::{World, code, request};

async fn version(world: &World, path: &str) -> dsh_fs::FsVersion {
    let target = world.target(path).await.unwrap();
    world.fs.stat(&target, &world.policy, &world.cancel).await.unwrap().unwrap().version
}

#[tokio::test]
async fn a_write_creates_and_replaces_and_returns_a_valid_guard() {
    let world = World::new();
    let created = world.write("new/deep/a", "one\r\n").await.unwrap();
    assert_eq!(
        (created.operation, created.before.as_deref(), &*created.after),
        (WriteOperation::Create, None, "one\n")
    );
    assert_eq!(created.version, version(&world, "new/deep/a").await);
    assert_eq!(world.content("new/deep/a").as_deref(), Some("one\r\n"));

    let guard = Some(WriteIntent::ReplaceIfVersion(created.version));
    let updated = world.write_if("new/deep/a", "", guard).await.unwrap();
    assert_eq!(
        (updated.operation, updated.before.as_deref(), &*updated.after),
        (WriteOperation::Update, Some("one\n"), "")
    );
    assert_eq!(updated.version, version(&world, "new/deep/a").await);
    assert_eq!(
        world.tree().iter().filter(|row| row.starts_with("root/new/deep/")).count(),
        2,
        "{:?}",
        world.tree()
    );
}

#[tokio::test]
async fn a_guard_that_does_not_hold_changes_nothing() {
    let world = World::new();
    world.put("a", "one");
    let seen = version(&world, "a").await;
    let replace = || Some(WriteIntent::ReplaceIfVersion(seen.clone()));
    let create = || Some(WriteIntent::CreateIfAbsent);
    world.put("b", "other");
    world.put("d/x", "");
    world.link("gone", "dangling");
    let before = world.tree();
    for (path, intent, expected) in [
        ("a", create(), "FS_NOT_OBSERVED"),
        ("b", replace(), "FS_STALE_VERSION"),
        ("absent", replace(), "FS_STALE_VERSION"),
        ("no/such/dir", replace(), "FS_STALE_VERSION"),
        ("d", create(), "FS_NOT_REGULAR_FILE"),
        ("d", replace(), "FS_NOT_REGULAR_FILE"),
        ("d", None, "FS_NOT_REGULAR_FILE"),
        ("dangling", create(), "FS_NOT_REGULAR_FILE"),
        ("b/x", None, "FS_NOT_FOUND"),
    ] {
        assert_eq!(code(world.write_if(path, "x", intent).await), expected, "{path}");
        assert_eq!(world.tree(), before, "{path}");
    }
    world.write_if("a", "two", replace()).await.unwrap();
    assert_eq!(code(world.write_if("a", "three", replace()).await), "FS_STALE_VERSION");
    world.write_if("new/x", "made", create()).await.unwrap();
    assert_eq!(world.content("new/x").as_deref(), Some("made"));
}

#[tokio::test]
async fn a_dangling_link_is_replaced_by_the_file() {
    let world = World::new();
    world.link("gone", "link");
    let outcome = world.write("link", "x").await.unwrap();
    assert_eq!(outcome.operation, WriteOperation::Create);
    assert_eq!((world.content("link").as_deref(), world.content("gone")), (Some("x"), None));
    assert!(!world.at("root/link").is_symlink());
}

#[tokio::test]
async fn the_old_text_is_kept_only_where_it_can_be_shown() {
    let bound = NonZeroU64::new(8).unwrap();
    let world =
        World::with(LocalFs::new(LocalFsConfig { diff_basis_max_bytes: bound, ..LocalFsConfig::default() }));
    let rows: [(&[u8], &str, Option<&str>); 10] = [
        (b"", "x", Some("")),
        (b"1234567", "x", Some("1234567")),
        (b"12345678", "x", None),
        (b"1234567", "12345678", None),
        ("路路路".as_bytes(), "x", None), // bytes, not characters
        (b"a\r\nb", "x", Some("a\nb")),
        (b"\xef\xbb\xbfa", "x", Some("a")),
        (b"a\0b", "x", None),
        (b"hi\xff", "x", None),
        (b"a\rb\n", "x", Some("a\rb\n")),
    ];
    for (old, new, before) in rows {
        world.put("a", old);
        let outcome = world.write("a", new).await.unwrap();
        assert_eq!(outcome.before.as_deref(), before, "{}", old.escape_ascii());
        assert_eq!(world.content("a").as_deref(), Some(new));
    }
}

#[tokio::test]
async fn a_replaced_file_keeps_its_mode_and_a_new_one_gets_the_usual() {
    let world = World::new();
    world.put("script", "x");
    world.put("usual", "x"); // made by the standard library: 0666 less the umask
    for mode in [0o755, 0o600, 0o444, 0o4750] {
        std::fs::set_permissions(world.at("root/script"), std::fs::Permissions::from_mode(mode)).unwrap();
        world.write("script", "y").await.unwrap();
        assert_eq!(std::fs::metadata(world.at("root/script")).unwrap().mode() & 0o7777, mode);
    }
    world.write("new", "x").await.unwrap();
    let mode = |path: &str| std::fs::metadata(world.at("root").join(path)).unwrap().mode();
    assert_eq!(mode("new"), mode("usual"));
}

#[tokio::test]
async fn another_hard_link_keeps_the_old_content() {
    let world = World::new();
    std::fs::hard_link(world.at("outside/secret"), world.at("root/a")).unwrap();
    world.write("a", "mine").await.unwrap();
    assert_eq!(world.content("a").as_deref(), Some("mine"));
    assert_eq!(std::fs::read_to_string(world.at("outside/secret")).unwrap(), "secret");
}

#[tokio::test]
async fn a_cancelled_write_changes_nothing() {
    let world = World::new();
    world.put("a", "x");
    let (a, new) = (world.target("a").await.unwrap(), world.target("no/such/new").await.unwrap());
    let before = world.tree();
    world.cancel.cancel(Cause::User);
    for target in [a, new] {
        let written = world.fs.write_text(&target, request("y", None), &world.policy, &world.cancel).await;
        assert_eq!(code(written), "FS_ABORTED");
    }
    assert_eq!(world.tree(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_stopped_at_any_moment_is_whole_or_absent() {
    let content = "0123456789".repeat(400_000);
    let world = World::new();
    for delay in 0..40 {
        let cancel = dsh_lifecycle::Cancel::new();
        let target = world.target("no/such/dir/a").await.unwrap();
        let writing = world.fs.write_text(&target, request(&content, None), &world.policy, &cancel);
        let stopping = async {
            tokio::time::sleep(std::time::Duration::from_micros(delay * 100)).await;
            cancel.cancel(Cause::User);
        };
        let (written, ()) = tokio::join!(writing, stopping);
        if written.is_ok() {
            assert!(world.content("no/such/dir/a").is_some_and(|text| text == content));
            std::fs::remove_dir_all(world.at("root/no")).unwrap();
        }
        assert_eq!(std::fs::read_dir(world.at("root")).unwrap().count(), 0, "after {delay}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_write_cleans_up_before_the_next_one() {
    let content = "0123456789".repeat(400_000);
    let world = World::new();
    for _ in 0..20 {
        let target = world.target("a").await.unwrap();
        let writing = world.fs.write_text(&target, request(&content, None), &world.policy, &world.cancel);
        // Polled once, then dropped.
        drop(tokio::time::timeout(std::time::Duration::ZERO, writing).await);
        // The lock of the key is free only when the dropped one is quiet.
        world.write("a", "next").await.unwrap();
        assert_eq!(
            world.tree().iter().filter(|row| row.starts_with("root/") && *row != "root/").collect::<Vec<_>>(),
            ["root/a = next"]
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_guarded_writes_one_wins() {
    let world = World::new();
    world.put("a", "zero");
    world.link("a", "b");
    for _ in 0..50 {
        let seen = version(&world, "a").await;
        let guard = || Some(WriteIntent::ReplaceIfVersion(seen.clone()));
        let (one, two) =
            tokio::join!(world.write_if("a", "one!", guard()), world.write_if("b", "two!", guard()));
        let codes = [one, two].map(|result| result.map(|_| ()).map_err(|error| error.code()));
        assert!(codes.contains(&Ok(())) && codes.contains(&Err("FS_STALE_VERSION")), "{codes:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_guarded_creations_one_wins() {
    let world = World::new();
    // Two providers, as two processes would be: no lock between them.
    let other = LocalFs::default();
    for number in 0..50 {
        let target = world.target(&format!("dir{number}/a")).await.unwrap();
        let create = |content| request(content, Some(WriteIntent::CreateIfAbsent));
        let (one, two) = tokio::join!(
            world.fs.write_text(&target, create("one"), &world.policy, &world.cancel),
            other.write_text(&target, create("two"), &world.policy, &world.cancel),
        );
        let codes = [one, two].map(|result| result.map(|_| ()).map_err(|error| error.code()));
        assert!(codes.contains(&Ok(())) && codes.contains(&Err("FS_NOT_OBSERVED")), "{codes:?}");
    }
}

#[tokio::test]
async fn a_name_in_the_way_of_staging_is_left_alone() {
    let world = World::new();
    let pid = std::process::id();
    // Of someone who lives: it holds the locks of its staged files.
    let _held: Vec<_> = (0..40)
        .map(|number| {
            let name = format!(".dsh-{pid}-{number}.tmp");
            world.put(&name, "theirs");
            let file = std::fs::File::open(world.at("root").join(name)).unwrap();
            file.lock().unwrap();
            file
        })
        .collect();
    world.write("a", "x").await.unwrap();
    let theirs = world.tree().into_iter().filter(|row| row.ends_with(".tmp = theirs")).count();
    assert_eq!((theirs, world.content("a").as_deref()), (40, Some("x")));
}
