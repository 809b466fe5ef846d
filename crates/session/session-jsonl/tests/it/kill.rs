//! A process that is killed, or that runs out of space, loses nothing that was told.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dsh_session::{StepStart, TurnStart};
use dsh_session_jsonl::{Tail, read};

use crate::talk::*;

/// Where the child writes; unset in a normal run of the tests.
const LOG: &str = "DSH_TEST_LOG";

/// The child's half of the tests below: appends until it is stopped, and says what it was told.
#[test]
#[expect(clippy::disallowed_methods, reason = "the only way to tell a child of the test harness what it is")]
fn child() {
    let Some(path) = std::env::var_os(LOG).map(PathBuf::from) else { return };
    let session = open(&path);
    let mut out = std::io::stdout().lock();
    session.append(&TurnStart { turn: session.next_turn() }).unwrap();
    session.append(&StepStart { turn: session.next_turn() - 1, step: 1 }).unwrap();
    for number in 0_u32.. {
        let told = match session.append(&note(&format!("{number:0>200}"))) {
            Ok(event) => format!("told {}", event.seq),
            Err(error) => format!("failed {error}"),
        };
        writeln!(out, "\n{told}").unwrap();
        out.flush().unwrap();
        if told.starts_with("failed") {
            return;
        }
    }
}

fn this_test() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn arguments(command: &mut Command, path: &Path) {
    command.args(["kill::child", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(LOG, path).stdout(Stdio::piped()).stderr(Stdio::null());
}

#[test]
fn a_killed_process_loses_nothing_that_it_was_told() {
    let place = place();
    for round in 1..=3_u32 {
        let mut command = Command::new(this_test());
        arguments(&mut command, &place.path);
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told =
            lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("told ").map(str::to_owned));
        let last: u64 = told.skip(50).map(|seq| seq.parse().unwrap()).next().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();

        let contents = read(&place.path).unwrap();
        assert!(contents.events.len() as u64 > last);
        assert!(!matches!(contents.tail, Tail::Damaged { .. }));
        let session = open(&place.path);
        assert_eq!(session.next_turn(), round + 1);
        let ends = session.events();
        let ends: Vec<&str> = ends.iter().rev().take(3).map(|event| &*event.kind).collect();
        assert_eq!(ends, ["session/end-seed", "turn/end", "step/end"]);
    }
}

#[test]
fn a_full_disk_stops_the_log_at_a_whole_line_and_says_where() {
    let place = place();
    // The shell ignores the signal of the file-size limit, and the child inherits that: its writes fail instead.
    let mut command = Command::new("sh");
    command.arg("-c").arg("trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"").arg(this_test());
    arguments(&mut command, &place.path);
    let output = command.output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let last = output.lines().filter_map(|line| line.strip_prefix("told ")).next_back().unwrap();
    let failed = output.lines().find(|line| line.starts_with("failed ")).unwrap();
    let expected = format!("failed the session log can't be written: can't write {}: ", place.path.display());
    assert!(failed.starts_with(&expected), "{failed}");

    let contents = read(&place.path).unwrap();
    assert_eq!(contents.tail, Tail::Clean);
    assert_eq!(contents.events.last().unwrap().seq, last.parse::<u64>().unwrap());
    drop(open(&place.path));
}
