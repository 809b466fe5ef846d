//! Clients that others wrote: the official ones in TypeScript and Python, and the inspector.
//!
//! They are installed once, below `target/`. Where there is no package network, `DSH_SKIP_MCP_CLIENTS=1` leaves these
//! tests out.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dsh_json::{Json, array, object};

use crate::world::{World, assert_closed};

const TYPESCRIPT: &str = "@modelcontextprotocol/sdk@1.32.2";
const PYTHON: &str = "mcp==2.3.0";
const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";

fn is_left_out() -> bool {
    of_the_tests("DSH_SKIP_MCP_CLIENTS").is_some_and(|value| value == "1")
}

#[expect(clippy::disallowed_methods, reason = "what the tests were started with: no harness is here")]
fn of_the_tests(variable: &str) -> Option<OsString> {
    std::env::var_os(variable)
}

/// The folder of a package, with what it needs. It appears there whole or not at all.
fn installed(name: &str, package: &str, install: impl FnOnce(&Path)) -> PathBuf {
    let version: String =
        package.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect();
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-clients");
    let folder = all.join(format!("{name}-{version}"));
    if !folder.exists() {
        fs::create_dir_all(&all).unwrap();
        let fresh = tempfile::tempdir_in(&all).unwrap();
        install(fresh.path());
        let fresh = fresh.keep();
        // Another run of the tests may have been faster.
        if fs::rename(&fresh, &folder).is_err() {
            assert!(folder.exists(), "{} could not be put in place", folder.display());
            fs::remove_dir_all(fresh).unwrap();
        }
    }
    folder
}

fn npm(name: &str, package: &str) -> PathBuf {
    installed(name, package, |folder| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", ".", package]);
        run_installer(npm.current_dir(folder));
    })
}

fn run_installer(command: &mut Command) {
    let shown = format!("{command:?}");
    let ran = command.stdin(Stdio::null()).output();
    assert!(
        ran.as_ref().is_ok_and(|ran| ran.status.success()),
        "{shown} failed: {ran:?}. These clients come from npm and PyPI; without a package network, leave their tests out \
         with DSH_SKIP_MCP_CLIENTS=1."
    );
}

/// What a client prints that is to start the server with the log `one.jsonl`.
fn seen(world: &World, program: impl AsRef<OsStr>, arguments: &[&OsStr]) -> Json {
    let mut command = Command::new(program);
    world.prepare(&mut command);
    // Where the tests found it.
    command.env("PATH", of_the_tests("PATH").unwrap());
    command.args(arguments).arg(env!("CARGO_BIN_EXE_dsh"));
    command.args(["mcp", "--root", "ws", "--session", "one.jsonl"]);
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert_closed(world, &world.path("one.jsonl"));
    Json::parse(std::str::from_utf8(&ran.stdout).unwrap()).unwrap()
}

fn world() -> World {
    let world = World::new();
    world.file("ws/a.txt", "alpha\n");
    world
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp/clients").join(name)
}

fn expected() -> Json {
    object! {
        "server": "dsh",
        "tools": array!["edit", "glob", "grep", "read", "run_code", "write"],
        "read": "alpha",
        "unknown": array![true, "UNKNOWN_TOOL"],
        "program": 50,
        "progress": true,
        "ascending": true,
        "cancelled": true,
        "after": false,
        "asked": array!["ok", "APPROVAL_REJECTED"],
    }
}

#[test]
fn the_typescript_client_is_served() {
    if is_left_out() {
        return;
    }
    let folder = npm("typescript", TYPESCRIPT);
    // Node looks for packages beside the script.
    let (world, script_there) = (world(), folder.join("client.mjs"));
    fs::copy(script("client.mjs"), &script_there).unwrap();
    assert_eq!(seen(&world, "node", &[script_there.as_os_str()]), expected());
    assert_eq!(world.text("beyond.txt"), "one");
}

#[test]
fn the_python_client_is_served() {
    if is_left_out() {
        return;
    }
    let folder = installed("python", PYTHON, |folder| {
        // Not in a virtual environment, which can't be moved.
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target", ".", PYTHON]).current_dir(folder);
        run_installer(&mut pip);
    });
    let script = script("client.py");
    let path = format!("import sys; sys.path.insert(0, {:?}); ", folder.to_str().unwrap());
    let run = format!("{path}import runpy; runpy.run_path({:?})", script.to_str().unwrap());
    assert_eq!(seen(&world(), "python3", &[OsStr::new("-c"), OsStr::new(&run)]), expected());
}

#[test]
fn the_inspector_is_served() {
    if is_left_out() {
        return;
    }
    let launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let launcher = npm("inspector", INSPECTOR).join(launcher);
    let inspect = |options: &[&str]| {
        let mut arguments = vec![launcher.as_os_str(), OsStr::new("--cli"), OsStr::new("--quiet")];
        arguments.extend(["--format", "json"].iter().chain(options).map(OsStr::new));
        arguments.push(OsStr::new("--"));
        seen(&world(), "node", &arguments).get("result").unwrap().clone()
    };
    let listed = inspect(&["--method", "tools/list"]);
    let tools = listed.get("tools").and_then(Json::as_array).unwrap().iter();
    let names: Vec<_> = tools.map(|tool| tool.get("name").unwrap().clone()).collect();
    assert_eq!(Some(&Json::from(names)), expected().get("tools"));
    let read = inspect(&["--method", "tools/call", "--tool-name", "read", "--tool-arg", "file_path=a.txt"]);
    let value = read.get("structuredContent").unwrap();
    assert_eq!(value.get("totalLines"), Some(&1.into()));
}
