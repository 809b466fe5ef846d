//! What a read says, and what is made of a stored one.

use dsh_tools_core::{ContentBlock, array, object};

use super::*;

fn output(numbers: std::ops::RangeInclusive<u64>, total_lines: u64) -> ReadOutput {
    let offset = *numbers.start();
    let lines = numbers.map(|number| Line { number, text: format!("line {number}") }).collect();
    ReadOutput { path: "/w/a.rs".into(), offset, lines, total_lines }
}

#[test]
fn the_model_reads_lines_and_how_to_go_on() {
    let shown = |output: &ReadOutput, limit| view::envelope(&output.path, &body(output, limit));
    insta::assert_snapshot!(shown(&output(1..=2, 2), 2000), @"
    <path>/w/a.rs</path>
    <type>file</type>
    <content>
    1: line 1
    2: line 2

    (End of the file, 2 lines in all.)
    </content>
    ");
    insta::assert_snapshot!(body(&output(3..=4, 9), 2), @"
    3: line 3
    4: line 4

    (Lines 3-4 of 9. Go on with offset 5.)
    ");
    insta::assert_snapshot!(body(&output(3..=4, 9), 5), @"
    3: line 3
    4: line 4

    (Lines 3-4 of 9; more would exceed the size of one result. Go on with offset 5.)
    ");
    let empty = ReadOutput { lines: Vec::new(), ..output(1..=1, 0) };
    assert_eq!(body(&empty, 2000), "(The file is empty.)");
    let cut = Cut { line: 7, shown: 2000, rest: 15, next_column: 2001 };
    assert_eq!(
        cut_mark(&cut),
        "… [line cut after 2000 characters, 15 more; go on with offset 7, limit 1, column 2001]"
    );
}

#[test]
fn the_parameters_name_the_configured_limit() {
    insta::assert_snapshot!(parameters(2000).build().unwrap().json().to_pretty());
}

/// The card of a stored read with this meta.
fn card(meta: Option<&Json>) -> Option<ResultView> {
    let content = dsh_tools_core::text(view::envelope("/w/a.rs", "1: x\n\n(End.)"));
    view::card(&StoredResult { content: &content, is_error: false, meta })
}

#[test]
fn a_stored_read_becomes_a_card() {
    let meta = view::meta(&output(2..=3, 9)).unwrap();
    assert_eq!(meta.get("lang").and_then(Json::as_str), Some("rs"));
    let Some(ResultView::Read(card)) = card(Some(&meta)) else { panic!("no card") };
    assert_eq!((card.offset, card.total_lines, card.lines.len()), (2, 9, 2));
    assert_eq!(card.content, Some(dsh_tools_core::text("1: x\n\n(End.)")));
}

#[test]
fn what_is_not_of_our_form_gets_no_card() {
    let line = |number: u64| object! { "number": number, "text": "x" };
    let meta = |offset: i64, lines: Json, total: i64| {
        object! { "path": "/w/a", "offset": offset, "lines": lines, "totalLines": total }
    };
    assert!(card(Some(&meta(1, array![], 0))).is_some());
    assert!(card(Some(&meta(2, array![line(2), line(4)], 4))).is_some());
    let rows = [
        meta(0, array![], 3),
        meta(-1, array![], 3),
        meta(1, array![], -1),
        meta(2, array![line(1)], 3),
        meta(1, array![line(2), line(2)], 3),
        meta(1, array![line(3), line(2)], 3),
        meta(1, array![line(4)], 3),
        meta(1, array![object! { "number": 1.5_f64.to_string(), "text": "x" }], 3),
        meta(1, array![object! { "number": 1, "text": 7 }], 3),
        object! { "offset": 1, "lines": array![], "totalLines": 0 },
        array![],
        Json::Null,
    ];
    for row in rows {
        assert_eq!(card(Some(&row)), None, "{row}");
    }
    assert_eq!(card(None), None);

    let meta = meta(1, array![], 0);
    let stored =
        |content: &Content, is_error| view::card(&StoredResult { content, is_error, meta: Some(&meta) });
    let good = dsh_tools_core::text(view::envelope("/w/a", "x"));
    assert!(stored(&good, false).is_some());
    assert_eq!(stored(&good, true), None);
    for text in
        ["", "x", "<path>/w/a</path>", "<path>/w/a</path>\n<type>image</type>\n<content>\nx\n</content>"]
    {
        assert_eq!(stored(&dsh_tools_core::text(text), false), None, "{text}");
    }
    let block = ContentBlock::Text { text: view::envelope("/w/a", "x").into() };
    assert_eq!(stored(&[block.clone(), block].into(), false), None);
    assert_eq!(stored(&[].into(), false), None);
}
