//! From bytes to text, in pieces, strictly UTF-8.

use std::io::Read;

use dsh_fs::{FsError, FsErrorCode, one_line};
use rustix::io::Errno;

use crate::errors::io_error;
use crate::work::Stop;

/// So many bytes at the start are looked at for a NUL (spec 07 §3.5).
const SNIFFED: usize = 8192;

/// Reads `file` to its end in pieces of about `piece` bytes and gives them to `sink`, cut on characters. A leading byte
/// order mark is dropped. Memory is one piece.
pub(crate) fn decode(
    file: &mut impl Read,
    piece: usize,
    display: &str,
    stop: &Stop,
    mut sink: impl FnMut(&str) -> Result<(), FsError>,
) -> Result<(), FsError> {
    let mut buffer = vec![0; piece.max(SNIFFED)];
    let mut kept = 0; // bytes at the front that wait for the rest of their character
    let mut offset = 0_u64; // of the front in the file
    let mut begun = false;
    loop {
        stop.check()?;
        let read = read(file, buffer.get_mut(kept..).unwrap_or_default(), display)?;
        let bytes = buffer.get(..kept + read).unwrap_or_default();
        sniff(bytes, offset, display)?;
        let text = valid(bytes, read == 0).map_err(|at| not_utf8(bytes, at, offset, display))?;
        let valid = text.len();
        let text = if begun { text } else { text.strip_prefix('\u{feff}').unwrap_or(text) };
        begun |= valid > 0;
        if !text.is_empty() {
            sink(text)?;
        }
        if read == 0 {
            return Ok(());
        }
        let end = kept + read;
        buffer.copy_within(valid..end, 0);
        kept = end - valid;
        offset += valid as u64;
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

/// The text at the front; what follows is the beginning of a character. `Err` is the place of an invalid byte.
fn valid(bytes: &[u8], last: bool) -> Result<&str, usize> {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.error_len().is_none() && !last => {
            let front = bytes.get(..error.valid_up_to()).unwrap_or_default();
            simdutf8::basic::from_utf8(front).map_err(|_| error.valid_up_to())
        }
        Err(error) => Err(error.valid_up_to()),
    }
}

fn sniff(bytes: &[u8], offset: u64, display: &str) -> Result<(), FsError> {
    let Some(ahead) = usize::try_from(offset).ok().and_then(|offset| SNIFFED.checked_sub(offset)) else {
        return Ok(());
    };
    let head = bytes.get(..ahead.min(bytes.len())).unwrap_or_default();
    let Some(nul) = memchr::memchr(0, head) else { return Ok(()) };
    let path = one_line(display);
    let message = match utf16(head) {
        Some(encoding) => {
            format!("{path} is not UTF-8 text: it looks like {encoding}; convert it to UTF-8 first")
        }
        None => {
            format!("{path} is not text: it has a NUL at byte {}, as binary files do", offset + nul as u64)
        }
    };
    Err(FsError::new(FsErrorCode::NotText, message))
}

fn not_utf8(bytes: &[u8], at: usize, offset: u64, display: &str) -> FsError {
    let path = one_line(display);
    let place = offset + at as u64;
    let message = match (bytes.get(at), utf16(bytes)) {
        (_, Some(encoding)) if offset == 0 => {
            format!("{path} is not UTF-8 text: it looks like {encoding}; convert it to UTF-8 first")
        }
        (Some(byte), _) => format!(
            "{path} is not UTF-8 text: byte {place} (0x{byte:02x}) is invalid; it may be in another encoding, \
             or no text at all"
        ),
        (None, _) => format!("{path} is not UTF-8 text: it is invalid at byte {place}"),
    };
    FsError::new(FsErrorCode::NotText, message)
}

/// Whether the start of a file looks like UTF-16: a byte order mark, or Latin text with a NUL in every other byte.
pub(crate) fn utf16(head: &[u8]) -> Option<&'static str> {
    match head {
        [0xFF, 0xFE, 0, 0, ..] => return Some("UTF-32 (little endian)"),
        [0xFF, 0xFE, ..] => return Some("UTF-16 (little endian)"),
        [0xFE, 0xFF, ..] => return Some("UTF-16 (big endian)"),
        _ => {}
    }
    let (pairs, _) = head.as_chunks::<2>();
    let low = pairs.iter().filter(|[first, second]| *first != 0 && *second == 0).count();
    let high = pairs.iter().filter(|[first, second]| *first == 0 && *second != 0).count();
    let most = pairs.len() / 10 * 9;
    match (pairs.len(), low, high) {
        (4.., low, _) if low >= most.max(4) => Some("UTF-16 (little endian, without a mark)"),
        (4.., _, high) if high >= most.max(4) => Some("UTF-16 (big endian, without a mark)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_lifecycle::{Cancel, Cause};

    /// Gives one byte less than asked, so that characters break across pieces.
    struct Short<'a>(&'a [u8], usize);

    impl Read for Short<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let most = into.len().min(self.1);
            self.0.read(&mut into[..most])
        }
    }

    fn text(bytes: &[u8], step: usize) -> Result<String, String> {
        let mut text = String::new();
        let stop = Stop::from(Cancel::new());
        decode(&mut Short(bytes, step), 0, "/w/a", &stop, |piece| {
            text.push_str(piece);
            Ok(())
        })
        .map(|()| text)
        .map_err(|error| error.to_string())
    }

    #[test]
    fn characters_survive_any_piece() {
        let source = "é路😀\r\nsecond 漢字 ".repeat(900);
        for step in [1, 2, 3, 5, 8191, 8192, usize::MAX] {
            assert_eq!(text(source.as_bytes(), step).as_deref(), Ok(source.as_str()), "{step}");
        }
    }

    #[test]
    fn a_mark_is_dropped_at_the_start_only() {
        for step in [1, 2, 4, 99] {
            assert_eq!(text("\u{feff}a\u{feff}b".as_bytes(), step).as_deref(), Ok("a\u{feff}b"));
        }
        assert_eq!(text(b"", 1).as_deref(), Ok(""));
    }

    #[test]
    fn what_is_no_text_says_where_and_what_it_looks_like() {
        let utf16: Vec<u8> = "plain text".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let late_nul = |at: usize| [vec![b'a'; at], vec![0]].concat();
        let rows: [(Vec<u8>, &str); 8] = [
            (b"hi\xff\n".into(), "byte 2 (0xff) is invalid"),
            (b"\xc3".into(), "byte 0 (0xc3) is invalid"),
            (b"\xed\xa0\x80".into(), "byte 0 (0xed) is invalid"),
            ([vec![b'a'; 20_000], vec![0x80]].concat(), "byte 20000 (0x80) is invalid"),
            (b"a\0b".into(), "a NUL at byte 1"),
            (late_nul(8191), "a NUL at byte 8191"),
            ([b"\xff\xfe".as_slice(), &utf16].concat(), "looks like UTF-16 (little endian);"),
            (utf16.clone(), "looks like UTF-16 (little endian, without a mark)"),
        ];
        for (bytes, words) in rows {
            for step in [100, 8192] {
                let error = text(&bytes, step).unwrap_err();
                assert!(error.contains(words), "{error}");
            }
        }
        assert!(text(&late_nul(8192), 1).is_ok());
    }

    #[test]
    fn a_stop_is_seen_between_pieces() {
        let cancel = Cancel::new();
        let stop = Stop::from(cancel.clone());
        let mut pieces = 0;
        let result = decode(&mut Short(&[b'a'; 100], 10), 0, "/w/a", &stop, |_| {
            pieces += 1;
            cancel.cancel(Cause::User);
            Ok(())
        });
        assert_eq!((result.map_err(|error| error.code()), pieces), (Err("FS_ABORTED"), 1));
    }
}
