//! Writing: a whole file, published at once or not at all.
//!
//! ```text
//! probe → guard → old text → stage beside the target → guard again → stop? → publish → sync the directory
//! ```
//!
//! A new file gets `0666` less the umask (and what the directory's default ACL says), as if it had been created by any
//! other program. A replaced file keeps its permission bits, and its owner and group where the process may set them;
//! where it may not, bits that would mean someone else are left out.
//! Its extended attributes are not carried over, and its other hard links keep the old content.
//!
//! A process that is killed in between leaves the old file and a hidden `.dsh-<process>-<number>.tmp` beside it, which is
//! [swept](crate::sweep) away later.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use dsh_fs::{
    FsError, FsErrorCode, FsTarget, FsVersion, WriteIntent, WriteOperation, WriteOutcome, WriteRequest,
    one_line,
};
use dsh_sandbox_policy::SandboxPolicy;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use crate::beneath::{Blocked, Place, regular};
use crate::errors::{blocked, denied_write, io_error};
use crate::read::{at_most, size, version};
use crate::stage::Staged;
use crate::work::Stop;

/// Content is written in pieces of this size, so that a stop is seen.
const PIECE: usize = 1024 * 1024;
/// How often a parent directory may vanish under us before we give up.
const ATTEMPTS: usize = 4;

/// Writes under the lock of the target's key.
pub(crate) fn write(
    target: &FsTarget,
    request: &WriteRequest,
    diff_basis_max_bytes: u64,
    policy: &SandboxPolicy,
    stop: &Stop,
) -> Result<WriteOutcome, FsError> {
    let root = policy.write_root_of(&target.path).ok_or_else(|| denied_write(target, policy))?;
    let why = |error: &Blocked| blocked(error, "write", target, policy);
    let old = match Place::find(root, &target.path) {
        Ok(place) => probe(&place, target, policy)?.map(|stat| (place, stat)),
        Err(Blocked::Os(Errno::NOENT)) => None,
        Err(error) => return Err(why(&error)),
    };
    check(request.intent.as_ref(), old.as_ref().map(|(_, stat)| stat), target)?;
    let before = match &old {
        Some((place, stat)) if (request.content.len() as u64) < diff_basis_max_bytes => {
            old_text(place, stat, diff_basis_max_bytes, target, stop)?
        }
        Some(_) | None => None,
    };
    let operation = if old.is_some() { WriteOperation::Update } else { WriteOperation::Create };
    let old = old.map(|(_, stat)| stat);

    let mut left = ATTEMPTS;
    let version = loop {
        stop.check()?;
        match place_and_publish(root, target, old.as_ref(), request, stop) {
            // Another writer took away the directory that it had made, and we were in.
            Err(Failed::Blocked(Blocked::Os(Errno::NOENT))) if left > 1 => left -= 1,
            Err(Failed::Blocked(error)) => return Err(why(&error)),
            Err(Failed::Fs(error)) => return Err(error),
            Ok(version) => break version,
        }
    };
    let after = lf(Arc::clone(&request.content));
    Ok(WriteOutcome { operation, version, before, after })
}

/// What stands there now: a regular file, or nothing. A link that leads nowhere counts as nothing.
fn probe(place: &Place, target: &FsTarget, policy: &SandboxPolicy) -> Result<Option<Stat>, FsError> {
    let Some(stat) = place.stat().map_err(|errno| io_error("write", &target.display, errno))? else {
        return Ok(None);
    };
    match regular(&stat) {
        Ok(()) => Ok(Some(stat)),
        Err(error) => {
            let error = blocked(&error, "write", target, policy);
            if error.kind() == FsErrorCode::NotFound { Ok(None) } else { Err(error) }
        }
    }
}

/// Refuses what does not fit the intent.
pub(crate) fn check(
    intent: Option<&WriteIntent>,
    old: Option<&Stat>,
    target: &FsTarget,
) -> Result<(), FsError> {
    match (intent, old) {
        (None, _) | (Some(WriteIntent::CreateIfAbsent), None) => Ok(()),
        (Some(WriteIntent::CreateIfAbsent), Some(_)) => Err(exists(target)),
        (Some(WriteIntent::ReplaceIfVersion(_)), None) => {
            let message = format!("{} was deleted after it was read", one_line(&target.display));
            Err(FsError::new(FsErrorCode::StaleVersion, message))
        }
        (Some(WriteIntent::ReplaceIfVersion(seen)), Some(now)) if *seen == version(now) => Ok(()),
        (Some(WriteIntent::ReplaceIfVersion(_)), Some(_)) => {
            let message = format!("{} was changed after it was read", one_line(&target.display));
            Err(FsError::new(FsErrorCode::StaleVersion, message))
        }
    }
}

fn exists(target: &FsTarget) -> FsError {
    let message = format!("{} exists already and was not read before", one_line(&target.display));
    FsError::new(FsErrorCode::NotObserved, message)
}

/// The old text as the basis of a difference; `None` where it is too large, no text, or can't be had. Only a stop is an
/// error: the write itself does not depend on it (spec 07 §3.9).
fn old_text(
    place: &Place,
    stat: &Stat,
    bound: u64,
    target: &FsTarget,
    stop: &Stop,
) -> Result<Option<Arc<str>>, FsError> {
    if size(stat) >= bound {
        return Ok(None);
    }
    match place.open_file() {
        Ok((mut file, opened)) if version(&opened) == version(stat) => {
            whole_text(&mut file, size(stat), &target.display, stop)
        }
        Ok(_) | Err(_) => Ok(None),
    }
}

/// The text of a file that had so many bytes when it was opened; `None` when it has more or fewer by now.
fn whole_text(
    file: &mut impl Read,
    size: u64,
    display: &str,
    stop: &Stop,
) -> Result<Option<Arc<str>>, FsError> {
    let bytes = match at_most(file, size.saturating_add(1), display, stop) {
        Err(error) if error.kind() == FsErrorCode::Aborted => return Err(error),
        Err(_) => return Ok(None),
        Ok(bytes) => bytes,
    };
    let is_whole = bytes.len() as u64 == size;
    let text = String::from_utf8(bytes).ok().filter(|text| is_whole && !text.contains('\0'));
    Ok(text.map(|text| lf(text.strip_prefix('\u{feff}').unwrap_or(&text).into())))
}

/// The text with `\n` for every `\r\n`; itself when there is none.
pub(crate) fn lf(text: Arc<str>) -> Arc<str> {
    if memchr::memmem::find(text.as_bytes(), b"\r\n").is_some() {
        text.replace("\r\n", "\n").into()
    } else {
        text
    }
}

/// Why a staged file did not get its name.
pub(crate) enum Failed {
    Blocked(Blocked),
    Fs(FsError),
}

impl From<Blocked> for Failed {
    fn from(blocked: Blocked) -> Self {
        Self::Blocked(blocked)
    }
}

impl From<Errno> for Failed {
    fn from(errno: Errno) -> Self {
        Self::Blocked(errno.into())
    }
}

impl From<FsError> for Failed {
    fn from(error: FsError) -> Self {
        Self::Fs(error)
    }
}

/// Publishes in the target's directory, which is made if need be, and unmade when there is nothing to put in.
fn place_and_publish(
    root: &Path,
    target: &FsTarget,
    old: Option<&Stat>,
    request: &WriteRequest,
    stop: &Stop,
) -> Result<FsVersion, Failed> {
    let mut place = Place::make(root, &target.path)?;
    let intent = request.intent.as_ref();
    let published = publish(&place, old, target, request.content.as_bytes(), intent, stop);
    match published {
        Ok(_) => place.sync_dirs(),
        Err(_) => place.unmake(),
    }
    published
}

/// Stages the content beside the target and gives it the name. Leaves nothing behind when it fails.
pub(crate) fn publish(
    place: &Place,
    old: Option<&Stat>,
    target: &FsTarget,
    content: &[u8],
    intent: Option<&WriteIntent>,
    stop: &Stop,
) -> Result<FsVersion, Failed> {
    let mut staged = Staged::create(place, old)?;
    for piece in content.chunks(PIECE) {
        stop.check()?;
        write_all(staged.file(), piece)?;
    }
    staged.seal(old)?;
    if let Some(WriteIntent::ReplaceIfVersion(_)) = intent {
        // Other processes take no lock of ours: look again at the last moment.
        let now = place.stat()?.filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
        check(intent, now.as_ref(), target)?;
    }
    stop.check()?;
    match intent {
        None | Some(WriteIntent::ReplaceIfVersion(_)) => Ok(staged.replace()?),
        Some(WriteIntent::CreateIfAbsent) => match staged.create_name() {
            Err(Errno::EXIST) => Err(taken(place, target).into()),
            other => Ok(other?),
        },
    }
}

fn write_all(file: &mut File, bytes: &[u8]) -> Result<(), Errno> {
    file.write_all(bytes).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Someone else took the name first: who decides the code (spec 07 §3.10).
fn taken(place: &Place, target: &FsTarget) -> FsError {
    let path = one_line(&target.display);
    match place.stat().map(|stat| stat.map(|stat| regular(&stat))) {
        Ok(None | Some(Ok(()))) => exists(target),
        Ok(Some(Err(Blocked::NotRegular(kind)))) => {
            FsError::new(FsErrorCode::NotRegularFile, format!("{path} is {kind}, not a regular file"))
        }
        Ok(Some(Err(Blocked::Link))) => FsError::new(
            FsErrorCode::NotRegularFile,
            format!("{path} is a symbolic link, not a regular file"),
        ),
        Ok(Some(Err(Blocked::Os(errno)))) | Err(errno) => io_error("write", &target.display, errno),
        Ok(Some(Err(Blocked::NotDirectory))) => io_error("write", &target.display, Errno::NOTDIR),
    }
}
