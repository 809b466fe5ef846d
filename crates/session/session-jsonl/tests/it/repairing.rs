//! Repair, on request.

use std::fs;

use dsh_session::verify;
use dsh_session_jsonl::{RepairError, RepairReport, Tail, read, repair};

use crate::talk::*;

fn repaired(place: &Place) -> RepairReport {
    let report = repair(&place.path, &vocabulary()).unwrap();
    let contents = read(&place.path).unwrap();
    assert_eq!(contents.tail, Tail::Clean);
    assert_eq!(contents.events.len() as u64, report.events);
    let verdict = verify(&contents.header.unwrap(), &contents.events, &vocabulary());
    assert_eq!((verdict.problems, verdict.open_turn), (vec![], None));
    assert!(repair(&place.path, &vocabulary()).unwrap().was_sound());
    report
}

#[test]
fn a_sound_log_is_left_alone() {
    let place = place();
    closed_log(&place.path, 1);
    let before = fs::read(&place.path).unwrap();
    let report = repaired(&place);
    let expected =
        RepairReport { tail: Tail::Clean, set_aside: None, shorter_seed: None, closed: vec![], events: 4 };
    assert_eq!(report, expected);
    assert_eq!(fs::read(&place.path).unwrap(), before);
}

#[test]
fn an_open_turn_is_closed() {
    let place = place();
    open_log(&place.path, 1);
    let report = repaired(&place);
    assert_eq!(kinds(&report.closed), ["step/end", "turn/end"]);
    assert_eq!((report.tail, report.set_aside.is_none(), report.events), (Tail::Clean, true, 6));
}

#[test]
fn a_torn_end_is_kept_and_the_turn_closed() {
    let place = place();
    closed_log(&place.path, 2);
    let whole = fs::read(&place.path).unwrap();
    fs::write(&place.path, &whole[..whole.len() - 3]).unwrap();
    let offset = line_start(&whole, 6);
    let report = repaired(&place);
    assert_eq!(report.tail.offset(), Some(offset as u64));
    assert_eq!(kinds(&report.closed), ["turn/end"]);
    let kept = fs::read(report.set_aside.unwrap().path).unwrap();
    assert_eq!(kept, &whole[offset..whole.len() - 3]);
}

#[test]
fn damage_is_cut_and_everything_from_there_is_kept() {
    let place = place();
    closed_log(&place.path, 3);
    let mut bytes = fs::read(&place.path).unwrap();
    let offset = line_start(&bytes, 5);
    bytes[offset + 2] = 0;
    fs::write(&place.path, &bytes).unwrap();
    let report = repaired(&place);
    assert_eq!(report.tail, Tail::Damaged { line: 5, offset: offset as u64, later_valid: 2 });
    assert_eq!(kinds(&report.closed), ["turn/end"]);
    let aside = report.set_aside.unwrap();
    assert_eq!(fs::read(&aside.path).unwrap(), &bytes[offset..]);
    assert_eq!((aside.offset, aside.bytes), (offset as u64, (bytes.len() - offset) as u64));
    assert_eq!(beside(&place), [format!("s.jsonl.removed-{offset}")]);
    drop(open(&place.path));
}

#[test]
fn a_log_without_its_header_can_not_be_repaired() {
    let place = place();
    closed_log(&place.path, 1);
    let mut bytes = fs::read(&place.path).unwrap();
    bytes[3] = b'x';
    fs::write(&place.path, &bytes).unwrap();
    let error = repair(&place.path, &vocabulary()).unwrap_err();
    assert!(matches!(error, RepairError::NoHeader { .. }));
    let expected = format!("the header of {} is damaged, the log can't be continued", place.path.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(fs::read(&place.path).unwrap(), bytes);
}
