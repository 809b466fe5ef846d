//! `grep` as a model and a program see it (spec 07 §7.3).

use std::fs;

use dsh_tools_core::{CallView, Kind, ResultView};
use insta::assert_snapshot;

use super::World;

const TREE: &[(&str, &str)] =
    &[("b.rs", "needle one\nhay\nneedle two\r\n"), ("a/x.rs", "  needle three"), ("a/y.md", "needle four")];

#[tokio::test]
async fn matches_are_grouped_by_file() {
    let world = World::new(TREE);
    assert_snapshot!(world.text("grep", r#"{"pattern": "needle"}"#).await, @r"
    Found 4 matches

    a/x.rs:
    Line 1:   needle three

    a/y.md:
    Line 1: needle four

    b.rs:
    Line 1: needle one
    Line 3: needle two
    ");
    assert_snapshot!(world.text("grep", r#"{"pattern": "needle", "include": "*.md"}"#).await, @r"
    Found 1 match

    a/y.md:
    Line 1: needle four
    ");
    assert_eq!(world.text("grep", r#"{"pattern": "needles"}"#).await, "No matches found");
}

#[tokio::test]
async fn too_many_matches_are_counted_and_too_long_lines_cut() {
    let world = World::with(r#"{"grepMaxMatches": 3, "grepMaxLineBytes": 9}"#, TREE);
    assert_snapshot!(world.text("grep", r#"{"pattern": "needle"}"#).await, @r"
    Found 3 of 4 matches

    a/x.rs:
    Line 1:   needle  [cut; the line has 14 bytes]

    a/y.md:
    Line 1: needle fo [cut; the line has 11 bytes]

    b.rs:
    Line 1: needle on [cut; the line has 10 bytes]

    (The others are not shown. Narrow the pattern, the path or the include to see them.)
    ");
}

#[tokio::test]
async fn a_program_gets_every_match_and_whole_lines() {
    let world = World::with(r#"{"grepMaxMatches": 1, "grepMaxLineBytes": 1}"#, TREE);
    assert_eq!(
        world.value("grep", r#"{"pattern": "needle t"}"#).await,
        r#"{"matches":[{"path":"a/x.rs","lineNumber":1,"line":"  needle three"},{"path":"b.rs","lineNumber":3,"line":"needle two"}]}"#
    );
    assert_eq!(world.value("grep", r#"{"pattern": "none"}"#).await, r#"{"matches":[]}"#);
}

#[tokio::test]
async fn what_could_not_be_searched_stands_beside_the_matches() {
    let world = World::with(r#"{"searchMaxWarnings": 2}"#, &[("a", "x\n"), (".ignore", "{a\n")]);
    fs::write(world.dir.path().join("latin"), b"\xe9x\n").unwrap();
    for dir in ["b", "c", "d"] {
        fs::create_dir(world.dir.path().join(dir)).unwrap();
        fs::write(world.dir.path().join(dir).join(".ignore"), "{b\n").unwrap();
    }
    assert_snapshot!(world.text("grep", r#"{"pattern": "x"}"#).await, @r"
    Found 2 matches

    a:
    Line 1: x

    latin:
    Line 1: [this line is not UTF-8 text]

    Not everything could be searched:
    - .ignore: has lines that are no ignore rules
    - b/.ignore: has lines that are no ignore rules
    - and 2 more
    ");
    let value = world.value("grep", r#"{"pattern": "none"}"#).await;
    assert_eq!(
        value,
        r#"{"matches":[],"warnings":[".ignore: has lines that are no ignore rules","b/.ignore: has lines that are no ignore rules","and 2 more"]}"#
    );
}

#[tokio::test]
async fn too_large_results_say_how_to_go_on() {
    let world = World::with(r#"{"rawOutputMaxBytes": 100}"#, TREE);
    let (code, message) = world.failure("grep", r#"{"pattern": "needle"}"#).await;
    assert_eq!(code.as_deref(), Some("SEARCH_RAW_OUTPUT_OVERFLOW"));
    assert_snapshot!(message, @"the results are larger than 100 bytes; narrow the pattern, the path or the include");
}

#[tokio::test]
async fn values_are_checked() {
    let world = World::new(TREE);
    let rows = [
        (r#"{"pattern": ""}"#, "`pattern` is empty"),
        (r#"{"pattern": "x", "path": "\t"}"#, "`path` is blank"),
        (r#"{"pattern": "x", "include": ""}"#, "`include` is blank"),
        (r#"{"pattern": "x", "include": "!*.rs"}"#, "`include` can't begin with `!`"),
        (r#"{"pattern": "x", "include": "*.rs,*.md"}"#, "`include` is one glob"),
    ];
    for (arguments, beginning) in rows {
        let (code, message) = world.failure("grep", arguments).await;
        assert_eq!(code, None);
        assert!(message.starts_with(beginning), "{message}");
    }
    let rows = [
        (r#"{"pattern": "("}"#, "SEARCH_INVALID_PATTERN"),
        (r#"{"pattern": "x", "include": "[a"}"#, "SEARCH_INVALID_PATTERN"),
        (r#"{"pattern": "x", "path": "missing"}"#, "FS_NOT_FOUND"),
        (r#"{"pattern": "x", "path": ".."}"#, "FS_SANDBOX_DENIED"),
        (r#"{"include": "x"}"#, "INVALID_ARGS"),
    ];
    for (arguments, expected) in rows {
        assert_eq!(world.failure("grep", arguments).await.0.as_deref(), Some(expected), "{arguments}");
    }
    // White space is something to look for.
    assert_eq!(world.value("grep", r#"{"pattern": "^  "}"#).await.matches("lineNumber").count(), 1);
}

#[tokio::test]
async fn cards_show_the_page() {
    let world = World::with(r#"{"grepMaxMatches": 2}"#, TREE);
    let arguments = r#"{"pattern": "needle", "path": "a", "include": "*.rs"}"#;
    let card = world.call_card("grep", arguments);
    let CallView::Generic { title, kind, .. } = card else { panic!("{card:?}") };
    assert_eq!((&*title, kind), ("Search for needle in a (*.rs)", Kind::Search));

    let result = world.call("grep", r#"{"pattern": "needle"}"#).await;
    let card = world.result_card("grep", arguments, &result);
    let Some(ResultView::Search(_)) = &card else { panic!("{card:?}") };
    assert_eq!(
        result.meta.as_ref().unwrap().to_text(),
        r#"{"shape":"matches","files":[{"path":"a/x.rs","matches":[{"lineNumber":1,"line":"  needle three"}]},{"path":"a/y.md","matches":[{"lineNumber":1,"line":"needle four"}]}],"truncated":true,"total":4}"#
    );
    assert_eq!(world.result_card("glob", r#"{"pattern": "x"}"#, &result), None);
}
