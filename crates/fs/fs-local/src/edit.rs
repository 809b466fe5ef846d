//! Editing: a piece of a file, published as a whole file is.
//!
//! ```text
//! open → guard → decode within the bound → replace → encode → stage → still the one that was read? → publish
//! ```
//!
//! What the new file takes over from the old one, and what it does not, is what [`write`](crate::write) says: a name that
//! was linked hard elsewhere parts from it, and the elsewhere keeps the old content.

use std::fs::File;
use std::io::Read;

use dsh_fs::{EditOutcome, EditRequest, FsError, FsErrorCode, FsTarget, WriteIntent, one_line};
use dsh_sandbox_policy::SandboxPolicy;
use rustix::fs::Stat;

use crate::beneath::{Blocked, Place};
use crate::encoding::Encoding;
use crate::errors::{blocked, denied_write, io_error};
use crate::read::{PIECE, size, version};
use crate::text::decode;
use crate::work::Stop;
use crate::write::{Failed, check, lf, publish};

/// Edits under the lock of the target's key.
pub(crate) fn edit(
    target: &FsTarget,
    request: &EditRequest,
    max_bytes: u64,
    policy: &SandboxPolicy,
    stop: &Stop,
) -> Result<EditOutcome, FsError> {
    let root = policy.write_root_of(&target.path).ok_or_else(|| denied_write(target, policy))?;
    let why = |error: Blocked| gone(blocked(&error, "edit", target, policy));
    let place = Place::find(root, &target.path).map_err(why)?;
    let (mut file, stat) = place.open_file().map_err(why)?;
    check(request.intent.as_ref(), Some(&stat), target)?;
    let (text, encoding) = content(&mut file, &stat, max_bytes, target, stop)?;
    drop(file);
    let edited = request.apply(&text).map_err(|miss| miss.about(&target.display))?;
    stop.check()?;

    // Whatever the caller knew, what was read is what is replaced.
    let seen = WriteIntent::ReplaceIfVersion(version(&stat));
    let bytes = encoding.encode(&edited.text);
    let version = match publish(&place, Some(&stat), target, &bytes, Some(&seen), stop) {
        Ok(version) => version,
        Err(Failed::Blocked(error)) => return Err(why(error)),
        Err(Failed::Fs(error)) => return Err(error),
    };
    place.sync_dirs();
    Ok(EditOutcome {
        version,
        before: lf(text.into()),
        after: lf(edited.text.into()),
        replacements: edited.replacements,
        tolerance: edited.tolerance,
    })
}

/// The text of the file and how it is stored, if it has no more bytes than the bound and did not change while it was read.
fn content(
    file: &mut File,
    stat: &Stat,
    max_bytes: u64,
    target: &FsTarget,
    stop: &Stop,
) -> Result<(String, Encoding), FsError> {
    let path = one_line(&target.display);
    let too_large = || {
        let message = format!("{path} has more than {max_bytes} bytes (`editMaxBytes`), so it is not edited");
        FsError::new(FsErrorCode::TooLarge, message)
    };
    if size(stat) > max_bytes {
        return Err(too_large());
    }
    let mut text = String::with_capacity(usize::try_from(size(stat)).unwrap_or(0));
    let mut within = file.take(max_bytes.saturating_add(1));
    let decoded = decode(&mut within, PIECE, &target.display, stop, |piece| {
        text.push_str(piece);
        Ok(())
    });
    if within.limit() == 0 {
        return Err(too_large());
    }
    let encoding = decoded?;
    let now =
        rustix::fs::fstat(within.get_ref()).map_err(|errno| io_error("edit", &target.display, errno))?;
    if version(&now) != version(stat) {
        let message = format!("{path} was changed while it was read");
        return Err(FsError::new(FsErrorCode::StaleVersion, message));
    }
    Ok((text, encoding))
}

/// The answer where nothing is: whoever wants to change a file saw one (spec 07 §3.11).
fn gone(error: FsError) -> FsError {
    if error.kind() != FsErrorCode::NotFound {
        return error;
    }
    FsError::new(FsErrorCode::StaleVersion, format!("{error}, so there is nothing to edit")).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_lifecycle::Cancel;

    struct Scene {
        dir: tempfile::TempDir,
        target: FsTarget,
        place: Place,
    }

    fn scene() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let path = root.join("a");
        std::fs::write(&path, "one").unwrap();
        let place = Place::find(&root, &path).unwrap();
        Scene { target: crate::resolve::make(&path, &path), place, dir }
    }

    #[test]
    fn a_file_that_changed_after_it_was_read_is_not_replaced() {
        let swap: fn(&std::path::Path) = |path| {
            std::fs::write(path.with_extension("new"), "one").unwrap();
            std::fs::rename(path.with_extension("new"), path).unwrap();
        };
        let rewrite: fn(&std::path::Path) = |path| std::fs::write(path, "mine").unwrap();
        let remove: fn(&std::path::Path) = |path| std::fs::remove_file(path).unwrap();
        for meanwhile in [swap, rewrite, remove] {
            let Scene { target, place, dir } = scene();
            let (_, stat) = place.open_file().unwrap();
            meanwhile(&target.path);
            let now = std::fs::read(&target.path).ok();
            let seen = WriteIntent::ReplaceIfVersion(version(&stat));
            let published =
                publish(&place, Some(&stat), &target, b"two", Some(&seen), &Stop::from(Cancel::new()));
            let Err(Failed::Fs(error)) = published else { panic!("published") };
            assert_eq!(error.code(), "FS_STALE_VERSION");
            assert_eq!(std::fs::read(&target.path).ok(), now);
            let left = std::fs::read_dir(dir.path()).unwrap().count();
            assert_eq!(left, usize::from(now.is_some()), "nothing is left behind");
        }
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_is_stale_or_too_large() {
        let read = |added: &str, max| {
            let Scene { target, place, dir: _dir } = scene();
            let (mut file, stat) = place.open_file().unwrap();
            std::fs::write(&target.path, format!("one{added}")).unwrap();
            content(&mut file, &stat, max, &target, &Stop::from(Cancel::new())).map_err(|error| error.code())
        };
        assert_eq!(read(" and more", 100), Err("FS_STALE_VERSION"));
        assert_eq!(read(" and more", 5), Err("FS_TOO_LARGE"));
    }
}
