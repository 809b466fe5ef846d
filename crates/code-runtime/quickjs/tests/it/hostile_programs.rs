//! Programs that attack what runs them: every file of `fixtures/programs/hostile`, in each place that its head names.

use std::collections::BTreeSet;
use std::time::Duration;

use dsh_code_runtime::contract::{TestHost, request};
use dsh_code_runtime::{CodeRuntime as _, FailureKind, Isolation, Limits, Outcome};
use dsh_quickjs::QuickJs;
use dsh_worker::{Entry, WorkerSpec};
use tokio::time::Instant;

use fixture::Fixture;

mod fixture;
#[cfg(target_os = "linux")]
mod growth;
mod page;

/// Makes two tests for each class of programs.
macro_rules! classes {
    ($($class:ident)*) => {
        const CLASSES: &[&str] = &[$(stringify!($class)),*];
        $(mod $class {
            use dsh_code_runtime::Isolation;

            #[tokio::test]
            async fn on_threads() {
                super::check(stringify!($class), Isolation::Thread).await;
            }

            #[tokio::test]
            async fn in_workers() {
                super::check(stringify!($class), Isolation::Process).await;
            }
        })*
    };
}

classes! {
    arguments busy calls exit forged globals memory output promises prototypes stack syntax transport wall
}

#[test]
fn every_program_is_of_a_class() {
    let of: BTreeSet<_> = Fixture::all().iter().map(|fixture| fixture.class().to_owned()).collect();
    assert_eq!(of, CLASSES.iter().map(|class| (*class).to_owned()).collect());
}

/// How much later than its limit a run may end, and how much more a program may have computed, on a machine that does much
/// else.
const LATE: Duration = Duration::from_secs(5);
const MORE: Duration = Duration::from_millis(500);

async fn check(class: &str, place: Isolation) {
    let mut fixtures = Fixture::all();
    fixtures.retain(|fixture| fixture.class() == class && fixture.ends.contains_key(place.name()));
    let mut wrong = Vec::new();
    let mut providers: Vec<(Limits, QuickJs)> = Vec::new();
    for fixture in &fixtures {
        let at = providers.iter().position(|(limits, _)| *limits == fixture.limits).unwrap_or_else(|| {
            providers.push((fixture.limits.clone(), provider(place, &fixture.limits, class)));
            providers.len() - 1
        });
        let provider = &providers[at].1;
        if place == Isolation::Process {
            // So that the start of a worker is no part of what follows.
            next_one_works(provider).await;
        }
        let request = request(&fixture.text);
        let host = TestHost::of(&request);
        let started = Instant::now();
        let outcome = provider.run(request, &host).await.unwrap();
        let took = started.elapsed();
        next_one_works(provider).await;
        let heard = host.calls.lock().unwrap();
        let faults = [
            fixture.wrong(place, &outcome),
            fixture.misheard(&heard, &outcome),
            late(&outcome, took, &fixture.limits),
        ];
        wrong.extend(faults.into_iter().flatten().map(|fault| format!("{}: {fault}", fixture.name)));
        note(place, &fixture.name, took, &outcome);
    }
    let looked_at = cfg!(target_os = "linux") && place == Isolation::Process;
    // The stock is there after the first run.
    while looked_at && workers(class).is_empty() {
        tokio::task::yield_now().await;
    }
    for (_, provider) in &providers {
        provider.close().await;
        assert_eq!(provider.unstopped(), 0);
    }
    assert!(!looked_at || workers(class).is_empty(), "no worker is left");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What is wrong with when it ended.
fn late(outcome: &Outcome, took: Duration, limits: &Limits) -> Option<String> {
    let limit = limit_of(outcome, limits);
    if took > limit + LATE {
        return Some(format!("took {took:?}, the limit is {limit:?}"));
    }
    let busy = outcome.receipt.busy.filter(|busy| *busy > limits.max_compute + MORE);
    busy.map(|busy| format!("was busy for {busy:?}, the limit is {:?}", limits.max_compute))
}

/// Shown by `--no-capture`.
fn note(place: Isolation, name: &str, took: Duration, outcome: &Outcome) {
    let busy = outcome.receipt.busy.map_or(0, |busy| busy.as_millis());
    let end = outcome.result.as_ref().map_or_else(|failure| failure.kind.name(), |_| "value");
    println!("{place:8} {name:48} took {:5} ms, busy {busy:5} ms, {end}", took.as_millis());
}

/// The limit that ended the run, if one did, else the wall clock's.
fn limit_of(outcome: &Outcome, limits: &Limits) -> Duration {
    match &outcome.result {
        Err(failure) if failure.kind == FailureKind::Timeout && failure.message.contains("maxComputeMs") => {
            limits.max_compute
        }
        Ok(_) | Err(_) => limits.max_wall,
    }
}

fn provider(place: Isolation, limits: &Limits, class: &str) -> QuickJs {
    if place != Isolation::Process {
        return QuickJs::on_threads(limits.clone());
    }
    let mut spec = spec(limits);
    spec.limits.max_cpu_seconds = Some(mark(class));
    QuickJs::in_workers(limits.clone(), spec)
}

fn spec(limits: &Limits) -> WorkerSpec {
    QuickJs::worker_spec(Entry::Binary(env!("CARGO_BIN_EXE_dsh-quickjs-worker").into()), limits)
}

/// The kernel's bound on the time of a class's workers, by which they are told from those of other tests. None reaches it.
fn mark(class: &str) -> u64 {
    10 + CLASSES.iter().position(|other| *other == class).unwrap() as u64
}

/// The processes that this one has started for a class.
fn workers(class: &str) -> Vec<u32> {
    let us = std::process::id().to_string();
    let bound = mark(class).to_string();
    let numbers = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let ours = |number: &u32| {
        let file = |name: &str| std::fs::read_to_string(format!("/proc/{number}/{name}")).ok();
        let parent =
            file("stat").is_some_and(|stat| stat.rsplit(") ").next().unwrap().split(' ').nth(1) == Some(&us));
        parent
            && file("limits").is_some_and(|limits| {
                let cpu = limits.lines().find_map(|line| line.strip_prefix("Max cpu time"));
                cpu.is_some_and(|cpu| cpu.split_whitespace().next() == Some(&bound))
            })
    };
    numbers.filter(ours).collect()
}

async fn next_one_works(provider: &QuickJs) {
    let request = request("return 1 + 1;");
    let host = TestHost::of(&request);
    let outcome = provider.run(request, &host).await.unwrap();
    assert_eq!(outcome.result, Ok(Some(2.into())));
}
