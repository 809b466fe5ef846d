//! How much a worker grows while a program uses up its memory.

use std::time::Duration;

use dsh_code_runtime::contract::tools;
use dsh_code_runtime::wire::{FromEngine, Job, ToEngine};
use dsh_code_runtime::{Failure, FailureKind, Limits};
use dsh_json::Json;
use dsh_worker::{Worker, WorkerError, WorkerPool};

use super::fixture::Fixture;
use super::spec;

/// What a program may use here, and what its process may grow by.
const ALLOWED: usize = 16 << 20;
const GROWTH: u64 = 32 << 20;

#[tokio::test]
async fn a_program_grows_its_process_by_at_most_twice_its_memory() {
    let mut wrong = Vec::new();
    for fixture in Fixture::all() {
        if fixture.class() != "memory" {
            continue;
        }
        assert_eq!(fixture.limits.max_memory_bytes, ALLOWED);
        let pool = WorkerPool::new(spec(&fixture.limits));
        let mut worker = pool.take().await.unwrap();
        let before = Memory::of(&worker).unwrap();
        let bound = bound(&worker);
        let grown = most(&mut worker, &fixture, fixture.limits.clone()).await - before.most;
        note(&fixture.name, grown);
        if grown > GROWTH || bound - before.space > GROWTH {
            wrong.push(format!("{}: {grown} bytes, at most {}", fixture.name, bound - before.space));
        }
        pool.close().await;
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The kernel's bound stands behind the engine's: an engine that allows too much is refused memory all the same.
#[tokio::test]
async fn an_engine_that_allows_more_gets_no_more() {
    let all = Fixture::all();
    for name in ["memory-typed-arrays", "memory-many-texts", "memory-one-typed-array"] {
        let fixture = all.iter().find(|fixture| fixture.name == name).unwrap();
        let pool = WorkerPool::new(spec(&fixture.limits));
        let mut worker = pool.take().await.unwrap();
        let before = Memory::of(&worker).unwrap();
        let careless = Limits { max_memory_bytes: 1 << 40, ..fixture.limits.clone() };
        let grown = most(&mut worker, fixture, careless).await - before.most;
        note(name, grown);
        assert!(grown <= GROWTH, "{name}: {grown}");
        pool.close().await;
    }
}

/// Shown by `--no-capture`.
fn note(name: &str, grown: u64) {
    println!("{name:48} grew by {} KiB", grown >> 10);
}

/// The most memory that the worker of a program held at a time. The program is made to rest once it is refused memory, so
/// that there is something to look at; one that ends all the same is looked at each millisecond until then.
async fn most(worker: &mut Worker, fixture: &Fixture, limits: Limits) -> u64 {
    let program = format!(
        "try {{ await (async () => {{\n{}\n}})(); }} catch {{}} await tools.wait('rest');",
        fixture.text
    );
    let job = Job { program: program.into(), namespaces: vec![tools()], limits };
    worker.queue(ToEngine::Run(job).encode().as_bytes()).unwrap();
    let mut most = 0;
    loop {
        most = most.max(Memory::of(worker).map_or(0, |memory| memory.most));
        let Ok(frame) = tokio::time::timeout(Duration::from_millis(1), worker.recv()).await else { continue };
        let message = match frame {
            Ok(frame) => FromEngine::decode(std::str::from_utf8(&frame).unwrap()).unwrap(),
            // Memory beside the engine's was refused, and the process gave up.
            Err(WorkerError::Ended(ended)) => {
                let aborted =
                    ended.exit.to_string() == "signal 6" && ended.stray.to_string().contains("memory");
                assert!(aborted || fixture.fixme, "{}: {ended:?}", fixture.name);
                return most;
            }
            Err(other) => panic!("{}: {other}", fixture.name),
        };
        match message {
            FromEngine::Call(call) if call.args == Json::from("rest") => {
                return Memory::of(worker).unwrap().most;
            }
            FromEngine::Call(call) if &*call.name == "wait" => {}
            FromEngine::Call(call) => {
                let reply = ToEngine::Reply { id: call.id, answer: Ok(call.args) };
                worker.queue(reply.encode().as_bytes()).unwrap();
            }
            FromEngine::Done { result: Err(Failure { kind: FailureKind::MemoryLimit, .. }), .. } => {
                return most;
            }
            FromEngine::Done { .. } | FromEngine::Log { .. } => panic!("{}: {message:?}", fixture.name),
        }
    }
}

/// What the kernel says of a process.
struct Memory {
    /// The most memory that it held at a time, less the pages of its program that are in memory, which no one wrote to.
    most: u64,
    /// The space that it has.
    space: u64,
}

impl Memory {
    /// `None` when it is gone.
    fn of(worker: &Worker) -> Option<Self> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", worker.id())).ok()?;
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<u64>().ok()? << 10)
        };
        Some(Self { most: bytes("VmHWM")?.saturating_sub(bytes("RssFile")?), space: bytes("VmSize")? })
    }
}

/// The bound on the space of its process.
fn bound(worker: &Worker) -> u64 {
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", worker.id())).unwrap();
    let space = limits.lines().find_map(|line| line.strip_prefix("Max address space")).unwrap();
    space.split_whitespace().next().unwrap().parse().unwrap()
}
