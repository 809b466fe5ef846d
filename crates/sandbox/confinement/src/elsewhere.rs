//! A system that offers nothing of this kind.

use std::io;

use rustix::fd::BorrowedFd;

pub(crate) fn no_new_privileges() -> bool {
    false
}

pub(crate) fn no_files() -> bool {
    false
}

pub(crate) fn few_calls(_channel: BorrowedFd<'_>, _threads: bool) -> bool {
    false
}

pub(crate) fn address_space() -> io::Result<u64> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[expect(clippy::unnecessary_wraps, reason = "Linux can fail")]
pub(crate) fn no_dump() -> io::Result<()> {
    Ok(())
}
