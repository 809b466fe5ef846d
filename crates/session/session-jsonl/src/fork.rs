//! A new log that begins with what another one holds (spec 03 §5).

use std::path::Path;

use dsh_session::{Fork, Header, Vocabulary};

use crate::error::{ForkLogError, OpenError};
use crate::file::{LogFile, Opened};
use crate::read::{Contents, read};

/// Creates a log at `target` that begins with a copy of the events of `source` up to `boundary`, or of all of them:
/// whole turns. `child` is the header of the new session; where its events are from is added to it. Blocking.
///
/// The source is only read, and may be in use: what of it is whole is taken. A torn end is left out. Refused, in this
/// order: a target that exists; a source that is not there, is damaged or is not for this `vocabulary`; a boundary that
/// is not there or inside a turn.
pub fn fork(
    source: impl AsRef<Path>,
    boundary: Option<u64>,
    target: impl AsRef<Path>,
    child: Header,
    vocabulary: &Vocabulary,
) -> Result<Opened, ForkLogError> {
    let (source, target) = (source.as_ref(), target.as_ref());
    if target.symlink_metadata().is_ok() {
        return Err(ForkLogError::Target(OpenError::Exists { path: target.to_owned() }));
    }
    let contents = read(source).map_err(|error| ForkLogError::Source(error.into()))?;
    let usable = contents.check_undamaged(source).and_then(|()| contents.check_known(source, vocabulary));
    usable.map_err(ForkLogError::Source)?;
    let Contents { header: Some(parent), events, .. } = contents else {
        return Err(ForkLogError::Source(OpenError::NotStarted { path: source.to_owned() }));
    };
    let fork = Fork::of(&parent, &events, boundary)
        .map_err(|error| ForkLogError::Boundary { path: source.to_owned(), source: error })?;
    let (header, events) = fork.into_child(child);
    let log = LogFile::create_with(target, &header, &events).map_err(ForkLogError::Target)?;
    Ok(Opened { log, header, events, set_aside: None })
}
