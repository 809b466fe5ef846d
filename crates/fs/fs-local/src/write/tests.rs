//! What happens between the steps of a write: files that change meanwhile, and names that are taken at the last moment.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;

use super::*;
use dsh_lifecycle::{Cancel, Cause};

struct Scene {
    dir: tempfile::TempDir,
    root: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        Self { dir, root }
    }

    fn place(&self, name: &str) -> (Place, FsTarget) {
        let path = self.root.join(name);
        (Place::find(&self.root, &path).unwrap(), crate::resolve::make(&path, &path))
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn going() -> Stop {
    Stop::from(Cancel::new())
}

/// What a publication of `x` under a name says.
fn published(scene: &Scene, name: &str, intent: Option<&WriteIntent>) -> Result<(), FsError> {
    let (place, target) = scene.place(name);
    let policy = crate::canonical_policy(dsh_sandbox_policy::SandboxMode::WorkspaceWrite, &scene.root, []);
    match publish(&place, None, &target, b"x", intent, &going()) {
        Ok(_) => Ok(()),
        Err(Failed::Blocked(error)) => Err(blocked(&error, "write", &target, &policy)),
        Err(Failed::Fs(error)) => Err(error),
    }
}

#[test]
fn who_takes_the_name_at_the_last_moment_keeps_it_and_decides_the_code() {
    let file: fn(&Path) = |path| std::fs::write(path, "theirs").unwrap();
    let dir: fn(&Path) = |path| std::fs::create_dir(path).unwrap();
    let link: fn(&Path) = |path| std::os::unix::fs::symlink("gone", path).unwrap();
    let create = || Some(WriteIntent::CreateIfAbsent);
    let rows = [
        (file, create(), "FS_NOT_OBSERVED", "exists already and was not read before"),
        (dir, create(), "FS_NOT_REGULAR_FILE", "is a directory, not a regular file"),
        (link, create(), "FS_NOT_REGULAR_FILE", "is a symbolic link, not a regular file"),
        (dir, None, "FS_NOT_REGULAR_FILE", "is a directory, not a regular file"),
    ];
    for (competitor, intent, code, words) in rows {
        let scene = Scene::new();
        let path = scene.root.join("a");
        competitor(&path);
        let before = std::fs::symlink_metadata(&path).unwrap().file_type();
        let error = published(&scene, "a", intent.as_ref()).unwrap_err();
        assert_eq!(error.code(), code);
        assert_eq!(error.to_string(), format!("{} {words}", path.display()));
        assert_eq!(std::fs::symlink_metadata(&path).unwrap().file_type(), before);
        assert_eq!(scene.names(), ["a"], "nothing is left behind");
    }
}

#[test]
fn a_competitor_that_is_gone_again_counts_as_one() {
    let (place, target) = Scene::new().place("a");
    assert_eq!(taken(&place, &target).code(), "FS_NOT_OBSERVED");
}

#[test]
fn an_error_of_the_last_rename_has_its_cause_and_leaves_nothing() {
    let scene = Scene::new();
    let long = "x".repeat(256); // is staged under another name, and fails to take this one
    for intent in [None, Some(WriteIntent::CreateIfAbsent)] {
        let error = published(&scene, &long, intent.as_ref()).unwrap_err();
        assert_eq!(error.code(), "FS_IO_ERROR");
        assert!(error.to_string().ends_with(": the name is too long"), "{error}");
        let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()).unwrap();
        assert_eq!(Errno::from_io_error(cause), Some(Errno::NAMETOOLONG));
        assert_eq!(scene.names(), [""; 0]);
    }
    // Nor can what stands there be looked at.
    let (place, target) = scene.place(&long);
    assert_eq!(taken(&place, &target).code(), "FS_IO_ERROR");
}

#[test]
fn old_text_is_none_when_the_file_changed_since_it_was_looked_at() {
    let grow: fn(&Path) = |path| std::fs::write(path, "one and more").unwrap();
    let shrink: fn(&Path) = |path| std::fs::write(path, "o").unwrap();
    let remove: fn(&Path) = |path| std::fs::remove_file(path).unwrap();
    let dir: fn(&Path) = |path| {
        std::fs::remove_file(path).unwrap();
        std::fs::create_dir(path).unwrap();
    };
    let pipe: fn(&Path) = |path| {
        std::fs::remove_file(path).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, FileType::Fifo, mode, 0).unwrap();
    };
    let nothing: fn(&Path) = |_| {};
    for (meanwhile, expected) in
        [(grow, None), (shrink, None), (remove, None), (dir, None), (pipe, None), (nothing, Some("one"))]
    {
        let scene = Scene::new();
        std::fs::write(scene.root.join("a"), "one").unwrap();
        let (place, target) = scene.place("a");
        let stat = place.stat().unwrap().unwrap();
        meanwhile(&target.path);
        let text = |bound| old_text(&place, &stat, bound, &target, &going()).unwrap();
        assert_eq!(text(4).as_deref(), expected);
        assert_eq!(text(3), None, "the bound is strict");
    }
}

/// A file of `a`s that does something after each piece.
struct Changing<F>(usize, F);

impl<F: FnMut() -> io::Result<()>> Read for Changing<F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.0.min(into.len());
        into[..read].fill(b'a');
        self.0 -= read;
        (self.1)().map(|()| read)
    }
}

#[test]
fn old_text_is_none_when_the_file_changes_while_it_is_read() {
    let text = |bytes, size, failure: Option<io::ErrorKind>| {
        let mut file = Changing(bytes, || failure.map_or(Ok(()), |kind| Err(kind.into())));
        whole_text(&mut file, size, "/w/a", &going()).unwrap().map(|text| text.len())
    };
    assert_eq!(text(1_000_000, 1_000_000, None), Some(1_000_000));
    assert_eq!(text(1_000_001, 1_000_000, None), None, "it grew");
    assert_eq!(text(999_999, 1_000_000, None), None, "it shrank");
    assert_eq!(text(10, 10, Some(io::ErrorKind::TimedOut)), None, "the device failed");
}

#[test]
fn a_stop_between_the_pieces_of_old_text_ends_the_write() {
    let cancel = Cancel::new();
    let mut pieces = 0;
    let mut file = Changing(10_000_000, || {
        pieces += 1;
        cancel.cancel(Cause::User);
        Ok(())
    });
    let stopped = whole_text(&mut file, 10_000_000, "/w/a", &Stop::from(cancel.clone()));
    assert_eq!((stopped.map_err(|error| error.code()), pieces), (Err("FS_ABORTED"), 1));
}
