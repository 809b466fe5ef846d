//! What the kernel counts for us.

use std::io;

use rustix::fd::{AsRawFd as _, BorrowedFd};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::system::no_dump;

/// Bounds on a confined process. `None` leaves a bound as it was.
///
/// They are the second line: whoever owns the process watches its time, and an engine its own memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Address space beyond what the process has when it is confined. An allocation beyond it fails.
    pub max_memory_bytes: Option<u64>,
    /// CPU seconds from the start of the process. At the bound it gets `SIGXCPU`, one second later `SIGKILL`.
    pub max_cpu_seconds: Option<u64>,
}

impl Limits {
    /// Sets the bounds, and those that every confined process has: files of no bytes, no descriptor beyond the channel,
    /// no core dump.
    ///
    /// `used` is the address space of the process, which it can't look up when its files are gone.
    pub(crate) fn apply(&self, used: io::Result<u64>, channel: BorrowedFd<'_>) -> io::Result<()> {
        if let Some(seconds) = self.max_cpu_seconds {
            limit(Resource::Cpu, seconds, 1)?;
        }
        limit(Resource::Core, 0, 0)?;
        limit(Resource::Fsize, 0, 0)?;
        limit(Resource::Nofile, u64::from(channel.as_raw_fd().unsigned_abs()) + 1, 0)?;
        no_dump()?;
        // Last, because only Linux tells how much there is already.
        if let Some(bytes) = self.max_memory_bytes {
            limit(Resource::As, used?.saturating_add(bytes), 0)?;
        }
        Ok(())
    }
}

/// Bounds a resource, with some grace between signal and kill; what was bounded lower stays so.
fn limit(resource: Resource, most: u64, grace: u64) -> io::Result<()> {
    let least = |wanted: u64, bound: Option<u64>| Some(bound.map_or(wanted, |bound| bound.min(wanted)));
    let now = getrlimit(resource);
    let new =
        Rlimit { current: least(most, now.current), maximum: least(most.saturating_add(grace), now.maximum) };
    Ok(setrlimit(resource, new)?)
}
