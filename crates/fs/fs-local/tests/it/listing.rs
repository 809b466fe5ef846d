//! Directory listings (spec 07 §3.7).

use std::num::NonZeroU64;

use dsh_fs::{FileKind, FileSystem};
use dsh_fs_local::{LocalFs, LocalFsConfig};

use crate::world::{World, code, specials};

#[tokio::test]
async fn a_listing_is_sorted_and_tells_what_each_entry_is() {
    let world = World::new();
    world.put("d/b", "bb");
    world.put("d/a", "a");
    world.put("d/sub/x", "");
    world.link("a", "d/link");
    world.link("../../outside/secret", "d/out");
    world.link("gone", "d/dangling");
    world.link("sub", "d/linked_dir");
    specials(&world.at("root/d"));
    let target = world.target("d").await.unwrap();
    let entries = world.fs.list_dir(&target, &world.policy, &world.cancel).await.unwrap();
    let rows: Vec<_> = entries
        .iter()
        .filter(|entry| &*entry.name != "device")
        .map(|entry| (&*entry.name, entry.kind, entry.size, entry.version.is_some()))
        .collect();
    assert_eq!(
        rows,
        [
            ("a", FileKind::File, Some(1), true),
            ("b", FileKind::File, Some(2), true),
            ("dangling", FileKind::Other, None, false),
            ("link", FileKind::File, Some(1), true),
            ("linked_dir", FileKind::Directory, None, true),
            ("out", FileKind::Other, None, false),
            ("pipe", FileKind::Other, None, true),
            ("socket", FileKind::Other, None, true),
            ("sub", FileKind::Directory, None, true),
        ]
    );
    let a = world.target("d/a").await.unwrap();
    let link = entries.iter().find(|entry| &*entry.name == "link").unwrap();
    assert_eq!(link.target.key, a.key);
    assert!(link.target.display.ends_with("/d/link"));
    let out = entries.iter().find(|entry| &*entry.name == "out").unwrap();
    assert_eq!(
        code(world.fs.read_text(&out.target, 99, &world.policy, &world.cancel).await),
        "FS_SANDBOX_DENIED"
    );
}

#[tokio::test]
async fn an_entry_belongs_to_the_directory_that_was_resolved() {
    let world = World::new();
    world.put("one/a", "first");
    world.put("two/a", "second");
    world.link("one", "dir");
    let target = world.target("dir").await.unwrap();
    std::fs::remove_file(world.at("root/dir")).unwrap();
    world.link("two", "dir");
    let entries = world.fs.list_dir(&target, &world.policy, &world.cancel).await.unwrap();
    assert!(entries[0].target.display.ends_with("/dir/a"));
    assert_eq!(entries[0].target.key, world.target("one/a").await.unwrap().key);
}

#[tokio::test]
async fn what_is_no_directory_has_no_listing() {
    let world = World::new();
    world.put("a", "");
    world.put("loop/x", "");
    world.link("l2", "loop/l1");
    world.link("l1", "loop/l2");
    for (path, expected) in [("a", "FS_NOT_DIRECTORY"), ("no", "FS_NOT_FOUND"), ("loop", "FS_IO_ERROR")] {
        let target = world.target(path).await.unwrap();
        assert_eq!(code(world.fs.list_dir(&target, &world.policy, &world.cancel).await), expected, "{path}");
    }
}

#[tokio::test]
async fn a_listing_is_bounded() {
    let two = NonZeroU64::new(2).unwrap();
    let world =
        World::with(LocalFs::new(LocalFsConfig { list_max_entries: two, ..LocalFsConfig::default() }));
    world.put("a", "");
    world.put("b", "");
    let target = world.target(".").await.unwrap();
    let list = async || world.fs.list_dir(&target, &world.policy, &world.cancel).await;
    assert_eq!(list().await.unwrap().len(), 2);
    world.put("c", "");
    assert_eq!(code(list().await), "FS_TOO_LARGE");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_goes_away_meanwhile_is_left_out() {
    let world = World::new();
    world.put("a", "");
    let target = world.target(".").await.unwrap();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                world.put("b", "");
                std::fs::remove_file(world.at("root/b")).unwrap();
            }
        });
        let listing = async {
            for _ in 0..2000 {
                let entries = world.fs.list_dir(&target, &world.policy, &world.cancel).await.unwrap();
                assert_eq!(&*entries[0].name, "a");
            }
        };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(listing));
        }));
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        outcome.unwrap();
    });
}
