//! Searches on real trees.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may panic like the test itself")]

mod by_content;
mod by_name;
mod reach;

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use dsh_fs::{GlobHits, GlobRequest, GrepHits, GrepRequest, Search, SearchError, SearchLimits, Warnings};
use dsh_fs_local::LocalSearch;
use dsh_lifecycle::Cancel;
use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};
use tempfile::TempDir;

/// A temporary workspace and a search in it.
pub(crate) struct Workspace {
    dir: TempDir,
    limits: SearchLimits,
    mode: SandboxMode,
    search: LocalSearch,
}

impl Workspace {
    /// A workspace with these files: path and content. A path that ends with `/` is an empty directory.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let this = Self {
            dir: TempDir::new().unwrap(),
            limits: SearchLimits {
                max_hits: None,
                max_bytes: NonZeroUsize::new(1_000_000).unwrap(),
                max_warnings: NonZeroUsize::new(10).unwrap(),
            },
            mode: SandboxMode::ReadOnly,
            search: LocalSearch::with_threads(NonZeroUsize::new(2).unwrap()),
        };
        for (path, content) in files {
            this.write(path, content);
        }
        this
    }

    /// Writes a file, or makes a directory.
    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = path.as_ref();
        let file = self.path().join(path);
        if path.as_os_str().to_string_lossy().ends_with('/') {
            return fs::create_dir_all(file).unwrap();
        }
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    fn policy(&self) -> SandboxPolicy {
        SandboxPolicy::new(self.mode, self.path().canonicalize().unwrap(), [])
    }

    async fn try_glob(&self, pattern: &str, path: Option<&str>) -> Result<GlobHits, SearchError> {
        let policy = self.policy();
        let request = GlobRequest {
            cwd: policy.workspace_root.clone(),
            path: path.map(str::to_owned),
            pattern: pattern.to_owned(),
            limits: self.limits,
        };
        self.search.glob(request, &policy, &Cancel::new()).await
    }

    async fn try_grep(
        &self,
        pattern: &str,
        path: Option<&str>,
        include: Option<&str>,
    ) -> Result<GrepHits, SearchError> {
        let policy = self.policy();
        let request = GrepRequest {
            cwd: policy.workspace_root.clone(),
            path: path.map(str::to_owned),
            pattern: pattern.to_owned(),
            include: include.map(str::to_owned),
            limits: self.limits,
        };
        self.search.grep(request, &policy, &Cancel::new()).await
    }

    /// The paths that a glob finds, sorted; for tests that are not about the order.
    async fn glob(&self, pattern: &str) -> Vec<String> {
        let hits = self.try_glob(pattern, None).await.unwrap();
        assert_eq!((hits.truncated, hits.warnings), (false, Warnings::default()));
        let mut paths: Vec<String> = hits.paths.iter().map(ToString::to_string).collect();
        paths.sort();
        paths
    }

    /// The matches of a regular expression, as `path:line:text`.
    async fn grep(&self, pattern: &str) -> Vec<String> {
        rows(&self.try_grep(pattern, None, None).await.unwrap())
    }
}

fn rows(hits: &GrepHits) -> Vec<String> {
    let text = |line: &Option<std::sync::Arc<str>>| line.as_deref().unwrap_or("(no text)").to_owned();
    hits.matches.iter().map(|hit| format!("{}:{}:{}", hit.path, hit.line_number, text(&hit.line))).collect()
}

fn warnings(warnings: &Warnings) -> Vec<String> {
    warnings.shown.iter().map(ToString::to_string).collect()
}

fn code<T: std::fmt::Debug>(result: Result<T, SearchError>) -> &'static str {
    result.unwrap_err().code()
}
