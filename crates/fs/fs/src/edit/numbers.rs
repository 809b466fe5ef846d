//! Line numbers as `read` puts them before each line, pasted where the text alone was meant.

use std::borrow::Cow;

/// The old and the new text without the numbers.
pub(super) struct Pasted<'a> {
    pub(super) old: String,
    pub(super) new: Cow<'a, str>,
}

/// Takes the numbers away, if every line of the old text has one, each one more than the last. The new text must have
/// them before all of its lines or before none: else nobody can tell what was meant.
pub(super) fn strip<'a>(old: &str, new: &Cow<'a, str>) -> Option<Pasted<'a>> {
    if !all_carry(old) {
        return None;
    }
    let carrying = new.split_inclusive('\n').filter(|line| split(line).is_some()).count();
    let new = match carrying {
        0 => new.clone(),
        some if some == new.split_inclusive('\n').count() => Cow::Owned(without(new)),
        _ => return None,
    };
    Some(Pasted { old: without(old), new })
}

/// The text without the numbers before those lines that have one.
pub(super) fn without(text: &str) -> String {
    text.split_inclusive('\n').map(|line| split(line).map_or(line, |(_, text)| text)).collect()
}

/// Whether every line has a number, each one more than the last.
pub(super) fn all_carry(text: &str) -> bool {
    let mut last = None;
    for line in text.split_inclusive('\n') {
        let Some((number, _)) = split(line) else { return false };
        if last.is_some_and(|last: u64| last.checked_add(1) != Some(number)) {
            return false;
        }
        last = Some(number);
    }
    last.is_some()
}

/// `  12: text` in its number and its text. An empty line may have lost the space after the colon.
fn split(line: &str) -> Option<(u64, &str)> {
    let (number, text) = line.trim_start_matches(' ').split_once(':')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| digits)?;
    match text.strip_prefix(' ') {
        Some(text) => Some((number, text)),
        None if matches!(text, "" | "\n") => Some((number, text)),
        None => None,
    }
}
