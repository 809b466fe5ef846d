//! `glob` as a model and a program see it (spec 07 §7.2).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use dsh_tools_core::{Kind, ResultView, SearchView};
use insta::assert_snapshot;

use super::World;

const TREE: &[(&str, &str)] = &[
    ("old/1.rs", ""),
    ("old/2.rs", ""),
    ("old/3.rs", ""),
    ("mid/1.rs", ""),
    ("top.rs", ""),
    ("new/1.rs", ""),
    ("new/2.rs", ""),
];

#[tokio::test]
async fn what_fits_is_shown_in_the_order_of_change() {
    let world = World::with(r#"{"globMaxResults": 7}"#, TREE);
    assert_snapshot!(world.text("glob", r#"{"pattern": "*.rs"}"#).await, @r"
    old/1.rs
    old/2.rs
    old/3.rs
    mid/1.rs
    top.rs
    new/1.rs
    new/2.rs
    ");
    assert_eq!(world.text("glob", r#"{"pattern": "*.none"}"#).await, "No files found");
}

#[tokio::test]
async fn too_many_files_are_sampled_by_top_level_entry() {
    let world = World::with(r#"{"globMaxResults": 5}"#, TREE);
    assert_snapshot!(world.text("glob", r#"{"pattern": "*.rs"}"#).await, @r"
    old/1.rs
    old/2.rs
    mid/1.rs
    top.rs
    new/1.rs

    (These are 5 of 7 files, taken in turn from 4 of 4 top-level entries. Narrow the pattern or the path to see the others.)
    ");
    let world = World::with(r#"{"globMaxResults": 2}"#, TREE);
    assert_snapshot!(world.text("glob", r#"{"pattern": "*.rs"}"#).await, @r"
    old/1.rs
    mid/1.rs

    (These are 2 of 7 files, taken in turn from 2 of 4 top-level entries. Narrow the pattern or the path to see the others. To see an entry that is missing here, give it as the path.)
    ");
}

#[tokio::test]
async fn without_sampling_the_first_files_are_shown() {
    let world = World::with(r#"{"globMaxResults": 2, "sampleOverCapGlobResults": false}"#, TREE);
    assert_snapshot!(world.text("glob", r#"{"pattern": "*.rs"}"#).await, @r"
    old/1.rs
    old/2.rs

    (These are the first 2 of 7 files. Narrow the pattern or the path to see the others.)
    ");
}

#[tokio::test]
async fn one_is_not_many() {
    let world = World::with(r#"{"globMaxResults": 1}"#, &[("d/1", ""), ("d/2", ""), ("3", "")]);
    assert_snapshot!(world.text("glob", r#"{"pattern": "d/*"}"#).await, @r"
    d/1

    (This is 1 of 2 files, taken in turn from 1 of 1 top-level entry. Narrow the pattern or the path to see the others.)
    ");
    assert_snapshot!(world.text("glob", r#"{"pattern": "*", "path": "d"}"#).await, @r"
    d/1

    (This is the first of 2 files. Narrow the pattern or the path to see the others.)
    ");
}

#[tokio::test]
async fn a_program_gets_every_path_and_the_root() {
    let world = World::with(r#"{"globMaxResults": 1}"#, TREE);
    assert_eq!(
        world.value("glob", r#"{"pattern": "*.rs", "path": "old"}"#).await,
        r#"{"root":"old","paths":["old/1.rs","old/2.rs","old/3.rs"]}"#
    );
    assert_eq!(world.value("glob", r#"{"pattern": "none"}"#).await, r#"{"root":".","paths":[]}"#);
}

#[tokio::test]
async fn a_name_never_becomes_two_lines() {
    let world = World::new(&[("one\ntwo", ""), ("a\u{2028}b", ""), (r"back\slash", "")]);
    fs::write(world.dir.path().join(OsStr::from_bytes(b"\xff")), "").unwrap();
    assert_snapshot!(world.text("glob", r#"{"pattern": "*"}"#).await, @r#"
    "one\ntwo"
    "a\u{2028}b"
    back\slash
    \xff
    "#);
    let value = world.value("glob", r#"{"pattern": "one*"}"#).await;
    assert_eq!(value, r#"{"root":".","paths":["one\ntwo"]}"#);
}

#[tokio::test]
async fn values_are_checked() {
    let world = World::new(&[("file", "")]);
    for arguments in [r#"{"pattern": " "}"#, r#"{"pattern": "*", "path": ""}"#] {
        let (code, message) = world.failure("glob", arguments).await;
        assert_eq!(code, None);
        assert!(
            message.ends_with("is blank; give a value, or leave it out where it is optional"),
            "{message}"
        );
    }
    let rows = [
        (r#"{"pattern": "[a"}"#, "SEARCH_INVALID_PATTERN"),
        (r#"{"pattern": "*", "path": "missing"}"#, "FS_NOT_FOUND"),
        (r#"{"pattern": "*", "path": "file"}"#, "FS_NOT_DIRECTORY"),
        (r#"{"pattern": "*", "path": "/"}"#, "FS_SANDBOX_DENIED"),
        (r#"{"path": "."}"#, "INVALID_ARGS"),
        (r#"{"pattern": 1}"#, "INVALID_ARGS"),
    ];
    for (arguments, expected) in rows {
        assert_eq!(world.failure("glob", arguments).await.0.as_deref(), Some(expected), "{arguments}");
    }
}

#[tokio::test]
async fn cards_show_the_page() {
    let world = World::with(r#"{"globMaxResults": 2}"#, TREE);
    let arguments = r#"{"pattern": "*.rs", "path": "."}"#;
    let card = world.call_card("glob", arguments);
    let dsh_tools_core::CallView::Generic { title, kind, .. } = card else { panic!("{card:?}") };
    assert_eq!((&*title, kind), ("Find *.rs in .", Kind::Search));

    let result = world.call("glob", arguments).await;
    let shown =
        SearchView::Paths { paths: vec!["old/1.rs".into(), "mid/1.rs".into()], truncated: true, total: 7 };
    assert_eq!(world.result_card("glob", arguments, &result), Some(ResultView::Search(shown)));
    assert_eq!(world.result_card("grep", r#"{"pattern": "x"}"#, &result), None);

    let nothing = world.call("glob", r#"{"pattern": "none"}"#).await;
    let empty = SearchView::Paths { paths: vec![], truncated: false, total: 0 };
    assert_eq!(world.result_card("glob", arguments, &nothing), Some(ResultView::Search(empty)));

    let failed = world.call("glob", r#"{"pattern": "[a"}"#).await;
    assert_eq!(world.result_card("glob", arguments, &failed), None);
}
