//! The walk: in parallel, without following links, with or without ignore rules.

use std::io;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use dsh_fs::WarningKind;
use dsh_sandbox_policy::SandboxPolicy;
use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};

use super::ignore_files::{RULE_FILE, Repositories, repository_out_of_reach, unusable_ignore_file};
use super::progress::Progress;
use super::root::Tree;

/// The directories that version control systems keep their own data in.
const VERSION_CONTROL: [&str; 6] = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// What a walk leaves out.
#[derive(Clone, Copy)]
pub(super) enum Rules<'a> {
    /// Only the metadata of version control.
    VersionControl,
    /// Hidden names, and what ignore files name that this policy lets be read, or that lie above its reach.
    IgnoreFiles(&'a SandboxPolicy),
    /// The same, and all files: directories alone are visited.
    AllFiles(&'a SandboxPolicy),
}

/// One entry of the tree.
pub(super) struct Entry<'a> {
    /// Its path below the root; empty for the root itself.
    pub(super) below: &'a [u8],
    pub(super) kind: EntryKind,
}

/// What kinds of entries are visited. Links, pipes, sockets and devices are not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Directory,
}

/// What is done with each entry; one for each thread. Hands over what it found when it is dropped.
pub(super) trait Visit: Send {
    fn visit(&mut self, entry: &Entry<'_>);
}

/// Walks the tree on some threads and returns when all of them have ended.
pub(super) fn walk<V: Visit>(
    tree: &Arc<Tree>,
    rules: Rules<'_>,
    threads: Option<NonZeroUsize>,
    progress: &Arc<Progress>,
    visitor: &(dyn Fn() -> V + Sync),
) {
    let mut builder = WalkBuilder::new(&tree.path);
    builder
        .standard_filters(false)
        .follow_links(false)
        .current_dir(&tree.path)
        .threads(threads.map_or(0, NonZeroUsize::get));
    match rules {
        Rules::VersionControl => {
            if in_version_control(&tree.shown) {
                return;
            }
            builder.filter_entry(|entry| !is_version_control(entry.file_name().as_bytes()));
        }
        Rules::IgnoreFiles(policy) => respect_ignore_files(&mut builder, tree, policy, progress),
        Rules::AllFiles(policy) => {
            leave_out_files(&mut builder, &tree.path);
            respect_ignore_files(&mut builder, tree, policy, progress);
        }
    }
    builder.build_parallel().visit(&mut Threads { tree, progress, visitor });
}

/// Turns the rules on, unless a file at the root or above it would block or flood the walk. Below, a directory with
/// such a file stays closed.
fn respect_ignore_files(
    builder: &mut WalkBuilder,
    tree: &Arc<Tree>,
    policy: &SandboxPolicy,
    progress: &Arc<Progress>,
) {
    builder.hidden(true);
    let above = || tree.path.ancestors();
    // A working tree whose repository lies elsewhere keeps the rules of its directories.
    let repositories = match above().find_map(|dir| repository_out_of_reach(dir, policy)) {
        Some(git) => {
            progress.warn(tree.show(&git), WarningKind::UnusableIgnoreFile);
            Repositories::LeftOut
        }
        None => Repositories::Read,
    };
    if let Some(file) = above().find_map(|dir| unusable_ignore_file(dir, policy, repositories)) {
        progress.warn(tree.show(&file), WarningKind::UnusableIgnoreFile);
        return;
    }
    builder
        .parents(true)
        .ignore(true)
        .git_ignore(true)
        .git_exclude(repositories == Repositories::Read)
        .add_custom_ignore_filename(RULE_FILE);
    let (tree, progress, policy) = (Arc::clone(tree), Arc::clone(progress), policy.clone());
    builder.filter_entry(move |entry| {
        if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
            return true;
        }
        let unusable = unusable_ignore_file(entry.path(), &policy, repositories);
        if let Some(file) = &unusable
            && tree.has(entry.path())
        {
            progress.warn(tree.show(file), WarningKind::UnusableIgnoreFile);
        }
        unusable.is_none()
    });
}

/// Leaves files out before any rule is compared with their names: where a name is wanted, the walker leaves out all
/// other files and no directory, and the name that is wanted here is one that no file can have.
fn leave_out_files(builder: &mut WalkBuilder, root: &Path) {
    let mut wanted = OverrideBuilder::new(root);
    if wanted.add("\0").is_ok()
        && let Ok(wanted) = wanted.build()
    {
        builder.overrides(wanted);
    }
}

struct Threads<'a, V> {
    tree: &'a Tree,
    progress: &'a Progress,
    visitor: &'a (dyn Fn() -> V + Sync),
}

struct Thread<'a, V> {
    tree: &'a Tree,
    progress: &'a Progress,
    visitor: V,
}

impl<'a, V: Visit + 'a> ParallelVisitorBuilder<'a> for Threads<'a, V> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        Box::new(Thread { tree: self.tree, progress: self.progress, visitor: (self.visitor)() })
    }
}

impl<V: Visit> ParallelVisitor for Thread<'_, V> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.progress.stopped() {
            return WalkState::Quit;
        }
        match entry {
            Ok(entry) => self.enter(&entry),
            Err(error) => self.warn(&error, None),
        }
        if self.progress.stopped() { WalkState::Quit } else { WalkState::Continue }
    }
}

impl<V: Visit> Thread<'_, V> {
    fn enter(&mut self, entry: &DirEntry) {
        if let Some(error) = entry.error() {
            self.warn(error, Some(entry.path()));
        }
        let kind = match entry.file_type() {
            Some(kind) if kind.is_file() => EntryKind::File,
            Some(kind) if kind.is_dir() => EntryKind::Directory,
            Some(_) | None => return,
        };
        if let Some(below) = self.tree.below(entry.path()) {
            self.visitor.visit(&Entry { below, kind });
        }
    }

    fn warn(&self, error: &ignore::Error, near: Option<&Path>) {
        let mut facts = Facts { path: near, ..Facts::default() };
        facts.collect(error);
        let kind = match facts.io {
            // It went away while the walk was under way, as files do.
            Some(error) if error.kind() == io::ErrorKind::NotFound => return,
            Some(error) => unreadable(error),
            None => WarningKind::BadIgnoreRules,
        };
        if facts.path.is_some_and(|path| !self.tree.has(path)) {
            return;
        }
        let path = facts.path.map_or_else(|| self.tree.shown.to_string(), |path| self.tree.show(path));
        self.progress.warn(path, kind);
    }
}

/// The words for a failure of the operating system: by kind, so that they are the same everywhere and name no path.
pub(super) fn unreadable(error: &io::Error) -> WarningKind {
    WarningKind::Unreadable { reason: error.kind().to_string() }
}

/// What the nested error of the walker knows.
#[derive(Default)]
struct Facts<'a> {
    path: Option<&'a Path>,
    io: Option<&'a io::Error>,
}

impl<'a> Facts<'a> {
    fn collect(&mut self, error: &'a ignore::Error) {
        match error {
            ignore::Error::Partial(errors) => errors.iter().for_each(|error| self.collect(error)),
            ignore::Error::WithPath { path, err } => {
                self.path = Some(path);
                self.collect(err);
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
                self.collect(err);
            }
            ignore::Error::Io(error) => self.io = Some(error),
            ignore::Error::Loop { .. }
            | ignore::Error::Glob { .. }
            | ignore::Error::UnrecognizedFileType(_)
            | ignore::Error::InvalidDefinition => {}
        }
    }
}

fn in_version_control(shown: &str) -> bool {
    shown.split('/').any(|part| is_version_control(part.as_bytes()))
}

fn is_version_control(name: &[u8]) -> bool {
    VERSION_CONTROL.iter().any(|vcs| vcs.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZeroUsize;

    use dsh_fs::SearchLimits;
    use dsh_lifecycle::Cancel;
    use dsh_sandbox_policy::SandboxMode;
    use parking_lot::Mutex;

    use super::*;
    use crate::search::root::Root;

    struct Names<'a>(&'a Mutex<Vec<String>>);

    impl Visit for Names<'_> {
        fn visit(&mut self, entry: &Entry<'_>) {
            self.0.lock().push(String::from_utf8_lossy(entry.below).into_owned());
        }
    }

    #[test]
    fn without_files_the_directories_are_the_same() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["a", "sub/b", "sub/deep/c", "ignored/d", ".hidden/e"] {
            let file = dir.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        fs::write(dir.path().join(".ignore"), "ignored/\n").unwrap();
        let policy = SandboxPolicy::new(SandboxMode::ReadOnly, dir.path().canonicalize().unwrap(), []);
        let tree = Root::open(&policy.workspace_root, None, &policy).unwrap().into_tree().unwrap();
        let (tree, one) = (Arc::new(tree), NonZeroUsize::MIN);
        let limits = SearchLimits { max_hits: None, max_bytes: one, max_warnings: one };
        let visited = |rules| {
            let (progress, names) = (Arc::new(Progress::new(limits, Cancel::new())), Mutex::default());
            walk(&tree, rules, Some(one), &progress, &|| Names(&names));
            let mut names = names.into_inner();
            names.sort();
            names
        };
        let all = ["", "a", "sub", "sub/b", "sub/deep", "sub/deep/c"];
        assert_eq!(visited(Rules::IgnoreFiles(&policy)), all);
        assert_eq!(visited(Rules::AllFiles(&policy)), ["", "sub", "sub/deep"]);
    }

    #[test]
    fn version_control_is_known_by_whole_names() {
        let rows = [
            (".", false),
            (".git", true),
            (".git/hooks", true),
            ("a/.hg", true),
            (".github", false),
            ("git", false),
            ("/w/.jj/x", true),
        ];
        for (shown, inside) in rows {
            assert_eq!(in_version_control(shown), inside, "{shown}");
        }
    }
}
