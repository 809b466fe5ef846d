//! From bytes to text, in pieces, strictly.

use std::io::Read;

use dsh_fs::{FsError, FsErrorCode, one_line};
use rustix::io::Errno;

use crate::encoding::{Encoding, HEAD, What, guess};
use crate::errors::io_error;
use crate::work::Stop;

/// So many bytes are looked at to tell what else a text may be.
const SAMPLE: usize = 64 * 1024;

/// Reads `file` to its end in pieces of about `piece` bytes and gives their text to `sink`, cut on characters, without
/// the byte order mark. Memory is one piece, and a little for UTF-16. Returns how the text is stored.
///
/// `FS_NOT_TEXT` for a NUL in the first 8,192 bytes and for what is neither UTF-8 nor UTF-16 with a mark, by its place.
pub(crate) fn decode(
    file: &mut impl Read,
    piece: usize,
    display: &str,
    stop: &Stop,
    mut sink: impl FnMut(&str) -> Result<(), FsError>,
) -> Result<Encoding, FsError> {
    let mut buffer = vec![0; piece.max(HEAD)];
    let (mut filled, mut last) = (0, false);
    while filled < HEAD && !last {
        stop.check()?;
        let read = read(file, buffer.get_mut(filled..).unwrap_or_default(), display)?;
        (filled, last) = (filled + read, read == 0);
    }
    let head = buffer.get(..HEAD.min(filled)).unwrap_or_default();
    let encoding =
        Encoding::of(head).map_err(|flaw| not_text(flaw.what, flaw.at as u64, display, Vec::new))?;
    let mut used = encoding.mark(); // of the bytes in the buffer
    let mut offset = 0; // of the buffer's front in the file
    loop {
        let bytes = buffer.get(..filled).unwrap_or_default();
        loop {
            let ahead = bytes.get(used..).unwrap_or_default();
            let (text, taken) = encoding.decode(ahead, last).map_err(|flaw| {
                let (before, after) = bytes.split_at_checked(used + flaw.at).unwrap_or_default();
                not_text(flaw.what, offset + before.len() as u64, display, || sample(before, after, file))
            })?;
            if taken == 0 {
                break;
            }
            used += taken;
            sink(&text)?;
            stop.check()?;
        }
        if last {
            return Ok(encoding);
        }
        // The beginning of a character waits for the rest of it.
        buffer.copy_within(used..filled, 0);
        offset += used as u64;
        filled -= used;
        used = 0;
        stop.check()?;
        let read = read(file, buffer.get_mut(filled..).unwrap_or_default(), display)?;
        (filled, last) = (filled + read, read == 0);
    }
}

/// One read, again when a signal interrupts it.
pub(crate) fn read(file: &mut impl Read, into: &mut [u8], display: &str) -> Result<usize, FsError> {
    loop {
        match file.read(into) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(io_error("read", display, Errno::from_io_error(&error).unwrap_or(Errno::IO)));
            }
            Ok(read) => return Ok(read),
        }
    }
}

/// What is around a place, as far as it is at hand or next in the file: what it looks like is a matter of statistics.
fn sample(before: &[u8], after: &[u8], file: &mut impl Read) -> Vec<u8> {
    let before = before.get(before.len().saturating_sub(1024)..).unwrap_or_default();
    let mut sample = [before, after.get(..SAMPLE).unwrap_or(after)].concat();
    let more = SAMPLE.saturating_sub(sample.len());
    // Without more, what there is has to do.
    let _ = file.take(more as u64).read_to_end(&mut sample);
    sample
}

/// The refusal of what is not text at a place.
fn not_text(what: What, at: u64, display: &str, sample: impl FnOnce() -> Vec<u8>) -> FsError {
    let what = match what {
        What::Nul => format!("is not text: it has a NUL at byte {at}, as binary files do"),
        What::Other(name) => format!("is not UTF-8 text: it looks like {name}"),
        What::Byte(byte) => match guess(&sample()) {
            Some(name) => {
                format!("is not UTF-8 text: byte {at} (0x{byte:02x}) is invalid; it looks like {name}")
            }
            None => format!(
                "is not text: byte {at} (0x{byte:02x}) is invalid among control characters, as in binary files"
            ),
        },
        What::Surrogate => {
            format!("begins like UTF-16 text, but is none: the character at byte {at} lacks its other half")
        }
        What::End => format!("is not whole text: it ends within the character at byte {at}"),
    };
    let message = format!("{} {what}", one_line(display));
    FsError::new(FsErrorCode::NotText, message)
}

#[cfg(test)]
mod tests;
