//! Logs that begin with a copy of another one (spec 03 §5).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use dsh_session::{Header, TurnEnd, TurnEndReason, TurnStart, Vocabulary, verify};
use dsh_session_jsonl::{ForkLogError, LogFile, OpenError, Opened, Tail, fork, read, repair};

use crate::talk::*;

fn child_header() -> Header {
    Header::new("child", 9).unwrap()
}

fn child_path(place: &Place) -> PathBuf {
    place.directory.path().join("child.jsonl")
}

fn forked(place: &Place, boundary: Option<u64>) -> Result<Opened, ForkLogError> {
    fork(&place.path, boundary, child_path(place), child_header(), &vocabulary())
}

/// Why not; there is no new file, and the old one is as it was.
#[track_caller]
fn refused(place: &Place, boundary: Option<u64>) -> (&'static str, String) {
    let before = fs::read(&place.path).ok();
    let error = forked(place, boundary).err().unwrap();
    assert_eq!(fs::read(&place.path).ok(), before);
    assert!(beside(place).is_empty());
    (error.code(), error.to_string().replace(place.path.to_str().unwrap(), "LOG"))
}

#[test]
fn a_fork_is_a_file_of_its_own_that_begins_with_its_parent_s_events() {
    let place = place();
    closed_log(&place.path, 2);
    let before = fs::read_to_string(&place.path).unwrap();
    let opened = forked(&place, None).unwrap();
    let path = child_path(&place);
    let (header, rest) = before.split_once('\n').unwrap();
    assert!(header.contains(r#""id":"s1""#));
    assert_eq!(
        fs::read_to_string(&path).unwrap().split_once('\n').unwrap(),
        (
            r#"{"type":"session","version":1,"id":"child","createdAt":9,"parentSession":"s1","seedLength":5,"crc":"CRC"}"#
                .replace("CRC", &crc_of(&path))
                .as_str(),
            rest
        )
    );
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(beside(&place), ["child.jsonl"]);

    let session = over(opened);
    assert_eq!((session.first_live_seq(), session.next_turn()), (6, 2));
    session.append(&TurnStart { turn: 2 }).unwrap();
    session.append(&TurnEnd { turn: 2, reason: TurnEndReason::Completed }).unwrap();
    drop(session);
    let contents = read(&path).unwrap();
    assert_eq!(kinds(&contents.events)[5..], ["session/end-seed", "turn/start", "turn/end"]);
    assert!(verify(&contents.header.unwrap(), &contents.events, &vocabulary()).is_ok());
    assert_eq!(fs::read_to_string(&place.path).unwrap(), before);
}

fn crc_of(path: &std::path::Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let body = text.lines().next().unwrap().rsplit_once(",\"crc\"").unwrap().0;
    format!("{:08x}", crc32c::crc32c(body.as_bytes()))
}

#[test]
fn a_log_in_use_is_forked_where_its_last_turn_ended() {
    let place = place();
    closed_log(&place.path, 1);
    let parent = open(&place.path);
    let held = LogFile::open(&place.path, &vocabulary()).err().unwrap();
    assert!(matches!(held, OpenError::Locked { .. }));
    parent.append(&TurnStart { turn: 2 }).unwrap();
    assert_eq!(refused(&place, None).0, "OPEN_TURN");
    let child = forked(&place, Some(4)).unwrap();
    assert_eq!(kinds(&child.events).last().unwrap(), "session/end-seed");
    // The child is locked in its turn.
    let held = LogFile::open(child_path(&place), &vocabulary()).err().unwrap();
    assert!(matches!(held, OpenError::Locked { .. }), "{held}");
}

#[test]
fn each_refusal_has_its_code_and_the_target_comes_first() {
    let nowhere = place();
    fs::write(child_path(&nowhere), "mine").unwrap();
    let error = forked(&nowhere, None).err().unwrap();
    assert_eq!(error.code(), "SESSION_ALREADY_EXISTS");
    assert_eq!(fs::read_to_string(child_path(&nowhere)).unwrap(), "mine");

    let missing = place();
    let (code, words) = refused(&missing, None);
    assert_eq!(code, "SESSION_NOT_FOUND");
    assert!(words.starts_with("can't open LOG: "), "{words}");

    let log = place();
    closed_log(&log.path, 1);
    let words = "LOG: event 4 is not there: the session has 4 events, counted from 0";
    assert_eq!(refused(&log, Some(4)), ("INVALID_BOUNDARY", words.to_owned()));
    let words = "LOG: event 2 lies inside turn 1, and a fork takes whole turns; take an event before 1, where it began";
    assert_eq!(refused(&log, Some(2)), ("OPEN_TURN", words.to_owned()));

    let unknown = fork(&log.path, None, child_path(&log), child_header(), &Vocabulary::core());
    assert_eq!(unknown.err().unwrap().code(), "SESSION_NOT_LIVE");
    let mut bytes = fs::read(&log.path).unwrap();
    let at = line_start(&bytes, 3) + 4;
    bytes[at] ^= 1;
    fs::write(&log.path, bytes).unwrap();
    let (code, words) = refused(&log, None);
    assert!(code == "SESSION_NOT_LIVE" && words.contains("damaged at line 3"), "{code} {words}");
    fs::write(&log.path, "hello").unwrap();
    assert_eq!(refused(&log, None), ("SESSION_NOT_LIVE", "LOG is not a session log".to_owned()));
    fs::write(&log.path, "").unwrap();
    assert_eq!(refused(&log, None), ("SESSION_NOT_LIVE", "LOG holds no session".to_owned()));
}

#[test]
fn a_torn_end_of_the_parent_is_left_out() {
    let place = place();
    closed_log(&place.path, 1);
    let mut bytes = fs::read(&place.path).unwrap();
    bytes.extend(b"{\"type\":\"tu");
    fs::write(&place.path, &bytes).unwrap();
    let child = forked(&place, None).unwrap();
    assert_eq!(child.events.len(), 4);
    assert_eq!(fs::read(&place.path).unwrap(), bytes);
}

#[test]
fn an_empty_log_has_an_empty_fork() {
    let place = place();
    drop(LogFile::create(&place.path, &header()).unwrap());
    let child = forked(&place, None).unwrap();
    assert_eq!((child.events.len(), child.header.seed_length()), (0, Some(0)));
    assert_eq!(over(child).len(), 1);
}

/// A fork is cut within what it took over: its header says then how much of it is left.
#[test]
fn a_fork_that_was_cut_is_repaired_and_continued() {
    let place = place();
    closed_log(&place.path, 3);
    let path = child_path(&place);
    drop(over(forked(&place, None).unwrap()));
    let whole = fs::read(&path).unwrap();
    let header_end = line_start(&whole, 2);
    // Every end of a line, each byte around it, and some between.
    let near = |length: &usize| {
        length.is_multiple_of(7) || whole[length - 2..whole.len().min(length + 2)].contains(&b'\n')
    };
    for length in (header_end..=whole.len()).filter(near) {
        for by_repair in [true, false] {
            fs::write(&path, &whole[..length]).unwrap();
            if by_repair {
                let report = repair(&path, &vocabulary()).unwrap();
                let left = read(&path).unwrap();
                assert_eq!(
                    report.shorter_seed,
                    left.header.unwrap().seed_length().filter(|length| *length < 6)
                );
                assert!(repair(&path, &vocabulary()).unwrap().was_sound(), "{length}");
            } else {
                drop(open(&path));
            }
            let contents = read(&path).unwrap();
            let header = contents.header.unwrap();
            let verdict = verify(&header, &contents.events, &vocabulary());
            assert_eq!((contents.tail, verdict.problems), (Tail::Clean, vec![]), "{length} {by_repair}");
            assert_eq!((&**header.id(), &**header.parent_session().unwrap()), ("child", "s1"));
            assert!(!beside(&place).iter().any(|name| name.contains(".new")));
        }
    }
}
