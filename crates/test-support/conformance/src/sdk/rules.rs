//! Where we decide otherwise about declarations.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use dsh_json::{Json, Object, object};

use super::asked::{Asked, asked, doubled, hoisted};
use super::said::{agrees, said};
use crate::file::Vector;
use crate::schema::{DEPTH, WHOLE_TEXT, WIDTH};
use crate::{Fault, Rule};

pub(super) const RULES: [Rule; 7] = [WHOLE_TEXT, WIDTH, DEPTH, ONCE, EXACT, ORDER, COMMENT];

const ONCE: Rule = Rule {
    name: "a name is declared once",
    reason: "two tools of one name are refused, since a program could reach only one of them (spec 05 §5)",
    expected: |vector| {
        let names = vector.input.get("tools").and_then(Json::as_array).unwrap_or_default();
        let mut seen = HashSet::new();
        let all_new =
            names.iter().filter_map(|tool| tool.get("name")?.as_str()).all(|name| seen.insert(name));
        Ok((!all_new).then(|| object! { "refused": "SDK_DUPLICATE_TOOL" }))
    },
};

const EXACT: Rule = Rule {
    name: "integers are exact",
    reason: "64 bits are kept, where JavaScript takes the nearest double (design §5)",
    expected: |vector| explained(vector, doubled),
};

const ORDER: Rule = Rule {
    name: "keys stay where they are",
    reason: "objects keep the order of insertion, where JavaScript puts keys like integers first (design §5)",
    expected: |vector| explained(vector, hoisted),
};

const COMMENT: Rule = Rule {
    name: "a comment is nothing but a comment",
    reason: "in both languages, control characters and overrides of text direction are written out, and words that a checker \
             obeys are not left at its beginning (spec 05 §10, 7)",
    expected: |vector| {
        let ours = commented(&vector.output);
        Ok((ours != vector.output).then_some(ours))
    },
};

/// What we render, where the way in which JavaScript reads the input, and nothing else, explains what was recorded.
fn explained(vector: &Vector, read: fn(&Json) -> Json) -> Result<Option<Json>, Fault> {
    let asked = asked(vector)?;
    if asked.changed_by(read).is_none() {
        return Ok(None);
    }
    let by_javascript: Asked =
        asked.changed_by(|value| hoisted(&doubled(value))).unwrap_or_else(|| asked.clone());
    let theirs = said(&vector.kind, &by_javascript)?;
    if agrees(&theirs, &commented(&vector.output)) { said(&vector.kind, &asked).map(Some) } else { Ok(None) }
}

/// Recorded text with the comments as we write them.
fn commented(recorded: &Json) -> Json {
    match recorded {
        Json::Null | Json::Bool(_) | Json::Number(_) => recorded.clone(),
        Json::String(text) => text.split('\n').map(commented_line).collect::<Vec<_>>().join("\n").into(),
        Json::Array(items) => items.iter().map(commented).collect(),
        Json::Object(members) => {
            members.iter().map(|(key, value)| (Arc::clone(key), commented(value))).collect::<Object>().into()
        }
    }
}

fn commented_line(line: &str) -> String {
    let code = line.trim_start();
    let escape = if code.starts_with("/** ") || code.starts_with("# ") && !code.starts_with("# tools[") {
        "\\"
    } else if code.starts_with("\"\"\"") {
        "\\\\"
    } else {
        return line.to_owned();
    };
    let shown = line.chars().fold(String::new(), |mut shown, c| {
        // Writing into a `String` can't fail.
        let _ = match c {
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => write!(shown, "{escape}x{:02x}", u32::from(c)),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                write!(shown, "{escape}u{:04x}", u32::from(c))
            }
            c => write!(shown, "{c}"),
        };
        shown
    });
    let said = code.trim_start_matches(['#', ' ']);
    if code.starts_with('#') && ["type:", "mypy:", "pyright:"].iter().any(|word| said.starts_with(word)) {
        return shown.replacen('#', "#:", 1);
    }
    shown.replacen("/** @ts-", "/** \\@ts-", 1)
}
