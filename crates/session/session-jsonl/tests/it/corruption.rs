//! Whatever happens to a file, reading it tells; nothing panics, nothing is lost silently.

use std::fs;

use dsh_session::verify;
use dsh_session_jsonl::{LogFile, RepairError, Tail, read, repair};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::talk::*;

const EVENTS: usize = 8;

fn sound() -> Vec<u8> {
    let place = place();
    closed_log(&place.path, EVENTS - 3);
    fs::read(&place.path).unwrap()
}

#[test]
fn a_log_cut_at_any_byte_is_torn_or_clean_and_can_be_continued() {
    let whole = sound();
    for length in 0..=whole.len() {
        let place = place();
        fs::write(&place.path, &whole[..length]).unwrap();
        let lines = whole[..length].split(|byte| *byte == b'\n').count() - 1;
        let at_line_end = length > 0 && whole[length - 1] == b'\n';
        let contents = read(&place.path).unwrap();
        assert_eq!(contents.events.len(), lines.saturating_sub(1), "{length}");
        assert_eq!(contents.tail == Tail::Clean, at_line_end, "{length}");
        assert!(!matches!(contents.tail, Tail::Damaged { .. }), "{length}");

        drop(open(&place.path));
        let after = read(&place.path).unwrap();
        assert_eq!(after.tail, Tail::Clean, "{length}");
        assert_eq!(after.header, Some(header()), "{length}");
        assert_eq!(after.events[..contents.events.len()], contents.events[..], "{length}");
        let last = after.events.last().unwrap();
        assert_eq!(&*last.kind, "session/end-seed", "{length}");
    }
}

/// The same by repair.
#[test]
fn a_log_cut_at_any_byte_verifies_or_is_repaired() {
    let whole = sound();
    let header_end = line_start(&whole, 2);
    for length in 0..=whole.len() {
        let place = place();
        let cut = &whole[..length];
        fs::write(&place.path, cut).unwrap();
        let repaired = repair(&place.path, &vocabulary());
        if length < header_end {
            assert!(matches!(repaired, Err(RepairError::NoHeader { .. })), "{length}");
            assert_eq!(fs::read(&place.path).unwrap(), cut);
            continue;
        }
        let (report, after) = (repaired.unwrap(), read(&place.path).unwrap());
        let verdict = verify(&header(), &after.events, &vocabulary());
        assert_eq!(
            (after.tail, verdict.problems, verdict.open_turn),
            (Tail::Clean, vec![], None),
            "{length}"
        );
        // Every byte is in the log or in what was set aside.
        let aside = report.set_aside.map(|aside| fs::read(aside.path).unwrap()).unwrap_or_default();
        let kept = fs::read(&place.path).unwrap();
        let sound = length - aside.len();
        assert_eq!([&kept[..sound], &aside].concat(), cut, "{length}");
    }
}

/// No byte of a log can be another one without being found, and told where; what is good before it is read.
#[test]
fn a_bit_flipped_at_any_byte_is_found() {
    let whole = sound();
    let lines: Vec<usize> = (1..=EVENTS + 1).map(|line| line_start(&whole, line)).collect();
    let place = place();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&place.path, &bytes).unwrap();
        let line = lines.partition_point(|start| *start <= at);
        let contents = match read(&place.path) {
            Ok(contents) => contents,
            Err(error) => {
                assert!(line == 1, "byte {at}: {error}");
                continue;
            }
        };
        assert_eq!(contents.tail.offset(), Some(lines[line - 1] as u64), "byte {at}");
        assert_eq!(contents.events.len(), line.saturating_sub(2), "byte {at}");
        // Without its newline a line takes the next one with it.
        let last = at + 1 >= lines[EVENTS];
        assert_eq!(matches!(contents.tail, Tail::Torn { .. }), last, "byte {at}");
    }
}

#[derive(Debug, Clone)]
enum Blow {
    Set(Index, u8),
    Zero(Index, usize),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
}

fn blow() -> impl Strategy<Value = Blow> {
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Blow::Set(at, byte)),
        1 => (any::<Index>(), 1..200_usize).prop_map(|(at, width)| Blow::Zero(at, width)),
        1 => (any::<Index>(), prop::collection::vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Blow::Insert(at, bytes)),
        1 => (any::<Index>(), 1..200_usize).prop_map(|(at, width)| Blow::Remove(at, width)),
    ]
}

fn strike(bytes: &mut Vec<u8>, blow: &Blow) {
    if bytes.is_empty() {
        return;
    }
    let range = |at: &Index, width: usize| {
        let at = at.index(bytes.len());
        at..(at + width).min(bytes.len())
    };
    match blow {
        Blow::Set(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Blow::Zero(at, width) => {
            let range = range(at, *width);
            bytes[range].fill(0);
        }
        Blow::Insert(at, more) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, more.iter().copied());
        }
        Blow::Remove(at, width) => {
            let range = range(at, *width);
            bytes.drain(range);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_struck_log_never_passes_for_a_whole_one(blows in prop::collection::vec(blow(), 1..4)) {
        let whole = sound();
        let mut bytes = whole.clone();
        for blow in &blows {
            strike(&mut bytes, blow);
        }
        let place = place();
        fs::write(&place.path, &bytes).unwrap();
        // A sound prefix of whole lines can't be told from a log that was never longer.
        let is_prefix = whole.starts_with(&bytes);
        if let Ok(contents) = read(&place.path) {
            prop_assert!(contents.tail != Tail::Clean || contents.events.len() == EVENTS || is_prefix);
            if contents.tail == Tail::Clean && !is_prefix {
                prop_assert_eq!(&bytes, &whole);
            }
        }
        let opened = LogFile::open(&place.path, &vocabulary()).is_ok();
        if !opened {
            prop_assert_eq!(&fs::read(&place.path).unwrap(), &bytes);
        }
        let repaired = repair(&place.path, &vocabulary());
        if repaired.is_ok() {
            prop_assert_eq!(read(&place.path).unwrap().tail, Tail::Clean);
        }
    }

    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let place = place();
        fs::write(&place.path, &bytes).unwrap();
        let _ = read(&place.path);
        let _ = LogFile::open_or_create(&place.path, header(), &vocabulary());
    }
}
