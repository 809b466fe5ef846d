//! Ctrl-C and SIGTERM.

use std::fs::File;
use std::io::Write as _;
use std::process::Child;

use dsh_json::{Json, array, object};
use rustix::process::{Pid, Signal, kill_process};

use crate::running::Running;
use crate::world::{Ran, World, assert_closed, call, verdict};

/// The codes of the results, and how the turn ended.
fn story(ran: &Ran) -> (Vec<Option<String>>, Json) {
    let of_type = |kind: &str| {
        let events =
            ran.lines().into_iter().filter(|event| event.get("type").unwrap().as_str() == Some(kind));
        events.map(|event| event.get("data").unwrap().clone()).collect::<Vec<_>>()
    };
    let code = |data: &Json| Some(data.get("error")?.get("code")?.as_str()?.to_owned());
    let [end] = &*of_type("turn/end") else { panic!("not one turn: {ran:?}") };
    (of_type("tool/result").iter().map(code).collect(), end.get("reason").unwrap().clone())
}

fn by_the_user() -> Json {
    object! { "kind": "aborted", "reason": object! { "kind": "user" } }
}

/// What a session is after an interrupt: closed, sound, and ready for another turn.
fn assert_continues(world: &World) {
    let log = world.path("one.jsonl");
    assert_closed(world, &log);
    world.script("again.json", array![object! { "text": "Again." }]);
    let ran = world.dsh(["run", "--model", "script:again.json", "--session", "one.jsonl", "go on"]).done();
    assert_eq!(ran.out, "Again.\n");
    assert_closed(world, &log);
    assert_eq!(verdict(world, &log).get("turns"), Some(&2.into()));
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_tells_what_ran_from_what_did_not() {
    let world = World::new();
    // Long enough to be read for a while: 300 MB.
    let lines = format!("{}\n", "x".repeat(99)).repeat(10_000);
    let mut file = File::create(world.path("ws/big.txt")).unwrap();
    (0..300).for_each(|_| file.write_all(lines.as_bytes()).unwrap());
    let calls = array![
        call("c1", "read", object! { "file_path": "big.txt", "offset": 2_999_999 }),
        call("c2", "write", object! { "file_path": "never.txt", "content": "" }),
        call("c3", "read", object! { "file_path": "big.txt" }),
    ];
    world.script("s.json", array![object! { "toolCalls": calls }, object! { "text": "Not said." }]);

    let mut running = Running::start(&world, "s.json");
    running.until("tool/call");
    running.until_read(8 << 20);
    running.signal(Signal::INT);
    let ran = running.end();

    assert_eq!(ran.code, 130, "{}", ran.err);
    // The first had begun, and says so in its body's own word (spec 01 §7.4).
    let codes = ["ABORTED", "ABORTED_BEFORE_DISPATCH", "ABORTED_BEFORE_DISPATCH"];
    assert_eq!(story(&ran), (codes.map(|code| Some(code.to_owned())).to_vec(), by_the_user()));
    assert!(!world.path("ws/never.txt").exists());
    assert_eq!(ran.err, "log: one.jsonl\n");
    assert_continues(&world);
}

#[test]
fn an_interrupt_stops_the_model() {
    for signal in [Signal::INT, Signal::TERM] {
        let world = World::new();
        world.script("s.json", array![object! { "text": "Late.", "delayMs": 600_000 }]);
        let mut running = Running::start(&world, "s.json");
        running.until("request/context");
        running.signal(signal);
        let ran = running.end();
        assert_eq!((ran.code, story(&ran)), (130, (vec![], by_the_user())));
        assert_continues(&world);
    }
}

#[test]
fn the_second_interrupt_ends_the_process_at_once() {
    let world = World::new();
    let text = "words ".repeat(100_000);
    world.script("s.json", array![object! { "text": text }]);
    // Nobody reads on, so that it can't finish.
    let mut running = Running::start(&world, "s.json");
    running.until("turn/start");
    running.signal(Signal::INT);
    running.signal(Signal::TERM);
    let ran = running.end_unread();
    assert_eq!((ran.code, ran.err), (130, String::new()));
    world.script("again.json", array![object! { "text": "Again." }]);
    world.dsh(["run", "--model", "script:again.json", "--session", "one.jsonl", "go on"]).done();
    assert_closed(&world, &world.path("one.jsonl"));
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_while_a_prompt_is_awaited_leaves_nothing() {
    let world = World::new();
    world.script("s.json", array![]);
    let mut command = world.command(["run", "--model", "script:s.json", "--session", "one.jsonl"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    while !catches_interrupts(&child) {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let stdin = child.stdin.take();
    let ran = Ran::of(child.wait_with_output().unwrap());
    drop(stdin);
    assert_eq!(ran, Ran { code: 130, out: String::new(), err: String::new() });
    assert!(!world.path("one.jsonl").exists());
}

/// Whether a process has a handler for SIGINT.
#[cfg(target_os = "linux")]
fn catches_interrupts(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & 0b10 != 0
}
