//! `code` and `sdk`.

use std::io::Write as _;

use dsh_json::Json;

use crate::world::{Ran, World};

const PROGRAM: &str = "
const files: string[] = (await tools.glob({ pattern: '*.txt' })).paths;
const texts = await Promise.all(files.map((file_path) => tools.read({ file_path })));
console.log('files', files.length);
return texts.map((text) => text.lines.length);
";

fn world() -> World {
    let world = World::new();
    world.file("ws/a.txt", "1\n2\n");
    world.file("ws/b.txt", "1\n");
    world.file("count.ts", PROGRAM);
    world
}

#[test]
fn a_program_is_run_against_the_tools() {
    let world = world();
    let ran = world.dsh(["code", "count.ts"]).done();
    assert_eq!(ran.out, "files 2\n[\n  2,\n  1\n]\n");
    let used = ran.err.lines().last().unwrap();
    let numbers = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "0");
    let shape = numbers(used);
    let parts: Vec<_> = shape.split('0').filter(|part| !part.is_empty()).collect();
    assert_eq!(parts.concat(), "used:  calls,  ms (busy  ms), . MB", "{used}");
    assert!(used.starts_with("used: 3 calls, "), "{used}");
}

#[test]
fn what_a_seeded_program_used_is_what_every_run_uses() {
    let world = world();
    let ran = world.dsh(["code", "count.ts", "--seed", "1"]).done();
    assert_eq!(ran.err.lines().last(), Some("used: 3 calls"));
    let shown = || world.dsh(["code", "count.ts", "--json", "--seed", "1"]).done().out;
    assert_eq!(shown(), shown());
}

#[test]
fn machines_get_its_parts_and_its_calls() {
    let world = world();
    let shown = world.dsh(["code", "count.ts", "--json", "--seed", "1"]).done().json();
    // Paths are in what the calls were given and gave.
    let bytes =
        |key| shown.get("receipt").unwrap().get(key).unwrap().as_u64().filter(|bytes| *bytes > 0).unwrap();
    let expected = Json::parse(
        &r#"{"isError": false, "logs": ["files 2"], "result": [2, 1], "subCalls": [
            {"id": "ID:code:1", "name": "glob", "isError": false},
            {"id": "ID:code:2", "name": "read", "isError": false},
            {"id": "ID:code:3", "name": "read", "isError": false}],
            "receipt": {"calls": 3, "succeeded": 3, "failed": 0, "stopped": 0, "late": 0, "notStarted": 0,
                "argumentBytes": ARGUMENTS, "resultBytes": RESULTS, "outputBytes": 16},
            "warnings": []}"#
            .replace("ARGUMENTS", &bytes("argumentBytes").to_string())
            .replace("RESULTS", &bytes("resultBytes").to_string()),
    );
    let id = shown.get("subCalls").unwrap().as_array().unwrap().first().unwrap().get("id").unwrap();
    let id = id.as_str().unwrap().strip_suffix(":code:1").unwrap();
    assert_eq!(shown.to_text().replace(id, "ID"), expected.unwrap().to_text());
}

#[test]
fn a_program_that_fails_has_its_kind_and_its_place() {
    let world = World::new();
    world.file(
        "bad.ts",
        "console.log('a'); console.log('b\\nc');\nconst x: number = 1;\nthrow new Error('boom');\n",
    );
    let ran = world.dsh(["code", "bad.ts", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let shown = ran.json();
    assert_eq!(shown.get("logs").unwrap(), &dsh_json::array!["a", "b\nc"]);
    let error = shown.get("error").unwrap();
    assert_eq!(
        (error.get("code"), error.get("kind")),
        (Some(&"CODE_RUN_FAILED".into()), Some(&"exception".into()))
    );
    let message = error.get("message").unwrap().as_str().unwrap();
    assert!(message.contains("boom") && message.contains("at line 3, column "), "{message}");
    let receipt = shown.get("receipt").unwrap();
    for (key, least) in [("wallMs", 0), ("busyMs", 0), ("peakMemoryBytes", 10_000)] {
        assert!(receipt.get(key).unwrap().as_u64().unwrap() >= least, "{receipt}");
    }

    world.file("wrong.ts", "await tools.raed({});");
    let shown = world.dsh(["code", "wrong.ts", "--json"]).json();
    let keys: Vec<_> = shown.as_object().unwrap().keys().map(|key| &**key).collect();
    assert_eq!(keys, ["isError", "logs", "error", "subCalls", "warnings"], "nothing ran");
}

#[test]
fn calls_that_a_program_left_are_warned_of() {
    let world = world();
    world.file("left.ts", "tools.read({ file_path: 'a.txt' }); return 1;");
    let shown = world.dsh(["code", "left.ts", "--json"]).done().json();
    let warnings = shown.get("warnings").unwrap().as_array().unwrap();
    // Stopped, succeeded too late, or never started: that is a race.
    assert!(warnings[0].as_str().unwrap().contains("tools.read (call 1)"), "{shown}");
    assert_eq!(shown.get("result"), Some(&1.into()));
}

#[test]
fn a_program_comes_from_the_standard_input_too() {
    let world = world();
    let mut child = world.command(["code", "-"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"return 6 * 7;").unwrap();
    assert_eq!(Ran::of(child.wait_with_output().unwrap()).done().out, "42\n");
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let world = World::new();
    for file in ["none.ts", "ws", "/dev/zero"] {
        let ran = world.dsh(["code", file]);
        assert_eq!((ran.code, &*ran.out), (2, ""), "{ran:?}");
        assert!(ran.err.contains("failed to read the program"), "{}", ran.err);
    }
}

#[test]
fn the_log_of_a_program_verifies_and_holds_its_calls() {
    let world = world();
    world.dsh(["code", "count.ts", "--session", "log.jsonl"]).done();
    let verified = world.dsh(["verify", "log.jsonl", "--json"]).done().json();
    assert_eq!(verified.get("ok"), Some(&true.into()));
    assert_eq!(world.text("log.jsonl").matches("\"tool/code-dispatch\"").count(), 3);
}

#[test]
fn the_declarations_are_those_of_the_visible_tools_in_each_language() {
    let world = World::new();
    for (language, declared) in [("typescript", "interface ToolArgsMap"), ("python", "class Tools(Protocol)")]
    {
        let shown = world.dsh(["sdk", "--language", language]).done().out;
        assert!(shown.contains(declared) && shown.contains("grep"), "{shown}");
        assert!(!shown.contains("run_code:"), "{shown}");
    }
    let ran = world.dsh(["sdk", "--language", "ruby"]);
    assert_eq!(ran.code, 2);
}

/// No model reads the result, so it is whole, and nothing of it is left behind; in a log that may go on it is bounded.
#[test]
fn a_large_result_is_whole_unless_it_goes_into_a_log() {
    let world = World::new();
    world.file("big.ts", "return Array.from({ length: 20000 }, (_, n) => n);");
    let ran = world.dsh(["code", "big.ts"]).done();
    assert_eq!(Json::parse(&ran.out).unwrap().as_array().map(<[Json]>::len), Some(20_000));
    assert!(!world.path("state").exists(), "nothing is stored");
    let ran = world.dsh(["code", "big.ts", "--session", "s.jsonl"]).done();
    assert!(ran.out.len() < 60_000 && ran.out.contains("is stored at "), "{}", ran.out.len());
}
