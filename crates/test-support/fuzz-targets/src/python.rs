//! Declarations in Python, read as far as a reader without a grammar can: texts and brackets end where they should, and
//! every line is of a form that the frame has.

use dsh_tool_sdk::Binding;

/// What a line of the module begins with.
const MODULE: [&str; 3] = ["from typing import ", "class ", "tools: Tools"];

/// Panics unless the declarations have the form of a module with classes.
pub(crate) fn declares(text: &str, tools: &[Binding]) {
    assert!(!text.chars().any(|c| c < ' ' && c != '\n'), "{text:?}");
    for line in text.lines() {
        let begins = MODULE.iter().any(|start| line.starts_with(start));
        assert!(line.is_empty() || line.starts_with("    ") || begins, "{line:?} in\n{text}");
        closed(line, text);
    }
    assert_eq!(text.lines().filter(|line| *line == "tools: Tools").count(), 1, "{text}");
    let methods = text.lines().filter(|line| line.starts_with("    async def ")).count();
    let others = text.lines().filter(|line| line.starts_with("    # tools[")).count();
    // A description of a field may look like the latter.
    assert!(methods <= tools.len() && methods + others >= tools.len(), "{text}");
}

/// Panics unless every text and bracket that begins in the line ends in it.
fn closed(line: &str, text: &str) {
    let mut open = Vec::new();
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
        match next {
            '#' => return assert!(open.is_empty(), "{line:?} in\n{text}"),
            '"' => {
                let quotes = if let Some(inner) = rest.strip_prefix("\"\"") {
                    rest = inner;
                    "\"\"\""
                } else {
                    "\""
                };
                rest = behind(rest, quotes)
                    .unwrap_or_else(|| panic!("a text does not end: {line:?} in\n{text}"));
            }
            '(' | '[' | '{' => open.push(next),
            ')' | ']' | '}' => {
                let opening = open.pop().unwrap_or_default();
                assert!(
                    matches!((opening, next), ('(', ')') | ('[', ']') | ('{', '}')),
                    "{line:?} in\n{text}"
                );
            }
            '\'' | '\\' | ';' => panic!("{next:?} outside of a text: {line:?} in\n{text}"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{line:?} in\n{text}");
}

/// What stands behind the end of a text.
fn behind<'t>(mut rest: &'t str, quotes: &str) -> Option<&'t str> {
    loop {
        if let Some(behind) = rest.strip_prefix(quotes) {
            return Some(behind);
        }
        let mut chars = rest.chars();
        if chars.next()? == '\\' {
            chars.next()?;
        }
        rest = chars.as_str();
    }
}
