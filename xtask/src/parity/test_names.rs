//! The tests of the workspace, by name, as far as their sources tell.

use std::collections::BTreeSet;

use crate::tree::Tree;

/// Every test as `package::module::path::function`. For a test binary the path starts with the binary's name.
pub(super) fn all(tree: &Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (file, source) in tree.sources() {
        let Some((member, inside)) = tree.crate_of(&file.path) else { continue };
        let Some(modules) = modules_of(inside) else { continue };
        for test in tests_in(&source.code) {
            names.insert(
                std::iter::once(member.name.as_str())
                    .chain(modules.clone())
                    .chain([&*test])
                    .collect::<Vec<_>>()
                    .join("::"),
            );
        }
    }
    names
}

/// The modules that a file of a package stands for.
fn modules_of(inside: &str) -> Option<Vec<&str>> {
    let mut parts: Vec<&str> = inside.strip_suffix(".rs")?.split('/').collect();
    if !matches!(parts.remove(0), "src" | "tests") {
        return None;
    }
    parts.pop_if(|last| matches!(*last, "lib" | "main"));
    Some(parts)
}

/// The test functions in a file, each with the modules that it stands in. `code` is free of comments and literals.
fn tests_in(code: &str) -> Vec<String> {
    let mut tests = Vec::new();
    let mut modules: Vec<(usize, &str)> = Vec::new();
    let (mut depth, mut opening, mut marked) = (0_usize, None, false);
    let mut words = words(code).peekable();
    while let Some(word) = words.next() {
        match word {
            "{" => {
                depth += 1;
                modules.extend(opening.take().map(|name| (depth, name)));
            }
            "}" => {
                modules.pop_if(|(opened, _)| *opened == depth);
                depth = depth.saturating_sub(1);
            }
            ";" => opening = None,
            "mod" => opening = words.peek().copied(),
            // `#[test]`, `#[tokio::test(…)]`
            "[" | ":" if words.peek() == Some(&"test") => {
                words.next();
                marked = matches!(words.peek(), Some(&("]" | "(")));
            }
            "fn" if std::mem::take(&mut marked) => {
                let path = modules.iter().map(|(_, name)| *name).chain(words.peek().copied());
                tests.push(path.collect::<Vec<_>>().join("::"));
            }
            _ => {}
        }
    }
    tests
}

/// Identifiers, and every other character by itself.
fn words(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, left) = rest.split_at(length.max(first.len_utf8()));
        rest = left;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::{modules_of, tests_in};

    #[test]
    fn a_test_is_named_by_its_modules() {
        let rows = [
            ("#[test]\nfn a() {}", "a"),
            ("#[tokio::test(start_paused = true)]\nasync fn a() {}", "a"),
            ("fn a() {}", ""),
            ("#[cfg(test)]\nfn a() {}", ""),
            ("#[cfg(test)]\nmod tests { fn x() {} #[test] fn a() {} }\n#[test]\nfn b() {}", "tests::a b"),
            ("mod out { mod inn { #[test] fn a() {} } #[test] fn b() {} }", "out::inn::a out::b"),
            ("mod tests;\nfn x() { #[test] fn a() {} }", "a"),
            ("proptest! { #[test] fn a(x in 0..9) { f(x) } #[test] fn b(y in 0..9) {} }", "a b"),
            ("#[test]\n#[should_panic]\nfn a() {}\nfn b() {}", "a"),
        ];
        for (code, expected) in rows {
            assert_eq!(tests_in(code).join(" "), expected, "{code}");
        }
    }

    #[test]
    fn a_file_stands_for_its_modules() {
        let rows = [
            ("src/lib.rs", Some("")),
            ("src/a/b.rs", Some("a::b")),
            ("tests/it/main.rs", Some("it")),
            ("tests/it/rows.rs", Some("it::rows")),
            ("benches/a.rs", None),
            ("build.rs", None),
        ];
        for (path, expected) in rows {
            assert_eq!(modules_of(path).map(|modules| modules.join("::")).as_deref(), expected, "{path}");
        }
    }
}
