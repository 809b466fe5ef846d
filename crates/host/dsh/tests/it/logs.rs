//! `verify`, `repair` and `replay` on logs that were not finished, or are not whole.

use dsh_json::{Json, array, object};

use crate::running::Running;
use crate::world::{World, assert_closed, call, verdict};

/// A world with a log of one turn, as lines.
fn logged() -> (World, Vec<String>) {
    let world = World::new();
    world.file("ws/a.txt", "alpha\n");
    let calls = array![call("c1", "read", object! { "file_path": "a.txt" })];
    world.script("s.json", array![object! { "toolCalls": calls }, object! { "text": "Done." }]);
    world.dsh(["run", "--seed", "1", "--model", "script:s.json", "--session", "one.jsonl", "go"]).done();
    let lines = world.text("one.jsonl").split_inclusive('\n').map(str::to_owned).collect();
    (world, lines)
}

fn line_of(lines: &[String], kind: &str) -> usize {
    lines.iter().position(|line| line.contains(&format!(r#""type":"{kind}""#))).unwrap()
}

#[test]
fn a_torn_tail_is_told_and_repaired() {
    let (world, lines) = logged();
    let at = line_of(&lines, "tool/result");
    let (whole, torn) = (lines[..at].concat(), &lines[at][..20]);
    world.file("one.jsonl", &format!("{whole}{torn}"));

    let found = verdict(&world, &world.path("one.jsonl"));
    assert_eq!(found.get("tail").unwrap().as_str(), Some("torn"), "{found}");
    assert_eq!(found.get("openTurn"), Some(&1.into()));
    let ran = world.dsh(["verify", "one.jsonl"]);
    assert_eq!(ran.code, 4);
    assert!(ran.error().contains("dsh repair"), "{ran:?}");

    let replayed = world.dsh(["replay", "one.jsonl"]).done();
    assert!(replayed.out.ends_with("● Read a.txt\n"), "{replayed:?}");
    assert!(replayed.err.contains("piece of a line"), "{replayed:?}");

    let ran = world.dsh(["repair", "one.jsonl"]).done();
    let kept = format!("one.jsonl.removed-{}", whole.len());
    assert_eq!(
        ran.out,
        format!(
            "took off the torn end: 20 bytes from byte {} on, kept in {kept}\n\
             closed what was open: tool/result, step/end, turn/end\nrepaired: {} events\n",
            whole.len(),
            at + 2,
        )
    );
    assert_eq!(world.text(&kept), *torn);
    assert_closed(&world, &world.path("one.jsonl"));
    let again = world.dsh(["repair", "--json", "one.jsonl"]).done().json();
    let expected = object! { "wasSound": true, "tail": "clean", "closed": array![], "events": at + 2 };
    assert_eq!(again, expected);
}

#[test]
fn a_replay_of_a_repaired_log_says_what_was_left_open() {
    let (world, lines) = logged();
    world.file("one.jsonl", &lines[..line_of(&lines, "tool/call")].concat());
    world.dsh(["repair", "one.jsonl"]).done();
    let replayed = world.dsh(["replay", "one.jsonl"]).done().out;
    assert!(replayed.contains("✗ Read a.txt  TOOL_NOT_STARTED\n"), "{replayed}");
    assert!(replayed.ends_with("■ turn 1 was left open when its program ended\n"), "{replayed}");
}

#[test]
fn damage_is_told_from_a_torn_tail() {
    let (world, mut lines) = logged();
    lines[3] = lines[3].replace(r#""seq":2"#, r#""seq":9"#);
    world.file("one.jsonl", &lines.concat());

    let found = verdict(&world, &world.path("one.jsonl"));
    assert_eq!(found.get("tail").unwrap().as_str(), Some("damaged"), "{found}");
    let problems = found.get("problems").unwrap().as_array().unwrap();
    assert_eq!(problems[0].get("line"), Some(&4.into()), "{found}");

    let ran = world.dsh(["replay", "one.jsonl"]);
    assert_eq!(ran.code, 4);
    assert!(ran.error().contains("line 4"), "{ran:?}");

    let ran = world.dsh(["run", "--model", "script:s.json", "--session", "one.jsonl", "go"]);
    assert_eq!(ran.code, 4);
    assert!(ran.error().contains("damaged at line 4") && ran.error().contains("repair"), "{ran:?}");
    assert_eq!(world.text("one.jsonl"), lines.concat(), "it was changed");

    let ran = world.dsh(["repair", "one.jsonl"]).done();
    let (offset, whole) = (lines[..3].concat().len(), lines.concat().len());
    let taken = format!("took off the damaged end: {} bytes from byte {offset} on, ", whole - offset);
    let good = format!("{} good lines are in what was taken off", lines.len() - 4);
    assert!(ran.out.starts_with(&taken) && ran.out.contains(&good), "{ran:?}");
    assert_closed(&world, &world.path("one.jsonl"));
}

#[test]
fn a_log_that_lies_is_not_sound() {
    let (world, lines) = logged();
    let log = dsh_session_jsonl::LogFile::create(
        world.path("lie.jsonl"),
        &dsh_session::Header::new("lie", 0).unwrap(),
    )
    .unwrap();
    let start = lines.iter().find(|line| line.contains("turn/start")).unwrap();
    let start = Json::parse(&start.replace(r#""turn":1"#, r#""turn":2"#)).unwrap();
    let start = dsh_session::Event::from_json(&without_crc(&start)).unwrap();
    dsh_session::Sink::write(&log, &dsh_session::Event { seq: 0, ..start }).unwrap();

    let found = verdict(&world, &world.path("lie.jsonl"));
    let problem = object! { "event": 0, "message": "`turn/start` 2 where 1 was next" };
    assert_eq!(found.get("problems"), Some(&array![problem]), "{found}");
    assert_eq!(found.get("tail").unwrap().as_str(), Some("clean"));
}

/// The turn stops at the next event, and all that was printed before is in the log again.
#[test]
fn a_log_that_is_removed_under_way_is_put_back() {
    let world = World::new();
    world.script("s.json", array![object! { "text": "Late.", "delayMs": 600_000 }]);
    let mut running = Running::start(&world, "s.json");
    running.until("request/context");
    let before = world.text("one.jsonl");
    std::fs::remove_file(world.path("one.jsonl")).unwrap();
    running.signal(rustix::process::Signal::INT);
    let ran = running.end();
    assert_eq!(ran.code, 4, "{ran:?}");
    let error = ran.error();
    assert!(error.contains("one.jsonl was removed while it was written"), "{error}");
    assert!(error.ends_with("go on with it by --session (LOG_REMOVED)"), "{error}");
    assert_eq!(world.text("one.jsonl"), before);

    world.script("again.json", array![object! { "text": "Again." }]);
    world.dsh(["run", "--model", "script:again.json", "--session", "one.jsonl", "go on"]).done();
    assert_closed(&world, &world.path("one.jsonl"));
}

fn without_crc(line: &Json) -> Json {
    let fields = line.as_object().unwrap().iter().filter(|(key, _)| &***key != "crc");
    fields.map(|(key, value)| (key.clone(), value.clone())).collect::<dsh_json::Object>().into()
}

#[test]
fn a_missing_tool_has_a_plain_card() {
    let (world, lines) = logged();
    // The same log, as another program with another tool would have written it.
    let log = dsh_session_jsonl::LogFile::create(
        world.path("other.jsonl"),
        &dsh_session::Header::new("other", 0).unwrap(),
    )
    .unwrap();
    for line in &lines[1..] {
        let line = Json::parse(&line.replace(r#""name":"read""#, r#""name":"peek""#)).unwrap();
        let event = dsh_session::Event::from_json(&without_crc(&line)).unwrap();
        dsh_session::Sink::write(&log, &event).unwrap();
    }
    let replayed = world.dsh(["replay", "other.jsonl"]).done().out;
    assert!(replayed.contains("● peek  {\"file_path\":\"a.txt\"}\n✓ peek\n  <path>"), "{replayed}");
}
