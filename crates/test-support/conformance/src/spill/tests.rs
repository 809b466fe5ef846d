//! Vectors of our own: each rule takes what it is for, and nothing is taken that no decision explains.

use dsh_json::Json;

use super::KIND;
use super::asked::Asked;
use super::rules::notice_bytes;
use crate::trial::{check, tried};

fn input(length: usize, cap: u64, more: &str) -> String {
    let given = r#""locator": "/s/é.txt", "hint": "Read on  there.""#;
    format!(
        r#"{{"parts": [{{"text": "é"}}, {{"text": "b\n", "repeat": {length}}}], "cap": {cap}, {given}{more}}}"#
    )
}

const BIG: &str = r#", "tool": "big", "blocks": 1, "agent": true"#;

#[test]
fn a_text_is_shown_in_part_when_it_is_too_large() {
    for (cap, more, spilled) in [
        (2_002, BIG, false),
        (2_001, BIG, true),
        (300, BIG, true),
        (300, r#", "tool": "big", "blocks": 7"#, true),
        (300, r#", "tool": "big", "blocks": 0"#, false),
        (300, r#", "tool": "read""#, false),
        (300, r#", "tool": "reader""#, true),
        (300, r#", "tool": "big", "agent": false"#, false),
    ] {
        let output = format!(r#"{{"text_bytes": 2002, "spilled": {spilled}}}"#);
        check(&[(&KIND, &input(1_000, cap, more), &output, None)]);
    }
    for (config, error) in [
        (r#"{"maxInlineBytes": 0}"#, false),
        ("{}", false),
        (r#"{"maxInlineBytes": -1}"#, true),
        (r#"{"maxInlineBytes": 1.5}"#, true),
    ] {
        let output = format!(r#"{{"config_error": {error}}}"#);
        check(&[(&KIND, &format!(r#"{{"config": {config}}}"#), &output, None)]);
    }
}

#[test]
fn each_decision_takes_what_it_is_about() {
    let (whole, part) =
        (r#"{"text_bytes": 2002, "spilled": false}"#, r#"{"text_bytes": 2002, "spilled": true}"#);
    let picture = r#", "tool": "big", "blocks": "image""#;
    check(&[
        (&KIND, &input(1_000, 300, picture), whole, Some("a picture exempts no text")),
        (&KIND, &input(1_000, 20, picture), whole, None),
        (&KIND, &input(1_000, 150, BIG), whole, Some("a notice has our own words")),
        (&KIND, &input(1_000, 20, BIG), part, Some("a notice has our own words")),
        (&KIND, &input(1_000, 20, BIG), whole, None),
    ]);
}

#[test]
fn the_rule_knows_the_size_of_a_notice_to_the_byte() {
    let asked = |cap| Asked::of(&Json::parse(&input(1_000, cap, BIG)).unwrap()).unwrap().unwrap();
    let exact = notice_bytes(&asked(0));
    for (cap, spilled) in [(exact - 1, false), (exact, true)] {
        let output = format!(r#"{{"text_bytes": 2002, "spilled": {spilled}}}"#);
        check(&[(&KIND, &input(1_000, cap, BIG), &output, None)]);
    }
}

#[test]
fn an_outcome_that_no_decision_explains_fails() {
    for (input, output) in [
        (input(1_000, 1_900, BIG), r#"{"text_bytes": 2002, "spilled": false}"#),
        (input(1_000, 2_002, BIG), r#"{"text_bytes": 2002, "spilled": true}"#),
        (input(1_000, 300, BIG), r#"{"text_bytes": 2001, "spilled": true}"#),
        (r#"{"config": {"maxInlineBytes": 1}}"#.to_owned(), r#"{"config_error": true}"#),
    ] {
        assert!(!tried(&KIND, &input, output).passes, "{input}");
    }
}

#[test]
fn a_malformed_vector_says_what_is_wrong() {
    for (input, expected) in [
        ("{}", "the vector has no `cap`"),
        (r#"{"cap": 1}"#, "the vector has no `parts`"),
        (r#"{"cap": -1, "parts": []}"#, "`cap` is -1, not a number of bytes"),
        (r#"{"cap": 1, "parts": [{"text": "a", "repeat": "b"}]}"#, "`repeat` is \"b\", not a count"),
    ] {
        let tried = tried(&KIND, input, "{}");
        assert!(!tried.passes && tried.said.starts_with(expected), "{input}: {}", tried.said);
    }
}
