//! Somebody has a hand in the file while it is written: nothing that was told is lost, and the writer says so.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use dsh_session::{AppendError, Session, SinkError, TurnStart};
use dsh_session_jsonl::{Tail, WriteError, read};

use crate::talk::*;

fn started(place: &Place) -> Session {
    let session = open(&place.path);
    session.append(&TurnStart { turn: 1 }).unwrap();
    session.append(&note("told")).unwrap();
    session
}

fn cause(error: &SinkError) -> &WriteError {
    error.downcast_ref().unwrap()
}

fn refused(session: &Session) -> (&'static str, String) {
    let before = session.len();
    let AppendError::Sink(error) = session.append(&note("not told")).unwrap_err() else { panic!() };
    assert_eq!(session.len(), before);
    (cause(&error).code(), error.to_string())
}

#[test]
fn a_removed_log_is_put_back_with_all_that_was_told() {
    let place = place();
    let session = started(&place);
    let before = fs::read(&place.path).unwrap();
    fs::remove_file(&place.path).unwrap();
    let (code, words) = refused(&session);
    let path = place.path.display();
    assert_eq!(code, "LOG_REMOVED");
    assert_eq!(words, format!("{path} was removed while it was written; all that it held is in {path}"));
    assert_eq!(fs::read(&place.path).unwrap(), before);
    // The session that lost its file goes on nowhere; another can.
    assert_eq!(refused(&session).0, "LOG_BROKEN");
    assert_eq!(open(&place.path).len(), 3 + 2);
    assert_eq!(fs::metadata(&place.path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn where_the_name_is_taken_it_is_put_beside() {
    let place = place();
    let session = started(&place);
    let before = fs::read(&place.path).unwrap();
    fs::remove_file(&place.path).unwrap();
    fs::write(&place.path, "mine").unwrap();
    let (code, words) = refused(&session);
    assert!(code == "LOG_REMOVED" && words.ends_with("s.jsonl.kept"), "{words}");
    assert_eq!(fs::read_to_string(&place.path).unwrap(), "mine");
    assert_eq!(beside(&place), ["s.jsonl.kept"]);
    assert_eq!(fs::read(place.directory.path().join("s.jsonl.kept")).unwrap(), before);
}

#[tokio::test]
async fn a_flush_finds_it_too_even_when_the_directory_is_gone() {
    let place = place();
    let session = started(&place);
    fs::remove_dir_all(place.directory.path()).unwrap();
    let error = session.flush().await.unwrap_err();
    assert_eq!(cause(&error).code(), "LOG_REMOVED");
    assert_eq!(read(&place.path).unwrap().events.len(), 3);
    assert_eq!(cause(&session.flush().await.unwrap_err()).code(), "LOG_BROKEN");
}

#[test]
fn a_log_that_can_not_be_put_back_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place { path: directory.path().join("d/s.jsonl"), directory };
    let session = started(&place);
    fs::remove_dir_all(place.directory.path().join("d")).unwrap();
    fs::write(place.directory.path().join("d"), "a file").unwrap();
    let (code, words) = refused(&session);
    assert!(code == "LOG_LOST" && words.contains("is lost: can't create "), "{code} {words}");
}

#[test]
fn a_moved_log_is_written_where_it_is() {
    let place = place();
    let session = started(&place);
    let elsewhere = place.directory.path().join("moved.jsonl");
    fs::rename(&place.path, &elsewhere).unwrap();
    session.append(&note("there")).unwrap();
    assert_eq!(read(&elsewhere).unwrap().events.len(), 4);
}

#[test]
fn a_log_made_read_only_is_written_on() {
    let place = place();
    let session = started(&place);
    fs::set_permissions(&place.path, Permissions::from_mode(0o400)).unwrap();
    session.append(&note("still")).unwrap();
    drop(session);
    let contents = read(&place.path).unwrap();
    assert_eq!((contents.events.len(), contents.tail), (4, Tail::Clean));
}

#[test]
fn what_another_program_wrote_or_cut_is_not_written_over() {
    let place = place();
    let session = started(&place);
    let length = fs::metadata(&place.path).unwrap().len();
    OpenOptions::new().append(true).open(&place.path).unwrap().write_all(b"hello").unwrap();
    let (code, words) = refused(&session);
    assert_eq!(code, "LOG_CHANGED");
    let expected = format!("was changed by another program: it has {} bytes instead of {length}", length + 5);
    assert!(words.ends_with(&expected), "{words}");
    assert_eq!(refused(&session).0, "LOG_BROKEN");
    drop(session);
    assert_eq!(open(&place.path).len(), 5);
    assert_eq!(beside(&place), [format!("s.jsonl.removed-{length}")]);

    let session = open(&place.path);
    OpenOptions::new().write(true).open(&place.path).unwrap().set_len(10).unwrap();
    assert_eq!(refused(&session).0, "LOG_CHANGED");
    assert_eq!(fs::metadata(&place.path).unwrap().len(), 10);
}
