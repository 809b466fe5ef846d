//! The recorded behaviour (fixtures/vectors), compared by value, meta and code.
//!
//! Where we differ on purpose, a rule has a name and says so:
//! - `cut mark`: the mark at the end of a cut line is in our own words.
//! - `no empty window`: a first line over the byte cap is cut, where the original shows nothing (spec 07 §10.11).
//! - `untouched bytes`: an edit leaves the rest of the file as it is, where the original writes its line endings anew
//!   (design.md, before §1; spec 07 §3.11).
//! - `observation policy`: needs a policy that is not built yet.

use std::path::Path;

use dsh_sandbox_policy::SandboxMode;
use dsh_tool_fs::FsToolsConfig;
use dsh_tools_core::{Json, ToolResult};
use sha2::{Digest, Sha256};

use crate::world::World;

const CUT_MARK: &str = "... (line truncated to 2000 chars)";

#[tokio::test]
async fn read_tool() {
    assert_eq!(run("read-tool", "read").await, (53, 0));
}

#[tokio::test]
async fn write_tool() {
    assert_eq!(run("write-tool", "write").await, (25, 4));
}

#[tokio::test]
async fn edit_tool() {
    assert_eq!(run("edit-tool", "edit").await, (31, 4));
}

/// Runs a file of vectors. Returns how many passed and how many a rule skipped.
async fn run(kind: &str, tool: &str) -> (usize, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../fixtures/vectors/{kind}.json"));
    let file = Json::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (mut passed, mut skipped, mut failed) = (0, 0, Vec::new());
    for vector in file.get("vectors").and_then(Json::as_array).unwrap() {
        let input = vector.get("input").unwrap();
        if input.get("observation_policy").is_some() {
            skipped += 1; // rule `observation policy`
            continue;
        }
        let id = vector.get("id").and_then(Json::as_str).unwrap();
        match one(id, tool, input, vector.get("output").unwrap()).await {
            Ok(()) => passed += 1,
            Err(difference) => failed.push(format!("{id}: {difference}")),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    (passed, skipped)
}

async fn one(id: &str, tool: &str, input: &Json, output: &Json) -> Result<(), String> {
    let config =
        input.get("config").map(|config| config.read::<FsToolsConfig>().unwrap()).unwrap_or_default();
    let world = World::with(SandboxMode::WorkspaceWrite, config);
    let dir = world.dir();
    for (name, content) in input.get("files").and_then(Json::as_object).unwrap() {
        lay_out(&dir.join(&**name), content);
    }
    let here = dir.to_str().unwrap();
    let arguments = Json::parse(&input.get("args").unwrap().to_text().replace("$DIR", here)).unwrap();
    let result = world.call(tool, arguments).await;
    let expected = |key: &str| output.get(key);
    if expected("isError") != Some(&Json::Bool(result.is_error())) {
        return Err(format!("{result:?}"));
    }
    if let Some(code) = expected("error").and_then(|error| error.get("code")).and_then(Json::as_str)
        && result.error().and_then(|error| error.code()) != Some(code)
    {
        return Err(format!("expected {code}, found {:?}", result.error()));
    }
    for (key, found) in [("value", result.value()), ("meta", result.meta.as_ref())] {
        let Some(expected) = expected(key) else { continue };
        let found = found.map(|found| normal(id, &found.to_text(), here)).unwrap_or_default();
        if !same(expected, &found) {
            return Err(format!("{key}: expected {}, found {found}", expected.to_text()));
        }
    }
    check_files(id, &dir, expected("files_after"), &result)
}

/// Our text in the form of the recording.
fn normal(id: &str, text: &str, dir: &str) -> String {
    let text = text.replace(dir, "$DIR");
    if id == "read-078" {
        // Rule `no empty window`.
        return text.replace(r#""lines":[{"number":1,"text":"aaa"}]"#, r#""lines":[]"#);
    }
    // Rule `cut mark`.
    let mut parts = text.split("… [line cut after ");
    let mut normal = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        normal.push_str(CUT_MARK);
        normal.push_str(part.split_once(']').map_or("", |(_, rest)| rest));
    }
    normal
}

fn same(expected: &Json, found: &str) -> bool {
    match expected.get("$sha256_of_json").and_then(Json::as_str) {
        None => Json::parse(found).is_ok_and(|found| found == *expected),
        Some(digest) => {
            let bytes = expected.get("json_bytes").and_then(Json::as_u64);
            bytes == Some(found.len() as u64) && format!("{:x}", Sha256::digest(found)) == digest
        }
    }
}

fn lay_out(path: &Path, content: &Json) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let field = |key: &str| content.get(key).and_then(Json::as_str);
    if content.get("dir").is_some() {
        std::fs::create_dir_all(path).unwrap();
    } else if let Some(to) = field("symlink") {
        std::os::unix::fs::symlink(to, path).unwrap();
    } else if let Some(hex) = field("hex") {
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        std::fs::write(path, bytes).unwrap();
    } else if let Some(parts) = content.get("parts").and_then(Json::as_array) {
        let part = |part: &Json| {
            let times = part.get("repeat").and_then(Json::as_u64).unwrap_or(1);
            part.get("text").and_then(Json::as_str).unwrap().repeat(usize::try_from(times).unwrap())
        };
        std::fs::write(path, parts.iter().map(part).collect::<String>()).unwrap();
    } else {
        std::fs::write(path, field("text").unwrap()).unwrap();
    }
}

fn check_files(id: &str, dir: &Path, expected: Option<&Json>, result: &ToolResult) -> Result<(), String> {
    for (name, content) in expected.and_then(Json::as_object).into_iter().flat_map(dsh_json::Object::iter) {
        let found = std::fs::read(dir.join(&**name)).ok();
        let mut expected = content.get("base64").and_then(Json::as_str).map(unbase64);
        if id == "edit-036" {
            expected = Some(b"A\r\r\nb\r\n".into()); // rule `untouched bytes`
        }
        if found != expected {
            return Err(format!("{name}: expected {expected:?}, found {found:?}; {result:?}"));
        }
    }
    Ok(())
}

fn unbase64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
    for digit in text.bytes().filter(|byte| *byte != b'=') {
        let value = DIGITS.iter().position(|known| *known == digit).unwrap();
        bits = bits << 6 | u32::try_from(value).unwrap();
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).unwrap());
        }
    }
    bytes
}
