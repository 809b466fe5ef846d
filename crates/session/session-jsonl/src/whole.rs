//! Writing a log as a whole, so that its name never stands for half of one.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use dsh_session::{Event, Header};

use crate::beside::{create_beside, parent_of, sync_directory};
use crate::error::{IoError, OpenError, WriteError};
use crate::line;

/// A new log of this name, locked; there is a file of this name only once all of it is on the device.
pub(crate) fn link_new(path: &Path, header: &Header, events: &[Event]) -> Result<File, OpenError> {
    let (new, file) = write_beside(path, header, events)?;
    // A rename would take the place of a file that came there meanwhile.
    let linked = std::fs::hard_link(&new, path);
    let _ = std::fs::remove_file(&new);
    match linked {
        Ok(()) => Ok(file),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(OpenError::Exists { path: path.to_owned() })
        }
        Err(error) => Err(IoError::at(path, "create")(error).into()),
    }
}

/// A log whose header promises no more of another session than there is, which after a cut it may: the file that stands
/// under the name then, locked like the one before it, and its header.
pub(crate) fn with_true_seed(
    path: &Path,
    file: File,
    header: Header,
    events: &[Event],
) -> Result<(File, Header), OpenError> {
    let count = events.len() as u64;
    if header.seed_length().is_none_or(|length| length <= count) {
        return Ok((file, header));
    }
    let header = header.with_seed_length(count);
    // What the name leads to is replaced, not the link.
    let path = path.canonicalize().map_err(IoError::at(path, "find"))?;
    let (new, file) = write_beside(&path, &header, events)?;
    std::fs::rename(&new, &path).map_err(IoError::at(&path, "write anew"))?;
    if let Some(parent) = parent_of(&path) {
        sync_directory(&parent)?;
    }
    Ok((file, header))
}

/// A new file beside `path` that holds the header and the events, locked, and on the device; removed again when that
/// fails.
fn write_beside(path: &Path, header: &Header, events: &[Event]) -> Result<(PathBuf, File), WriteError> {
    let (new, file) = create_beside(path, "new")?;
    match fill(&file, &new, header, events) {
        Ok(()) => Ok((new, file)),
        Err(error) => {
            let _ = std::fs::remove_file(&new);
            Err(error)
        }
    }
}

fn fill(file: &File, path: &Path, header: &Header, events: &[Event]) -> Result<(), WriteError> {
    file.lock().map_err(IoError::at(path, "lock"))?;
    let mut file = file;
    let mut lines = String::new();
    line::encode(&header.to_json(), &mut lines);
    for event in events {
        line::encode_event(event, &mut lines)?;
        if lines.len() >= AT_ONCE {
            file.write_all(lines.as_bytes()).map_err(IoError::at(path, "write"))?;
            lines.clear();
        }
    }
    file.write_all(lines.as_bytes()).map_err(IoError::at(path, "write"))?;
    file.sync_all().map_err(IoError::at(path, "flush"))?;
    Ok(())
}

/// How many bytes are written at a time, about.
const AT_ONCE: usize = 1 << 20;
