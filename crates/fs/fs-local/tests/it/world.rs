//! A workspace in a temporary directory, with an outside to escape to.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_fs::{FileSystem, FsError, FsTarget, LineWindow, WriteIntent, WriteOutcome, WriteRequest};
use dsh_fs_local::{LocalFs, canonical_policy};
use dsh_lifecycle::Cancel;
use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};

pub(crate) struct World {
    base: tempfile::TempDir,
    pub(crate) fs: LocalFs,
    pub(crate) policy: SandboxPolicy,
    pub(crate) cancel: Cancel,
}

impl World {
    /// `root` is writable, `lib` is a read root, `outside` holds a secret.
    pub(crate) fn new() -> Self {
        Self::with(LocalFs::default())
    }

    pub(crate) fn with(fs: LocalFs) -> Self {
        let base = tempfile::tempdir().unwrap();
        for dir in ["root", "lib", "outside"] {
            std::fs::create_dir(base.path().join(dir)).unwrap();
        }
        std::fs::write(base.path().join("outside/secret"), "secret").unwrap();
        std::fs::write(base.path().join("lib/code"), "code").unwrap();
        let policy = canonical_policy(
            SandboxMode::WorkspaceWrite,
            &base.path().join("root"),
            [base.path().join("lib").as_path()],
        );
        Self { base, fs, policy, cancel: Cancel::new() }
    }

    /// A path in the base directory, canonical as far as the base goes.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.base.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at("root").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Sets the permission bits of a path in the base directory.
    pub(crate) fn chmod(&self, path: &str, mode: u32) {
        std::fs::set_permissions(self.at(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, to: &str, path: &str) {
        std::os::unix::fs::symlink(to, self.at("root").join(path)).unwrap();
    }

    pub(crate) fn content(&self, path: &str) -> Option<String> {
        std::fs::read(self.at("root").join(path))
            .ok()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(crate) async fn target(&self, path: &str) -> Result<FsTarget, FsError> {
        self.fs.resolve(path, &self.policy.workspace_root, &self.policy, &self.cancel).await
    }

    pub(crate) async fn read(&self, path: &str) -> Result<String, FsError> {
        let target = self.target(path).await?;
        let read = self.fs.read_text(&target, 1 << 30, &self.policy, &self.cancel).await?;
        // Both ways of reading agree on everything.
        let window = LineWindow {
            max_lines: usize::MAX,
            max_bytes: usize::MAX,
            max_line_chars: usize::MAX,
            stream_min_size: 1,
            ..LineWindow::default()
        };
        let lines = self.fs.read_lines(&target, window, &self.policy, &self.cancel).await?;
        let text: Vec<_> = lines.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            text,
            read.text.split_terminator('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)).collect::<Vec<_>>()
        );
        Ok(read.text.to_string())
    }

    pub(crate) async fn write(&self, path: &str, content: &str) -> Result<WriteOutcome, FsError> {
        self.write_if(path, content, None).await
    }

    pub(crate) async fn write_if(
        &self,
        path: &str,
        content: &str,
        intent: Option<WriteIntent>,
    ) -> Result<WriteOutcome, FsError> {
        let target = self.target(path).await?;
        self.fs.write_text(&target, request(content, intent), &self.policy, &self.cancel).await
    }

    /// Every path below the base with what stands there, so that nothing can be left behind unseen.
    pub(crate) fn tree(&self) -> Vec<String> {
        let base = self.at("");
        let mut rows = Vec::new();
        let mut open = vec![base.clone()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let entry = entry.unwrap();
                let path = entry.path();
                let below =
                    path.strip_prefix(&base).unwrap().as_os_str().as_bytes().escape_ascii().to_string();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    rows.push(format!("{below}/"));
                    open.push(path);
                } else if kind.is_symlink() {
                    rows.push(format!("{below} -> {}", std::fs::read_link(&path).unwrap().display()));
                } else if kind.is_file() {
                    rows.push(format!("{below} = {}", std::fs::read(&path).unwrap().escape_ascii()));
                } else {
                    rows.push(below);
                }
            }
        }
        rows.sort();
        rows
    }
}

pub(crate) fn request(content: &str, intent: Option<WriteIntent>) -> WriteRequest {
    WriteRequest { content: Arc::from(content), intent }
}

/// Runs `work` where files are opened by threads that may not do everything: the threads of whoever may, the
/// superuser, become somebody else. `None` where that can't be.
pub(crate) fn without_rights<T>(work: impl Future<Output = T>) -> Option<T> {
    let is_root = rustix::process::geteuid().is_root();
    if is_root && cfg!(not(target_os = "linux")) {
        return None;
    }
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    #[cfg(target_os = "linux")]
    if is_root {
        use rustix::thread::{Gid, Uid, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
        runtime.on_thread_start(|| {
            let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
            set_thread_groups(&[]).unwrap();
            set_thread_res_gid(group, group, group).unwrap();
            set_thread_res_uid(user, user, user).unwrap();
        });
    }
    Some(runtime.build().unwrap().block_on(work))
}

/// The code of a failure, or what came instead.
pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, FsError>) -> &'static str {
    match result {
        Err(error) => error.code(),
        Ok(value) => panic!("succeeded with {value:?}"),
    }
}

/// A pipe, a socket and a device.
pub(crate) fn specials(dir: &Path) -> Vec<String> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let mode = Mode::from_raw_mode(0o666);
    mknodat(CWD, dir.join("pipe"), FileType::Fifo, mode, 0).unwrap();
    mknodat(CWD, dir.join("socket"), FileType::Socket, mode, 0).unwrap();
    let mut names = vec!["pipe".to_owned(), "socket".to_owned()];
    // A device of our own takes rights that not every machine gives.
    if mknodat(CWD, dir.join("device"), FileType::CharacterDevice, mode, rustix::fs::makedev(1, 5)).is_ok() {
        names.push("device".to_owned());
    }
    names
}
