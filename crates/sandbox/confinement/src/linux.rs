//! What Linux offers.

mod calls;
mod files;

use std::io;

use rustix::fd::BorrowedFd;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// No program that is started gains privileges any more.
pub(crate) fn no_new_privileges() -> bool {
    rustix::thread::set_no_new_privs(true).is_ok()
}

/// No path is in reach any more.
pub(crate) fn no_files() -> bool {
    files::restrict().is_ok_and(|restricted| restricted)
}

/// No system call is answered any more but those that a program needs to compute.
pub(crate) fn few_calls(channel: BorrowedFd<'_>, threads: bool) -> bool {
    calls::restrict(channel, threads).is_ok()
}

/// How much address space the process has.
pub(crate) fn address_space() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages = text.split(' ').next().and_then(|pages| pages.parse::<u64>().ok());
    let pages = pages.ok_or_else(|| io::Error::other("/proc/self/statm does not begin with a number"))?;
    Ok(pages.saturating_mul(rustix::param::page_size() as u64))
}

/// A bound of no bytes does not keep core dumps from a program that the system gives them to; this does. And nobody looks
/// into the memory of the process.
pub(crate) fn no_dump() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}
