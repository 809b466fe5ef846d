//! What the operating system says, in codes and words.

use std::path::Path;

use dsh_fs::{FsError, FsErrorCode, FsTarget, one_line};
use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};
use rustix::io::Errno;

use crate::beneath::Blocked;
use crate::resolve;

/// An error of the system about `display`, while doing `action` ("read", "write", …).
pub(crate) fn io_error(action: &str, display: &str, errno: Errno) -> FsError {
    let path = one_line(display);
    let (code, message) = match errno {
        Errno::NOENT => (FsErrorCode::NotFound, format!("{path} does not exist")),
        Errno::NOTDIR => (
            FsErrorCode::NotFound,
            format!("{path} does not exist: a part of the path is a file, not a directory"),
        ),
        Errno::ISDIR => (FsErrorCode::NotRegularFile, format!("{path} is a directory, not a regular file")),
        Errno::ACCESS | Errno::PERM => (
            FsErrorCode::PermissionDenied,
            format!("cannot {action} {path}: the operating system denies permission"),
        ),
        other => (FsErrorCode::IoError, format!("cannot {action} {path}: {}", in_words(other))),
    };
    FsError::new(code, message).caused_by(std::io::Error::from(errno))
}

/// What kept an operation from its file. A link that stands where none stood when the target was resolved is explained
/// by where it leads now.
pub(crate) fn blocked(blocked: &Blocked, action: &str, target: &FsTarget, policy: &SandboxPolicy) -> FsError {
    let path = one_line(&target.display);
    match blocked {
        Blocked::Os(errno) => io_error(action, &target.display, *errno),
        Blocked::NotRegular(kind) => {
            FsError::new(FsErrorCode::NotRegularFile, format!("{path} is {kind}, not a regular file"))
        }
        Blocked::NotDirectory => {
            FsError::new(FsErrorCode::NotDirectory, format!("{path} is not a directory"))
        }
        Blocked::Link => match resolve::target(&target.display, Path::new("/"), policy) {
            Err(error) => error,
            Ok(now) if now.key == target.key && resolve::is_dangling(&target.display) => FsError::new(
                FsErrorCode::NotFound,
                format!("{path} does not exist: a symbolic link on the way leads nowhere"),
            ),
            Ok(_) => FsError::new(
                FsErrorCode::StaleVersion,
                format!("cannot {action} {path}: the path came to lead elsewhere in the meantime"),
            ),
        },
    }
}

/// The answer to reading out of reach. It tells nothing about what is there.
pub(crate) fn denied_read(display: &str, policy: &SandboxPolicy) -> FsError {
    let root = policy.workspace_root.to_string_lossy();
    let verb = if policy.may_read(Path::new(display)) { "leads" } else { "is" };
    FsError::new(
        FsErrorCode::SandboxDenied,
        format!(
            "{} {verb} outside the workspace ({}) and the other directories that may be read, so access is denied",
            one_line(display),
            one_line(&root),
        ),
    )
}

/// The answer to writing out of reach.
pub(crate) fn denied_write(target: &FsTarget, policy: &SandboxPolicy) -> FsError {
    let path = one_line(&target.display);
    let message = match policy.mode {
        SandboxMode::WorkspaceWrite if policy.protects(&target.path) => {
            format!(
                "cannot write {path}: it is a file of this session's own, its configuration or its log, and not for tools to change"
            )
        }
        SandboxMode::ReadOnly => {
            format!("cannot write {path}: this session is read-only")
        }
        SandboxMode::WorkspaceWrite | SandboxMode::DangerFullAccess => {
            let root = policy.workspace_root.to_string_lossy();
            format!("cannot write {path}: it is outside the workspace ({})", one_line(&root))
        }
    };
    FsError::new(FsErrorCode::SandboxDenied, message)
}

fn in_words(errno: Errno) -> String {
    let words = match errno {
        Errno::NOSPC => "no space is left on the device",
        Errno::DQUOT => "the disk quota is used up",
        Errno::ROFS => "the file system is read-only",
        Errno::IO => "the device reported an error",
        Errno::LOOP => "there are too many symbolic links on the way, or they form a circle",
        Errno::NAMETOOLONG => "the name is too long",
        Errno::MFILE | Errno::NFILE => "too many files are open",
        Errno::FBIG => "the file would be too large for the file system",
        Errno::BUSY | Errno::TXTBSY => "the file is in use",
        Errno::INVAL => "the system does not take this name or operation",
        other => return std::io::Error::from(other).to_string(),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_of_the_system_has_a_code() {
        let rows = [
            (Errno::NOENT, "FS_NOT_FOUND", "/w/a does not exist"),
            (
                Errno::NOTDIR,
                "FS_NOT_FOUND",
                "/w/a does not exist: a part of the path is a file, not a directory",
            ),
            (Errno::ISDIR, "FS_NOT_REGULAR_FILE", "/w/a is a directory, not a regular file"),
            (
                Errno::ACCESS,
                "FS_PERMISSION_DENIED",
                "cannot write /w/a: the operating system denies permission",
            ),
            (
                Errno::PERM,
                "FS_PERMISSION_DENIED",
                "cannot write /w/a: the operating system denies permission",
            ),
            (Errno::NOSPC, "FS_IO_ERROR", "cannot write /w/a: no space is left on the device"),
            (Errno::ROFS, "FS_IO_ERROR", "cannot write /w/a: the file system is read-only"),
            (Errno::IO, "FS_IO_ERROR", "cannot write /w/a: the device reported an error"),
            (
                Errno::LOOP,
                "FS_IO_ERROR",
                "cannot write /w/a: there are too many symbolic links on the way, or they form a circle",
            ),
            (Errno::NAMETOOLONG, "FS_IO_ERROR", "cannot write /w/a: the name is too long"),
            (Errno::NODEV, "FS_IO_ERROR", "cannot write /w/a: No such device (os error 19)"),
        ];
        for (errno, code, message) in rows {
            let error = io_error("write", "/w/a", errno);
            assert_eq!((error.code(), error.to_string().as_str()), (code, message));
        }
    }
}
