//! Files of ignore rules that would block or flood whoever reads them.
//!
//! The walker reads ignore files by path and without bounds: a pipe of that name would hang it, a link to an endless
//! device would fill the memory, thousands of rules would take minutes. So they are looked at first.

use std::fs::{self, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use dsh_sandbox_policy::SandboxPolicy;

/// The search tool's own file of ignore rules, which wins over the others.
pub(super) const RULE_FILE: &str = ".rgignore";

/// The largest file of rules that is read, in bytes. Rules take five hundred times their size in memory, and a second for
/// each half megabyte.
const MAX_BYTES: u64 = 256 * 1024;

/// The largest pointer to a repository elsewhere, in bytes.
const MAX_POINTER_BYTES: u64 = 4096;

/// Whether the rules of repositories themselves are read, besides those of directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repositories {
    Read,
    LeftOut,
}

/// A file of rules in this directory that must not be read.
pub(super) fn unusable_ignore_file(
    dir: &Path,
    policy: &SandboxPolicy,
    repositories: Repositories,
) -> Option<PathBuf> {
    let of_directory = || {
        let files = [RULE_FILE, ".ignore", ".gitignore"].into_iter().map(|name| dir.join(name));
        files.into_iter().find(|file| unusable_in(dir, file, policy))
    };
    match repositories {
        Repositories::LeftOut => of_directory(),
        Repositories::Read => repository_out_of_reach(dir, policy)
            .or_else(of_directory)
            .or_else(|| unusable_in_repository(&dir.join(".git"))),
    }
}

/// What leads from a directory in reach to the rules of a repository out of reach: `.git`, or what it points to. What
/// such rules say would show in what a search leaves out. Each place is looked at before it is opened.
pub(super) fn repository_out_of_reach(dir: &Path, policy: &SandboxPolicy) -> Option<PathBuf> {
    let git = dir.join(".git");
    let kind = fs::metadata(&git).ok()?.file_type();
    if !policy.may_read(dir) {
        return None;
    }
    let leads_out = |path: &Path| fs::canonicalize(path).is_ok_and(|real| !policy.may_read(&real));
    if leads_out(&git) {
        return Some(git);
    }
    let mut common = git.clone();
    if kind.is_file() {
        let own = PathBuf::from(pointer(&git)?.strip_prefix("gitdir: ")?);
        let shared = own.join("commondir");
        if leads_out(&own) || leads_out(&shared) {
            return Some(git);
        }
        common = common_of(&own, pointer(&shared)?);
    }
    let exclude = common.join("info/exclude");
    leads_out(&exclude).then_some(git)
}

/// Whether it would block or flood its reader, or is a link out of reach: what such a file says would show in what a
/// search leaves out. In most directories there is none, and one look says so.
fn unusable_in(dir: &Path, file: &Path, policy: &SandboxPolicy) -> bool {
    let Ok(found) = fs::symlink_metadata(file) else { return false };
    if !found.is_symlink() {
        return !is_moderate(&found, MAX_BYTES);
    }
    let leads_out = || fs::canonicalize(file).is_ok_and(|real| !policy.may_read(&real));
    !usable(file, MAX_BYTES) || (policy.may_read(dir) && leads_out())
}

/// The rules of a repository itself; `.git` is a directory, or a file that points to one.
fn unusable_in_repository(git: &Path) -> Option<PathBuf> {
    let kind = fs::metadata(git).ok()?.file_type();
    let common = if kind.is_file() {
        if !usable(git, MAX_POINTER_BYTES) {
            return Some(git.to_owned());
        }
        let own = pointer(git)?;
        let own = PathBuf::from(own.strip_prefix("gitdir: ")?);
        let shared = own.join("commondir");
        if !usable(&shared, MAX_POINTER_BYTES) {
            return Some(shared);
        }
        common_of(&own, pointer(&shared)?)
    } else {
        git.to_owned()
    };
    Some(common.join("info/exclude")).filter(|file| !usable(file, MAX_BYTES))
}

/// The directory that a working tree shares with its repository.
fn common_of(own: &Path, pointer: String) -> PathBuf {
    if pointer.starts_with('.') { own.join(pointer) } else { PathBuf::from(pointer) }
}

/// Whether reading ends soon: it is absent, or [moderate](is_moderate).
fn usable(file: &Path, max_bytes: u64) -> bool {
    fs::metadata(file).map_or(true, |found| is_moderate(&found, max_bytes))
}

/// Whether it is a directory, or a regular file of moderate size.
fn is_moderate(found: &Metadata, max_bytes: u64) -> bool {
    found.is_dir() || (found.is_file() && found.len() <= max_bytes)
}

fn pointer(file: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(file).ok()?.take(MAX_POINTER_BYTES).read_to_string(&mut text).ok()?;
    text.lines().next().map(str::to_owned)
}
