//! How far a search reaches, and how it ends.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use dsh_fs::{GrepRequest, Search as _};
use dsh_lifecycle::{Cancel, Cause};
use dsh_sandbox_policy::SandboxMode;
use rustix::fs::{CWD, FileType, Mode, OFlags, RenameFlags, renameat_with};
use tempfile::TempDir;

use super::{Workspace, code, rows, warnings};

#[tokio::test]
async fn links_are_not_followed() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("secret"), "needle").unwrap();
    let workspace = Workspace::new(&[("real/a", "needle")]);
    let link = |to: &Path, name: &str| symlink(to, workspace.path().join(name)).unwrap();
    link(outside.path(), "dir-out");
    link(&outside.path().join("secret"), "file-out");
    link(&workspace.path().join("real"), "dir-in");
    link(&workspace.path().join("real/a"), "file-in");
    link("loop".as_ref(), "loop");
    link("..".as_ref(), "real/up");
    link("/nowhere".as_ref(), "dangling");
    assert_eq!(workspace.glob("*").await, ["real/a"]);
    assert_eq!(workspace.grep("needle").await, ["real/a:1:needle"]);
    let hits = workspace.try_grep("needle", None, Some("*")).await.unwrap();
    assert_eq!((rows(&hits), warnings(&hits.warnings)), (vec!["real/a:1:needle".to_owned()], vec![]));
}

#[tokio::test]
async fn a_root_may_be_a_link_that_stays_inside() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("secret"), "needle").unwrap();
    let workspace = Workspace::new(&[("real/a", "needle")]);
    symlink("real", workspace.path().join("in")).unwrap();
    symlink(outside.path(), workspace.path().join("out")).unwrap();
    assert_eq!(rows(&workspace.try_grep("needle", Some("in"), None).await.unwrap()), ["in/a:1:needle"]);
    assert_eq!(&*workspace.try_glob("*", Some("in")).await.unwrap().paths[0], "in/a");
    for path in ["out", "out/secret", "out/missing"] {
        assert_eq!(code(workspace.try_grep("needle", Some(path), None).await), "FS_SANDBOX_DENIED", "{path}");
        assert_eq!(code(workspace.try_glob("*", Some(path)).await), "FS_SANDBOX_DENIED", "{path}");
    }
}

#[tokio::test]
async fn outside_is_denied_unless_nothing_is_confined() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("a"), "needle").unwrap();
    let path = outside.path().canonicalize().unwrap();
    let path = path.to_str().unwrap();
    let mut workspace = Workspace::new(&[]);
    for mode in [SandboxMode::ReadOnly, SandboxMode::WorkspaceWrite] {
        workspace.mode = mode;
        for path in [path, "..", "/", "/etc/missing", "sub/../../x"] {
            assert_eq!(code(workspace.try_glob("*", Some(path)).await), "FS_SANDBOX_DENIED", "{path}");
        }
    }
    workspace.mode = SandboxMode::DangerFullAccess;
    assert_eq!(
        rows(&workspace.try_grep("needle", Some(path), None).await.unwrap()),
        [format!("{path}/a:1:needle")]
    );
    let hits = workspace.try_glob("*", Some(path)).await.unwrap();
    assert_eq!((&*hits.root, &*hits.paths[0]), (path, &*format!("{path}/a")));
}

#[tokio::test]
async fn pipes_and_sockets_are_not_waited_for() {
    let workspace = Workspace::new(&[("a", "x")]);
    let pipe = |name: &str| {
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(CWD, workspace.path().join(name), FileType::Fifo, mode, 0).unwrap();
    };
    pipe("pipe");
    assert_eq!(workspace.grep("x").await, ["a:1:x"]);
    assert_eq!(workspace.glob("*").await, ["a"]);
    assert_eq!(code(workspace.try_grep("x", Some("pipe"), None).await), "FS_NOT_REGULAR_FILE");
}

#[tokio::test]
async fn an_ignore_file_that_never_ends_is_not_read() {
    let workspace = Workspace::new(&[("a", "x"), ("sub/b", "x"), ("zero/c", "x"), ("git/.git/info/", "")]);
    let pipe = |name: &str| {
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(CWD, workspace.path().join(name), FileType::Fifo, mode, 0).unwrap();
    };
    pipe("sub/.gitignore");
    pipe("git/.git/info/exclude");
    symlink("/dev/zero", workspace.path().join("zero/.ignore")).unwrap();
    let hits = workspace.try_grep("x", None, None).await.unwrap();
    assert_eq!(rows(&hits), ["a:1:x"]);
    assert_eq!(
        warnings(&hits.warnings),
        [
            "git/.git/info/exclude: can't be used for ignore rules",
            "sub/.gitignore: can't be used for ignore rules",
            "zero/.ignore: can't be used for ignore rules",
        ]
    );
    // At the root and above it there is nothing to leave out: the rules are.
    let hits = workspace.try_grep("x", Some("sub"), None).await.unwrap();
    assert_eq!(rows(&hits), ["sub/b:1:x"]);
    assert_eq!(warnings(&hits.warnings), ["sub/.gitignore: can't be used for ignore rules"]);
}

#[tokio::test]
async fn a_pointer_to_a_repository_that_never_ends_is_not_read() {
    let workspace = Workspace::new(&[("a", "x"), ("tree/b", "x"), ("own/c", "x")]);
    let own = workspace.path().join("own");
    workspace.write("tree/.git", format!("gitdir: {}\n", own.display()));
    rustix::fs::mknodat(CWD, own.join("commondir"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let hits = workspace.try_grep("x", None, None).await.unwrap();
    assert_eq!(rows(&hits), ["a:1:x", "own/c:1:x"]);
    assert_eq!(warnings(&hits.warnings), ["own/commondir: can't be used for ignore rules"]);
}

#[tokio::test]
async fn ignore_rules_from_out_of_reach_or_without_end_are_not_applied() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("secret"), "hunter2\n").unwrap();
    let workspace = Workspace::new(&[
        ("guess/hunter2", "x"),
        ("guess/other", "x"),
        ("inside/a", "x"),
        ("inside/b", "x"),
        ("many/a", "x"),
        ("rules", "a\n"),
    ]);
    let link = |to: &Path, path: &str| symlink(to, workspace.path().join(path)).unwrap();
    link(&outside.path().join("secret"), "guess/.ignore");
    link(Path::new("../rules"), "inside/.ignore");
    workspace.write("many/.ignore", "a*b\n".repeat(70_000));
    let hits = workspace.try_grep("x", None, None).await.unwrap();
    assert_eq!(rows(&hits), ["inside/b:1:x"]);
    assert_eq!(
        warnings(&hits.warnings),
        ["guess/.ignore: can't be used for ignore rules", "many/.ignore: can't be used for ignore rules"]
    );
    let hits = workspace.try_grep("x", Some("guess"), None).await.unwrap();
    assert_eq!(rows(&hits), ["guess/hunter2:1:x", "guess/other:1:x"]);
}

#[tokio::test]
async fn what_cannot_be_read_is_a_warning_beside_the_results() {
    let workspace = Workspace::new(&[("a", "x"), ("closed/b", "x")]);
    // A path that is too long to be opened by name: unreadable for every user, root included.
    let name = "n".repeat(200);
    let mut dir = rustix::fs::open(workspace.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..25 {
        rustix::fs::mkdirat(&dir, &name, Mode::from_raw_mode(0o700)).unwrap();
        dir = rustix::fs::openat(&dir, &name, OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let hits = workspace.try_grep("x", None, None).await.unwrap();
    assert_eq!(rows(&hits), ["a:1:x", "closed/b:1:x"]);
    let found = warnings(&hits.warnings);
    assert_eq!(found.len(), 1);
    assert!(found[0].ends_with(": could not be read (invalid filename)"), "{found:?}");

    if rustix::process::geteuid().is_root() {
        return; // root may read everything
    }
    let closed = workspace.path().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let hits = workspace.try_glob("*", Some(".")).await.unwrap();
    assert!(warnings(&hits.warnings).contains(&"closed: could not be read (permission denied)".to_owned()));
    assert_eq!(code(workspace.try_glob("*", Some("closed")).await), "FS_PERMISSION_DENIED");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn a_cancelled_search_is_aborted() {
    let workspace = Workspace::new(&[("a", "x")]);
    let policy = workspace.policy();
    let request = GrepRequest {
        cwd: policy.workspace_root.clone(),
        path: None,
        pattern: "x".to_owned(),
        include: None,
        limits: workspace.limits,
    };
    let cancel = Cancel::new();
    cancel.cancel(Cause::User);
    assert_eq!(code(workspace.search.grep(request, &policy, &cancel).await), "SEARCH_ABORTED");
}

#[test]
fn a_directory_that_is_exchanged_for_a_link_never_leads_out() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("leak"), "needle").unwrap();
    fs::create_dir(outside.path().join("leaked")).unwrap();
    fs::write(outside.path().join("leaked/.ignore"), "x".repeat(300_000)).unwrap();
    let workspace = Workspace::new(&[("dir/inside", "needle"), (".ignore", "\n")]);
    let (dir, link) = (workspace.path().join("dir"), workspace.path().join("link"));
    symlink(outside.path(), &link).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0;
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                swaps += 1;
            }
            swaps
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut leaks = Vec::new();
        for _ in 0..150 {
            let (by_name, by_content) = runtime.block_on(async {
                let by_content = workspace.try_grep("needle", None, None).await.unwrap();
                let included = workspace.try_grep("needle", None, Some("*")).await.unwrap();
                (workspace.try_glob("*", None).await.unwrap(), [by_content, included])
            });
            leaks.extend(by_name.paths.into_iter().filter(|path| path.contains("leak")));
            for hits in by_content {
                let warned = hits.warnings.shown.into_iter().map(|warning| warning.path);
                let found = hits.matches.into_iter().map(|found| found.path);
                leaks.extend(found.chain(warned).filter(|path| path.contains("leak")));
            }
        }
        done.store(true, Ordering::Relaxed);
        assert!(swapper.join().unwrap() > 100);
        assert!(leaks.is_empty(), "{leaks:?}");
    });
}
