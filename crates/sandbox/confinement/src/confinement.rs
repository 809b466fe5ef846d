//! The parts in their order.

use rustix::fd::BorrowedFd;

use crate::system::{address_space, few_calls, no_files, no_new_privileges};
use crate::{Demand, Level, Limits, Part, Short};

/// What is left to a process that runs a program: its memory, the clock, and one channel to whoever owns it.
///
/// Standard input, output and error stay as they are; the owner has pointed them where they do no harm.
#[derive(Debug, Clone, Copy)]
pub struct Confinement<'a> {
    /// Bounds on what it uses.
    pub limits: Limits,
    /// Where it may read and write.
    pub channel: BorrowedFd<'a>,
    /// Whether it may start threads.
    pub threads: bool,
}

impl Confinement<'_> {
    /// Confines the calling thread and all that it will start; the bounds are the whole process's. To be called while
    /// there is one thread. There is no way back, also from an error.
    ///
    /// # Errors
    /// [`Short`] when less was reached than `demand`: the process has to end.
    pub fn enter(&self, demand: Demand) -> Result<Level, Short> {
        let mut missing = Vec::new();
        let mut part = |part, holds: bool| {
            if !holds {
                missing.push(part);
            }
        };
        let used = address_space();
        // The rules on files take a descriptor, so the bound on descriptors comes after them; the filter of calls lets no
        // other part be set any more.
        part(Part::Privileges, no_new_privileges());
        part(Part::Files, no_files());
        part(Part::Limits, self.limits.apply(used, self.channel).is_ok());
        part(Part::Calls, few_calls(self.channel, self.threads));
        Level::without(missing).meets(demand)
    }
}
