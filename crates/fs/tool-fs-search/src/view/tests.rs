use std::borrow::Cow;

use dsh_json::{Json, array, object};
use dsh_llm::text;

use super::*;
use crate::sample::head;

fn pages() -> Vec<FilePage<'static>> {
    let line = |number| (number, Cow::Borrowed("x\"y"));
    vec![
        FilePage { path: "a", lines: vec![line(1), line(22)] },
        FilePage { path: "b", lines: vec![line(3)] },
        FilePage { path: "c", lines: vec![line(4), line(5)] },
    ]
}

fn kept(meta: &Json) -> (Vec<u64>, bool) {
    let SearchView::Matches { files, truncated, total } = meta.read().unwrap() else { panic!("{meta}") };
    assert_eq!(total, 5);
    (files.iter().flat_map(|file| &file.matches).map(|found| found.line_number).collect(), truncated)
}

#[test]
fn facts_have_the_stable_shapes() {
    let paths = ["a", "b", "c"];
    assert_eq!(
        paths_meta(&head(&paths, 2), 3, 1000),
        Some(object! { "shape": "paths", "paths": array!["a", "b"], "truncated": true, "total": 3 })
    );
    assert_eq!(
        paths_meta(&head(&[""; 0], 2), 0, 1000),
        Some(object! { "shape": "paths", "paths": array![], "truncated": false, "total": 0 })
    );
    let lines = array![object! { "lineNumber": 3, "line": "x\"y" }];
    assert_eq!(
        matches_meta(&pages()[1..2], 1, 1000),
        Some(object! {
            "shape": "matches",
            "files": array![object! { "path": "b", "matches": lines }],
            "truncated": false,
            "total": 1,
        })
    );
}

#[test]
fn paths_are_dropped_from_the_end_until_they_fit() {
    let paths: Vec<String> = (0..50).map(|n| format!("dir/\"{n}\"")).collect();
    let sample = head(&paths, 100);
    let whole = paths_meta(&sample, 50, usize::MAX - 1).unwrap().to_text().len();
    for max in 0..whole + 3 {
        let meta = paths_meta(&sample, 50, max).unwrap();
        let Ok(SearchView::Paths { paths: shown, truncated, total }) = meta.read() else { panic!("{meta}") };
        assert_eq!((total, truncated), (50, shown.len() < 50));
        assert!(shown.len() == 1 || meta.to_text().len() <= max, "{max}");
        assert_eq!(shown.len() == 50, max >= whole, "{max}");
        assert!(shown.iter().zip(&paths).all(|(shown, path)| **shown == **path));
    }
}

#[test]
fn matches_are_dropped_from_the_end_until_they_fit() {
    let whole = matches_meta(&pages(), 5, usize::MAX - 1).unwrap().to_text().len();
    let mut most = 0;
    for max in 0..whole + 3 {
        let meta = matches_meta(&pages(), 5, max).unwrap();
        let (numbers, truncated) = kept(&meta);
        assert_eq!(numbers, [1, 22, 3, 4, 5][..numbers.len()]);
        assert!(numbers.len() == 1 || meta.to_text().len() <= max, "{max}: {meta}");
        assert!(numbers.len() >= most, "a larger limit never keeps less");
        assert_eq!(truncated, numbers.len() < 5);
        assert_eq!(numbers.len() == 5, max >= whole, "{max} {whole}");
        most = numbers.len();
    }
}

#[test]
fn a_card_needs_facts_of_its_own_shape() {
    let content = text("text");
    let card = |json: &str, is_error: bool| {
        let meta = Json::parse(json).unwrap();
        let result = StoredResult { content: &content, is_error, meta: Some(&meta) };
        (paths_card(&result).is_some(), matches_card(&result).is_some())
    };
    let paths = r#"{"shape":"paths","paths":["a"],"truncated":false,"total":1}"#;
    let matches = r#"{"shape":"matches","files":[{"path":"a","matches":[{"lineNumber":1,"line":"x"}]}],"truncated":false,"total":1}"#;
    let rows = [
        (paths, (true, false)),
        (matches, (false, true)),
        (r#"{"shape":"paths","paths":[],"truncated":false,"total":0}"#, (true, false)),
        (r#"{"shape":"matches","files":[],"truncated":false,"total":0}"#, (false, true)),
        (r#"{"shape":"paths","paths":["a","b"],"truncated":false,"total":1}"#, (false, false)),
        (r#"{"shape":"paths","paths":[1],"truncated":false,"total":1}"#, (false, false)),
        (r#"{"shape":"paths","paths":["a"],"total":1}"#, (false, false)),
        (r#"{"shape":"other"}"#, (false, false)),
        (r#"{"paths":["a"]}"#, (false, false)),
        ("null", (false, false)),
        (&matches.replace("\"lineNumber\":1", "\"lineNumber\":0"), (false, false)),
        (&matches.replace("\"lineNumber\":1", "\"lineNumber\":-1"), (false, false)),
        (&matches.replace("\"total\":1", "\"total\":0"), (false, false)),
    ];
    for (json, cards) in rows {
        assert_eq!(card(json, false), cards, "{json}");
        assert_eq!(card(json, true), (false, false), "{json}");
    }
    let result = StoredResult { content: &content, is_error: false, meta: None };
    assert_eq!((paths_card(&result), matches_card(&result)), (None, None));
}
