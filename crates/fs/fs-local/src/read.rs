//! Looking: stat, windows, whole contents, listings.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use dsh_fs::{
    BytesRead, FileKind, FsEntry, FsError, FsErrorCode, FsInfo, FsTarget, FsVersion, LineWindow, LinesRead,
    TextRead, one_line,
};
use dsh_sandbox_policy::SandboxPolicy;
use rustix::fs::{AtFlags, Dir, FileType, Stat};
use rustix::io::Errno;

use crate::beneath::{Blocked, Place};
use crate::errors::{blocked, denied_read, io_error};
use crate::resolve;
use crate::text::{self, decode};
use crate::work::Stop;

/// The size of a piece of a large file.
pub(crate) const PIECE: usize = 256 * 1024;

pub(crate) fn stat(target: &FsTarget, policy: &SandboxPolicy) -> Result<Option<FsInfo>, FsError> {
    let found = match find(target, policy) {
        Ok(place) => place.stat().map_err(Blocked::Os),
        Err(Failed::Denied(error)) => return Err(error),
        Err(Failed::Blocked(blocked)) => Err(blocked),
    };
    match found {
        Ok(None) | Err(Blocked::Os(Errno::NOENT | Errno::NOTDIR)) => Ok(None),
        Ok(Some(stat)) if kind(&stat) == FileKind::Symlink => {
            absent_or(blocked(&Blocked::Link, "look at", target, policy))
        }
        Ok(Some(stat)) => Ok(Some(info(&stat))),
        Err(Blocked::Link) => absent_or(blocked(&Blocked::Link, "look at", target, policy)),
        Err(other) => Err(blocked(&other, "look at", target, policy)),
    }
}

fn absent_or(error: FsError) -> Result<Option<FsInfo>, FsError> {
    if error.kind() == FsErrorCode::NotFound { Ok(None) } else { Err(error) }
}

pub(crate) fn lines(
    target: &FsTarget,
    window: LineWindow,
    policy: &SandboxPolicy,
    stop: &Stop,
) -> Result<LinesRead, FsError> {
    let (mut file, stat) = open(target, policy)?;
    let size = size(&stat);
    let piece =
        if size < window.stream_min_size { usize::try_from(size).unwrap_or(PIECE) + 1 } else { PIECE };
    let mut window = window.start();
    decode(&mut file, piece, &target.display, stop, |piece| {
        window.push(piece);
        Ok(())
    })?;
    let (lines, total_lines) = window.finish();
    Ok(LinesRead { lines, total_lines, version: version(&stat) })
}

pub(crate) fn text(
    target: &FsTarget,
    max_bytes: u64,
    policy: &SandboxPolicy,
    stop: &Stop,
) -> Result<TextRead, FsError> {
    let (mut file, stat) = open(target, policy)?;
    within(size(&stat), max_bytes, target)?;
    let mut text = String::with_capacity(usize::try_from(size(&stat)).unwrap_or(0));
    decode(&mut file, PIECE, &target.display, stop, |piece| {
        text.push_str(piece);
        within(text.len() as u64, max_bytes, target)
    })?;
    Ok(TextRead { text: text.into(), version: version(&stat) })
}

pub(crate) fn bytes(
    target: &FsTarget,
    max_bytes: u64,
    policy: &SandboxPolicy,
    stop: &Stop,
) -> Result<BytesRead, FsError> {
    let (mut file, stat) = open(target, policy)?;
    within(size(&stat), max_bytes, target)?;
    Ok(BytesRead { bytes: all(&mut file, max_bytes, target, stop)?, version: version(&stat) })
}

/// All bytes that are there by now, however many the system spoke of.
fn all(file: &mut File, max_bytes: u64, target: &FsTarget, stop: &Stop) -> Result<Vec<u8>, FsError> {
    let bytes = at_most(file, max_bytes.saturating_add(1), &target.display, stop)?;
    within(bytes.len() as u64, max_bytes, target)?;
    Ok(bytes)
}

/// Reads to the end, but at most so many bytes, in pieces.
pub(crate) fn at_most(
    file: &mut impl Read,
    most: u64,
    display: &str,
    stop: &Stop,
) -> Result<Vec<u8>, FsError> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; PIECE];
    let mut file = file.take(most);
    loop {
        stop.check()?;
        let read = text::read(&mut file, &mut piece, display)?;
        if read == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
    }
}

pub(crate) fn list(
    target: &FsTarget,
    max_entries: usize,
    policy: &SandboxPolicy,
    stop: &Stop,
) -> Result<Vec<FsEntry>, FsError> {
    let os = |errno| io_error("list", &target.display, errno);
    let place = find(target, policy).map_err(|failed| failed.explain("list", target, policy))?;
    let dir = place.open_dir().map_err(|error| blocked(&error, "list", target, policy))?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&dir).map_err(os)? {
        let entry = entry.map_err(os)?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if names.len() == max_entries {
            let message = format!("{} has more than {max_entries} entries", one_line(&target.display));
            return Err(FsError::new(FsErrorCode::TooLarge, message));
        }
        names.push(std::os::unix::ffi::OsStringExt::from_vec(name.to_owned()));
    }
    names.sort_unstable();
    names
        .into_iter()
        .filter_map(|name: std::ffi::OsString| {
            entry(&dir, target, Path::new(&name), policy, stop).transpose()
        })
        .collect()
}

/// One row of a listing; `None` when it went away since its name was read, as files do.
fn entry(
    dir: &impl std::os::fd::AsFd,
    parent: &FsTarget,
    name: &Path,
    policy: &SandboxPolicy,
    stop: &Stop,
) -> Result<Option<FsEntry>, FsError> {
    stop.check()?;
    let display = Path::new(&*parent.display).join(name);
    let path = parent.path.join(name);
    let row = |target, stat: Option<&Stat>| FsEntry {
        name: name.to_string_lossy().into(),
        kind: stat.map_or(FileKind::Other, kind),
        target,
        version: stat.map(version),
        size: stat.filter(|stat| kind(stat) == FileKind::File).map(size),
    };
    let os = |errno| io_error("look at", &display.to_string_lossy(), errno);
    let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(None),
        other => other.map_err(os)?,
    };
    if kind(&stat) != FileKind::Symlink {
        return Ok(Some(row(resolve::make(&path, &display), Some(&stat))));
    }
    // A link: looked at where it leads, if that is in reach.
    let real = match resolve::real(&path) {
        Err(stuck) if !policy.may_read(&stuck.at) => {
            return Ok(Some(row(resolve::make(&path, &display), None)));
        }
        other => other.map_err(|stuck| os(stuck.errno))?,
    };
    let target = resolve::make(&real.path, &display);
    if real.leads_to.is_some() || !policy.may_read(&real.path) {
        return Ok(Some(row(target, None)));
    }
    let found =
        find(&target, policy).and_then(|place| place.stat().map_err(|errno| Failed::Blocked(errno.into())));
    Ok(Some(row(target, found.ok().flatten().as_ref())))
}

/// Opens the file of a target beneath the root that allows it.
fn open(target: &FsTarget, policy: &SandboxPolicy) -> Result<(File, Stat), FsError> {
    let place = find(target, policy).map_err(|failed| failed.explain("read", target, policy))?;
    place.open_file().map_err(|error| blocked(&error, "read", target, policy))
}

fn find(target: &FsTarget, policy: &SandboxPolicy) -> Result<Place, Failed> {
    let root = policy
        .read_root_of(&target.path)
        .ok_or_else(|| Failed::Denied(denied_read(&target.display, policy)))?;
    Place::find(root, &target.path).map_err(Failed::Blocked)
}

enum Failed {
    Denied(FsError),
    Blocked(Blocked),
}

impl Failed {
    fn explain(self, action: &str, target: &FsTarget, policy: &SandboxPolicy) -> FsError {
        match self {
            Self::Denied(error) => error,
            Self::Blocked(why) => blocked(&why, action, target, policy),
        }
    }
}

fn within(size: u64, max_bytes: u64, target: &FsTarget) -> Result<(), FsError> {
    if size <= max_bytes {
        return Ok(());
    }
    let message = format!("{} has more than {max_bytes} bytes", one_line(&target.display));
    Err(FsError::new(FsErrorCode::TooLarge, message))
}

fn info(stat: &Stat) -> FsInfo {
    FsInfo { version: version(stat), kind: kind(stat), size: size(stat) }
}

pub(crate) fn kind(stat: &Stat) -> FileKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => FileKind::Other,
    }
}

pub(crate) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// `dev:ino:size:mtimeNs:ctimeNs` (spec 07 §3.3): a rewrite of the same size whose time was set back still changes it.
pub(crate) fn version(stat: &Stat) -> FsVersion {
    let nanos = |seconds, fraction| i128::from(seconds) * 1_000_000_000 + i128::from(fraction);
    FsVersion::new(format!(
        "{}:{}:{}:{}:{}",
        stat.st_dev,
        stat.st_ino,
        stat.st_size,
        nanos(stat.st_mtime, stat.st_mtime_nsec),
        nanos(stat.st_ctime, stat.st_ctime_nsec),
    ))
}
