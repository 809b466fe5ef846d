//! The log of a run that goes on from another session.

use std::path::{Path, PathBuf};

use dsh_harness::{Harness, SessionFailure};
use dsh_session::Header;
use dsh_session_jsonl::{ForkLogError, OpenError, fork};

use crate::exit::Failure;

/// Which session a run goes on from.
pub(crate) struct ForkFrom {
    /// Its log.
    pub(crate) source: PathBuf,
    /// The last event that is taken over, when it is not the last of all.
    pub(crate) boundary: Option<u64>,
}

impl ForkFrom {
    /// Creates the new log, under the name that was asked for or a fresh one, and tells where it is.
    pub(crate) fn begin(&self, harness: &Harness, named: Option<&Path>) -> Result<PathBuf, Failure> {
        let environment = &harness.host().environment;
        let vocabulary = harness.host().vocabulary();
        loop {
            let id = environment.ids.fresh();
            let file = match (named, &environment.state) {
                (Some(file), _) => file.to_owned(),
                (None, Some(state)) => state.join(format!("{id}.jsonl")),
                (None, None) => return Err(SessionFailure::NoStateDirectory.into()),
            };
            let child = Header::new(id, environment.clock.now_ms())
                .and_then(|child| child.in_directory(&environment.root))
                .map_err(SessionFailure::Header)?;
            match fork(&self.source, self.boundary, &file, child, &vocabulary) {
                // A seed gives the same ids again, and the next is another.
                Err(ForkLogError::Target(OpenError::Exists { .. })) if named.is_none() => {}
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(file),
            }
        }
    }
}
