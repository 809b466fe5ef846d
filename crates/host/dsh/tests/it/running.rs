//! A run of the program that tells its events, watched line by line.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout};

use dsh_json::Json;
use rustix::process::{Pid, Signal, kill_process};

use crate::world::{Ran, World};

pub(crate) struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    /// What it printed so far; whole lines.
    lines: Vec<String>,
}

impl Running {
    /// Begins a turn of this script, in the log `one.jsonl`.
    pub(crate) fn start(world: &World, script: &str) -> Self {
        let model = format!("script:{script}");
        let run = ["run", "--json", "--model", &model, "--session", "one.jsonl", "--seed", "1", "go"];
        let mut child = world.command(run).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out, lines: Vec::new() }
    }

    /// Reads events until one of this type is there.
    pub(crate) fn until(&mut self, kind: &str) {
        loop {
            assert!(self.read_line(), "it ended before `{kind}`: {:?}", self.lines);
            let event = Json::parse(self.lines.last().unwrap()).unwrap();
            if event.get("type").unwrap().as_str() == Some(kind) {
                return;
            }
        }
    }

    /// Reads this many lines, or as many as there are.
    pub(crate) fn until_line(&mut self, count: usize) {
        while self.lines.len() < count && self.read_line() {}
    }

    /// Waits until it has read so many bytes from files.
    pub(crate) fn until_read(&mut self, bytes: u64) {
        let counters = format!("/proc/{}/io", self.child.id());
        loop {
            assert!(self.child.try_wait().unwrap().is_none(), "it ended too early");
            let counters = std::fs::read_to_string(&counters).unwrap();
            let read: u64 =
                counters.lines().next().unwrap().strip_prefix("rchar: ").unwrap().parse().unwrap();
            if read > bytes {
                return;
            }
            std::thread::yield_now();
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // It is not waited for yet, so its number is still its own.
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ran {
        while self.read_line() {}
        let mut ran = Ran::of(self.child.wait_with_output().unwrap());
        ran.out = self.lines.concat();
        ran
    }

    /// Waits for its end, while nobody reads what it prints.
    pub(crate) fn end_unread(self) -> Ran {
        let Self { child, out, .. } = self;
        let ran = Ran::of(child.wait_with_output().unwrap());
        drop(out);
        ran
    }

    /// Kills it, and tells which whole lines it had printed; whether it had ended by itself before.
    pub(crate) fn kill(mut self) -> (Vec<String>, bool) {
        self.signal(Signal::KILL);
        let status = self.child.wait().unwrap();
        while self.read_line() {}
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(!err.contains("error:"), "{err}");
        (self.lines, status.success())
    }

    /// Whether there was another whole line.
    fn read_line(&mut self) -> bool {
        let mut line = String::new();
        let whole = self.out.read_line(&mut line).unwrap() > 0 && line.ends_with('\n');
        if whole {
            self.lines.push(line);
        }
        whole
    }
}
