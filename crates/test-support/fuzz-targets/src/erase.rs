//! Programs in TypeScript (spec 06 §8.3): whatever they are, there is an outcome, and what stands behind a program's types
//! keeps its line and column.
//!
//! How types are erased is the provider's own affair; it is reached through its engine. So the program is put into a
//! function that is never called, with an error behind it, and the engine says where it was thrown. A program that leaves the
//! function runs, under small bounds.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use dsh_code_runtime::wire::{Brake, FromEngine, Gone, Job, Port, ToEngine};
use dsh_code_runtime::{Failure, FailureKind, Limits};
use dsh_quickjs::{STACK_BYTES, serve};

use crate::Met;

const BEFORE: &str = "async function program() {";
/// What is thrown behind the program.
const THROWN: &str = "behind the program";
/// The columns from a `throw` to the place that the engine tells.
const TO_PLACE: usize = 10;

pub(crate) fn erase(bytes: &[u8]) -> Met {
    let Ok(program) = str::from_utf8(bytes) else { return Met::Refused };
    // On the program's last line, and below it: that may end with a comment.
    let taken = ["}; ", "\n}; "].into_iter().any(|behind| keeps_its_place(program, behind));
    Met::taken(taken)
}

/// Whether the program could be read and did not run. Panics when what stands behind it was moved.
fn keeps_its_place(program: &str, behind: &str) -> bool {
    let before = format!("{BEFORE}{program}{behind}");
    let end = outcome(format!("{before}throw new Error(\"{THROWN}\")"));
    let Err(failure) = end else { return false };
    let Some(told) = failure.message.strip_prefix(&format!("Error: {THROWN}\nat line ")) else {
        return false;
    };
    if failure.kind != FailureKind::Exception || program.contains(THROWN) {
        return false;
    }
    let told = told.lines().next().and_then(|place| place.split_once(", column "));
    let told = told.and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
    let (line, column): (usize, usize) = told.unwrap_or_else(|| panic!("no place: {}", failure.message));
    if has_other_lines(program) {
        return true;
    }
    // FIXME: the engine counts bytes, and its columns are told as they are; who reads them takes them for characters. Once
    // they are, both are equal here.
    let last = before.rsplit('\n').next().unwrap_or_default();
    assert_eq!(line, before.matches('\n').count() + 1, "{program:?}");
    let columns = [last.chars().count(), last.len()].map(|column| column + 1 + TO_PLACE);
    assert!((columns[0]..=columns[1]).contains(&column), "column {column}, not {columns:?}: {program:?}");
    true
}

/// Whether a line ends without a newline. The engine counts such lines in some places, and not in others.
fn has_other_lines(program: &str) -> bool {
    let returns = program.matches('\r').count();
    returns > program.matches("\r\n").count() || program.contains(['\u{2028}', '\u{2029}'])
}

/// What becomes of a program on its own thread, as with the provider.
fn outcome(program: String) -> Result<(), Failure> {
    let done = Arc::new(Mutex::new(None));
    let host = Host { job: Some(job(program)), done: Arc::clone(&done) };
    let engine = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || serve(host));
    let served = engine.map(thread::JoinHandle::join);
    assert!(matches!(served, Ok(Ok(Ok(())))), "the engine did not come to its end: {served:?}");
    let outcome = done.lock().unwrap_or_else(PoisonError::into_inner).take();
    outcome.unwrap_or_else(|| panic!("the engine said nothing"))
}

fn job(program: String) -> Job {
    let limits = Limits {
        max_compute: Duration::from_millis(100),
        max_memory_bytes: 16 << 20,
        max_output_bytes: 64 << 10,
        ..Limits::default()
    };
    Job { program: program.into(), namespaces: Vec::new(), limits }
}

/// A host with one program, and nothing to say while it runs.
struct Host {
    job: Option<Job>,
    done: Arc<Mutex<Option<Result<(), Failure>>>>,
}

impl Port for Host {
    fn send(&mut self, message: FromEngine) -> Result<(), Gone> {
        if let FromEngine::Done { result, .. } = message {
            let before = self.done.lock().unwrap_or_else(PoisonError::into_inner).replace(result.map(drop));
            assert!(before.is_none(), "two ends: {before:?}");
        }
        Ok(())
    }

    fn receive(&mut self, _: Option<Duration>) -> Result<Option<ToEngine>, Gone> {
        Ok(Some(self.job.take().map_or(ToEngine::Cancel, ToEngine::Run)))
    }

    fn brake(&self) -> Brake {
        Brake::default()
    }
}
