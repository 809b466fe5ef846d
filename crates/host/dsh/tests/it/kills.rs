//! SIGKILL after any line: what was printed is in the log, and the log is sound or can be made so (spec 03 §8–9).

use dsh_json::{Json, array, object};
use dsh_session_jsonl::{Contents, read};

use crate::rounds::{all, all_pass, spread};
use crate::running::Running;
use crate::world::{World, assert_closed, call, verdict};

/// Ten steps, each with words, two reads side by side, a write and a search.
fn work() -> World {
    let world = World::new();
    world.file("ws/a.txt", "alpha\nbeta\n");
    world.file("ws/b.txt", "gamma\n");
    let step = |number: usize| {
        let id = |name: &str| format!("{name}{number}");
        let calls = array![
            call(&id("a"), "read", object! { "file_path": "a.txt" }),
            call(&id("b"), "read", object! { "file_path": "b.txt" }),
            call(&id("w"), "write", object! { "file_path": id("out"), "content": "x\n".repeat(number) }),
            call(&id("g"), "grep", object! { "pattern": "a" }),
        ];
        object! { "text": "I look, and write it down.", "toolCalls": calls, "chunks": 2 }
    };
    let steps = (1..=10).map(step).chain([object! { "text": "Done." }]);
    world.script("s.json", steps.collect::<Vec<_>>().into());
    world.script("again.json", array![object! { "text": "Again." }]);
    world
}

/// That the log begins with all that was printed, byte by byte.
#[track_caller]
fn assert_holds(world: &World, log: &str, printed: &[String]) {
    let Contents { events, .. } = read(world.path(log)).unwrap();
    assert!(events.len() >= printed.len(), "{log} has {} of {} events", events.len(), printed.len());
    for (event, line) in events.iter().zip(printed) {
        assert_eq!(event.to_json().to_text(), line.trim_end(), "in {log}");
    }
}

/// One round; whether the kill came before the end.
fn killed_after(lines: usize) -> bool {
    let world = work();
    let mut running = Running::start(&world, "s.json");
    running.until_line(lines);
    let (printed, ended) = running.kill();
    assert!(printed.len() >= lines);
    assert_holds(&world, "one.jsonl", &printed);

    let found = verdict(&world, &world.path("one.jsonl"));
    let tail = found.get("tail").and_then(Json::as_str).unwrap();
    let problems = found.get("problems").and_then(Json::as_array).unwrap().len();
    assert_eq!((tail != "damaged", problems), (true, usize::from(tail == "torn")), "{found}");

    std::fs::copy(world.path("one.jsonl"), world.path("two.jsonl")).unwrap();
    world.dsh(["repair", "one.jsonl"]).done();
    world.dsh(["run", "--model", "script:again.json", "--session", "two.jsonl", "go on"]).done();
    for log in ["one.jsonl", "two.jsonl"] {
        assert_closed(&world, &world.path(log));
        assert_holds(&world, log, &printed);
    }
    let turns = |log| verdict(&world, &world.path(log)).get("turns").and_then(Json::as_u64);
    assert!(turns("two.jsonl") > turns("one.jsonl"));
    !ended
}

#[test]
fn a_run_killed_after_any_line_keeps_every_event_that_it_printed() {
    let whole = Running::start(&work(), "s.json").end().done();
    let (count, lines) = (if all() { 200 } else { 10 }, whole.lines().len());
    assert!(lines > 200, "{lines} lines are too few");
    let early = std::sync::atomic::AtomicUsize::new(0);
    all_pass(count, |round| {
        if killed_after(spread(round, count, 1, lines)) {
            early.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    });
    let early = early.into_inner();
    assert!(early * 2 > count, "only {early} of {count} were killed before their end");
}
