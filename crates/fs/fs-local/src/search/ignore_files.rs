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
        Repositories::Read => match repository_bar(dir, policy) {
            Some(Bar::OutOfReach(git)) => Some(git),
            Some(Bar::Unusable(file)) => of_directory().or(Some(file)),
            None => of_directory(),
        },
    }
}

/// What leads from a directory in reach to the rules of a repository out of reach: `.git`, or what it points to.
pub(super) fn repository_out_of_reach(dir: &Path, policy: &SandboxPolicy) -> Option<PathBuf> {
    match repository_bar(dir, policy)? {
        Bar::OutOfReach(git) => Some(git),
        Bar::Unusable(_) => None,
    }
}

/// Why the rules of a repository itself must not be read.
enum Bar {
    /// They are out of reach, by way of this `.git`: what they say would show in what a search leaves out.
    OutOfReach(PathBuf),
    /// This file would block or flood its reader.
    Unusable(PathBuf),
}

/// `.git` is a directory, or a file that points to one. Each place is looked at before it is opened.
fn repository_bar(dir: &Path, policy: &SandboxPolicy) -> Option<Bar> {
    let git = dir.join(".git");
    let found = fs::metadata(&git).ok()?;
    let confined = policy.may_read(dir);
    let leads_out =
        |path: &Path| confined && fs::canonicalize(path).is_ok_and(|real| !policy.may_read(&real));
    if leads_out(&git) {
        return Some(Bar::OutOfReach(git));
    }
    let common = if found.is_file() {
        if !is_moderate(&found, MAX_POINTER_BYTES) {
            return Some(Bar::Unusable(git));
        }
        let own = PathBuf::from(pointer(&git)?.strip_prefix("gitdir: ")?);
        let shared = own.join("commondir");
        if leads_out(&own) || leads_out(&shared) {
            return Some(Bar::OutOfReach(git));
        }
        if !usable(&shared, MAX_POINTER_BYTES) {
            return Some(Bar::Unusable(shared));
        }
        common_of(&own, pointer(&shared)?)
    } else {
        git.clone()
    };
    let exclude = common.join("info/exclude");
    if leads_out(&exclude) {
        return Some(Bar::OutOfReach(git));
    }
    (!usable(&exclude, MAX_BYTES)).then_some(Bar::Unusable(exclude))
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
