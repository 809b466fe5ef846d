//! Reading a log, and telling a torn tail from damage.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use dsh_session::{Event, Header, Vocabulary};

use crate::error::{IoError, OpenError, ReadError};
use crate::line;

/// What a log file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    /// The session's header; `None` when the very first line is torn or damaged.
    pub header: Option<Header>,
    /// The events before the first bad line.
    pub events: Vec<Event>,
    /// What comes after them.
    pub tail: Tail,
}

impl Contents {
    /// Refuses a log with an event of a required type that nobody here knows.
    pub(crate) fn check_known(&self, path: &Path, vocabulary: &Vocabulary) -> Result<(), OpenError> {
        let unknown = self.events.iter().find(|event| !event.ignorable && !vocabulary.knows(&event.kind));
        match unknown {
            None => Ok(()),
            Some(event) => {
                let (seq, kind) = (event.seq, Arc::clone(&event.kind));
                Err(OpenError::UnknownType { path: path.to_owned(), seq, kind })
            }
        }
    }

    /// Refuses a damaged log.
    pub(crate) fn check_undamaged(&self, path: &Path) -> Result<(), OpenError> {
        match self.tail {
            Tail::Damaged { line, offset, later_valid } => {
                Err(OpenError::Damaged { path: path.to_owned(), line, offset, later_valid })
            }
            Tail::Clean | Tail::Torn { .. } => Ok(()),
        }
    }
}

/// The end of a log file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// Every line is sound.
    Clean,
    /// From a bad line to the end no line is sound: a write was cut off.
    Torn {
        /// Where it begins.
        offset: u64,
        /// How long it is; 0 when the file is empty.
        bytes: u64,
    },
    /// A line that is bad, or out of sequence, has sound lines at or after it.
    Damaged {
        /// The line, from 1.
        line: u64,
        /// Where it begins.
        offset: u64,
        /// How many lines from there on are sound.
        later_valid: u64,
    },
}

impl Tail {
    /// Where the sound part of the file ends, when something comes after it.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Clean => None,
            Self::Torn { offset, .. } | Self::Damaged { offset, .. } => Some(*offset),
        }
    }
}

/// Reads a log as it is, without lock and without change. A log that is being written to may seem torn.
///
/// The events are checked as far as the file's rules go: checksum, envelope, sequence. Whether their types are known
/// is the session's matter. Memory: all events, and one line of at most [`MAX_LINE_BYTES`](crate::MAX_LINE_BYTES).
pub fn read(path: impl AsRef<Path>) -> Result<Contents, ReadError> {
    let path = path.as_ref();
    // Opening a pipe would wait for somebody who writes.
    if !std::fs::metadata(path).map_err(IoError::at(path, "open"))?.is_file() {
        return Err(ReadError::NotALog { path: path.to_owned() });
    }
    let file = File::open(path).map_err(IoError::at(path, "open"))?;
    read_file(&file, path)
}

pub(crate) fn read_file(file: &File, path: &Path) -> Result<Contents, ReadError> {
    if !file.metadata().map_err(IoError::at(path, "read"))?.is_file() {
        return Err(ReadError::NotALog { path: path.to_owned() });
    }
    let mut file = file;
    file.seek(SeekFrom::Start(0)).map_err(IoError::at(path, "read"))?;
    let mut lines = Lines::of(BufReader::with_capacity(1 << 16, file));
    let mut log = Reading::default();
    while lines.advance().map_err(IoError::at(path, "read"))? {
        log.take(&mut lines, path)?;
    }
    if log.header.is_none() && log.later_valid == 0 && log.foreign {
        return Err(ReadError::NotALog { path: path.to_owned() });
    }
    let tail = log.tail(lines.end);
    Ok(Contents { header: log.header, events: log.events, tail })
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    header: Option<Header>,
    events: Vec<Event>,
    /// The first bad line, and where it begins.
    bad: Option<(u64, u64)>,
    later_valid: u64,
    /// Whether the first line is no piece of a log.
    foreign: bool,
}

impl Reading {
    fn take<R: BufRead>(&mut self, lines: &mut Lines<R>, path: &Path) -> Result<(), ReadError> {
        if lines.number == 1 {
            self.foreign = !begins_as_a_log(&lines.line, lines.complete);
        }
        let sound = lines.complete && line::unwrap(&mut lines.line);
        if self.bad.is_some() {
            self.later_valid += u64::from(sound);
            return Ok(());
        }
        if !sound {
            self.bad = Some((lines.number, lines.start));
            return Ok(());
        }
        let unreadable = |problem| ReadError::Line { path: path.to_owned(), line: lines.number, problem };
        let json = line::parse(&lines.line).map_err(unreadable)?;
        if lines.number == 1 {
            let header = Header::from_json(&json);
            self.header = Some(header.map_err(|source| ReadError::Header { path: path.to_owned(), source })?);
            return Ok(());
        }
        let event = Event::from_json(&json).map_err(unreadable)?;
        if event.seq == self.events.len() as u64 {
            self.events.push(event);
        } else {
            // Lines are missing or doubled, though this one is whole.
            self.bad = Some((lines.number, lines.start));
            self.later_valid = 1;
        }
        Ok(())
    }

    fn tail(&self, length: u64) -> Tail {
        match self.bad {
            Some((line, offset)) if self.later_valid > 0 => {
                Tail::Damaged { line, offset, later_valid: self.later_valid }
            }
            Some((_, offset)) => Tail::Torn { offset, bytes: length - offset },
            None if self.header.is_none() => Tail::Torn { offset: 0, bytes: 0 },
            None => Tail::Clean,
        }
    }
}

/// The lines of a file, one at a time, each with its place.
struct Lines<R> {
    reader: R,
    /// The line without its newline.
    line: Vec<u8>,
    /// From 1; 0 before the first.
    number: u64,
    start: u64,
    end: u64,
    /// Whether it ended with a newline, and was not too long to be one of ours.
    complete: bool,
}

impl<R: BufRead> Lines<R> {
    fn of(reader: R) -> Self {
        Self { reader, line: Vec::new(), number: 0, start: 0, end: 0, complete: false }
    }

    /// Reads the next line; `false` at the end.
    fn advance(&mut self) -> std::io::Result<bool> {
        self.line.clear();
        self.start = self.end;
        let read = self.fill(line::MAX_LINE_BYTES)?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        self.complete = self.line.pop_if(|last| *last == b'\n').is_some();
        if !self.complete && read == line::MAX_LINE_BYTES {
            self.skip_rest()?;
        }
        Ok(true)
    }

    /// Passes over the rest of a line that is too long, without holding it.
    fn skip_rest(&mut self) -> std::io::Result<()> {
        loop {
            self.line.clear();
            let read = self.fill(1 << 16)?;
            if read == 0 || self.line.last() == Some(&b'\n') {
                self.line.clear();
                return Ok(());
            }
        }
    }

    fn fill(&mut self, limit: usize) -> std::io::Result<usize> {
        let read = self.reader.by_ref().take(limit as u64).read_until(b'\n', &mut self.line)?;
        self.end += read as u64;
        Ok(read)
    }
}

/// Whether a first line could be the start of a log: a header, or a piece of one that was cut off, or the zeros that a
/// crash of the machine leaves. Any other file is someone else's.
fn begins_as_a_log(line: &[u8], complete: bool) -> bool {
    let start = br#"{"type":"session""#;
    line.starts_with(start) || !complete && (start.starts_with(line) || line.iter().all(|byte| *byte == 0))
}
