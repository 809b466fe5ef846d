//! The provider.

use std::num::NonZeroU64;
use std::path::Path;

use async_trait::async_trait;
use dsh_fs::{
    BytesRead, EditOutcome, EditRequest, FileSystem, FsEntry, FsError, FsInfo, FsTarget, LineWindow,
    LinesRead, TextRead, WriteOutcome, WriteRequest,
};
use dsh_lifecycle::Cancel;
use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};
use serde::{Deserialize, Serialize};

use crate::locks::KeyLocks;
use crate::sweep::Swept;
use crate::{edit, read, resolve, sweep, work, write};

/// The bounds of [`LocalFs`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LocalFsConfig {
    /// Old and new contents below this many bytes are kept as the basis of a difference. Default 10 MiB.
    pub diff_basis_max_bytes: NonZeroU64,
    /// A file with more bytes is not edited, because it is held in memory for that. Default 10 MiB.
    pub edit_max_bytes: NonZeroU64,
    /// A directory with more entries is not listed. Default 100,000.
    pub list_max_entries: NonZeroU64,
    /// A sweep looks at no more entries of directories than this. Default 200,000.
    pub sweep_max_entries: NonZeroU64,
}

impl Default for LocalFsConfig {
    fn default() -> Self {
        let at_least_one = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        Self {
            diff_basis_max_bytes: at_least_one(10 * 1024 * 1024),
            edit_max_bytes: at_least_one(10 * 1024 * 1024),
            list_max_entries: at_least_one(100_000),
            sweep_max_entries: at_least_one(200_000),
        }
    }
}

/// Files on the local disk. Writers of one file take turns within one `LocalFs`, so a process has one.
#[derive(Debug, Default)]
pub struct LocalFs {
    config: LocalFsConfig,
    locks: KeyLocks,
    swept: Swept,
}

impl LocalFs {
    /// A provider with these bounds. Touches nothing.
    pub fn new(config: LocalFsConfig) -> Self {
        Self { config, ..Self::default() }
    }

    /// Removes what killed processes left in the workspace: staged files, `.dsh-<process>-<number>.tmp`, whose writer is
    /// dead. Returns how many.
    ///
    /// Meant to run once when a process starts, beside everything else; files may be written meanwhile, here and in other
    /// processes. It looks at `sweepMaxEntries` entries, at those higher up first, down to 64 levels, follows no link and
    /// stays on the device of the root. What lies beyond is swept before the first change of a file in its directory.
    /// Files that can't be opened for reading or locked stay. Where the policy lets nothing be written, nothing is
    /// removed.
    ///
    /// Errors: `FS_ABORTED` when it is cancelled; it stops at the next entry, and what it had removed stays so.
    pub async fn sweep(&self, policy: &SandboxPolicy, cancel: &Cancel) -> Result<usize, FsError> {
        if !policy.may_write(&policy.workspace_root) {
            return Ok(0);
        }
        let (root, most) = (policy.workspace_root.clone(), self.config.sweep_max_entries.get());
        work::run(cancel, move |stop| {
            let swept = sweep::tree(&root, most, stop);
            stop.check().map(|()| swept)
        })
        .await
    }
}

/// Makes a policy whose roots are canonical: the step between configuration and [`SandboxPolicy`], done once when a
/// session starts. A root that does not exist, and a blank one, keeps its spelling and matches nothing that exists.
pub fn canonical_policy<'a>(
    mode: SandboxMode,
    workspace_root: &Path,
    read_roots: impl IntoIterator<Item = &'a Path>,
) -> SandboxPolicy {
    SandboxPolicy::new(mode, resolve::root(workspace_root), read_roots.into_iter().map(resolve::root))
}

#[async_trait]
impl FileSystem for LocalFs {
    async fn resolve(
        &self,
        path: &str,
        cwd: &Path,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<FsTarget, FsError> {
        let (path, cwd, policy) = (path.to_owned(), cwd.to_owned(), policy.clone());
        work::look(cancel, move |stop| {
            let target = resolve::target(&path, &cwd, &policy);
            stop.check()?;
            target
        })
        .await
    }

    async fn stat(
        &self,
        target: &FsTarget,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<Option<FsInfo>, FsError> {
        let (target, policy) = (target.clone(), policy.clone());
        work::look(cancel, move |stop| {
            let info = read::stat(&target, &policy);
            stop.check()?;
            info
        })
        .await
    }

    async fn read_lines(
        &self,
        target: &FsTarget,
        window: LineWindow,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<LinesRead, FsError> {
        let (target, policy) = (target.clone(), policy.clone());
        work::look(cancel, move |stop| read::lines(&target, window, &policy, stop)).await
    }

    async fn read_text(
        &self,
        target: &FsTarget,
        max_bytes: u64,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<TextRead, FsError> {
        let (target, policy) = (target.clone(), policy.clone());
        work::look(cancel, move |stop| read::text(&target, max_bytes, &policy, stop)).await
    }

    async fn read_bytes(
        &self,
        target: &FsTarget,
        max_bytes: u64,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<BytesRead, FsError> {
        let (target, policy) = (target.clone(), policy.clone());
        work::look(cancel, move |stop| read::bytes(&target, max_bytes, &policy, stop)).await
    }

    async fn list_dir(
        &self,
        target: &FsTarget,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<Vec<FsEntry>, FsError> {
        let (target, policy) = (target.clone(), policy.clone());
        let most = usize::try_from(self.config.list_max_entries.get()).unwrap_or(usize::MAX);
        work::look(cancel, move |stop| read::list(&target, most, &policy, stop)).await
    }

    async fn write_text(
        &self,
        target: &FsTarget,
        request: WriteRequest,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<WriteOutcome, FsError> {
        let held = self.locks.lock(&target.key, cancel).await?;
        let (target, policy) = (target.clone(), policy.clone());
        let bound = self.config.diff_basis_max_bytes.get();
        let (swept, most) = (self.swept.clone(), self.config.sweep_max_entries.get());
        work::run(cancel, move |stop| {
            // Held until the disk is quiet, also when the caller is gone.
            let _held = held;
            swept.once(&target.path, most, &policy, stop);
            write::write(&target, &request, bound, &policy, stop)
        })
        .await
    }

    async fn edit_text(
        &self,
        target: &FsTarget,
        request: EditRequest,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<EditOutcome, FsError> {
        let held = self.locks.lock(&target.key, cancel).await?;
        let (target, policy) = (target.clone(), policy.clone());
        let bound = self.config.edit_max_bytes.get();
        let (swept, most) = (self.swept.clone(), self.config.sweep_max_entries.get());
        work::run(cancel, move |stop| {
            let _held = held;
            swept.once(&target.path, most, &policy, stop);
            edit::edit(&target, &request, bound, &policy, stop)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use dsh_json::Json;

    use super::*;

    #[test]
    fn bounds_are_positive_integers_and_keys_are_known() {
        let read = |text: &str| Json::parse(text).and_then(|json| json.read::<LocalFsConfig>());
        let config = read("{}").unwrap();
        assert_eq!((config.diff_basis_max_bytes.get(), config.list_max_entries.get()), (10_485_760, 100_000));
        let most = format!("{{\"diffBasisMaxBytes\": {}}}", u64::MAX);
        assert_eq!(read(&most).unwrap().diff_basis_max_bytes, NonZeroU64::MAX);
        for bad in ["0", "-1", "1.5", "18446744073709551616", "\"1\"", "null"] {
            for key in ["diffBasisMaxBytes", "editMaxBytes", "listMaxEntries", "sweepMaxEntries"] {
                assert!(read(&format!("{{\"{key}\": {bad}}}")).is_err(), "{key} {bad}");
            }
        }
        assert!(read("{\"cwd\": \"/\"}").is_err());
    }
}
