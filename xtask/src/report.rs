//! What a gate found, and how it says so.

use std::fmt;

/// How a task ended; a task that could not do its work is an error instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
}

impl Verdict {
    pub(crate) fn of(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }

    pub(crate) fn passed(self) -> bool {
        self == Self::Passed
    }
}

/// One broken rule: where, what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    place: String,
    line: usize,
    problem: String,
    remedy: String,
}

impl Finding {
    /// About a file or a crate as a whole.
    pub(crate) fn new(
        place: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), line: 0, problem: problem.into(), remedy: remedy.into() }
    }

    /// About one line, counted from 1; 0 means the whole file.
    pub(crate) fn at(self, line: usize) -> Self {
        Self { line, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}: {}", self.place, self.problem, self.remedy),
            line => write!(f, "{}:{line}: {}: {}", self.place, self.problem, self.remedy),
        }
    }
}

/// Prints the findings in order of place, then one line that sums them up.
pub(crate) fn conclude(task: &str, looked_at: &str, mut findings: Vec<Finding>) -> Verdict {
    findings.sort();
    findings.dedup();
    for finding in &findings {
        eprintln!("{finding}");
    }
    match findings.len() {
        0 => println!("{task}: ok ({looked_at})"),
        1 => eprintln!("{task}: 1 finding ({looked_at})"),
        count => eprintln!("{task}: {count} findings ({looked_at})"),
    }
    Verdict::of(findings.is_empty())
}
