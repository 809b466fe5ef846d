//! Searches on the local disk (spec 07 §7): walked in parallel in this process, opened beneath the root.
//!
//! ```text
//! request ─root→ directory handle ─walk→ paths ─reopen beneath the handle→ hits ─sort→ result
//! ```
//!
//! The walk goes by path, and a path can be swapped for a link behind its back. So a path from the walk is only a
//! suggestion: what is told about a file comes from a handle that was opened from the root's handle, part by part and
//! never through a link.

mod find;
mod ignore_files;
mod lines;
mod pattern;
mod progress;
mod root;
mod shown;
mod walk;

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_fs::{GlobHits, GlobRequest, GrepHits, GrepRequest, Search, SearchError, WarningKind};
use dsh_lifecycle::{Cancel, Cause};
use dsh_sandbox_policy::SandboxPolicy;
use parking_lot::Mutex;

use find::Finder;
use lines::{LineSearch, TreeSearch};
use pattern::{PathGlob, line_matcher};
use progress::{Kept, Progress};
use root::Root;
use walk::{Rules, walk};

/// Searches on the local disk.
///
/// A search runs on a few threads of its own, and its future waits for all of them,
/// unless it is cancelled: then it ends at once, and the threads at their next entry, match or piece of a file.
/// Besides the results, each thread holds at most one buffer of [`max_bytes`](dsh_fs::SearchLimits::max_bytes).
///
/// Ignore files above the root are respected, as are those of the repository; the user's global ones are not, because
/// a result should not depend on whose machine it is. The files themselves are read by path; one that is no regular
/// file, over 256 KiB, or a link out of reach, is not read (see [`WarningKind::UnusableIgnoreFile`]).
#[derive(Debug, Clone, Default)]
pub struct LocalSearch {
    threads: Option<NonZeroUsize>,
}

impl LocalSearch {
    /// Searches on as many threads as the machine has, at most twelve.
    pub fn new() -> Self {
        Self::default()
    }

    /// Searches on this many threads.
    #[must_use]
    pub fn with_threads(threads: NonZeroUsize) -> Self {
        Self { threads: Some(threads) }
    }
}

#[async_trait]
impl Search for LocalSearch {
    async fn glob(
        &self,
        request: GlobRequest,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<GlobHits, SearchError> {
        let (threads, policy) = (self.threads, policy.clone());
        on_a_thread(cancel, move |cancel| glob(&request, threads, &policy, cancel)).await
    }

    async fn grep(
        &self,
        request: GrepRequest,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<GrepHits, SearchError> {
        let (threads, policy) = (self.threads, policy.clone());
        on_a_thread(cancel, move |cancel| grep(&request, threads, &policy, cancel)).await
    }
}

fn glob(
    request: &GlobRequest,
    threads: Option<NonZeroUsize>,
    policy: &SandboxPolicy,
    cancel: Cancel,
) -> Result<GlobHits, SearchError> {
    let pattern = PathGlob::new(&request.pattern)?;
    let tree = Arc::new(Root::open(&request.cwd, request.path.as_deref(), policy)?.into_tree()?);
    let progress = Arc::new(Progress::new(request.limits, cancel));
    let all = Mutex::default();
    walk(&tree, Rules::VersionControl, threads, &progress, &|| Finder::new(&tree, &pattern, &progress, &all));
    let warnings = progress.finish()?;
    let (found, truncated) = Kept::merge(all.into_inner());
    let paths = found.into_iter().map(|found| found.path).collect();
    Ok(GlobHits { root: Arc::clone(&tree.shown), paths, truncated, warnings })
}

fn grep(
    request: &GrepRequest,
    threads: Option<NonZeroUsize>,
    policy: &SandboxPolicy,
    cancel: Cancel,
) -> Result<GrepHits, SearchError> {
    let matcher = line_matcher(&request.pattern)?;
    let include = request.include.as_deref().map(PathGlob::new).transpose()?;
    let root = Root::open(&request.cwd, request.path.as_deref(), policy)?;
    let progress = Arc::new(Progress::new(request.limits, cancel));
    let all = match root {
        Root::File { file, shown } => {
            let mut search = LineSearch::new(&progress, &matcher);
            // Whoever names one file wants to know why nothing was found in it.
            if let Some(offset) = search.search(&file, &shown) {
                search.warn(&shown, WarningKind::BinaryFrom { offset });
            }
            vec![search.take()]
        }
        Root::Tree(tree) => {
            let (tree, all) = (Arc::new(tree), Mutex::default());
            let thread =
                || TreeSearch::new(&tree, include.as_ref(), LineSearch::new(&progress, &matcher), &all);
            // Where there is an include, it alone says which files of a directory are searched.
            let rules = if include.is_some() { Rules::AllFiles(policy) } else { Rules::IgnoreFiles(policy) };
            walk(&tree, rules, threads, &progress, &thread);
            all.into_inner()
        }
    };
    let warnings = progress.finish()?;
    let (matches, truncated) = Kept::merge(all);
    Ok(GrepHits { matches, truncated, warnings })
}

/// Runs a search on a thread of its own, and waits for it no longer than for the cancellation: one pattern can take minutes
/// for one line, and a disk may not answer. Not on the runtime's pool, whose threads a runtime waits for when it ends. A
/// future that is dropped stops it, too.
async fn on_a_thread<T: Send + 'static>(
    cancel: &Cancel,
    search: impl FnOnce(Cancel) -> Result<T, SearchError> + Send + 'static,
) -> Result<T, SearchError> {
    if cancel.is_cancelled() {
        return Err(SearchError::Aborted);
    }
    let own = StopOnDrop(cancel.child());
    let cancel = own.0.clone();
    let (answer, answered) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name("search".to_owned()).spawn(move || {
        // Nobody may be waiting any more.
        let _ = answer.send(search(cancel));
    });
    if let Err(error) = thread {
        tracing::error!(%error, "no thread for a search");
        return Err(SearchError::Failed { reason: "the system has no thread left for it".to_owned() });
    }
    tokio::select! {
        biased;
        result = answered => result.unwrap_or_else(|_| {
            tracing::error!("a search panicked");
            Err(SearchError::Failed { reason: "it broke down; try another way".to_owned() })
        }),
        () = own.0.cancelled() => Err(SearchError::Aborted),
    }
}

struct StopOnDrop(Cancel);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel(Cause::Disposed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_search_that_does_not_answer_holds_nobody_up() {
        let (release, held) = mpsc::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(async {
            let cancel = Cancel::new();
            let search = on_a_thread(&cancel, move |_| Ok(held.recv().is_ok()));
            tokio::join!(search, async { cancel.cancel(Cause::User) }).0
        });
        assert!(matches!(found, Err(SearchError::Aborted)));
        // Nor does it hold up the end of the runtime.
        drop(runtime);
        drop(release);
    }

    #[tokio::test]
    async fn a_search_that_breaks_down_says_so() {
        let found = on_a_thread(&Cancel::new(), |_| -> Result<(), _> { panic!("on purpose") }).await;
        assert_eq!(found.unwrap_err().code(), "SEARCH_FAILED");
    }
}
