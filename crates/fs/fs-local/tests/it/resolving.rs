//! Names and keys (spec 07 §3.2).

use std::path::Path;

use dsh_fs_local::canonical_policy;
use dsh_sandbox_policy::SandboxMode;

use crate::world::{World, code};

#[tokio::test]
async fn a_relative_path_starts_at_the_workspace() {
    let world = World::new();
    world.put("d/a", "x");
    let root = world.at("root");
    for (path, display) in [
        ("d/a", "d/a"),
        ("./d/./a", "d/a"),
        ("d/../d/a", "d/a"),
        ("new", "new"),
        ("no/such/dir/new", "no/such/dir/new"),
        ("d//a/", "d/a"),
        ("路 径\n", "路 径\n"),
        (".", ""),
    ] {
        let target = world.target(path).await.unwrap();
        let expected = if display.is_empty() { root.clone() } else { root.join(display) };
        assert_eq!(
            (&*target.display, &*target.key),
            (expected.to_str().unwrap(), expected.to_str().unwrap()),
            "{path}"
        );
    }
}

#[tokio::test]
async fn spellings_of_one_file_share_their_key() {
    let world = World::new();
    world.put("real/a", "x");
    world.link("real", "dir");
    world.link("../root/real/a", "file");
    world.link(world.at("root/dir/a").to_str().unwrap(), "absolute");
    let key = world.target("real/a").await.unwrap().key;
    for path in ["dir/a", "file", "absolute", "x/../dir/a"] {
        let target = world.target(path).await.unwrap();
        assert_eq!(target.key, key, "{path}");
        assert_eq!(world.read(path).await.unwrap(), "x");
    }
    assert!(world.target("file").await.unwrap().display.ends_with("/file"));
}

#[tokio::test]
async fn a_key_stays_when_missing_directories_are_created_below_a_link() {
    let world = World::new();
    world.put("real/keep", "");
    world.link("real", "dir");
    let before = world.target("dir/new/a").await.unwrap();
    world.write("dir/new/a", "x").await.unwrap();
    let after = world.target("dir/new/a").await.unwrap();
    assert_eq!(before, after);
    assert_eq!(world.content("real/new/a").as_deref(), Some("x"));
}

#[tokio::test]
async fn what_names_nothing_is_not_found() {
    let world = World::new();
    world.put("a", "x");
    for path in ["", "   ", "a/b", "a/b/c", "a\0b"] {
        assert_eq!(code(world.target(path).await), "FS_NOT_FOUND", "{path:?}");
    }
}

#[tokio::test]
async fn links_in_a_circle_are_an_io_error() {
    let world = World::new();
    world.link("two", "one");
    world.link("one", "two");
    world.link("self/x", "self");
    assert_eq!(code(world.target("one").await), "FS_IO_ERROR");
    assert_eq!(code(world.target("self").await), "FS_IO_ERROR");
    let long = "x".repeat(300);
    assert_eq!(code(world.target(&long).await), "FS_IO_ERROR");
}

#[tokio::test]
async fn as_many_links_as_the_system_follows_are_followed() {
    let world = World::new();
    world.put("0", "end");
    for number in 1..=41 {
        world.link(&(number - 1).to_string(), &number.to_string());
    }
    assert_eq!(world.target("40").await.unwrap().key, world.target("0").await.unwrap().key);
    assert_eq!(world.read("40").await.unwrap(), "end");
    assert_eq!(code(world.target("41").await), "FS_IO_ERROR");

    // Each link doubles the way, and the ways are never walked twice over.
    std::fs::create_dir(world.at("root/farm")).unwrap();
    world.link(".", "farm/d0");
    for number in 1..=40 {
        let before = number - 1;
        world.link(&format!("d{before}/d{before}"), &format!("farm/d{number}"));
    }
    assert_eq!(code(world.target("farm/d40/x").await), "FS_IO_ERROR");
    assert_eq!(world.target("farm/d4/x").await.unwrap().key, world.target("farm/x").await.unwrap().key);
}

#[tokio::test]
async fn dots_lead_to_right_answers_or_a_denial() {
    let world = World::new();
    world.put("d/e/a", "x");
    world.put("a", "top");
    world.link("d/e", "link");
    let root = world.at("root");
    let absolute = |path: &str| root.join(path).to_str().unwrap().to_owned();
    let rows = [
        ("../root/a", Ok("top")),
        ("d/../../root/d/./e/../e/a", Ok("x")),
        ("no/such/../../a", Ok("top")),
        ("a/..", Err("FS_NOT_REGULAR_FILE")),
        // Dots are taken away as text, so they leave the link, not the place that it leads to.
        ("link/../a", Ok("top")),
        (&absolute("../root/./a"), Ok("top")),
        ("..", Err("FS_SANDBOX_DENIED")),
        ("../outside/secret", Err("FS_SANDBOX_DENIED")),
        ("d/../../outside/secret", Err("FS_SANDBOX_DENIED")),
        ("../../../../../../../../etc/passwd", Err("FS_SANDBOX_DENIED")),
        (&absolute("../../../../../../../../../etc/passwd"), Err("FS_SANDBOX_DENIED")),
        ("../root/../root/../outside/no/such", Err("FS_SANDBOX_DENIED")),
    ];
    for (path, expected) in rows {
        let read = world.read(path).await;
        assert_eq!(read.as_deref().map_err(dsh_fs::FsError::code), expected, "{path}");
    }
}

#[tokio::test]
async fn a_start_with_dots_is_left_from_where_it_really_is() {
    use dsh_fs::FileSystem;
    let world = World::new();
    world.put("deep/er/a", "x");
    world.put("deep/b", "y");
    world.link("deep/er", "start");
    let start = world.at("root/start");
    let resolve =
        async |path: &str| world.fs.resolve(path, &start, &world.policy, &world.cancel).await.unwrap();
    // Kept as spelled without `..`, canonical with it.
    assert_eq!(&*resolve("a").await.display, world.at("root/start/a").to_str().unwrap());
    assert_eq!(&*resolve("../b").await.display, world.at("root/deep/b").to_str().unwrap());
}

#[tokio::test]
async fn a_cancelled_call_resolves_nothing() {
    let world = World::new();
    world.cancel.cancel(dsh_lifecycle::Cause::User);
    assert_eq!(code(world.target("a").await), "FS_ABORTED");
}

#[test]
fn a_root_that_is_not_there_contains_nothing() {
    for spelled in ["", "/missing/..", "../missing/../../../../../..", "usr", "missing", "/missing"] {
        let policy = canonical_policy(SandboxMode::WorkspaceWrite, Path::new(spelled), [Path::new(spelled)]);
        for path in ["/", "/etc/passwd", "/usr/bin", "/tmp"].map(Path::new) {
            assert!(!policy.may_read(path) && !policy.may_write(path), "{spelled} {}", path.display());
        }
    }
}

#[tokio::test]
async fn a_path_that_nobody_could_open_by_name_is_refused_at_once() {
    let world = World::new();
    world.link("d", "link");
    std::fs::create_dir(world.at("root/d")).unwrap();
    let before = world.tree();
    for path in ["d/".repeat(2100), format!("link/{}f", "n/".repeat(2100)), "x".repeat(1_000_000)] {
        let error = world.write(&path, "x").await.unwrap_err();
        let text = error.to_string();
        assert_eq!(error.code(), "FS_IO_ERROR");
        assert!(text.starts_with("the path is too long") && text.len() < 100, "{text}");
    }
    assert_eq!(world.tree(), before);
    // A name that is too long is noticed by the system, after its directory was made: nothing of it stays.
    assert_eq!(code(world.write(&format!("new/{}", "x".repeat(256)), "x").await), "FS_IO_ERROR");
    assert_eq!(world.tree(), before);
}
