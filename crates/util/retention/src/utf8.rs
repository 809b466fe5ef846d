//! Where characters begin and end in bytes that need not be text.

/// How much of a head is left when an unfinished character at its end is let go. What is no UTF-8 is left alone.
pub(crate) fn whole_end(head: &[u8]) -> usize {
    // A character has three continuation bytes at most.
    for (back, byte) in head.iter().rev().take(4).enumerate() {
        if is_continuation(*byte) {
            continue;
        }
        let there = back + 1;
        return if length(*byte) > there { head.len() - there } else { head.len() };
    }
    head.len()
}

/// How many bytes at the beginning of a tail belong to a character that began before it.
pub(crate) fn whole_start(tail: &[u8]) -> usize {
    tail.iter().take_while(|byte| is_continuation(**byte)).count()
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// The bytes of the character that begins with this one; 1 where none does.
fn length(lead: u8) -> usize {
    match lead {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    }
}
