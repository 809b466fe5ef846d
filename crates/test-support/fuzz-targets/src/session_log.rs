//! Session logs (design §6, spec 03 §§8–10): any file is read or refused, what is read is true to the file, loading and
//! verifying agree, and a repair loses no byte.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_lifecycle::SteppingClock;
use dsh_session::{Event, Header, Session, SessionSpec, Verdict, Violation, Vocabulary, verify};
use dsh_session_jsonl::{Contents, LogFile, Tail, read, repair};
use tempfile::TempDir;

use crate::Met;
use crate::log_file::sealed;

/// The bytes are a log file; or its lines without checksums, one that begins with `!` as it is.
pub(crate) fn session_log(bytes: &[u8]) -> Met {
    let as_it_is = judged(bytes);
    let sealed = judged(&sealed(bytes));
    Met::taken(as_it_is || sealed)
}

/// Whether the file is a log with a header.
fn judged(bytes: &[u8]) -> bool {
    let place = Place::with(bytes);
    let vocabulary = Arc::new(Vocabulary::core());
    let contents = match read(&place.log) {
        Ok(contents) => contents,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(
                repair(&place.log, &vocabulary).is_err() && LogFile::open(&place.log, &vocabulary).is_err()
            );
            assert!(place.bytes() == bytes, "a refused file was changed");
            return false;
        }
    };
    true_to_the_file(&contents, bytes);
    assert!(read(&place.log).is_ok_and(|same| same == contents));
    let Some(header) = &contents.header else {
        assert!(contents.events.is_empty());
        assert!(repair(&place.log, &vocabulary).is_err() && place.bytes() == bytes);
        return false;
    };
    let verdict = verify(header, &contents.events, &vocabulary);
    loading_agrees(header, &contents.events, &verdict, &vocabulary);
    opening_keeps_what_is_sound(bytes, &contents, &vocabulary);
    repair_loses_nothing(&place, bytes, &contents, &verdict, &vocabulary);
    true
}

fn true_to_the_file(contents: &Contents, bytes: &[u8]) {
    let length = bytes.len() as u64;
    match contents.tail {
        Tail::Clean => assert!(contents.header.is_some() && bytes.ends_with(b"\n")),
        Tail::Torn { offset, bytes } => assert_eq!(offset + bytes, length),
        Tail::Damaged { line, offset, later_valid } => {
            assert!(offset < length && later_valid > 0);
            assert_eq!(line, contents.events.len() as u64 + 1 + u64::from(contents.header.is_some()));
        }
    }
    if let Some(header) = &contents.header {
        assert!(Header::from_json(&header.to_json()).is_ok_and(|same| same == *header), "{header:?}");
    }
    for (seq, event) in (0..).zip(&contents.events) {
        assert_eq!(event.seq, seq);
        assert!(Event::from_json(&event.to_json()).is_ok_and(|same| same == *event), "{event:?}");
    }
}

/// Loading takes what verifying has nothing against, and stops at the event that verifying names first.
fn loading_agrees(header: &Header, events: &[Event], verdict: &Verdict, vocabulary: &Arc<Vocabulary>) {
    assert_eq!(verdict.events, events.len() as u64);
    assert!(verdict.problems.len() <= Verdict::MAX_PROBLEMS);
    let refused = verdict.problems.iter().find(|problem| matches!(problem.what, Violation::Refused(_)));
    let session = Session::resume(spec(header, vocabulary), events.to_vec());
    match (session, refused) {
        (Ok(session), None) => {
            let all = session.events();
            assert!(all.len() >= events.len() && all.iter().zip(events).all(|(one, same)| **one == *same));
            if verdict.is_ok() {
                let after = verify(header, &all, vocabulary);
                assert!(after.is_ok() && after.open_turn.is_none(), "{after:?}");
            }
        }
        (Err(error), Some(_)) => assert!(!error.to_string().is_empty()),
        // A problem beyond those that are told may be the one.
        (Err(_), None) if verdict.more > 0 => {}
        (Ok(_), Some(problem)) => panic!("loaded, and verifying says: {problem}"),
        (Err(error), None) => panic!("not loaded, and verifying says nothing: {error}"),
    }
}

fn spec(header: &Header, vocabulary: &Arc<Vocabulary>) -> SessionSpec {
    SessionSpec {
        header: header.clone(),
        vocabulary: Arc::clone(vocabulary),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    }
}

fn opening_keeps_what_is_sound(bytes: &[u8], contents: &Contents, vocabulary: &Vocabulary) {
    let place = Place::with(bytes);
    match LogFile::open(&place.log, vocabulary) {
        Ok(opened) => {
            assert!(!matches!(contents.tail, Tail::Damaged { .. }));
            assert!(opened.events == contents.events);
            drop(opened);
            place.holds(&contents.events, 0);
        }
        Err(error) => {
            assert!(place.bytes() == bytes, "a log that was refused was changed: {error}");
            let unknown =
                contents.events.iter().any(|event| !event.ignorable && !vocabulary.knows(&event.kind));
            assert!(unknown || matches!(contents.tail, Tail::Damaged { .. }), "{error}");
        }
    }
}

fn repair_loses_nothing(
    place: &Place,
    bytes: &[u8],
    contents: &Contents,
    verdict: &Verdict,
    vocabulary: &Vocabulary,
) {
    let report = match repair(&place.log, vocabulary) {
        Ok(report) => report,
        Err(error) => {
            assert!(place.bytes() == bytes, "a log that was refused was changed: {error}");
            assert!(!verdict.is_ok(), "{error}");
            return;
        }
    };
    let after = place.holds(&contents.events, report.closed.len());
    assert_eq!(report.events, after.events.len() as u64);
    let aside = report.set_aside.as_ref().map(|aside| file(&aside.path)).unwrap_or_default();
    let (sound, cut) = bytes.split_at(bytes.len() - aside.len());
    assert!(cut == aside, "what was set aside is not the end of the file");
    assert!(report.shorter_seed.is_some() || place.bytes().starts_with(sound), "what is sound was changed");
    if let Some(header) = after.header.as_ref().filter(|_| verdict.is_ok()) {
        let repaired = verify(header, &after.events, vocabulary);
        assert!(repaired.is_ok() && repaired.open_turn.is_none(), "{repaired:?}");
    }
    let again = repair(&place.log, vocabulary);
    assert!(again.as_ref().is_ok_and(dsh_session_jsonl::RepairReport::was_sound), "{again:?}");
}

/// A folder for one input.
struct Place {
    log: PathBuf,
    _folder: TempDir,
}

impl Place {
    fn with(bytes: &[u8]) -> Self {
        // A folder in memory is flushed at once.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        let folder = folder.unwrap_or_else(|error| panic!("no folder for the log: {error}"));
        let log = folder.path().join("session.jsonl");
        std::fs::write(&log, bytes).unwrap_or_else(|error| panic!("the log can't be written: {error}"));
        Self { log, _folder: folder }
    }

    fn bytes(&self) -> Vec<u8> {
        file(&self.log)
    }

    /// That the log is sound, and has these events and so many more.
    fn holds(&self, events: &[Event], more: usize) -> Contents {
        let after = read(&self.log).unwrap_or_else(|error| panic!("can't be read any more: {error}"));
        assert_eq!(after.tail, Tail::Clean);
        assert_eq!(after.events.len(), events.len() + more);
        assert!(after.events.starts_with(events), "events were changed");
        after
    }
}

fn file(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
