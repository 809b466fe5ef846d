//! What a person sees who runs it.

use std::path::Path;
use std::process::Command;

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

fn run(dir: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dsh-conformance"));
    let output = command.current_dir(dir).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

const GOOD: &str = r#"{"id": "good", "input": {"schema": {"type": "null"}, "value": null}, "output": {"valid": true, "paths": []}}"#;

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("README.md", "no vectors".to_owned()),
        ("notes.json", r#"{"about": "nothing"}"#.to_owned()),
        ("broken.json", r#"{"kind": "validate", "vectors": ["#.to_owned()),
        ("new.json", r#"{"kind": "never-heard-of", "vectors": [1]}"#.to_owned()),
        ("one.json", format!(r#"{{"kind": "validate", "vectors": [{GOOD}]}}"#)),
        (
            "two.json",
            format!(
                r#"{{"kind": "validate", "vectors": [{GOOD},
                {{"id": "wrong", "input": {{"schema": {{}}, "value": 1}}, "output": {{"valid": false, "paths": ["value"]}}}},
                {{"id": "wide", "input": {{"schema": {{}}, "value_text": "123456789012345678901"}}, "output": {{"valid": true, "paths": []}}}},
                {{"id": "bare", "input": {{}}, "output": {{}}}}, 3]}}"#
            ),
        ),
    ];
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

#[test]
fn it_prints_each_failure_and_ends_with_the_counts() {
    let dir = folder();
    let ran = run(dir.path(), &["."]);
    let expected = "\
FAILED ./broken.json as a whole
  expected: a file of vectors
  got:      the file is not JSON: EOF while parsing a list at line 1 column 33
FAILED ./two.json wrong
  expected: {\"valid\":false,\"paths\":[\"value\"]}
  got:      {\"valid\":true,\"paths\":[]}
FAILED ./two.json bare
  expected: an output
  got:      the vector has no `schema`
FAILED ./two.json #4
  expected: an output
  got:      the vector has no `input`
validate: 3 passed
skipped: never-heard-of (nobody knows this kind)
skipped: ./notes.json (no vector file)
rule: text is Unicode took 0 (half a surrogate pair is refused with JSON_STRING when it is read (design §5))
rule: integers have 64 bits took 1 (a longer one is refused with JSON_NUMBER, where JavaScript takes the nearest double (design §5))
";
    assert!(ran.out.starts_with(expected), "{}", ran.out);
    assert!(ran.out.ends_with("\n3 passed, 4 failed\n"), "{}", ran.out);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
}

#[test]
fn kinds_are_chosen_by_name() {
    let dir = folder();
    let rows: [(&[&str], i32, &str); 6] = [
        (&["--kind", "spill", "."], 0, "0 passed, 0 failed\n"),
        (&["--kind", "spill", "--kind=validate", "."], 1, "3 passed, 4 failed\n"),
        (&["--kind", "spill", "--kind=dsl-cases", "."], 1, "0 passed, 1 failed\n"),
        (&["one.json"], 0, "1 passed, 0 failed\n"),
        (&["--kind", "nothing", "."], 1, ""),
        (&["no-such-folder"], 1, ""),
    ];
    // A file that can't be read may be of any kind, so it fails whatever was chosen; here it is out of the way.
    for (arguments, code, last) in rows {
        if code == 0 {
            std::fs::remove_file(dir.path().join("broken.json")).unwrap_or_default();
        }
        let ran = run(dir.path(), arguments);
        assert!(ran.out.ends_with(last), "{arguments:?}: {}{}", ran.out, ran.err);
        assert_eq!(
            (ran.code, ran.err.is_empty()),
            (Some(code), !last.is_empty()),
            "{arguments:?}: {}",
            ran.err
        );
        std::fs::write(dir.path().join("broken.json"), "[").unwrap();
    }
    let unknown = run(dir.path(), &["--kind", "nothing"]);
    assert!(
        unknown.err.starts_with(
            "conformance: no kind of vectors is called \"nothing\"; known are canonicalize, dsl-cases,"
        ),
        "{}",
        unknown.err
    );
}

#[test]
fn the_recorded_files_are_the_default() {
    let ran = run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.."), &["--kind", "dsl-cases"]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.out.starts_with("dsl-cases: "), "{}", ran.out);
}
