//! What a libFuzzer program prints, as far as the task repeats it.

use std::fmt;

/// Lines of a panic that are repeated.
const LINES: usize = 6;

/// What a program told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// Inputs that were run.
    pub(super) runs: u64,
    /// For each second.
    pub(super) pace: u64,
    /// Places in the code that were reached.
    pub(super) reached: u64,
    /// The file with the input that broke a promise.
    pub(super) find: Option<String>,
    /// What was said about it.
    pub(super) words: Vec<String>,
    /// Whether the program ended as it should.
    pub(super) ended: bool,
}

impl Told {
    pub(super) fn of(log: &str, succeeded: bool) -> Self {
        let mut told = Self { ended: succeeded, ..Self::default() };
        for line in log.lines() {
            let number = |name: &str| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok();
            if let Some(runs) = number("stat::number_of_executed_units:") {
                told.runs = runs;
            } else if let Some(pace) = number("stat::average_exec_per_sec:") {
                told.pace = pace;
            } else if let Some((_, rest)) = line.split_once(" cov: ") {
                told.reached =
                    rest.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(told.reached);
            } else if let Some((_, path)) = line.split_once("Test unit written to ") {
                let path = path.trim_start_matches("./").to_owned();
                // One that was only slow stops nothing.
                told.find = told.find.or((!path.contains("/slow-unit-")).then_some(path));
            }
        }
        let said = |line: &&str| line.contains(" panicked at ") || line.contains("ERROR: libFuzzer: ");
        let from = log.lines().position(|line| said(&line)).unwrap_or(usize::MAX);
        let words = log.lines().skip(from).take_while(|line| !line.starts_with("stack backtrace:"));
        told.words = words.take(LINES).map(str::to_owned).collect();
        told
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} runs, {} a second, {} places reached", self.runs, self.pace, self.reached)?;
        if let Some(find) = &self.find {
            write!(f, "; a find: {find}")?;
            for line in &self.words {
                write!(f, "\n  | {line}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Told;

    const CLEAN: &str = "INFO: Seed: 1
#2\tINITED cov: 10 ft: 11 corp: 1/1b exec/s: 0 rss: 40Mb
#4096\tpulse  cov: 1211 ft: 3075 corp: 214/5820b lim: 43 exec/s: 2048 rss: 61Mb
Slowest unit: 12 s:
artifact_prefix='target/fuzz/finds/json/'; Test unit written to target/fuzz/finds/json/slow-unit-0a
Done 4097 runs in 2 second(s)
stat::number_of_executed_units: 4097
stat::average_exec_per_sec:     2048
";

    #[test]
    fn a_run_without_a_find_is_counted() {
        let told = Told::of(CLEAN, true);
        assert_eq!(told.to_string(), "4097 runs, 2048 a second, 1211 places reached");
        assert!(told.ended && told.find.is_none());
        assert!(!Told::of(CLEAN, false).ended);
    }

    #[test]
    fn a_find_is_told_with_its_words_and_its_file() {
        let log = "#9\tNEW    cov: 7 ft: 9
thread '<unnamed>' panicked at src/json.rs:1:2:
no place
stack backtrace:
   0: x
==1== ERROR: libFuzzer: deadly signal
stat::number_of_executed_units: 9
artifact_prefix='finds/json/'; Test unit written to finds/json/crash-0b
";
        let told = Told::of(log, false).to_string();
        let expected = "9 runs, 0 a second, 7 places reached; a find: finds/json/crash-0b
  | thread '<unnamed>' panicked at src/json.rs:1:2:
  | no place";
        assert_eq!(told, expected);
    }
}
