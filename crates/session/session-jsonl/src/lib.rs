//! Durable session logs: checksummed JSON Lines, one locked writer, torn tails told from damage.
//!
//! Line 1 is the session's header, each further line one event (design §6). Every line is a JSON object whose last key
//! is `"crc"`: the CRC-32C of the line's bytes before it, that is up to and not including `,"crc"`, as eight lower-case
//! hexadecimal digits. The checksum belongs to the file, not to the event.
//!
//! An event is in the file when [`Sink::write`](dsh_session::Sink::write) returns, and on the device when
//! [`Sink::flush`](dsh_session::Sink::flush) does. Lines are written one at a time, so a killed process or a full disk
//! can spoil the last one only: that is a *torn* tail, taken off and kept beside the file when the log is continued. A
//! bad line with a good one after it is *damage*; it is never passed over, and only [`repair`] touches it.
//!
//! ```
//! # use std::sync::Arc;
//! # use dsh_lifecycle::SteppingClock;
//! # use dsh_session::{Header, Session, SessionSpec, TurnStart, Vocabulary};
//! # use dsh_session_jsonl::{LogFile, Tail, read};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("session.jsonl");
//! let vocabulary = Arc::new(Vocabulary::core());
//! let opened = LogFile::open_or_create(&path, Header::new("s1", 0)?, &vocabulary)?;
//! let spec = SessionSpec {
//!     header: opened.header,
//!     vocabulary,
//!     clock: Arc::new(SteppingClock::starting_at(0)),
//!     sink: Some(Arc::new(opened.log)),
//! };
//! let session = Session::resume(spec, opened.events)?;
//! session.append(&TurnStart { turn: session.next_turn() })?;
//! assert_eq!(read(&path)?.tail, Tail::Clean);
//! # Ok(())
//! # }
//! ```

mod beside;
mod device;
mod error;
mod file;
mod fork;
mod line;
mod read;
mod repair;
mod set_aside;
mod whole;
mod writer;

pub use error::{ForkLogError, IoError, OpenError, ReadError, RepairError, WriteError};
pub use file::{LogFile, Opened};
pub use fork::fork;
pub use line::{MAX_LINE_BYTES, MAX_LINE_DEPTH};
pub use read::{Contents, Tail, read};
pub use repair::{RepairReport, repair};
pub use set_aside::SetAside;
