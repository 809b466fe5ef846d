//! One child process as its owners see it: alive until it is reaped, and killed by number only while it is alive.

use std::fs::File;
use std::io;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::{Exit, How};

pub(crate) struct Process {
    pid: Pid,
    gate: Mutex<Gate>,
    /// What the kernel says of the process, opened while its number was surely its own.
    stat: Option<File>,
    exit: watch::Sender<Option<Exit>>,
}

struct Gate {
    /// Whether the number is still its own.
    alive: bool,
    killed: bool,
    /// Its place among those that may be in use, given back when it is gone.
    place: Option<OwnedSemaphorePermit>,
}

impl Process {
    /// The child of that number, which nobody has waited for.
    pub(crate) fn new(pid: Pid) -> Self {
        let stat = File::open(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok();
        let gate = Gate { alive: true, killed: false, place: None };
        Self { pid, gate: Mutex::new(gate), stat, exit: watch::Sender::new(None) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.exit.borrow().is_none()
    }

    /// Kills it, if it is there. It is not waited for.
    pub(crate) fn kill(&self) {
        let mut gate = self.gate.lock();
        if gate.alive {
            gate.killed = true;
            // It is there, ours, and can't refuse.
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }

    /// Holds a place until it is gone.
    pub(crate) fn occupy(&self, place: OwnedSemaphorePermit) {
        let mut gate = self.gate.lock();
        if gate.alive {
            gate.place = Some(place);
        }
    }

    /// Waits until it is gone.
    pub(crate) async fn gone(&self) -> Exit {
        let mut exit = self.exit.subscribe();
        loop {
            if let Some(exit) = *exit.borrow_and_update() {
                return exit;
            }
            // The sender is our own, so it is there.
            let _ = exit.changed().await;
        }
    }

    /// The CPU time used so far, by all threads; `None` where the system does not tell.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        use std::os::unix::fs::FileExt as _;
        let mut text = [0; 1 << 10];
        let read = self.stat.as_ref()?.read_at(&mut text, 0).ok()?;
        cpu_in(std::str::from_utf8(text.get(..read)?).ok()?)
    }

    /// Waits for the end on this thread, reaps it, and tells everybody; also whether it was in use.
    pub(crate) fn reap(&self, child: &mut std::process::Child) -> (Exit, bool) {
        // First without reaping, so that the number is its own until the gate is closed.
        loop {
            let waited = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            if !matches!(waited, Err(rustix::io::Errno::INTR)) {
                break;
            }
        }
        let cpu = self.cpu();
        let mut gate = self.gate.lock();
        let how = how(&child.wait());
        gate.alive = false;
        let place = gate.place.take();
        let exit = Exit { how, killed: gate.killed && how == How::Signal(libc::SIGKILL), cpu };
        drop(gate);
        self.exit.send_replace(Some(exit));
        (exit, place.is_some())
    }
}

fn how(status: &io::Result<std::process::ExitStatus>) -> How {
    use std::os::unix::process::ExitStatusExt as _;
    match status {
        Ok(status) => status.signal().map_or_else(|| How::Exited(status.code().unwrap_or(-1)), How::Signal),
        // Somebody else in this process has waited for our child, and its status went with that.
        Err(_) => How::Exited(-1),
    }
}

/// The user and system time in a line of `/proc/PID/stat`, whose second field is a name in parentheses.
fn cpu_in(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11).map(str::parse::<u64>);
    let ticks = times.next()?.ok()?.checked_add(times.next()?.ok()?)?;
    Some(Duration::from_millis(ticks.saturating_mul(1_000) / rustix::param::clock_ticks_per_second()))
}

/// An owner: dropping it kills the process.
pub(crate) struct Leash(pub(crate) std::sync::Arc<Process>);

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.kill();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::cpu_in;

    #[test]
    fn the_times_are_found_behind_any_name() {
        let times = "R 1 2 3 4 5 6 7 8 9 10 150 25 0 0 20 0 1 0";
        let expected = Duration::from_millis(175_000 / rustix::param::clock_ticks_per_second());
        assert_eq!(cpu_in(&format!("17 (dsh-worker) {times}")), Some(expected));
        assert_eq!(cpu_in(&format!("17 (a) R 9 9 (b) {times}")), Some(expected));
        assert_eq!(cpu_in("17 (x) R 1 2"), None);
        assert_eq!(cpu_in(""), None);
    }
}
