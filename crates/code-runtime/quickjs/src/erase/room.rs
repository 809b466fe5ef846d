//! How much stack reading a program may take, known before it is read.
//!
//! The parser and the walk over its tree recurse, and overflowing a native stack ends the process. Each level of recursion
//! needs a token of its own in the text, so counting tokens bounds it; a program that needs more than the thread has is read on
//! a thread that has enough, and one that needs more than [`MOST`] is refused.

use std::thread;

/// A program that could need more stack than there is.
#[derive(Debug)]
pub(super) struct Excess;

impl std::fmt::Display for Excess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "SyntaxError: the program has too many brackets and operators to be read: split it, or let a function return \
             large data instead of writing it into the program",
        )
    }
}

/// What every thread has to spare.
pub(super) const AT_HAND: usize = 1 << 20;
/// What is given to one program at most.
const MOST: usize = 512 << 20;
/// Stack of one level of brackets, and of one operator or word. Measured, and doubled.
const BRACKET: usize = if cfg!(debug_assertions) { 24 << 10 } else { 6 << 10 };
const OPERATOR: usize = if cfg!(debug_assertions) { 6 << 10 } else { 1 << 10 };

/// Reads the program with as much stack as it may need. The calling thread has `at_hand` bytes to spare; beyond that there has
/// to be another thread, which a confined process does not get.
pub(super) fn with_room_for<T: Send>(
    program: &str,
    at_hand: usize,
    read: impl FnOnce(&str) -> T + Send,
) -> Result<T, Excess> {
    let need = need(program);
    if need <= at_hand {
        return Ok(read(program));
    }
    if need > MOST {
        return Err(Excess);
    }
    thread::scope(|scope| {
        let reader = thread::Builder::new().name("dsh-erase".to_owned()).stack_size(need + AT_HAND);
        let reading = reader.spawn_scoped(scope, || read(program)).map_err(|_| Excess)?;
        reading.join().map_err(|_| Excess)
    })
}

/// An upper bound of the stack that reading takes.
fn need(program: &str) -> usize {
    let scan = Scan::of(program);
    scan.deepest.saturating_mul(BRACKET).saturating_add(scan.operators.saturating_mul(OPERATOR))
}

/// What was counted.
#[derive(Default)]
struct Scan {
    /// The most brackets that may be open at once.
    deepest: usize,
    /// Operators, and words that take a statement or an operand.
    operators: usize,
}

/// Where a place in the text lies.
#[derive(Clone, Copy, PartialEq)]
enum In {
    Code,
    /// In code behind a `/`, which may be the start of a pattern, up to the end of the line.
    Doubt,
    Quotes(u8),
    Template,
}

impl Scan {
    /// Counts brackets and operators outside of texts and comments. Where it can't be known what is outside, everything is
    /// counted, and nothing is taken off.
    fn of(program: &str) -> Self {
        let (bytes, mut scan, mut place) = (program.as_bytes(), Self::default(), In::Code);
        // Braces that are open in each `${…}` that is open.
        let mut inserts: Vec<usize> = Vec::new();
        let (mut depth, mut certain, mut at) = (0_usize, true, 0);
        // The last byte that is no space.
        let mut before = b';';
        while let Some(byte) = bytes.get(at).copied() {
            let next = bytes.get(at + 1).copied();
            match (place, byte) {
                (In::Quotes(_) | In::Template, b'\\') => at += 1,
                (In::Quotes(quote), byte) => {
                    if byte == quote || byte == b'\n' {
                        place = In::Code;
                    }
                }
                (In::Template, b'$') if next == Some(b'{') => {
                    depth += 1;
                    inserts.push(0);
                    place = In::Code;
                    at += 1;
                }
                (In::Template, b'`') | (In::Doubt, b'\n') => place = In::Code,
                (In::Doubt, b'`' | b'\\') => certain = false,
                (In::Doubt, b'/') if next == Some(b'*') => certain = false,
                (In::Code, b'"' | b'\'') if certain => place = In::Quotes(byte),
                (In::Code, b'`') if certain => place = In::Template,
                (In::Code, b'/') if certain && next == Some(b'/') => at = end_of(bytes, at, b"\n"),
                (In::Code, b'/') if certain && next == Some(b'*') => at = end_of(bytes, at + 2, b"*/"),
                (In::Code, b'/') => {
                    scan.operators += 1;
                    place = In::Doubt;
                }
                (In::Code | In::Doubt, b'(' | b'[' | b'{') => {
                    depth += 1;
                    // Calls and members one behind the other nest to the left.
                    scan.operators += usize::from(ends_operand(before));
                    if byte == b'{'
                        && let Some(open) = inserts.last_mut()
                    {
                        *open += 1;
                    }
                }
                (In::Code, b'}') if certain && inserts.last() == Some(&0) => {
                    inserts.pop();
                    depth = depth.saturating_sub(1);
                    place = In::Template;
                }
                (In::Code, b')' | b']' | b'}') if certain => {
                    depth = depth.saturating_sub(1);
                    if byte == b'}'
                        && let Some(open) = inserts.last_mut()
                    {
                        *open -= 1;
                    }
                }
                (In::Template, _) | (In::Code | In::Doubt, b',' | b';' | b')' | b']' | b'}') => {}
                (In::Code | In::Doubt, b'<') => {
                    // It may be a bracket.
                    depth += 1;
                    scan.operators += 1;
                }
                // A label, which may have a label behind it. The colon of `?:` is counted with its question mark.
                (In::Code | In::Doubt, b':') => scan.operators += usize::from(ends_operand(before)),
                (In::Code | In::Doubt, byte) if byte.is_ascii_punctuation() => scan.operators += 1,
                (In::Code | In::Doubt, byte) if byte.is_ascii_whitespace() => {
                    // A word may be an operator.
                    scan.operators += usize::from(next.is_some_and(|next| next.is_ascii_alphabetic()));
                }
                (In::Code | In::Doubt, _) => {}
            }
            if !byte.is_ascii_whitespace() {
                before = byte;
            }
            scan.deepest = scan.deepest.max(depth);
            at += 1;
        }
        scan
    }
}

/// Whether what follows may go on with what ends so.
fn ends_operand(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b')' | b']' | b'}' | b'`' | 0x80..)
}

/// The last place of a comment that starts at `from`.
fn end_of(bytes: &[u8], from: usize, end: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let found = rest.windows(end.len()).position(|window| window == end);
    found.map_or(bytes.len(), |at| from + at + end.len() - 1)
}
