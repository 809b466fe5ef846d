//! Files beside a log: what was taken off it, what is to become one, what was saved.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::IoError;

/// Creates `FILE.SUFFIX`, or that with a number after it when it is taken. An existing file is never written over.
pub(crate) fn create_beside(path: &Path, suffix: &str) -> Result<(PathBuf, File), IoError> {
    let mut name = OsString::from(path.as_os_str());
    name.push(format!(".{suffix}"));
    let mut candidate = PathBuf::from(&name);
    for number in 2..=MAX_COPIES {
        match create_new(&candidate) {
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

/// A new file that can be read and grows at its end, for its owner only where the system has such a thing.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates what is missing of the path to a file; tells which directories hold a new name then.
pub(crate) fn create_directories(path: &Path) -> Result<Vec<PathBuf>, IoError> {
    let Some(parent) = parent_of(path) else { return Ok(Vec::new()) };
    let mut with_new_name = vec![parent.clone()];
    let mut missing = parent.as_path();
    while !missing.exists() {
        let Some(above) = missing.parent() else { break };
        with_new_name.extend(parent_of(missing));
        missing = above;
    }
    std::fs::create_dir_all(&parent).map_err(IoError::at(&parent, "create"))?;
    Ok(with_new_name)
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
