//! Hosts as processes of their own: what is left when one is killed, and when one has worked for a while.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::cell::prisoner;

#[cfg(target_os = "linux")]
#[test]
fn workers_die_with_a_host_that_is_killed() {
    let mut host = Command::new(prisoner());
    let mut host = host.arg("host").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let workers: Vec<_> = line
        .split_whitespace()
        .map(|number| {
            pidfd_open(Pid::from_raw(number.parse().unwrap()).unwrap(), PidfdFlags::empty()).unwrap()
        })
        .collect();
    assert_eq!(workers.len(), 2);
    host.kill().unwrap();
    host.wait().unwrap();
    for worker in &workers {
        let mut polled = [PollFd::new(worker, PollFlags::IN)];
        let patience = Timespec { tv_sec: 20, tv_nsec: 0 };
        assert_eq!(poll(&mut polled, Some(&patience)), Ok(1), "a worker lives");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn used_workers_leave_no_process_no_descriptor_and_no_thread() {
    let output = Command::new(prisoner()).arg("leaks").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let [before, after] = said.lines().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(before.strip_prefix("before"), after.strip_prefix("after"));
    assert!(after.ends_with("0 children, 1 threads"), "{after}");
}
