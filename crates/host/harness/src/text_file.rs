//! Reading what a person names: a file, and nothing that waits or never ends.

use std::io;
use std::path::Path;

/// The text of a regular file of at most `max_bytes`, in UTF-8. Anything else is refused without being opened: opening
/// a pipe would wait for a writer.
pub fn read_text(file: &Path, max_bytes: u64) -> io::Result<String> {
    let found = std::fs::metadata(file)?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if found.len() > max_bytes {
        return Err(io::Error::other(format!("it is larger than {max_bytes} bytes")));
    }
    std::fs::read_to_string(file)
}
