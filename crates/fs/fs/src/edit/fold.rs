//! Looking past what no reader sees: blanks at the ends of lines, and the characters of typesetting.

use std::ops::Range;

use memchr::memmem::Finder;

use super::{Places, Tolerance};

/// Where `old` occurs when such differences don't count; `None` when it does not, or when it has nothing but blanks.
pub(super) fn places(plain: &str, old: &str) -> Option<Places> {
    let needle: String = folded(old).map(|(_, char)| char).collect();
    if needle.trim().is_empty() {
        return None;
    }
    let hay: String = folded(plain).map(|(_, char)| char).collect();
    // Blanks at the very end of the old text were the end of a line, or are not to be looked past.
    let ends_line = old.ends_with(is_blank);
    let fits = |at: &usize| !ends_line || matches!(hay.as_bytes().get(at + needle.len()), None | Some(b'\n'));
    let starts: Vec<usize> = Finder::new(&needle).find_iter(hay.as_bytes()).filter(fits).take(1000).collect();
    let mut places = Places { first: 0..0, count: 0, starts: Vec::new() };
    let (mut seen, mut begun, mut ahead) = (0, None, starts.iter().peekable());
    for (offset, char) in folded(plain) {
        let Some(at) = ahead.peek() else { break };
        if seen == **at {
            begun = Some(offset);
        }
        seen += char.len_utf8();
        if let Some(start) = begun.filter(|_| seen == **at + needle.len()) {
            places.add(start..end(plain, offset, ends_line));
            begun = None;
            ahead.next();
        }
    }
    (places.count > 0).then_some(places)
}

/// The end of a place whose last character stands at `offset`.
fn end(plain: &str, offset: usize, with_blanks: bool) -> usize {
    let rest = plain.get(offset..).unwrap_or_default();
    let last = rest.chars().next().map_or(0, char::len_utf8);
    let after = rest.get(last..).unwrap_or_default();
    let blanks = if with_blanks { after.len() - after.trim_start_matches(is_blank).len() } else { 0 };
    offset + last + blanks
}

/// What had to be looked past at this place.
pub(super) fn differences(plain: &str, old: &str, place: &Range<usize>) -> Tolerance {
    let found = plain.get(place.clone()).unwrap_or_default();
    let typeset = |text: &str| text.chars().map(keyboard).collect::<String>();
    let trimmed = |text: &str| -> Vec<String> {
        text.split('\n').map(|line| line.trim_end_matches(is_blank).to_owned()).collect()
    };
    let trailing_blanks = typeset(found) != typeset(old);
    let typography = trimmed(found) != trimmed(old);
    Tolerance { line_numbers: false, trailing_blanks, typography }
}

/// The characters of a text with their places: those of a keyboard, without blanks at the ends of lines.
fn folded(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut at = 0;
    text.split_inclusive('\n').flat_map(move |line| {
        let start = at;
        at += line.len();
        let body = line.strip_suffix('\n').unwrap_or(line);
        let line_break = (body.len() < line.len()).then_some((start + body.len(), '\n'));
        let shown = body.trim_end_matches(is_blank);
        shown.char_indices().map(move |(at, char)| (start + at, keyboard(char))).chain(line_break)
    })
}

pub(super) fn is_blank(char: char) -> bool {
    matches!(keyboard(char), ' ' | '\t')
}

/// The character of a keyboard that looks like this one.
pub(super) fn keyboard(char: char) -> char {
    match char {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}
