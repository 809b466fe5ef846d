//! Taking a bad end off a log, and keeping it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::IoError;

/// The end of a log that was taken off, and where it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The file that keeps the bytes; new, beside the log.
    pub path: PathBuf,
    /// Where they began in the log.
    pub offset: u64,
    /// How many they are.
    pub bytes: u64,
}

/// Moves everything from `offset` on into a new file beside the log, which is on the device before the log is cut. With
/// nothing there only cuts. An existing file is never written over.
pub(crate) fn set_aside(log: &File, path: &Path, offset: u64) -> Result<Option<SetAside>, IoError> {
    let mut from = log;
    let length = from.metadata().map_err(IoError::at(path, "read"))?.len();
    if length <= offset {
        return Ok(None);
    }
    let (aside, mut to) = create_beside(path, offset)?;
    let copied =
        from.seek(SeekFrom::Start(offset)).and_then(|_| io::copy(&mut from.take(length - offset), &mut to));
    let bytes = copied.and_then(|bytes| to.sync_all().map(|()| bytes)).map_err(|error| {
        // The log has not changed; what the copy holds is not needed.
        let _ = std::fs::remove_file(&aside);
        IoError::at(&aside, "write")(error)
    })?;
    if let Some(parent) = parent_of(path) {
        sync_directory(&parent)?;
    }
    log.set_len(offset).map_err(IoError::at(path, "cut"))?;
    Ok(Some(SetAside { path: aside, offset, bytes }))
}

/// The directory of a file.
pub(crate) fn parent_of(path: &Path) -> Option<PathBuf> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Some(PathBuf::from(".")),
        Some(parent) => Some(parent.to_owned()),
        None => None,
    }
}

/// Waits until the names in a directory are on the device.
pub(crate) fn sync_directory(path: &Path) -> Result<(), IoError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(IoError::at(path, "flush"))
}

/// `FILE.removed-OFFSET`, or with a number after it when that is taken.
fn create_beside(path: &Path, offset: u64) -> Result<(PathBuf, File), IoError> {
    let mut name = OsString::from(path.as_os_str());
    name.push(format!(".removed-{offset}"));
    let mut candidate = PathBuf::from(&name);
    for number in 2..=MAX_COPIES {
        match private(OpenOptions::new().write(true).create_new(true)).open(&candidate) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut numbered = name.clone();
                numbered.push(format!("-{number}"));
                candidate = PathBuf::from(numbered);
            }
            Err(error) => return Err(IoError::at(&candidate, "create")(error)),
            Ok(file) => return Ok((candidate, file)),
        }
    }
    Err(IoError::at(&candidate, "create")(io::ErrorKind::AlreadyExists.into()))
}

const MAX_COPIES: u32 = 10_000;

/// Readable by its owner only, where the system has such a thing.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
