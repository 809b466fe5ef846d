//! Reads how many tests passed and failed from the summaries of cargo-nextest and of `cargo test`.

/// Tests that ran to an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) failed: usize,
}

impl Counts {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

/// What one stream has told so far.
#[derive(Default)]
pub(super) struct Tally {
    /// `cargo test` prints one summary for each binary.
    cargo: Counts,
    /// nextest prints one at the end; a failing test may print a line that looks like one before.
    nextest: Option<Counts>,
}

impl Tally {
    /// Takes one line into account.
    pub(super) fn read(&mut self, line: &str) {
        let line = without_colour(line);
        let line = line.trim();
        if let Some((_, rest)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) {
            self.cargo = self.cargo.plus(counts(rest, ';'));
        } else if line.starts_with("Summary [")
            && let Some((_, rest)) = line.split_once(" run: ")
        {
            self.nextest = Some(counts(rest, ','));
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.nextest.unwrap_or(self.cargo)
    }
}

/// `5 passed (1 slow), 2 failed, 1 timed out, 3 skipped`
fn counts(text: &str, separator: char) -> Counts {
    let mut counts = Counts::default();
    for part in without_remarks(text).split(separator) {
        let Some((number, what)) = part.trim().split_once(' ') else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        match what.trim() {
            "passed" => counts.passed += number,
            "failed" | "exec failed" | "timed out" => counts.failed += number,
            _ => {}
        }
    }
    counts
}

fn without_remarks(text: &str) -> String {
    let mut depth = 0_u32;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect()
}

fn without_colour(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{Counts, Tally};

    #[test]
    fn summaries_are_counted() {
        let rows: [(&[&str], usize, usize); 8] = [
            (&["     Summary [   0.015s] 3 tests run: 3 passed, 0 skipped"], 3, 0),
            (&["Summary [ 1.0s] 1 test run: 1 passed (1 slow), 2 skipped"], 1, 0),
            (
                &[
                    "Summary [ 1.0s] 5/9 tests run: 2 passed (1 slow, 1 flaky), 1 failed, 1 exec failed, 1 timed out",
                ],
                2,
                3,
            ),
            (
                &[
                    "\u{1b}[32;1m     Summary\u{1b}[0m [ 0.1s] \u{1b}[1m2\u{1b}[0m tests run: \u{1b}[1m2\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m skipped",
                ],
                2,
                0,
            ),
            (
                &[
                    "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s",
                    "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
                ],
                6,
                2,
            ),
            (
                &["Summary [ 9s] 99 tests run: 99 passed", "Summary [ 1s] 2 tests run: 1 passed, 1 failed"],
                1,
                1,
            ),
            (&["test result: ok. 7 passed; 0 failed", "Summary [ 1s] 2 tests run: 2 passed"], 2, 0),
            (&["error: could not compile"], 0, 0),
        ];
        for (lines, passed, failed) in rows {
            let mut tally = Tally::default();
            for line in lines {
                tally.read(line);
            }
            assert_eq!(tally.counts(), Counts { passed, failed }, "{lines:?}");
        }
    }
}
