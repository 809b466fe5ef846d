//! A change of a text as lines with a sign in front.

use std::sync::Arc;

use dsh_tools_core::FileDiff;
use similar::{ChangeTag, TextDiff};

/// Above it a change is shown as all of the old text and all of the new one.
const COMPARED_BYTES: usize = 256 << 10;

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Same,
    Added,
    Removed,
}

impl Sign {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Same => " ",
            Self::Added => "+",
            Self::Removed => "-",
        }
    }
}

/// The lines of a change, in order.
pub(crate) fn changed_lines(diff: &FileDiff) -> Vec<(Sign, Arc<str>)> {
    let FileDiff { old_text, new_text, .. } = diff;
    let all = |sign, text: &str| -> Vec<_> { text.lines().map(|line| (sign, line.into())).collect() };
    let Some(old_text) = old_text else { return all(Sign::Added, new_text) };
    if old_text.len() + new_text.len() > COMPARED_BYTES {
        return [all(Sign::Removed, old_text), all(Sign::Added, new_text)].concat();
    }
    let (old, new): (Vec<_>, Vec<_>) = (old_text.lines().collect(), new_text.lines().collect());
    let diff = TextDiff::from_slices(&old, &new);
    let sign = |tag| match tag {
        ChangeTag::Equal => Sign::Same,
        ChangeTag::Insert => Sign::Added,
        ChangeTag::Delete => Sign::Removed,
    };
    diff.iter_all_changes().map(|change| (sign(change.tag()), change.value().into())).collect()
}

/// How many lines were added and removed, in words.
pub(crate) fn counts(changes: &[Vec<(Sign, Arc<str>)>]) -> String {
    let count = |wanted| changes.iter().flatten().filter(|(sign, _)| *sign == wanted).count();
    format!("+{} −{}", count(Sign::Added), count(Sign::Removed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_line_by_line() {
        let check = |old: Option<&str>, new: &str, expected: &str| {
            let diff = FileDiff { path: "a".into(), old_text: old.map(Arc::from), new_text: new.into() };
            let lines = changed_lines(&diff);
            let text: Vec<String> =
                lines.iter().map(|(sign, line)| format!("{}{line}", sign.as_str())).collect();
            assert_eq!(text.join("|"), expected);
        };
        check(None, "", "");
        check(None, "a\nb\n", "+a|+b");
        check(Some("a\nb\nc"), "a\nx\nc", " a|-b|+x| c");
        check(Some("a"), "", "-a");
    }
}
