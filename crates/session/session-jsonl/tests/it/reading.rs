//! What a file holds, torn or damaged.

use std::fs;
use std::path::Path;

use dsh_session_jsonl::{ReadError, Tail, read};

use crate::talk::*;

/// A log of six lines: header, end of seed, turn start, two notes, turn end.
fn written(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    closed_log(path, 2);
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// The tail after a change, and how many events come before it.
fn tail(change: impl FnOnce(&mut Vec<u8>)) -> (Tail, usize) {
    let place = place();
    written(&place.path, change);
    let contents = read(&place.path).unwrap();
    (contents.tail, contents.events.len())
}

fn torn(change: impl FnOnce(&mut Vec<u8>), events: usize) {
    let (tail, found) = tail(change);
    assert!(matches!(tail, Tail::Torn { .. }), "{tail:?}");
    assert_eq!(found, events);
}

fn damaged(change: impl FnOnce(&mut Vec<u8>), line: u64, later_valid: u64) {
    let (tail, events) = tail(change);
    let Tail::Damaged { line: found, later_valid: later, .. } = tail else { panic!("{tail:?}") };
    assert_eq!((found, later), (line, later_valid));
    assert_eq!(events as u64, line.saturating_sub(2));
}

/// A byte in the middle of line `number` is another one.
fn spoil(number: usize) -> impl Fn(&mut Vec<u8>) {
    move |bytes| {
        let at = line_start(bytes, number) + 4;
        bytes[at] ^= 0x20;
    }
}

fn drop_line(number: usize) -> impl Fn(&mut Vec<u8>) {
    move |bytes| {
        let range = line_start(bytes, number)..line_start(bytes, number + 1);
        bytes.drain(range);
    }
}

#[test]
fn a_bad_last_line_is_torn() {
    torn(|bytes| bytes.truncate(bytes.len() - 1), 4);
    torn(|bytes| bytes.truncate(bytes.len() - 30), 4);
    torn(spoil(6), 4);
    torn(|bytes| bytes.extend(b"{\"type\":"), 5);
    torn(|bytes| bytes.extend([0; 4_096]), 5);
    torn(|bytes| bytes.push(b'\n'), 5);
}

#[test]
fn bad_lines_without_a_good_one_after_them_are_torn() {
    torn(
        |bytes| {
            spoil(5)(bytes);
            spoil(6)(bytes);
        },
        3,
    );
    torn(|bytes| bytes.extend(b"\xff\xff\n\0\0\n\nx"), 5);
}

#[test]
fn a_torn_end_is_told_with_its_place() {
    let place = place();
    closed_log(&place.path, 2);
    let length = fs::metadata(&place.path).unwrap().len();
    let mut bytes = fs::read(&place.path).unwrap();
    bytes.extend(b"{\"a");
    fs::write(&place.path, bytes).unwrap();
    assert_eq!(read(&place.path).unwrap().tail, Tail::Torn { offset: length, bytes: 3 });
}

#[test]
fn a_bad_line_before_a_good_one_is_damage() {
    damaged(spoil(2), 2, 4);
    damaged(spoil(5), 5, 1);
    damaged(
        |bytes| {
            spoil(3)(bytes);
            spoil(5)(bytes);
        },
        3,
        2,
    );
    damaged(|bytes| bytes.insert(line_start(bytes, 4), b'\n'), 4, 3);
}

#[test]
fn a_missing_or_doubled_line_is_damage_although_every_line_is_whole() {
    damaged(drop_line(2), 2, 4);
    damaged(drop_line(5), 5, 1);
    damaged(
        |bytes| {
            let line = bytes[line_start(bytes, 6)..].to_vec();
            bytes.extend(line);
        },
        7,
        1,
    );
}

#[test]
fn a_damaged_header_takes_everything_with_it() {
    let place = place();
    written(&place.path, spoil(1));
    let contents = read(&place.path).unwrap();
    assert_eq!((contents.header, contents.events.len()), (None, 0));
    assert_eq!(contents.tail, Tail::Damaged { line: 1, offset: 0, later_valid: 5 });
}

/// The error of a log of these lines, each made sound.
fn refused(lines: &[&str]) -> String {
    let place = place();
    let sound = |line: &&str| {
        let body = line.strip_suffix('}').unwrap();
        format!("{body},\"crc\":\"{:08x}\"}}\n", crc32c::crc32c(body.as_bytes()))
    };
    fs::write(&place.path, lines.iter().map(sound).collect::<String>()).unwrap();
    let error = read(&place.path).unwrap_err().to_string();
    error.replace(place.path.to_str().unwrap(), "LOG")
}

#[test]
fn a_sound_line_that_is_no_event_is_refused_with_its_place() {
    let header = r#"{"type":"session","version":1,"id":"s","createdAt":0}"#;
    assert_eq!(refused(&[header, r#"{"type":"x"}"#]), "LOG, line 2: $.seq: missing");
    let error = refused(&[header, r#"{"type":"x","seq":0,"time":0,"data":-0}"#]);
    assert!(error.starts_with("LOG, line 2: $.data: "), "{error}");
    assert_eq!(
        refused(&[header, r#"{"type":"x","seq":0,"time":0,"data":0,"later":1}"#]),
        "LOG, line 2: $.later: unknown field"
    );
}

#[test]
fn another_version_is_refused_before_its_shape() {
    assert_eq!(
        refused(&[r#"{"type":"session","version":2,"new":true}"#, "{}"]),
        "LOG: the session has version 2, this program reads version 1"
    );
    assert_eq!(
        refused(&[r#"{"type":"session","version":1,"id":"s"}"#]),
        "LOG: not a session header: $.createdAt: missing"
    );
}

#[test]
fn a_line_beyond_the_limit_is_bad_and_not_held() {
    // Sparse, so that it takes no space: the file is 257 MiB of zeros after a good log.
    let place = place();
    closed_log(&place.path, 0);
    let length = fs::metadata(&place.path).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&place.path).unwrap();
    file.set_len(length + (257 << 20)).unwrap();
    let contents = read(&place.path).unwrap();
    assert_eq!(contents.tail, Tail::Torn { offset: length, bytes: 257 << 20 });
}

#[test]
fn a_missing_file_is_an_error_of_the_system() {
    let error = read("/nonexistent/s.jsonl").unwrap_err();
    assert!(matches!(error, ReadError::Io(_)));
    assert!(error.to_string().starts_with("can't open /nonexistent/s.jsonl: "), "{error}");
}
