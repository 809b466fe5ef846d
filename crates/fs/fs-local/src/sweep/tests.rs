//! Sweeping on a real disk.

use super::*;
use std::os::fd::AsFd as _;

use crate::stage::Staged;
use dsh_lifecycle::{Cancel, Cause};
use dsh_sandbox_policy::SandboxMode;

/// A canonical directory.
fn scene() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    (dir, root)
}

/// A file at this path, with the directories that it needs.
fn put(root: &Path, path: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "").unwrap();
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn going() -> Stop {
    Cancel::new().into()
}

#[test]
fn a_staged_file_is_kept_while_its_writer_lives_and_swept_after() {
    let (_dir, root) = scene();
    let place = Place::find(&root, &root.join("a")).unwrap();
    let staged = Staged::create(&place, None).unwrap();
    let [name] = &*names(&root) else { panic!("one staged file") };
    assert_eq!(tree(&root, 100, &going()), 0);
    assert_eq!(names(&root), [name.as_str()]);
    // As when the writer is killed: closed, and its name left.
    let left = root.join("left");
    std::fs::rename(root.join(name), &left).unwrap();
    drop(staged);
    std::fs::rename(left, root.join(name)).unwrap();
    assert_eq!(tree(&root, 100, &going()), 1);
    assert!(names(&root).is_empty());
}

#[test]
fn nothing_else_of_the_name_is_touched() {
    let (_dir, root) = scene();
    let swept = [".dsh-1-1.tmp", ".dsh-0-99999999999999999999.tmp"];
    let files = [
        "a",
        "aim",
        ".dsh-1-x.tmp",
        ".dsh--1.tmp",
        ".dsh-1-.tmp",
        ".dsh-1.tmp",
        ".dsh-1-2-3.tmp",
        ".dsh-1-1.tmp~",
        "x.dsh-1-1.tmp",
        ".dsh-+1-1.tmp",
    ];
    for name in files.iter().chain(&swept) {
        put(&root, name);
    }
    std::os::unix::fs::symlink("aim", root.join(".dsh-2-0.tmp")).unwrap();
    std::fs::create_dir(root.join(".dsh-2-1.tmp")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join(".dsh-2-2.tmp"), 0o600.into()).unwrap();
    assert_eq!(tree(&root, 100, &going()), swept.len());
    let mut kept = vec![".dsh-2-0.tmp", ".dsh-2-1.tmp", ".dsh-2-2.tmp"];
    kept.extend(files);
    kept.sort_unstable();
    assert_eq!(names(&root), kept);
}

#[test]
fn a_tree_is_swept_to_its_depth_and_through_no_link() {
    let (_dir, root) = scene();
    let (_outside, outside) = scene();
    let deep = "d/".repeat(DEEPEST);
    for path in [".dsh-1-1.tmp", ".git/.dsh-1-1.tmp", &format!("{deep}.dsh-1-1.tmp")] {
        put(&root, path);
    }
    put(&root, &format!("{deep}d/.dsh-1-1.tmp"));
    put(&outside, ".dsh-1-1.tmp");
    std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
    assert_eq!(tree(&root, 1000, &going()), 3);
    assert_eq!(names(&root.join(deep).join("d")), [".dsh-1-1.tmp"]);
    assert_eq!(names(&outside), [".dsh-1-1.tmp"]);
    // The root itself may be one by now, too.
    assert_eq!(tree(&root.join("link"), 1000, &going()), 0);
}

#[test]
fn it_looks_at_so_many_entries_the_higher_ones_first_and_stops_when_told() {
    let (_dir, root) = scene();
    for number in 0..10 {
        put(&root, &format!(".dsh-1-{number}.tmp"));
        put(&root, &format!("a/b/.dsh-2-{number}.tmp"));
    }
    let cancel = Cancel::new();
    cancel.cancel(Cause::User);
    assert_eq!(tree(&root, 100, &cancel.into()), 0);
    // Ten and `a`, then `b`, then three.
    assert_eq!(tree(&root, 15, &going()), 13);
    assert_eq!((names(&root), names(&root.join("a/b")).len()), (vec!["a".to_owned()], 7));
}

#[test]
fn the_first_change_in_a_directory_sweeps_it_where_it_may_be_written() {
    let (_dir, root) = scene();
    let (swept, policy) =
        (Swept::default(), |mode| SandboxPolicy::new(mode, root.join("w"), [root.join("lib")]));
    let left = |mode, file: &str| {
        let file = root.join(file);
        let stray = file.with_file_name(".dsh-1-1.tmp");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&stray, "").unwrap();
        swept.once(&file, 100, &policy(mode), &going());
        stray.exists()
    };
    assert!(left(SandboxMode::ReadOnly, "w/d/a"));
    assert!(!left(SandboxMode::WorkspaceWrite, "w/d/a"));
    assert!(left(SandboxMode::WorkspaceWrite, "w/d/b"), "swept before");
    assert!(!left(SandboxMode::WorkspaceWrite, "w/a"));
    assert!(root.join("w/d/.dsh-1-1.tmp").exists(), "only the directory itself");
    for outside in ["a", "lib/a", "w"] {
        assert!(left(SandboxMode::WorkspaceWrite, outside), "{outside}");
    }
    assert!(!left(SandboxMode::DangerFullAccess, "a"));
}

#[test]
fn so_many_directories_are_remembered() {
    let (_dir, root) = scene();
    let swept = Swept::default();
    let first = |number: usize| swept.is_first(&root.join(number.to_string()));
    assert!((0..REMEMBERED).all(first));
    assert!(!first(0) && !first(REMEMBERED));
}

#[test]
fn a_writer_whose_file_is_swept_before_it_is_locked_begins_another() {
    let (_dir, root) = scene();
    let dir = std::fs::File::open(&root).unwrap();
    let claim = |name: &str, file: &std::fs::File| claim(dir.as_fd(), OsStr::new(name), file);
    let create = |name: &str| std::fs::File::create_new(root.join(name)).unwrap();
    // The sweeper is there, and has not removed it yet.
    let (writer, sweeper) = (create("a"), std::fs::File::open(root.join("a")).unwrap());
    assert_eq!((claim("a", &sweeper), claim("a", &writer)), (Ok(true), Ok(false)));
    // It is gone, and the name is another's.
    std::fs::remove_file(root.join("a")).unwrap();
    drop(sweeper);
    assert_eq!(claim("a", &writer), Ok(false));
    let other = create("a");
    assert_eq!((claim("a", &writer), claim("a", &other)), (Ok(false), Ok(true)));
}

#[test]
fn writers_and_sweepers_that_race_lose_no_file() {
    let (_dir, root) = scene();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..500 {
                let target = root.join(format!("f{}", number % 7));
                let place = Place::find(&root, &target).unwrap();
                let mut staged = Staged::create(&place, None).unwrap();
                std::io::Write::write_all(staged.file(), format!("{number}").as_bytes()).unwrap();
                staged.replace().unwrap();
                assert_eq!(std::fs::read_to_string(target).unwrap(), format!("{number}"));
            }
        });
        while !writer.is_finished() {
            tree(&root, 100, &going());
        }
    });
    assert!(names(&root).iter().all(|name| name.starts_with('f')), "{:?}", names(&root));
}
