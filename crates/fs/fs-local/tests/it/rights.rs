//! What the operating system does not let one do, each with its code. The superuser may do everything, so the threads
//! that open files become somebody else.

use std::os::unix::fs::MetadataExt;

use dsh_fs::{EditRequest, FileKind, FileSystem, LineWindow};

use crate::world::{World, code, without_rights};

/// A workspace that everybody may enter, and write to.
fn open_world() -> World {
    let world = World::new();
    world.chmod("", 0o755);
    world.chmod("root", 0o777);
    world
}

async fn edited(world: &World, path: &str) -> &'static str {
    let target = world.target(path).await.unwrap();
    let request = EditRequest { old: "one".into(), new: "two".into(), replace_all: false, intent: None };
    code(world.fs.edit_text(&target, request, &world.policy, &world.cancel).await)
}

#[test]
fn what_may_not_be_read_is_denied_by_the_system() {
    let world = open_world();
    for path in ["secret", "closed/a", "names/a", "plain/a"] {
        world.put(path, "one");
    }
    let modes = [("secret", 0), ("closed", 0), ("names", 0o444)];
    for (path, mode) in modes {
        world.chmod(&format!("root/{path}"), mode);
    }
    let checked = without_rights(async {
        let (fs, policy, cancel) = (&world.fs, &world.policy, &world.cancel);
        let secret = world.target("secret").await.unwrap();
        assert_eq!(code(fs.read_text(&secret, 9, policy, cancel).await), "FS_PERMISSION_DENIED");
        assert_eq!(code(fs.read_bytes(&secret, 9, policy, cancel).await), "FS_PERMISSION_DENIED");
        let lines = fs.read_lines(&secret, LineWindow::default(), policy, cancel).await;
        assert_eq!(
            lines.unwrap_err().to_string(),
            format!("cannot read {}: the operating system denies permission", secret.display)
        );
        assert_eq!(fs.stat(&secret, policy, cancel).await.unwrap().unwrap().kind, FileKind::File);
        assert_eq!(edited(&world, "secret").await, "FS_PERMISSION_DENIED");
        for behind in ["closed/a", "closed/no/such", "names/a"] {
            assert_eq!(code(world.target(behind).await), "FS_PERMISSION_DENIED", "{behind}");
        }
        // A target that was resolved before the directory was closed.
        let plain = world.target("plain/a").await.unwrap();
        world.chmod("root/plain", 0);
        assert_eq!(code(fs.read_text(&plain, 9, policy, cancel).await), "FS_PERMISSION_DENIED");
        assert_eq!(code(fs.stat(&plain, policy, cancel).await), "FS_PERMISSION_DENIED");
    });
    for path in ["closed", "names", "plain"] {
        world.chmod(&format!("root/{path}"), 0o755);
    }
    assert!(checked.is_some() || cfg!(not(target_os = "linux")));
}

#[test]
fn a_directory_and_an_entry_that_may_not_be_looked_at_have_no_listing() {
    let world = open_world();
    for path in ["closed/a", "names/a", "linked/x", "open/x"] {
        world.put(path, "");
    }
    world.link("../closed/a", "linked/link");
    // Out of reach: whatever keeps one from it is not told.
    std::fs::create_dir(world.at("outside/closed")).unwrap();
    world.link("../../outside/closed/a", "open/out");
    let closed = [("root/closed", 0), ("root/names", 0o444), ("outside/closed", 0)];
    for (path, mode) in closed {
        world.chmod(path, mode);
    }
    let checked = without_rights(async {
        let list = async |path: &str| {
            let target = world.target(path).await.unwrap();
            world.fs.list_dir(&target, &world.policy, &world.cancel).await
        };
        assert_eq!(code(list("closed").await), "FS_PERMISSION_DENIED");
        assert_eq!(code(list("names").await), "FS_PERMISSION_DENIED");
        let error = list("linked").await.unwrap_err();
        assert_eq!(error.code(), "FS_PERMISSION_DENIED");
        assert!(error.to_string().contains("/linked/link: "), "{error}");
        let open = list("open").await.unwrap();
        assert_eq!((&*open[0].name, open[0].kind, &open[0].version), ("out", FileKind::Other, &None));
        assert_eq!(code(world.target("open/out").await), "FS_SANDBOX_DENIED");
    });
    for (path, _) in closed {
        world.chmod(path, 0o755);
    }
    assert!(checked.is_some() || cfg!(not(target_os = "linux")));
}

#[test]
fn what_may_not_be_written_is_denied_by_the_system_and_stays() {
    let world = open_world();
    world.put("fixed/a", "one");
    world.put("sticky/a", "one");
    world.chmod("root/fixed", 0o555);
    // Everybody makes files here, and nobody replaces another's: the refusal comes at the last step.
    world.chmod("root/sticky", 0o1777);
    world.chmod("root/sticky/a", 0o644);
    let before = world.tree();
    let is_another = std::fs::metadata(world.at("root/sticky/a")).unwrap().uid() == 0;
    let checked = without_rights(async {
        for path in ["fixed/a", "fixed/new", "fixed/no/such/new"] {
            assert_eq!(code(world.write(path, "x").await), "FS_PERMISSION_DENIED", "{path}");
        }
        assert_eq!(edited(&world, "fixed/a").await, "FS_PERMISSION_DENIED");
        if is_another {
            let error = world.write("sticky/a", "x").await.unwrap_err();
            assert_eq!(error.code(), "FS_PERMISSION_DENIED");
            assert!(std::error::Error::source(&error).is_some());
            assert_eq!(edited(&world, "sticky/a").await, "FS_PERMISSION_DENIED");
        }
    });
    world.chmod("root/fixed", 0o755);
    assert_eq!(world.tree(), before, "nothing is left behind");
    assert!(checked.is_some() || cfg!(not(target_os = "linux")));
}
