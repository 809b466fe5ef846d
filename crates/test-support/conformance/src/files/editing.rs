//! Spec 07 §3.11 a second time, as naively as possible, in the original's way and in ours.

use std::ops::Range;

/// What an edit makes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edited {
    /// The text before and after, as the result shows them, and the new text of the file.
    Done { before: String, after: String, file: String },
    /// The code of the failure.
    Failed(&'static str),
}

const NOT_FOUND: Edited = Edited::Failed("FS_EDIT_NOT_FOUND");
const AMBIGUOUS: Edited = Edited::Failed("FS_AMBIGUOUS_EDIT");

const BOM: char = '\u{feff}';

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) all: bool,
}

/// The original: the file is rewritten without its mark, and with one kind of line breaks.
pub(super) fn theirs(text: &str, change: Change<'_>) -> Edited {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let (before, old, new) = (lf(text), lf(change.old), lf(change.new));
    let count = if old.is_empty() { 0 } else { before.matches(&old).count() };
    if count == 0 {
        return NOT_FOUND;
    }
    if count > 1 && !change.all {
        return AMBIGUOUS;
    }
    let after = before.replace(&old, &new);
    let head: String = text.chars().take(4096).collect();
    let marked = head.matches("\r\n").count();
    let bare = head.matches('\n').count() - marked;
    let file = if marked > bare { lf(&after).replace('\n', "\r\n") } else { after.clone() };
    Edited::Done { before, after, file }
}

/// Ours, where the old text stands there to the letter: what the change does not touch keeps its bytes (design §4, spec 07
/// §10.7).
pub(super) fn ours(text: &str, change: Change<'_>) -> Edited {
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    let before = characters(bare);
    let (old, new) = (lf(change.old), lf(change.new));
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let places = places(&before, &old);
    match places.len() {
        0 => return NOT_FOUND,
        1 => {}
        _ if change.all => {}
        _ => return AMBIGUOUS,
    }
    let lead = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let room = old.len().min(new.len()) - lead;
    let tail = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(old, new)| old == new).count();
    let put: Vec<char> = new.iter().copied().skip(lead).take(new.len() - lead - tail).collect();
    let (mut after, mut copied) = (Vec::new(), 0);
    for place in places {
        let core = place + lead..place + old.len() - tail;
        after.extend(before.get(copied..core.start).unwrap_or_default());
        let mut replaced = breaks(&before, core.clone());
        let nearest = breaks(&before, core.clone())
            .next_back()
            .or_else(|| breaks(&before, place..core.start).next_back())
            .or_else(|| breaks(&before, core.end..before.len()).next())
            .or_else(|| breaks(&before, 0..place).next_back())
            .unwrap_or_default();
        for char in &put {
            let marked = *char == '\n' && replaced.next().unwrap_or(nearest);
            after.push(Character { char: *char, marked });
        }
        copied = core.end;
    }
    after.extend(before.get(copied..).unwrap_or_default());
    let file = stored(&after);
    if file == bare {
        return NOT_FOUND;
    }
    let mark = if bare.len() < text.len() { BOM.to_string() } else { String::new() };
    Edited::Done { before: lf(bare), after: lf(&file), file: mark + &file }
}

/// A character of a text; a line break, whether it has a `\r` before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Character {
    char: char,
    marked: bool,
}

fn characters(text: &str) -> Vec<Character> {
    let mut characters = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let marked = char == '\r' && chars.next_if_eq(&'\n').is_some();
        characters.push(Character { char: if marked { '\n' } else { char }, marked });
    }
    characters
}

fn stored(characters: &[Character]) -> String {
    let written = characters
        .iter()
        .flat_map(|character| character.marked.then_some('\r').into_iter().chain([character.char]));
    written.collect()
}

/// The line breaks in a part of a text: whether each is marked.
fn breaks(text: &[Character], part: Range<usize>) -> impl DoubleEndedIterator<Item = bool> {
    let part = text.get(part).unwrap_or_default();
    part.iter().filter(|character| character.char == '\n').map(|character| character.marked)
}

/// Where a text occurs in another, from left to right, without overlap.
fn places(text: &[Character], old: &[char]) -> Vec<usize> {
    let (mut places, mut at) = (Vec::new(), 0);
    while let Some(window) = text.get(at..at + old.len()).filter(|_| !old.is_empty()) {
        let is_here = window.iter().map(|character| &character.char).eq(old);
        if is_here {
            places.push(at);
        }
        at += if is_here { old.len() } else { 1 };
    }
    places
}

/// What ours makes of an edit whose old text does not stand there to the letter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LookedPast {
    /// It is found once: the text before, and the one after without what was looked past.
    Once { before: String, after: String },
    /// It is found more often.
    Often,
}

/// Looks past blanks at the ends of lines, typesetting, and line numbers.
pub(super) fn looked_past(text: &str, change: Change<'_>) -> Option<LookedPast> {
    let before = lf(text.strip_prefix(BOM).unwrap_or(text));
    let (old, new) = (lf(change.old), lf(change.new));
    in_folded(&before, &old, &new).or_else(|| {
        let (old_lines, new_lines) = (numbered(&old), numbered(&new));
        let all = |lines: &[(u64, &str)], text: &str| lines.len() == text.split_inclusive('\n').count();
        let in_order = old_lines.iter().zip(old_lines.iter().skip(1)).all(|(one, next)| one.0 + 1 == next.0);
        let joined = |lines: &[(u64, &str)]| lines.iter().map(|(_, text)| *text).collect::<String>();
        let new_text = match new_lines.len() {
            0 => new.clone(),
            _ if all(&new_lines, &new) => joined(&new_lines),
            _ => return None,
        };
        let is_numbered = !old_lines.is_empty() && all(&old_lines, &old) && in_order;
        if is_numbered { in_folded(&before, &joined(&old_lines), &new_text) } else { None }
    })
}

/// The folded text after the change, when the old text is in it.
fn in_folded(before: &str, old: &str, new: &str) -> Option<LookedPast> {
    let (hay, needle) = (folded(before), folded(old));
    if needle.trim().is_empty() {
        return None;
    }
    let ends_line = old.ends_with([' ', '\t']);
    let rest = |at: usize| hay.get(at + needle.len()..).unwrap_or_default();
    let fits = |at: &usize| !ends_line || rest(*at).is_empty() || rest(*at).starts_with('\n');
    let places: Vec<usize> = hay.match_indices(&needle).map(|(at, _)| at).filter(fits).collect();
    match places.as_slice() {
        [] => None,
        [at] => {
            let after = folded(&format!("{}{new}{}", hay.get(..*at).unwrap_or_default(), rest(*at)));
            Some(LookedPast::Once { before: before.to_owned(), after })
        }
        _ => Some(LookedPast::Often),
    }
}

/// A text without blanks at the ends of its lines, and with the characters of a keyboard.
pub(super) fn folded(text: &str) -> String {
    let keyboard = |char| match char {
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    };
    let typed: String = text.chars().map(keyboard).collect();
    typed.split('\n').map(|line| line.trim_end_matches([' ', '\t'])).collect::<Vec<_>>().join("\n")
}

fn numbered(text: &str) -> Vec<(u64, &str)> {
    text.split_inclusive('\n').filter_map(unnumbered).collect()
}

/// A line that begins with a number, as `read` shows lines: the number, and the line.
fn unnumbered(line: &str) -> Option<(u64, &str)> {
    let (number, text) = line.trim_start_matches(' ').split_once(':')?;
    let number = number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))?;
    match text.strip_prefix(' ') {
        Some(text) => Some((number, text)),
        None if text.trim().is_empty() => Some((number, text)),
        None => None,
    }
}

/// Text in UTF-16, and how its units are stored.
pub(super) struct Utf16 {
    pub(super) text: String,
    to: fn(u16) -> [u8; 2],
}

/// UTF-16 text that says so by its mark.
pub(super) fn utf16(bytes: &[u8]) -> Option<Utf16> {
    let is_little = match bytes {
        [0xff, 0xfe, 0, 0, ..] => return None,
        [0xff, 0xfe, ..] => true,
        [0xfe, 0xff, ..] => false,
        _ => return None,
    };
    let from = if is_little { u16::from_le_bytes } else { u16::from_be_bytes };
    let to = if is_little { u16::to_le_bytes } else { u16::to_be_bytes };
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().skip(1).map(|pair| from(*pair)).collect();
    let text = String::from_utf16(&units).ok().filter(|text| rest.is_empty() && !text.contains('\0'))?;
    Some(Utf16 { text, to })
}

impl Utf16 {
    /// Another text, stored like this one.
    pub(super) fn store(&self, text: &str) -> Vec<u8> {
        format!("{BOM}{text}").encode_utf16().flat_map(self.to).collect()
    }
}

fn lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}
