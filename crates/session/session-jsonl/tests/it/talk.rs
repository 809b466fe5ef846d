//! Sessions in files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_lifecycle::SteppingClock;
use dsh_session::{
    Header, Payload, Session, SessionSpec, StepStart, TurnEnd, TurnEndReason, TurnStart, Vocabulary,
};
use dsh_session_jsonl::{LogFile, Opened};
use serde::{Deserialize, Serialize};

/// An event of a plugin.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) text: String,
}

impl Payload for Note {
    const TYPE: &'static str = "test/note";
    const EXACT: bool = true;
}

pub(crate) fn vocabulary() -> Arc<Vocabulary> {
    Arc::new(Vocabulary::core().with::<Note>().unwrap())
}

pub(crate) fn header() -> Header {
    Header::new("s1", 5).unwrap()
}

pub(crate) fn note(text: &str) -> Note {
    Note { text: text.to_owned() }
}

/// A directory for one test, and the log's path in it.
pub(crate) struct Place {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.jsonl");
    Place { directory, path }
}

/// A session over a log that was opened.
pub(crate) fn over(opened: Opened) -> Session {
    let spec = SessionSpec {
        header: opened.header,
        vocabulary: vocabulary(),
        clock: Arc::new(SteppingClock::starting_at(100)),
        sink: Some(Arc::new(opened.log)),
    };
    Session::resume(spec, opened.events).unwrap()
}

pub(crate) fn open(path: &Path) -> Session {
    over(LogFile::open_or_create(path, header(), &vocabulary()).unwrap())
}

/// A log of `notes` notes in a closed turn, and nobody writing to it. Lines: the header, the seed's end, the turn's
/// start, the notes, the turn's end.
pub(crate) fn closed_log(path: &Path, notes: usize) {
    let session = open(path);
    session.append(&TurnStart { turn: 1 }).unwrap();
    for number in 0..notes {
        session.append(&note(&number.to_string())).unwrap();
    }
    session.append(&TurnEnd { turn: 1, reason: TurnEndReason::Completed }).unwrap();
}

/// The same, but the turn and a step of it are open.
pub(crate) fn open_log(path: &Path, notes: usize) {
    let session = open(path);
    session.append(&TurnStart { turn: 1 }).unwrap();
    session.append(&StepStart { turn: 1, step: 1 }).unwrap();
    for number in 0..notes {
        session.append(&note(&number.to_string())).unwrap();
    }
}

pub(crate) fn kinds<'a>(events: impl IntoIterator<Item = &'a dsh_session::Event>) -> Vec<String> {
    events.into_iter().map(|event| event.kind.to_string()).collect()
}

/// The files beside the log, sorted.
pub(crate) fn beside(place: &Place) -> Vec<String> {
    let files = std::fs::read_dir(place.directory.path()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "s.jsonl").collect();
    names.sort();
    names
}

/// Where line `number` (from 1) begins.
pub(crate) fn line_start(bytes: &[u8], number: usize) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').take(number - 1).map(<[u8]>::len).sum()
}
