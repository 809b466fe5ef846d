//! Rust files as a tree: names, form, and that none is forgotten.

use crate::report::Finding;
use crate::tree::Tree;

/// Names that say where something lies and not what it is.
const VAGUE: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc"];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.sources() {
        let Some((member, inside)) = tree.crate_of(&file.path) else { continue };
        let at =
            |line: usize, problem: String, remedy: &str| Finding::new(&file.path, problem, remedy).at(line);
        let parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();

        if parts.last() == Some(&"mod") {
            findings.push(at(
                0,
                "is a mod.rs".to_owned(),
                "name the file after the module: foo.rs beside foo/",
            ));
        }
        if let Some(vague) = parts.iter().find(|part| VAGUE.contains(part)) {
            findings.push(at(0, format!("is called `{vague}`"), "name the module after the one thing in it"));
        }
        for (number, line) in (1..).zip(source.code.lines()) {
            if let Some(vague) = VAGUE.iter().find(|vague| opens_module(line, vague)) {
                findings.push(at(
                    number,
                    format!("has a module `{vague}`"),
                    "name it after the one thing in it",
                ));
            }
        }
        if let ["tests", single] = parts.as_slice() {
            findings.push(at(
                0,
                format!("is a test binary of its own ({single})"),
                "a crate has one, tests/it/main.rs: move it there as a module",
            ));
        } else if let Some((parents, module)) = parents_of(&parts) {
            let declared = parents.iter().any(|parent| {
                tree.file(&format!("{}/{parent}.rs", member.folder))
                    .and_then(|file| file.source.as_ref())
                    .is_some_and(|source| source.code.lines().any(|line| declares_module(line, module)))
            });
            if !declared {
                findings.push(at(
                    0,
                    "is compiled by nobody".to_owned(),
                    &format!("declare `mod {module};` in {}.rs, or delete the file", parents.join(".rs or ")),
                ));
            }
        }
    }
    findings
}

/// The files that could declare the module in `parts`, and its name; none for the root of a target.
fn parents_of<'a>(parts: &[&'a str]) -> Option<(Vec<String>, &'a str)> {
    let (module, folder) = parts.split_last()?;
    let inside = folder.join("/");
    match folder {
        ["src"] if matches!(*module, "lib" | "main") => None,
        ["tests", _] if *module == "main" => None,
        ["src"] => Some((vec!["src/lib".to_owned(), "src/main".to_owned()], module)),
        ["tests", _] => Some((vec![format!("{inside}/main")], module)),
        ["src", "bin", ..] => None,
        ["src" | "tests", ..] => Some((vec![inside], module)),
        _ => None,
    }
}

fn opens_module(line: &str, name: &str) -> bool {
    declaration(line, name).is_some()
}

fn declares_module(line: &str, name: &str) -> bool {
    declaration(line, name).is_some_and(|rest| rest.starts_with(';'))
}

/// What follows `mod name` in a line of code.
fn declaration<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (before, rest) = line.split_once("mod ")?;
    let is_keyword = before.is_empty() || before.ends_with(' ');
    let rest = rest.trim_start().trim_start_matches("r#").strip_prefix(name)?.trim_start();
    (is_keyword && (rest.starts_with(';') || rest.starts_with('{'))).then_some(rest)
}
