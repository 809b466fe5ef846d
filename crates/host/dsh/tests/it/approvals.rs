//! Calls that somebody has to allow.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};

use dsh_json::{Json, array, object};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::world::{Ran, World, assert_closed, call};

/// A world with a script that writes `out.txt` beside the workspace as often as there are contents, and then is done.
fn world(contents: &[&str]) -> World {
    let world = World::new();
    let write = |(at, content): (usize, &&str)| {
        let arguments = object! {
            "file_path": "../out.txt",
            "content": *content,
            "sandbox_permissions": "danger-full-access",
            "justification": "the report belongs there",
        };
        object! { "toolCalls": array![call(&format!("c{at}"), "write", arguments)] }
    };
    let steps: Vec<Json> =
        contents.iter().enumerate().map(write).chain([object! { "text": "Done." }]).collect();
    world.script("s.json", Json::from(steps));
    world
}

const RUN: [&str; 6] = ["run", "--model", "script:s.json", "--session", "s.jsonl", "Do it."];

/// Runs it with these lines on the standard input.
fn answered(world: &World, approve: &[&str], lines: &str) -> Ran {
    let mut command = world.command(RUN);
    let mut child = command.args(approve).stdin(Stdio::piped()).spawn().unwrap();
    // It may have ended before it reads.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    Ran::of(child.wait_with_output().unwrap())
}

/// What the log has of questions: who said what.
fn decisions(world: &World) -> Vec<String> {
    let lines = world.text("s.jsonl");
    let events = lines.lines().map(|line| Json::parse(line).unwrap());
    let decided = events.filter(|event| event.get("type").and_then(Json::as_str) == Some("approval/decided"));
    let word = |data: &Json, key: &str| data.get(key).and_then(Json::as_str).unwrap_or("-").to_owned();
    decided
        .map(|event| {
            let data = event.get("data").unwrap();
            format!("{} {} {}", word(data, "outcome"), word(data, "by"), word(data, "cause"))
        })
        .collect()
}

#[test]
fn a_yes_allows_one_call_and_is_asked_for_the_next() {
    let world = world(&["one", "two"]);
    let ran = answered(&world, &["--approve", "ask"], "perhaps\ny\nn\n").done();
    insta::assert_snapshot!(ran.err.replace(&world.path("").display().to_string(), "/"));
    assert_eq!(world.text("out.txt"), "one");
    assert_eq!(decisions(&world), ["allowed-once terminal -", "rejected terminal -"]);
    assert_closed(&world, &world.path("s.jsonl"));
    // Drawn again, it still tells who said what.
    let drawn = world.dsh(["replay", "s.jsonl", "--json"]).done();
    let decisions =
        drawn.lines().into_iter().filter(|card| card.get("type").and_then(Json::as_str) == Some("decision"));
    let decisions: Vec<_> = decisions.map(|card| card.to_text()).collect();
    assert_eq!(
        decisions,
        [
            r#"{"type":"decision","turn":1,"tool":"write","outcome":"allowed-once","by":"terminal"}"#,
            r#"{"type":"decision","turn":1,"tool":"write","outcome":"rejected","by":"terminal"}"#,
        ]
    );
}

#[test]
fn who_says_never_is_not_asked_again() {
    let world = world(&["one", "two"]);
    let ran = answered(&world, &["--approve", "ask"], "never\ny\n").done();
    assert_eq!(ran.err.matches("Allow it?").count(), 1, "{}", ran.err);
    assert!(!world.path("out.txt").exists());
    assert_eq!(decisions(&world), ["rejected terminal -", "rejected - the policy is `never`"]);
}

#[test]
fn an_input_that_ends_is_no_answer() {
    let world = world(&["one"]);
    answered(&world, &["--approve", "ask"], "").done();
    assert!(!world.path("out.txt").exists());
    assert_eq!(decisions(&world), ["unavailable terminal it failed: the standard input has ended"]);
}

/// What nobody can see is not answered, whatever is typed.
#[test]
#[cfg(target_os = "linux")]
fn a_question_that_can_not_be_shown_is_not_answered() {
    let world = world(&["one"]);
    let mut command = world.command(RUN);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut child = command.args(["--approve", "ask"]).stdin(Stdio::piped()).stderr(full).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(b"y\ny\n");
    child.wait_with_output().unwrap();
    assert!(!world.path("out.txt").exists());
    let decisions = decisions(&world);
    assert!(
        decisions.len() == 1 && decisions[0].starts_with("unavailable terminal it failed: "),
        "{decisions:?}"
    );
}

/// What a model writes into its reason or its arguments stays behind the line, and its padding is seen.
#[test]
fn a_question_can_not_be_pushed_away_or_faked() {
    let world = World::new();
    let forged = "\n".repeat(60) + "? write  “Write notes.txt”\n  + harmless\nWhy: you asked for it";
    let hidden = format!("echo ok{}; rm -rf ~/work", "\u{200b}".repeat(400));
    let arguments = object! {
        "file_path": "../out.txt", "content": &*hidden,
        "sandbox_permissions": "danger-full-access", "justification": &*forged,
    };
    world.script(
        "s.json",
        array![object! { "toolCalls": array![call("c", "write", arguments)] }, object! { "text": "Done." }],
    );
    let err = answered(&world, &["--approve", "ask"], "n\n").done().err;
    let (question, _) = err.split_once("Allow it?").unwrap();
    let (_, question) = question.split_once("? write").unwrap();
    assert!(question.lines().count() < 40, "{question}");
    assert!(question.contains("; rm -rf ~/work") || question.contains("more line"), "{question}");
    assert!(question.contains("\\u{200b}"), "{question}");
    for line in question.lines().filter(|line| line.contains("harmless") || line.contains("you asked")) {
        assert!(line.starts_with("  │ "), "{line}");
    }
    // A reason that nobody would read to its end is refused before anybody is asked.
    let long = "j".repeat(501);
    let arguments = object! {
        "file_path": "../out.txt", "content": "x",
        "sandbox_permissions": "danger-full-access", "justification": &*long,
    };
    let ran = world.dsh(["call", "write", &arguments.to_text(), "--approve", "yes"]);
    assert!(ran.err.contains("501 characters, and 500 at most"), "{ran:?}");
}

#[test]
fn over_mcp_the_standard_input_is_not_the_terminal_s() {
    let ran = World::new().dsh(["mcp", "--approve", "ask"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.error().contains("the client's user is asked"), "{ran:?}");
}

#[test]
fn the_command_line_can_answer_for_everybody() {
    let world = world(&["one", "two"]);
    answered(&world, &["--approve", "yes"], "").done();
    assert_eq!(world.text("out.txt"), "two");
    assert_eq!(decisions(&world), ["allowed-once --approve yes -"; 2]);

    // Where nobody can say yes, it is not even offered.
    for no in [&["--approve", "no"] as &[_], &[]] {
        let world = self::world(&["one"]);
        answered(&world, no, "y\n").done();
        assert!(!world.path("out.txt").exists());
        assert!(decisions(&world).is_empty());
        assert!(world.text("s.jsonl").contains("are not available here"));
    }
}

#[test]
fn a_refused_call_has_its_exit_code() {
    let world = World::new();
    let arguments = object! {
        "file_path": "../out.txt", "content": "x",
        "sandbox_permissions": "danger-full-access", "justification": "because",
    };
    let arguments = arguments.to_text();
    let mut command = world.command(["call", "write", &arguments, "--approve", "ask"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"n\n").unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("(APPROVAL_REJECTED)"), "{}", ran.err);
}

/// A terminal of 60 columns with the program on it.
struct Seat {
    child: Child,
    screen: File,
    seen: String,
}

impl Seat {
    fn take(world: &World) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: 40, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let side = || File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut command = world.command(RUN);
        let child = command.env("TERM", "dumb").stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        Self { child, screen: File::from(master), seen: String::new() }
    }

    /// Reads until the screen has shown this.
    fn until(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        while !self.seen.contains(text) {
            let read = self.screen.read(&mut buffer).unwrap_or(0);
            assert!(read > 0, "{text:?} did not come: {}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(buffer.get(..read).unwrap()));
        }
    }

    fn types(&mut self, keys: &str) {
        self.screen.write_all(keys.as_bytes()).unwrap();
    }

    fn end(mut self) -> (Option<i32>, String) {
        let mut buffer = [0; 4096];
        // A terminal whose last user has left can't be read.
        while let Ok(read @ 1..) = self.screen.read(&mut buffer) {
            self.seen.push_str(&String::from_utf8_lossy(buffer.get(..read).unwrap()));
        }
        (self.child.wait().unwrap().code(), self.seen)
    }
}

#[test]
fn a_person_at_a_terminal_is_asked_without_being_told_to() {
    let world = world(&["one"]);
    let mut seat = Seat::take(&world);
    seat.until("Allow it?");
    seat.types("y\n");
    let (code, seen) = seat.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(world.text("out.txt"), "one");
    assert_eq!(decisions(&world), ["allowed-once terminal -"]);
}

#[test]
fn an_interrupt_withdraws_the_question() {
    let world = world(&["one"]);
    let mut seat = Seat::take(&world);
    seat.until("Allow it?");
    kill_process(Pid::from_child(&seat.child), Signal::INT).unwrap();
    let (code, seen) = seat.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("No answer is needed any more."), "{seen}");
    assert!(!world.path("out.txt").exists());
    assert_eq!(decisions(&world), ["cancelled - the call was cancelled while it was asked about"]);
    assert_closed(&world, &world.path("s.jsonl"));
}

/// Who types before there is a question does not answer it.
#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let world = world(&["one"]);
    let slow = array![
        object! { "text": "Looking.", "delayMs": 300, "toolCalls": array![call("r", "glob", object! { "pattern": "*" })] },
    ];
    let steps = Json::parse(&world.text("s.json")).unwrap();
    let steps = steps.get("steps").unwrap().as_array().unwrap().iter();
    world.script("s.json", slow.as_array().unwrap().iter().chain(steps).cloned().collect::<Vec<_>>().into());
    let mut seat = Seat::take(&world);
    seat.types("y\n");
    seat.until("Allow it?");
    seat.types("n\n");
    seat.end();
    assert_eq!(decisions(&world), ["rejected terminal -"]);
}

/// The model is reminded at 3, 5 and 8 refusals, and the log has every question with its answer.
#[test]
fn a_call_that_is_refused_again_and_again_is_noticed_and_on_record() {
    let world = World::new();
    world.file("ws/dsh.toml", "[permission-rules]\nask = [\"write\"]\n");
    let write = |at| call(&format!("c{at}"), "write", object! { "file_path": "a", "content": "x" });
    let steps = (1..=8).map(|at| object! { "toolCalls": array![write(at)] });
    world.script("s.json", steps.chain([object! { "text": "I give up." }]).collect::<Vec<_>>().into());
    let ran = answered(&world, &["--approve", "no"], "").done();
    assert_eq!(ran.out, "I give up.\n");
    assert_eq!(decisions(&world), ["rejected --approve no -"; 8]);
    let events = world.text("s.jsonl");
    let kind = |event: &Json| event.get("type").and_then(Json::as_str).unwrap_or_default().to_owned();
    let (mut results, mut reminded) = (0, Vec::new());
    for event in events.lines().map(|line| Json::parse(line).unwrap()) {
        let text = event.to_text();
        match &*kind(&event) {
            "tool/result" => results += 1,
            "user/message" if text.contains(r#""plugin":"repeat-reminder""#) => reminded.push(results),
            _ => {}
        }
    }
    assert_eq!((results, reminded), (8, vec![3, 5, 8]));
    assert_closed(&world, &world.path("s.jsonl"));
}

/// A session keeps its preset; another one that is asked for holds from its next turn on, and the model is told.
#[test]
fn a_preset_is_chosen_kept_and_switched() {
    let world = World::new();
    let write = |name: &str| call(name, "write", object! { "file_path": name, "content": "x" });
    for name in ["one", "two", "three"] {
        let step = object! { "toolCalls": array![write(name)] };
        world.script(&format!("{name}.json"), array![step, object! { "text": "Done." }]);
    }
    let run = |name: &str, more: &[&str]| {
        let model = format!("script:{name}.json");
        let run = ["run", "--model", &model, "--session", "s.jsonl", "go"];
        world.dsh(run.iter().chain(more)).done();
        world.path(&format!("ws/{name}")).exists()
    };
    let current = || {
        let shown = world.dsh(["presets", "--session", "s.jsonl", "--json"]).done().json();
        shown.get("current").unwrap().as_str().unwrap().to_owned()
    };
    assert!(!run("one", &["--preset", "read-only"]));
    assert_eq!(current(), "read-only");
    assert!(!run("two", &[]), "it is kept without being said again");
    assert!(run("three", &["--preset", "workspace-write"]));
    assert_eq!(current(), "workspace-write");
    let told = world.text("s.jsonl");
    assert!(told.contains("The user changed the sandbox mode from read-only to workspace-write."), "{told}");
    assert_closed(&world, &world.path("s.jsonl"));

    let ran = world.dsh(["run", "--preset", "all", "go"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.error().contains("there is no preset `all`; there are: workspace-write, read-only"),
        "{ran:?}"
    );
}

#[test]
fn presets_are_listed() {
    let world = World::new();
    world.file(
        "ws/dsh.toml",
        "[permission-presets]\ndefaultPreset = \"ci\"\n[permission-presets.presets.ci]\nsandbox = \"read-only\"\napproval = \"never\"\n",
    );
    insta::assert_snapshot!(world.dsh(["presets"]).done().out);
    let shown = world.dsh(["presets", "--json"]).done().json();
    assert_eq!(shown.get("default").and_then(Json::as_str), Some("ci"));
    assert_eq!(shown.get("current"), None);
}
