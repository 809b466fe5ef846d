//! Every text file: line ends, and nothing that holds on one machine only.

use crate::report::Finding;
use crate::tree::Tree;

/// In pieces, so that this file keeps its own rule.
const MACHINE_PATHS: &[&str] =
    &[concat!("/", "work", "/"), concat!("/", "root", "/"), concat!("/", "tmp/plan")];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let at = |line, problem: &str, remedy: &str| Finding::new(&file.path, problem, remedy).at(line);
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            findings.push(at(file.text.lines().count(), "the last line does not end", "add a final newline"));
        }
        for (number, line) in (1..).zip(file.text.split('\n')) {
            if line.ends_with('\r') {
                findings.push(at(number, "a line ends in CR LF", "end lines with LF alone"));
            }
            for machine in MACHINE_PATHS {
                if names_path(line, machine) {
                    let problem = format!("names `{machine}`, a path of one machine");
                    findings.push(at(
                        number,
                        &problem,
                        "say it relative to the repository, or use another example",
                    ));
                }
            }
        }
    }
    findings
}

/// Whether an absolute path in `line` starts with `machine`; a longer path that contains it does not count.
fn names_path(line: &str, machine: &str) -> bool {
    line.match_indices(machine).any(|(at, _)| {
        !line.get(..at).and_then(|before| before.chars().next_back()).is_some_and(|before| {
            before.is_alphanumeric() || matches!(before, '_' | '-' | '.' | '}' | ')' | '>' | '*')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{MACHINE_PATHS, names_path};

    #[test]
    fn only_a_path_that_starts_there_counts() {
        let work = MACHINE_PATHS[0];
        for (line, expected) in [
            (format!("cd {work}main"), true),
            (format!("\"{work}x\""), true),
            (format!("src{work}x"), false),
            (format!("{{root}}{work}x"), false),
            ("/workspace/x".to_owned(), false),
        ] {
            assert_eq!(names_path(&line, work), expected, "{line}");
        }
    }
}
