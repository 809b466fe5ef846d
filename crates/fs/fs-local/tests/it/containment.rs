//! Nothing outside is read or written (design §7).

use dsh_fs::{FileSystem, LineWindow};
use dsh_sandbox_policy::SandboxMode;

use crate::world::{World, code};

/// Links of every kind that lead out, and the names through which they do.
fn escapes(world: &World) -> Vec<String> {
    let outside = world.at("outside");
    world.put("d/keep", "");
    world.link("../outside/secret", "file");
    world.link(outside.join("secret").to_str().unwrap(), "absolute");
    world.link("../outside", "dir");
    world.link("../../outside", "d/dir");
    world.link("../outside/nothing", "dangling");
    world.link("../outside/no/such", "dangling_dir");
    world.link("file", "chain");
    world.link("d/../../outside/secret", "dots");
    world.link("..", "up");
    world.link("/", "top");
    let mut paths: Vec<String> = [
        "file",
        "absolute",
        "dir/secret",
        "dir/new",
        "dir/new/deeper",
        "d/dir/secret",
        "dangling",
        "dangling_dir/x",
        "chain",
        "dots",
        "up/outside/secret",
        "top/etc/passwd",
        "../outside/secret",
        "d/../../outside/secret",
        "d/../../outside/new",
        "nothing/../../outside/secret",
        "../rootless",
        "..",
        "/etc/passwd",
        "/",
    ]
    .map(str::to_owned)
    .into();
    paths.push(outside.join("secret").to_str().unwrap().to_owned());
    paths.push(format!("{}/../outside/secret", world.at("root").display()));
    paths.push(format!("{}x", world.at("root").display()));
    paths
}

#[tokio::test]
async fn what_leads_out_is_denied_for_reads_and_writes() {
    let world = World::new();
    let paths = escapes(&world);
    let before = world.tree();
    for path in paths {
        assert_eq!(code(world.read(&path).await), "FS_SANDBOX_DENIED", "{path}");
        assert_eq!(code(world.write(&path, "x").await), "FS_SANDBOX_DENIED", "{path}");
    }
    assert_eq!(world.tree(), before);
}

#[tokio::test]
async fn a_denial_tells_nothing_about_what_is_there() {
    let world = World::new();
    let words = async |path: &str| {
        let error = world.read(path).await.unwrap_err();
        (error.code(), error.to_string().replace(path, "PATH"))
    };
    let present = world.at("outside/secret").display().to_string();
    let absent = world.at("outside/absent").display().to_string();
    let below_file = world.at("outside/secret/x").display().to_string();
    assert_eq!(words(&present).await, words(&absent).await);
    assert_eq!(words(&present).await, words(&below_file).await);
}

#[tokio::test]
async fn an_old_target_is_checked_when_it_is_used() {
    let world = World::new();
    world.put("d/a", "inside");
    let inside = world.target("d/a").await.unwrap();
    std::fs::rename(world.at("root/d"), world.at("root/old")).unwrap();
    world.link("../outside", "d");
    std::fs::write(world.at("outside/a"), "secret").unwrap();
    let before = world.tree();

    let (policy, cancel) = (&world.policy, &world.cancel);
    let request = crate::world::request("x", None);
    assert_eq!(code(world.fs.read_text(&inside, 99, policy, cancel).await), "FS_SANDBOX_DENIED");
    assert_eq!(code(world.fs.read_bytes(&inside, 99, policy, cancel).await), "FS_SANDBOX_DENIED");
    assert_eq!(
        code(world.fs.read_lines(&inside, LineWindow::default(), policy, cancel).await),
        "FS_SANDBOX_DENIED"
    );
    assert_eq!(code(world.fs.stat(&inside, policy, cancel).await), "FS_SANDBOX_DENIED");
    assert_eq!(code(world.fs.list_dir(&inside, policy, cancel).await), "FS_SANDBOX_DENIED");
    assert_eq!(
        code(world.fs.write_text(&inside, request.clone(), policy, cancel).await),
        "FS_SANDBOX_DENIED"
    );

    // Swapped for a link to another place inside: not denied, and not followed either.
    std::fs::remove_file(world.at("root/d")).unwrap();
    world.link("old", "d");
    assert_eq!(code(world.fs.write_text(&inside, request.clone(), policy, cancel).await), "FS_STALE_VERSION");
    assert_eq!(code(world.fs.read_text(&inside, 99, policy, cancel).await), "FS_STALE_VERSION");
    std::fs::remove_file(world.at("root/d")).unwrap();
    world.link("../outside", "d");
    assert_eq!(world.tree(), before);

    // The file itself, swapped for a link.
    let file = world.target("old/a").await.unwrap();
    std::fs::remove_file(world.at("root/old/a")).unwrap();
    world.link("../../outside/secret", "old/a");
    assert_eq!(code(world.fs.read_text(&file, 99, policy, cancel).await), "FS_SANDBOX_DENIED");
    assert_eq!(code(world.fs.write_text(&file, request, policy, cancel).await), "FS_SANDBOX_DENIED");
}

#[tokio::test]
async fn links_that_stay_inside_work_for_reads_and_writes() {
    let world = World::new();
    world.put("real/a", "old");
    world.link("real", "dir");
    world.link("dir/../dir/a", "file");
    assert_eq!(world.read("file").await.unwrap(), "old");
    world.write("file", "new").await.unwrap();
    world.write("dir/b", "made").await.unwrap();
    assert_eq!(world.content("real/a").as_deref(), Some("new"));
    assert_eq!(world.content("real/b").as_deref(), Some("made"));
    assert!(world.at("root/file").is_symlink() && world.at("root/dir").is_symlink());
}

#[tokio::test]
async fn read_roots_are_read_and_never_written() {
    let world = World::new();
    world.link("../lib", "vendored");
    let code_file = world.at("lib/code").display().to_string();
    for path in ["../lib/code", "vendored/code", &code_file] {
        assert_eq!(world.read(path).await.unwrap(), "code");
        assert_eq!(code(world.write(path, "x").await), "FS_SANDBOX_DENIED");
    }
    assert_eq!(code(world.write("vendored/new", "x").await), "FS_SANDBOX_DENIED");
    assert_eq!(std::fs::read_to_string(code_file).unwrap(), "code");
}

#[tokio::test]
async fn read_only_mode_writes_nothing_and_says_so() {
    let mut world = World::new();
    world.put("a", "x");
    world.policy = world.policy.with_mode(SandboxMode::ReadOnly);
    let before = world.tree();
    let error = world.write("a", "y").await.unwrap_err();
    let path = world.at("root/a").display().to_string();
    assert_eq!(
        (error.code(), error.to_string()),
        ("FS_SANDBOX_DENIED", format!("cannot write {path}: this session is read-only"))
    );
    assert_eq!(code(world.write("new/b", "y").await), "FS_SANDBOX_DENIED");
    assert_eq!((world.read("a").await.unwrap().as_str(), world.tree()), ("x", before));
}

#[tokio::test]
async fn full_access_reaches_outside() {
    let mut world = World::new();
    world.policy = world.policy.with_mode(SandboxMode::DangerFullAccess);
    world.link("../outside", "dir");
    assert_eq!(world.read("../outside/secret").await.unwrap(), "secret");
    world.write("dir/new", "x").await.unwrap();
    assert_eq!(std::fs::read_to_string(world.at("outside/new")).unwrap(), "x");
}

#[tokio::test]
async fn the_root_itself_is_in_reach_and_no_file() {
    let world = World::new();
    assert_eq!(code(world.read(".").await), "FS_NOT_REGULAR_FILE");
    assert_eq!(code(world.write(".", "x").await), "FS_NOT_REGULAR_FILE");
}

#[tokio::test]
async fn the_top_of_the_disk_can_be_the_workspace() {
    let mut world = World::new();
    world.policy.workspace_root = "/".into();
    let path = world.at("outside/new").display().to_string();
    world.write(&path, "x").await.unwrap();
    assert_eq!(world.read(&path).await.unwrap(), "x");
}

#[tokio::test]
async fn a_linked_root_is_the_place_that_it_names() {
    let mut world = World::new();
    let linked = world.at("linked");
    std::os::unix::fs::symlink(world.at("root"), &linked).unwrap();
    world.policy = dsh_fs_local::canonical_policy(SandboxMode::WorkspaceWrite, &linked, []);
    assert_eq!(world.policy.workspace_root, world.at("root"));
    let path = linked.join("a").display().to_string();
    world.write(&path, "x").await.unwrap();
    assert_eq!(world.content("a").as_deref(), Some("x"));
}

#[tokio::test]
async fn a_root_that_is_gone_is_no_way_out() {
    let world = World::new();
    std::fs::remove_dir(world.at("root")).unwrap();
    std::os::unix::fs::symlink(world.at("outside"), world.at("root")).unwrap();
    assert_eq!(code(world.read("secret").await), "FS_SANDBOX_DENIED");
    assert_eq!(code(world.write("secret", "x").await), "FS_SANDBOX_DENIED");
    assert_eq!(std::fs::read_to_string(world.at("outside/secret")).unwrap(), "secret");
}
