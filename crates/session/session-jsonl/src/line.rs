//! One line of the file: a JSON object that ends with its checksum.

use std::fmt::Write as _;

use dsh_json::{Json, Limits};
use dsh_llm::ShapeError;
use dsh_session::Event;

use crate::error::WriteError;

/// The longest line that is written or read: 256 MiB.
pub const MAX_LINE_BYTES: usize = 256 << 20;

/// The deepest line that is written or read: the depth of a value (design §5) and some levels around it.
pub const MAX_LINE_DEPTH: usize = 10_064;

/// Appends the line for `object` to `out`, its newline included. `object` is a JSON object that is not empty.
pub(crate) fn encode(object: &Json, out: &mut String) {
    let start = out.len();
    object.write_text(out);
    out.pop(); // The closing brace, which comes after the checksum.
    let crc = crc32c::crc32c(out.as_bytes().get(start..).unwrap_or_default());
    // Writing to a string can't fail.
    let _ = writeln!(out, ",\"crc\":\"{crc:08x}\"}}");
}

/// [`encode`] for an event; refuses one whose line could not be read again.
pub(crate) fn encode_event(event: &Event, out: &mut String) -> Result<(), WriteError> {
    let json = event.to_json();
    let depth = json.depth();
    if depth > MAX_LINE_DEPTH {
        return Err(WriteError::TooDeep { seq: event.seq, depth, limit: MAX_LINE_DEPTH });
    }
    let start = out.len();
    encode(&json, out);
    let bytes = out.len() - start;
    if bytes > MAX_LINE_BYTES {
        return Err(WriteError::TooLong { seq: event.seq, bytes, limit: MAX_LINE_BYTES });
    }
    Ok(())
}

/// Checks a line without its newline, and turns it into the text of the object that was encoded. `false`: the checksum
/// is missing or wrong, and the line is as it was.
pub(crate) fn unwrap(line: &mut Vec<u8>) -> bool {
    let Some(end) = line.len().checked_sub(SUFFIX) else { return false };
    let Some((body, suffix)) = line.split_at_checked(end) else { return false };
    let mut expected = String::with_capacity(SUFFIX);
    let _ = write!(expected, ",\"crc\":\"{:08x}\"}}", crc32c::crc32c(body));
    if suffix != expected.as_bytes() {
        return false;
    }
    line.truncate(end);
    line.push(b'}');
    true
}

/// The object of a line that was unwrapped.
pub(crate) fn parse(text: &[u8]) -> Result<Json, ShapeError> {
    let text = str::from_utf8(text).map_err(|_| ShapeError::new("not Unicode"))?;
    let limits = Limits { max_depth: MAX_LINE_DEPTH, max_bytes: MAX_LINE_BYTES };
    Ok(Json::parse_with(text, &limits)?.value)
}

/// `,"crc":"00000000"}`
const SUFFIX: usize = 18;

#[cfg(test)]
mod tests;
