//! `run --fork`: a session that goes on from another one (spec 03 §5).

use dsh_json::{array, object};

use crate::world::{World, assert_closed, verdict};

/// A world with a log of two turns.
fn two_turns() -> World {
    let world = World::new();
    world.script("s.json", array![object! { "text": "Hello." }]);
    for _ in 0..2 {
        world.dsh(["run", "--model", "script:s.json", "--session", "one.jsonl", "go"]).done();
    }
    world
}

fn fork<'a>(world: &World, arguments: impl IntoIterator<Item = &'a str>) -> crate::world::Ran {
    world.dsh(["run", "--model", "script:s.json", "--fork", "one.jsonl"].into_iter().chain(arguments))
}

#[test]
fn a_forked_run_goes_on_in_a_log_of_its_own() {
    let world = two_turns();
    let before = world.text("one.jsonl");
    let ran = fork(&world, ["--session", "two.jsonl", "go on"]).done();
    assert_eq!((&*ran.out, &*ran.err), ("Hello.\n", "› go on\nlog: two.jsonl\n"));
    assert_eq!(world.text("one.jsonl"), before);
    assert_closed(&world, &world.path("two.jsonl"));
    assert_eq!(verdict(&world, &world.path("two.jsonl")).get("turns"), Some(&3.into()));
    let replayed = world.dsh(["replay", "two.jsonl"]).done().out;
    assert_eq!(replayed, "› go\nHello.\n› go\nHello.\n› go on\nHello.\n");
}

#[test]
fn without_a_name_it_is_a_fresh_log() {
    let world = two_turns();
    for count in 1..=2 {
        let ran = fork(&world, ["--seed", "7", "go on"]).done();
        let logs = world.fresh_logs();
        assert_eq!(logs.len(), count, "{ran:?}");
        assert!(logs.iter().any(|log| ran.err.ends_with(&format!("log: {}\n", log.display()))), "{ran:?}");
    }
}

#[test]
fn it_goes_on_from_an_earlier_turn_when_asked() {
    let world = two_turns();
    let lines = world.text("one.jsonl");
    let end = lines.lines().position(|line| line.contains(r#""type":"turn/end""#)).unwrap() - 1;
    fork(&world, ["--fork-at", &end.to_string(), "--session", "two.jsonl", "go on"]).done();
    let replayed = world.dsh(["replay", "two.jsonl"]).done().out;
    assert_eq!(replayed, "› go\nHello.\n› go on\nHello.\n");

    // Within the turn there is no place for it.
    let within = (end - 1).to_string();
    let ran = fork(&world, ["--fork-at", &within, "--session", "three.jsonl", "go on"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let error = ran.error();
    assert!(error.contains(&format!("event {within} lies inside turn 1")), "{error}");
    assert!(error.contains("--fork-at") && error.ends_with("(OPEN_TURN)"), "{error}");
    assert!(!world.path("three.jsonl").exists());
}

#[test]
fn what_can_not_be_forked_is_named() {
    let world = two_turns();
    let run = |source: &str, session: &str| {
        world.dsh(["run", "--model", "script:s.json", "--fork", source, "--session", session, "go on"])
    };
    let rows = [
        ("one.jsonl", "one.jsonl", 2, "one.jsonl exists already; name a new file with --session"),
        ("none.jsonl", "two.jsonl", 2, "SESSION_NOT_FOUND"),
        ("s.json", "two.jsonl", 4, "s.json is not a session log"),
    ];
    for (source, session, code, words) in rows {
        let ran = run(source, session);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.error().contains(words), "{ran:?}");
        assert!(!world.path("two.jsonl").exists());
    }
    let ran = world.dsh(["run", "--model", "script:s.json", "--fork-at", "3", "go on"]);
    assert!(ran.code == 2 && ran.err.contains("--fork <FILE>"), "{ran:?}");
}
