//! Creating, continuing, locking.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use dsh_lifecycle::SteppingClock;
use dsh_session::{Session, SessionSpec, Sink as _, TurnEnd, TurnEndReason, TurnStart, Vocabulary};
use dsh_session_jsonl::{LogFile, OpenError, ReadError, Tail, read, repair};

use crate::talk::*;

fn open_error(path: &Path) -> OpenError {
    LogFile::open(path, &vocabulary()).unwrap_err_or_panic()
}

/// `Opened` has no `Debug`, so `unwrap_err` can't be used.
trait UnwrapErr<E> {
    fn unwrap_err_or_panic(self) -> E;
}

impl<T, E> UnwrapErr<E> for Result<T, E> {
    fn unwrap_err_or_panic(self) -> E {
        self.err().unwrap()
    }
}

#[test]
fn a_created_log_is_valid_before_its_first_event() {
    let place = place();
    drop(LogFile::create(&place.path, &header()).unwrap());
    let contents = read(&place.path).unwrap();
    assert_eq!((contents.header, contents.events.len(), contents.tail), (Some(header()), 0, Tail::Clean));
}

#[test]
fn the_file_has_a_line_for_the_header_and_one_for_each_event() {
    let place = place();
    let opened = LogFile::open_or_create(&place.path, header(), &vocabulary()).unwrap();
    let session = over(opened);
    session.append(&TurnStart { turn: 1 }).unwrap();
    assert_eq!(
        fs::read_to_string(&place.path).unwrap(),
        "{\"type\":\"session\",\"version\":1,\"id\":\"s1\",\"createdAt\":5,\"crc\":\"8b08eca9\"}\n\
         {\"type\":\"session/end-seed\",\"seq\":0,\"time\":100,\"data\":{},\"crc\":\"7d7358b7\"}\n\
         {\"type\":\"turn/start\",\"seq\":1,\"time\":101,\"data\":{\"turn\":1},\"crc\":\"6d3072f0\"}\n"
    );
}

#[test]
fn the_directories_on_the_way_are_created_and_the_file_is_private() {
    let place = place();
    let path = place.directory.path().join("a/b/c.jsonl");
    drop(LogFile::create(&path, &header()).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_existing_file_is_not_created_again() {
    let place = place();
    closed_log(&place.path, 1);
    let before = fs::read(&place.path).unwrap();
    let error = LogFile::create(&place.path, &header()).unwrap_err();
    assert!(matches!(error, OpenError::Exists { .. }));
    assert_eq!(error.to_string(), format!("{} exists already", place.path.display()));
    assert_eq!(fs::read(&place.path).unwrap(), before);
}

#[test]
fn a_log_is_continued_where_it_ended() {
    let place = place();
    closed_log(&place.path, 2);
    let session = open(&place.path);
    assert_eq!(session.next_turn(), 2);
    session.append(&TurnStart { turn: 2 }).unwrap();
    session.append(&TurnEnd { turn: 2, reason: TurnEndReason::Completed }).unwrap();
    drop(session);
    let contents = read(&place.path).unwrap();
    assert_eq!(contents.tail, Tail::Clean);
    assert_eq!(
        kinds(&contents.events),
        [
            "session/end-seed",
            "turn/start",
            "test/note",
            "test/note",
            "turn/end",
            "session/end-seed",
            "turn/start",
            "turn/end"
        ]
    );
}

#[test]
fn the_header_of_the_file_counts() {
    let place = place();
    closed_log(&place.path, 0);
    let other = dsh_session::Header::new("other", 9).unwrap();
    let opened = LogFile::open_or_create(&place.path, other, &vocabulary()).unwrap();
    assert_eq!(opened.header, header());
}

#[test]
fn a_log_has_one_writer() {
    let place = place();
    let first = open(&place.path);
    let in_use = format!("{} is in use by another process", place.path.display());
    assert_eq!(open_error(&place.path).to_string(), in_use);
    assert_eq!(repair(&place.path, &vocabulary()).unwrap_err().to_string(), in_use);
    let created = LogFile::open_or_create(&place.path, header(), &vocabulary());
    assert_eq!(created.unwrap_err_or_panic().to_string(), in_use);
    first.append(&TurnStart { turn: 1 }).unwrap();
    assert_eq!(read(&place.path).unwrap().events.len(), 2);
    drop(first);
    open(&place.path);
}

#[test]
fn an_interrupted_turn_is_closed_when_the_log_is_continued() {
    let place = place();
    open_log(&place.path, 1);
    drop(open(&place.path));
    let contents = read(&place.path).unwrap();
    assert_eq!(kinds(&contents.events)[4..], ["step/end", "turn/end", "session/end-seed"]);
    assert_eq!(contents.events[4].time, contents.events[3].time);
}

#[test]
fn a_torn_end_is_kept_beside_the_log() {
    let place = place();
    closed_log(&place.path, 2);
    let whole = fs::read(&place.path).unwrap();
    fs::write(&place.path, &whole[..whole.len() - 5]).unwrap();
    let opened = LogFile::open(&place.path, &vocabulary()).unwrap();
    assert_eq!(opened.events.len(), 4);
    let offset = line_start(&whole, 6);
    let aside = opened.set_aside.clone().unwrap();
    assert_eq!((aside.offset, aside.bytes), (offset as u64, (whole.len() - 5 - offset) as u64));
    assert_eq!(fs::read(&aside.path).unwrap(), &whole[offset..whole.len() - 5]);
    assert_eq!(fs::metadata(&aside.path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(beside(&place), [format!("s.jsonl.removed-{offset}")]);
    assert_eq!(fs::read(&place.path).unwrap(), &whole[..offset]);
    drop(over(opened));
    assert_eq!(read(&place.path).unwrap().tail, Tail::Clean);
}

#[test]
fn a_kept_end_is_never_written_over() {
    let place = place();
    for _ in 0..3 {
        closed_log(&place.path, 0);
        let whole = fs::read(&place.path).unwrap();
        fs::write(&place.path, &whole[..whole.len() - 1]).unwrap();
        drop(LogFile::open(&place.path, &vocabulary()).unwrap());
        fs::remove_file(&place.path).unwrap();
    }
    let kept = beside(&place);
    assert_eq!(kept.len(), 3);
    assert_eq!([&kept[1], &kept[2]], [&format!("{}-2", kept[0]), &format!("{}-3", kept[0])]);
}

#[test]
fn a_damaged_log_is_refused_and_left_alone() {
    let place = place();
    closed_log(&place.path, 3);
    let mut bytes = fs::read(&place.path).unwrap();
    let offset = line_start(&bytes, 4);
    bytes[offset + 3] ^= 1;
    fs::write(&place.path, &bytes).unwrap();
    let error = open_error(&place.path);
    let OpenError::Damaged { line, offset: at, later_valid, .. } = &error else { panic!("{error}") };
    assert_eq!((*line, *at, *later_valid), (4, offset as u64, 3));
    assert_eq!(
        error.to_string(),
        format!(
            "{} is damaged at line 4 (byte {offset}); 3 good lines come after it, run `repair` to cut the \
             log there and keep the rest beside it",
            place.path.display()
        )
    );
    assert_eq!(fs::read(&place.path).unwrap(), bytes);
    assert!(beside(&place).is_empty());
}

#[test]
fn an_unknown_type_is_refused_by_name_and_nothing_is_changed() {
    let place = place();
    closed_log(&place.path, 1);
    let mut bytes = fs::read(&place.path).unwrap();
    bytes.pop();
    fs::write(&place.path, &bytes).unwrap();
    let error = LogFile::open(&place.path, &Vocabulary::core()).unwrap_err_or_panic();
    assert!(matches!(&error, OpenError::UnknownType { seq: 2, kind, .. } if &**kind == "test/note"));
    let expected = format!("{}: event 2 has the unknown type `test/note`", place.path.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(repair(&place.path, &Vocabulary::core()).unwrap_err().to_string(), expected);
    assert_eq!(fs::read(&place.path).unwrap(), bytes);
}

#[test]
fn a_log_that_was_stopped_before_its_header_is_started_anew() {
    for start in ["", "{\"type\":\"sess", "{\"type\":\"session\",\"version\":1,\"id\":\"s1\"", "\0\0\0\0"] {
        let place = place();
        fs::write(&place.path, start).unwrap();
        let error = open_error(&place.path);
        assert!(matches!(error, OpenError::NotStarted { .. }), "{error}");
        assert_eq!(fs::read_to_string(&place.path).unwrap(), start);
        drop(open(&place.path));
        let contents = read(&place.path).unwrap();
        assert_eq!((contents.header, contents.tail), (Some(header()), Tail::Clean));
        assert_eq!(beside(&place).len(), usize::from(!start.is_empty()));
    }
}

#[test]
fn someone_else_s_file_is_left_alone() {
    for text in ["hello", "{\"type\":\"note\"}\n", "\n", "# My notes\n\n- one\n", "{\"type\":\"session2"] {
        let place = place();
        fs::write(&place.path, text).unwrap();
        for error in [
            open_error(&place.path),
            LogFile::open_or_create(&place.path, header(), &vocabulary()).unwrap_err_or_panic(),
        ] {
            assert!(matches!(error, OpenError::Read(ReadError::NotALog { .. })), "{error}");
            assert_eq!(error.to_string(), format!("{} is not a session log", place.path.display()));
        }
        assert_eq!(fs::read_to_string(&place.path).unwrap(), text);
        assert!(beside(&place).is_empty());
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let place = place();
    let missing = open_error(&place.directory.path().join("missing")).to_string();
    assert!(missing.starts_with("can't open ") && missing.contains("missing"), "{missing}");
    assert!(LogFile::open(place.directory.path(), &vocabulary()).is_err());
    assert!(matches!(read("/dev/null"), Err(ReadError::NotALog { .. })));
    assert!(LogFile::create("/dev/null/x", &header()).is_err());
}

#[tokio::test]
async fn a_flush_is_awaited() {
    let place = place();
    let log = LogFile::create(&place.path, &header()).unwrap();
    let spec = SessionSpec {
        header: header(),
        vocabulary: vocabulary(),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: Some(Arc::new(log.clone())),
    };
    let session = Session::create(spec);
    session.append(&TurnStart { turn: 1 }).unwrap();
    session.flush().await.unwrap();
    let (one, two) = tokio::join!(log.flush(), session.flush());
    one.and(two).unwrap();
    assert_eq!(log.path(), place.path);
}

#[test]
fn handles_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone + 'static>() {}
    shared::<LogFile>();
}
