//! A directory with a workspace, a place for logs, and the program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use dsh_json::{Json, object};
use tempfile::TempDir;

pub(crate) struct World {
    directory: TempDir,
}

/// How a run of the program ended.
#[derive(Debug, PartialEq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { directory: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.path("ws")).unwrap();
        world
    }

    /// A path in the directory that the program runs in. The workspace is `ws`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes a script for the model; each step is JSON.
    pub(crate) fn script(&self, name: &str, steps: Json) {
        self.file(name, &object! { "steps": steps }.to_text());
    }

    /// The program, with the workspace as its root.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dsh"));
        self.prepare(&mut command);
        command.args(["--root", "ws"]).args(arguments);
        command
    }

    /// Lets a command run here, with nothing from outside.
    pub(crate) fn prepare(&self, command: &mut Command) {
        command
            .current_dir(self.directory.path())
            .env_clear()
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    pub(crate) fn dsh<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// The one log that a run without `--session` left.
    pub(crate) fn fresh_logs(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.path("state/dsh/sessions")) else { return Vec::new() };
        let mut logs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        logs.sort();
        logs
    }
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}")),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Stdout as one JSON value.
    pub(crate) fn json(&self) -> Json {
        Json::parse(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Stdout as one JSON value a line.
    pub(crate) fn lines(&self) -> Vec<Json> {
        self.out.lines().map(|line| Json::parse(line).unwrap()).collect()
    }

    /// The message, of which there must be one, without its label.
    pub(crate) fn error(&self) -> &str {
        let mut errors = self.err.lines().filter_map(|line| line.strip_prefix("error: "));
        match (errors.next(), errors.next()) {
            (Some(error), None) => error,
            _ => panic!("not one error: {self:?}"),
        }
    }

    /// Asserts a success.
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        assert!(!self.err.contains("error:"), "{self:?}");
        self
    }
}

/// A call of a script.
pub(crate) fn call(id: &str, name: &str, arguments: Json) -> Json {
    object! { "id": id, "name": name, "arguments": arguments }
}

/// What `verify --json` says of a file.
pub(crate) fn verdict(world: &World, file: &Path) -> Json {
    let ran = world.dsh([OsStr::new("verify"), OsStr::new("--json"), file.as_os_str()]);
    let json = ran.json();
    assert_eq!(ran.code == 0, json.get("ok") == Some(&true.into()), "{ran:?}");
    json
}

/// Asserts that a log is sound and closed.
#[track_caller]
pub(crate) fn assert_closed(world: &World, file: &Path) {
    let verdict = verdict(world, file);
    assert_eq!(verdict.get("ok"), Some(&true.into()), "{verdict}");
    assert_eq!(verdict.get("openTurn"), None, "{verdict}");
}
