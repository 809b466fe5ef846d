//! What was left out, in words.

use std::fmt;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `items`
    Items,
    /// `bytes`
    Bytes,
    /// `chars`
    Chars,
    /// `lines`
    Lines,
}

/// How much was left out by a budget. That a source was incomplete is another matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omission {
    /// Nothing.
    Nothing,
    /// So much.
    Exactly(u64, Unit),
    /// Something, and nobody counted it.
    Some(Unit),
}

impl Omission {
    /// So much, or nothing.
    pub fn of(count: u64, unit: Unit) -> Self {
        if count == 0 { Self::Nothing } else { Self::Exactly(count, unit) }
    }

    /// The clause, with advice behind it; a half that is empty is left out.
    pub fn notice(self, advice: &str) -> String {
        let clause = self.to_string();
        let between = if clause.is_empty() || advice.is_empty() { "" } else { " " };
        format!("{clause}{between}{advice}")
    }
}

impl fmt::Display for Omission {
    /// A clause such as `12 lines omitted`; nothing for nothing, and no number where there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Exactly(1, unit) => write!(f, "1 {} omitted", unit.name().trim_end_matches('s')),
            Self::Exactly(count, unit) => write!(f, "{count} {} omitted", unit.name()),
            Self::Some(unit) => write!(f, "some {} omitted", unit.name()),
        }
    }
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Bytes => "bytes",
            Self::Chars => "chars",
            Self::Lines => "lines",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_where_there_is_one_and_no_words_for_nothing() {
        assert_eq!(Omission::of(12, Unit::Lines).to_string(), "12 lines omitted");
        assert_eq!(Omission::of(1, Unit::Bytes).to_string(), "1 byte omitted");
        assert_eq!(Omission::Some(Unit::Chars).to_string(), "some chars omitted");
        assert_eq!(Omission::of(0, Unit::Items).to_string(), "");
        assert_eq!(Omission::of(2, Unit::Items).notice("Ask again."), "2 items omitted Ask again.");
        assert_eq!(Omission::Nothing.notice("Ask again."), "Ask again.");
        assert_eq!(Omission::of(2, Unit::Items).notice(""), "2 items omitted");
    }
}
