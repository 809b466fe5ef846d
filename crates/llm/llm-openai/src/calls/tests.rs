use super::*;

/// Deltas as `index|id|name|arguments`, and the calls that they end up as: `id|name|arguments`.
fn check(pieces: &[&str], expected: &[&str]) {
    let (mut calls, mut next_block, mut out) = (Calls::default(), 5, vec![]);
    for piece in pieces {
        let mut fields = piece.split('|');
        let index = fields.next().unwrap().parse().ok();
        let mut text = || Some(fields.next().unwrap()).filter(|text| *text != "-").map(Arc::from);
        let piece = Piece { wire: index, id: text(), name: text() };
        calls.take(&piece, text(), &mut next_block, &mut out);
    }
    calls.flush(&mut out);
    let mut found: BTreeMap<u32, [String; 3]> = BTreeMap::new();
    let mut starts = vec![];
    for chunk in out {
        match chunk {
            Chunk::BlockStart { index, block_type } => {
                assert_eq!(&*block_type, "tool-call");
                starts.push(index);
                assert!(found.insert(index, Default::default()).is_none());
            }
            Chunk::ToolCallDelta { index, id, name, arguments_delta } => {
                let call = found.get_mut(&index).unwrap();
                call[0].push_str(&id);
                call[1].push_str(&name.unwrap_or_default());
                call[2].push_str(&arguments_delta);
            }
            other @ (Chunk::TextDelta { .. }
            | Chunk::ReasoningDelta { .. }
            | Chunk::BlockEnd { .. }
            | Chunk::Usage { .. }
            | Chunk::Finish { .. }) => panic!("{other:?}"),
        }
    }
    assert_eq!(starts, (5..next_block).collect::<Vec<_>>());
    assert_eq!(found.values().map(|call| call.join("|")).collect::<Vec<_>>(), expected, "{pieces:?}");
}

#[test]
fn calls_are_told_apart_by_index() {
    check(&["0|a|read|", "0|-|-|{", "0|-|-|}"], &["a|read|{}"]);
    check(
        &["0|a|read|", "1|b|glob|", "1|-|-|{1", "0|-|-|{0", "1|-|-|}", "0|-|-|}"],
        &["a|read|{0}", "b|glob|{1}"],
    );
    check(
        &["7|a|x|1", "3|b|y|2", "9223372036854775807|c|z|3", "-1|d|w|4"],
        &["a|x|1", "b|y|2", "c|z|3", "d|w|4"],
    );
}

#[test]
fn what_is_repeated_is_told_once() {
    check(&["0|a|read|{", "0|a|read|}", "0||read|", "0|a||x"], &["a|read|{}x"]);
}

#[test]
fn ids_may_be_missing_late_or_the_same() {
    check(&["0|-|read|{}", "1|-|read|{}"], &["|read|{}", "|read|{}"]);
    check(&["0||read|{", "0|late|-|}"], &["late|read|{}"]);
    check(&["0|same|read|1", "1|same|read|2", "0|same|-|3"], &["same|read|13", "same|read|2"]);
}

#[test]
fn an_index_that_serves_several_calls_is_told_apart_by_their_ids() {
    check(&["0|a|x|1", "0|b|y|2", "0|-|-|2", "0|a|-|1"], &["a|x|11", "b|y|22"]);
}

#[test]
fn calls_without_an_index_are_told_apart_by_ids_and_names() {
    check(&["-|a|x|{}", "-|b|y|{}"], &["a|x|{}", "b|y|{}"]);
    check(&["-|-|x|{}", "-|-|y|{}"], &["|x|{}", "|y|{}"]);
    check(&["-|a|x|", "-|-|-|{", "-|-|-|}"], &["a|x|{}"]);
    check(&["-|a|x|{", "-|b|y|{", "-|a|-|}", "-|-|-|!"], &["a|x|{}!", "b|y|{"]);
    check(&["0|a|x|{", "-|-|-|}", "-|a|x|!"], &["a|x|{}!"]);
    check(&["-|-|-|{}"], &["||{}"]);
}

#[test]
fn a_name_may_come_in_parts_before_the_arguments() {
    check(&["0|a|re|", "0|-|ad|", "0|-|-|{}"], &["a|read|{}"]);
    check(&["0|a|re|", "0|-|read|", "0|-|-|{}"], &["a|read|{}"]);
    check(&["0|a|read|-"], &["a|read|"]);
}

#[test]
fn a_name_that_changes_after_the_arguments_is_passed_on() {
    check(&["0|a|read|{}", "0|-|edit|"], &["a|readedit|{}"]);
}
