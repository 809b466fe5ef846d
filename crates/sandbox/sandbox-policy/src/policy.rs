//! A mode with its roots, and what it allows.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::SandboxMode;

/// What one call may reach. Built per call from the session's mode and roots; a value, never changed behind a call.
///
/// All roots are canonical: absolute, links resolved, without `.` and `..`. A root that could not be resolved stays as
/// it was spelled, and then matches nothing that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPolicy {
    /// How far effects reach.
    pub mode: SandboxMode,
    /// The canonical workspace root. Relative paths of tools start here.
    pub workspace_root: PathBuf,
    /// Canonical directories that may be read besides the workspace.
    pub read_roots: Vec<PathBuf>,
    /// Names of files that are nobody's to write, wherever they lie: those that say what may be reached.
    pub protected_names: Vec<OsString>,
    /// Canonical files that are nobody's to write, such as the log of the session itself.
    pub protected_files: Vec<PathBuf>,
}

impl SandboxPolicy {
    /// A policy with these canonical roots.
    pub fn new(
        mode: SandboxMode,
        workspace_root: impl Into<PathBuf>,
        read_roots: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        Self {
            mode,
            workspace_root: workspace_root.into(),
            read_roots: read_roots.into_iter().collect(),
            protected_names: Vec::new(),
            protected_files: Vec::new(),
        }
    }

    /// The same roots under another mode, as for one call that was escalated.
    #[must_use]
    pub fn with_mode(&self, mode: SandboxMode) -> Self {
        Self { mode, ..self.clone() }
    }

    /// Whether a file at this canonical path may be read, listed or searched (design §7).
    #[must_use]
    pub fn may_read(&self, path: &Path) -> bool {
        self.read_root_of(path).is_some()
    }

    /// Whether a file at this canonical path may be created, changed or removed (design §7).
    #[must_use]
    pub fn may_write(&self, path: &Path) -> bool {
        self.write_root_of(path).is_some()
    }

    /// The root beneath which this canonical path may be read: the workspace before the read roots, `/` when nothing
    /// is confined. `None` for what may not be read, and for a path that is relative or has `.` or `..` in it.
    #[must_use]
    pub fn read_root_of(&self, path: &Path) -> Option<&Path> {
        match self.mode {
            SandboxMode::DangerFullAccess => top_of(path),
            SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite => std::iter::once(&self.workspace_root)
                .chain(&self.read_roots)
                .map(PathBuf::as_path)
                .find(|root| is_beneath(path, root)),
        }
    }

    /// Whether writing to this canonical path is denied although it lies within reach. Where nothing is confined,
    /// nothing is protected.
    #[must_use]
    pub fn protects(&self, path: &Path) -> bool {
        let by_name =
            || path.file_name().is_some_and(|name| self.protected_names.iter().any(|held| held == name));
        let by_path = || self.protected_files.iter().any(|held| held == path);
        self.mode != SandboxMode::DangerFullAccess && (by_name() || by_path())
    }

    /// The root beneath which this canonical path may be written, as [`read_root_of`](Self::read_root_of).
    #[must_use]
    pub fn write_root_of(&self, path: &Path) -> Option<&Path> {
        match self.mode {
            SandboxMode::ReadOnly => None,
            SandboxMode::WorkspaceWrite => Some(self.workspace_root.as_path())
                .filter(|root| is_beneath(path, root) && !self.protects(path)),
            SandboxMode::DangerFullAccess => top_of(path),
        }
    }
}

/// What may be read besides the workspace when nothing else is configured (design §7): `/usr`, `/opt`, and the source
/// trees of the toolchains that the host found. Never a home directory or `/etc` as such. Data: the caller makes the
/// paths canonical.
#[must_use]
pub fn default_read_roots(toolchain_sources: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    [PathBuf::from("/usr"), PathBuf::from("/opt")].into_iter().chain(toolchain_sources).collect()
}

fn is_beneath(path: &Path, root: &Path) -> bool {
    is_plain(path) && root.is_absolute() && path.starts_with(root)
}

fn top_of(path: &Path) -> Option<&'static Path> {
    is_plain(path).then(|| Path::new("/"))
}

/// Absolute, and without `..`. (`Path::components` has no inner `.` on its own.)
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && !path.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(mode: SandboxMode) -> SandboxPolicy {
        SandboxPolicy::new(mode, "/ws/repo", default_read_roots(["/home/u/.rustup/src".into()]))
    }

    #[test]
    fn reach_follows_mode_and_roots() {
        // path, (read-only: read, write), (workspace-write: read, write)
        let rows = [
            ("/ws/repo", (true, false), (true, true)),
            ("/ws/repo/a/b", (true, false), (true, true)),
            ("/ws/repository", (false, false), (false, false)),
            ("/ws", (false, false), (false, false)),
            ("/usr/lib/x", (true, false), (true, false)),
            ("/opt", (true, false), (true, false)),
            ("/home/u/.rustup/src/core", (true, false), (true, false)),
            ("/home/u/.ssh/id", (false, false), (false, false)),
            ("/etc/passwd", (false, false), (false, false)),
            ("/tmp/x", (false, false), (false, false)),
            ("/ws/repo/../../etc/passwd", (false, false), (false, false)),
            ("work/repo/a", (false, false), (false, false)),
            ("", (false, false), (false, false)),
        ];
        for (path, read_only, workspace_write) in rows {
            let reach = |mode| {
                let policy = policy(mode);
                (policy.may_read(Path::new(path)), policy.may_write(Path::new(path)))
            };
            assert_eq!(reach(SandboxMode::ReadOnly), read_only, "{path}");
            assert_eq!(reach(SandboxMode::WorkspaceWrite), workspace_write, "{path}");
        }
    }

    #[test]
    fn what_is_protected_is_read_and_not_written() {
        let mut policy = policy(SandboxMode::WorkspaceWrite);
        policy.protected_names = vec!["rules.toml".into()];
        policy.protected_files = vec!["/ws/repo/log".into()];
        let rows = [
            ("/ws/repo/rules.toml", false),
            ("/ws/repo/a/rules.toml", false),
            ("/ws/repo/log", false),
            ("/ws/repo/a/log", true),
            ("/ws/repo/rules.toml/a", true),
            ("/ws/repo/a.toml", true),
        ];
        for (path, written) in rows {
            let path = Path::new(path);
            assert_eq!(
                (policy.may_read(path), policy.may_write(path)),
                (true, written),
                "{}",
                path.display()
            );
        }
        let full = policy.with_mode(SandboxMode::DangerFullAccess);
        assert!(full.may_write(Path::new("/ws/repo/rules.toml")));
    }

    #[test]
    fn full_access_reaches_every_plain_path() {
        let policy = policy(SandboxMode::DangerFullAccess);
        assert!(policy.may_read(Path::new("/etc/passwd")) && policy.may_write(Path::new("/")));
        assert_eq!(policy.write_root_of(Path::new("/a/b")), Some(Path::new("/")));
        assert!(!policy.may_read(Path::new("a")) && !policy.may_write(Path::new("/a/../b")));
    }

    #[test]
    fn the_file_system_root_can_be_a_workspace() {
        let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, "/", []);
        assert!(policy.may_write(Path::new("/etc/x")));
    }

    #[test]
    fn a_relative_root_contains_nothing() {
        let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, "", [PathBuf::new()]);
        assert!(!policy.may_read(Path::new("/etc/x")) && !policy.may_write(Path::new("/etc/x")));
    }

    #[test]
    fn another_mode_keeps_the_roots() {
        let wide = policy(SandboxMode::ReadOnly).with_mode(SandboxMode::WorkspaceWrite);
        assert_eq!(wide, policy(SandboxMode::WorkspaceWrite));
    }
}
