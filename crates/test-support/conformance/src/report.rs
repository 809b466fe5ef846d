//! What a run came to.

use std::fmt;

use dsh_json::Json;

use crate::text::ecma;
use crate::{Fault, Rule};

/// So much of an output is shown on each side of the first difference.
const SHOWN: usize = 600;

/// What a run came to. `Display` is the whole report, and ends with `N passed, N failed`.
#[derive(Debug, Default)]
pub struct Report {
    /// How many vectors passed, of each kind that was run.
    pub passed: Vec<(&'static str, usize)>,
    /// The vectors and files that failed.
    pub failures: Vec<Failure>,
    /// What was not run, and why.
    pub skipped: Vec<(String, String)>,
    /// Each rule of the kinds that were run, and how many vectors it took.
    pub rules: Vec<(&'static Rule, usize)>,
}

/// One failure.
#[derive(Debug)]
pub struct Failure {
    /// The file.
    pub file: String,
    /// The vector, when it is not the file as a whole.
    pub id: Option<String>,
    /// What should have been, by the file or by the rule that is named.
    pub expected: String,
    /// What was.
    pub got: String,
    /// The rule that expected it.
    pub rule: Option<&'static str>,
}

/// What one vector came to.
pub(crate) struct Judged {
    pub(crate) rule: Option<&'static Rule>,
    /// Expected and got, where they differ.
    pub(crate) difference: Option<(String, String)>,
}

impl Report {
    /// Whether nothing failed.
    pub fn is_clean(&self) -> bool {
        self.failures.is_empty()
    }

    /// How many vectors passed.
    pub fn passed(&self) -> usize {
        self.passed.iter().map(|(_, passed)| passed).sum()
    }

    /// How many vectors the rule of this name took.
    pub fn taken_by(&self, rule: &str) -> usize {
        self.rules.iter().filter(|(known, _)| known.name == rule).map(|(_, taken)| taken).sum()
    }

    pub(crate) fn skip(&mut self, what: impl Into<String>, why: impl Into<String>) {
        let row = (what.into(), why.into());
        if !self.skipped.contains(&row) {
            self.skipped.push(row);
        }
    }

    /// A kind is run, and with it its rules.
    pub(crate) fn begin(&mut self, kind: &'static str, rules: &'static [Rule]) {
        if !self.passed.iter().any(|(known, _)| *known == kind) {
            self.passed.push((kind, 0));
        }
        for rule in rules {
            self.take(rule, 0);
        }
    }

    pub(crate) fn note(&mut self, kind: &str, file: &str, id: &str, judged: Judged) {
        if let Some(rule) = judged.rule {
            self.take(rule, 1);
        }
        match judged.difference {
            None => self
                .passed
                .iter_mut()
                .filter(|(known, _)| *known == kind)
                .for_each(|(_, passed)| *passed += 1),
            Some((expected, got)) => self.failures.push(Failure {
                file: file.to_owned(),
                id: Some(id.to_owned()),
                expected,
                got,
                rule: judged.rule.map(|rule| rule.name),
            }),
        }
    }

    pub(crate) fn fault(&mut self, file: &str, id: Option<&str>, fault: &Fault) {
        self.failures.push(Failure {
            file: file.to_owned(),
            id: id.map(str::to_owned),
            expected: if id.is_some() { "an output" } else { "a file of vectors" }.to_owned(),
            got: fault.to_string(),
            rule: None,
        });
    }

    /// Rules of one name are one rule, whichever kinds it holds for.
    fn take(&mut self, rule: &'static Rule, count: usize) {
        match self.rules.iter_mut().find(|(known, _)| known.name == rule.name) {
            Some((_, taken)) => *taken += count,
            None => self.rules.push((rule, count)),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            let rule = failure.rule.map(|rule| format!(" (rule: {rule})")).unwrap_or_default();
            writeln!(f, "FAILED {} {}{rule}", failure.file, failure.id.as_deref().unwrap_or("as a whole"))?;
            writeln!(f, "  expected: {}", failure.expected)?;
            writeln!(f, "  got:      {}", failure.got)?;
        }
        for (kind, passed) in &self.passed {
            writeln!(f, "{kind}: {passed} passed")?;
        }
        for (what, why) in &self.skipped {
            writeln!(f, "skipped: {what} ({why})")?;
        }
        for (rule, taken) in &self.rules {
            writeln!(f, "rule: {} took {taken} ({})", rule.name, rule.reason)?;
        }
        writeln!(f, "{} passed, {} failed", self.passed(), self.failures.len())
    }
}

/// Both sides where they differ, shortened around the first difference.
pub(crate) fn difference(expected: &Json, got: &Json) -> (String, String) {
    let (expected, got) = (ecma(expected), ecma(got));
    let same = expected.bytes().zip(got.bytes()).take_while(|(one, other)| one == other).count();
    (excerpt(&expected, same), excerpt(&got, same))
}

fn excerpt(text: &str, at: usize) -> String {
    let start = text.floor_char_boundary(at.saturating_sub(SHOWN));
    let end = text.floor_char_boundary(at.saturating_add(SHOWN).min(text.len()));
    let middle = text.get(start..end).unwrap_or_default();
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    format!("{before}{middle}{after}")
}
