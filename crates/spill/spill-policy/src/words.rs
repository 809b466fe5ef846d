//! What the model reads between and behind the parts of a text.

use dsh_spill::SpillRef;

/// What is left out of the middle of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) bytes: usize,
    /// The lines that are left out as a whole or in part.
    pub(crate) lines: usize,
    /// Whether they are left out as a whole.
    pub(crate) whole_lines: bool,
}

/// The line between head and tail, without its end.
pub(crate) fn elision(gap: Gap) -> String {
    let Gap { bytes, lines, whole_lines } = gap;
    let bytes = counted(bytes, "byte");
    if whole_lines {
        format!("[... {bytes} left out: {} ...]", counted(lines, "whole line"))
    } else {
        format!("[... {bytes} left out, within {} ...]", counted(lines, "line"))
    }
}

/// The most that an elision of a text of so many bytes can take.
pub(crate) fn longest_elision(total: usize) -> usize {
    // No text has more lines than bytes, and no other number is written with more digits.
    let gap = |whole_lines| Gap { bytes: total, lines: total, whole_lines };
    elision(gap(true)).len().max(elision(gap(false)).len())
}

/// The last line: how much is not shown, where the whole is, and how it is read. What a tool gave may itself be a part of
/// something, so that "the whole" is that of the result and of nothing else.
pub(crate) fn notice(omitted: usize, total: usize, stored: &SpillRef) -> String {
    let (locator, hint) = (stored.locator.as_str(), one_line(&stored.retrieval_hint));
    let space = if hint.is_empty() { "" } else { " " };
    format!(
        "({omitted} of {total} bytes are not shown. The whole result of the tool is stored at {locator}.{space}{hint})"
    )
}

/// Words between single spaces.
fn one_line(hint: &str) -> String {
    hint.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use dsh_spill::SpillLocator;

    use super::*;

    #[test]
    fn a_notice_is_one_line_with_or_without_a_hint() {
        let stored = |hint: &str| SpillRef {
            locator: SpillLocator::new("mem:1"),
            bytes: 20,
            retrieval_hint: hint.into(),
        };
        insta::assert_snapshot!(notice(9, 20, &stored("Ask\n  for it.\u{1b} ")), @"(9 of 20 bytes are not shown. The whole result of the tool is stored at mem:1. Ask for it.)");
        insta::assert_snapshot!(notice(9, 20, &stored("")), @"(9 of 20 bytes are not shown. The whole result of the tool is stored at mem:1.)");
    }

    #[test]
    fn no_elision_is_longer_than_the_longest() {
        for total in [1, 2, 9, 10, 11, 99, 100, 12_345] {
            for whole_lines in [false, true] {
                for bytes in [1, total / 2, total].map(|bytes| bytes.max(1)) {
                    for lines in [1, bytes / 2, bytes].map(|lines| lines.max(1)) {
                        let line = elision(Gap { bytes, lines, whole_lines });
                        assert!(line.len() <= longest_elision(total), "{total}: {line}");
                    }
                }
            }
        }
    }
}
