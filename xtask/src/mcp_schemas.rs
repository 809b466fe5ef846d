//! `cargo xtask mcp-schemas record [NAME]…`: the tool lists of published MCP servers, as fixtures.
//!
//! ```text
//! npm, PyPI ─install─▶ target/tmp/mcp-schemas/NAME ─start, tools/list over stdio─▶ fixtures/foreign-schemas/NAME.json
//! ```
//!
//! Servers come from registries and are started on this machine, so this is no part of `check`. They get an environment
//! of their own without keys, and a folder below `target/` as home; install scripts are not run.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::command;
use crate::report::Verdict;

const FIXTURES: &str = "fixtures/foreign-schemas";
const FOLDER: &str = "target/tmp/mcp-schemas";
/// How long a server may take for one answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// More than that is no list for a test.
const MAX_BYTES: usize = 200_000;
const MAX_PAGES: usize = 50;

/// A published server: where it comes from, and how it is started. `{}` in an argument is its scratch folder.
struct Server {
    name: &'static str,
    package: &'static str,
    version: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    registry: Registry,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Registry {
    Npm,
    PyPi,
}

const SERVERS: &[Server] = &[
    npm("chart", "@antv/mcp-server-chart", "0.9.10", "mcp-server-chart", &[]),
    npm("chrome-devtools", "chrome-devtools-mcp", "1.11.0", "chrome-devtools-mcp", &[]),
    npm("context7", "@upstash/context7-mcp", "4.1.1", "context7-mcp", &[]),
    npm("desktop-commander", "@wonderwhy-er/desktop-commander", "0.2.52", "desktop-commander", &[]),
    npm("eslint", "@eslint/mcp", "0.3.13", "mcp", &[]),
    npm("everything", "@modelcontextprotocol/server-everything", "2026.8.31", "mcp-server-everything", &[]),
    npm(
        "filesystem",
        "@modelcontextprotocol/server-filesystem",
        "2026.8.31",
        "mcp-server-filesystem",
        &["{}"],
    ),
    npm("kubernetes", "mcp-server-kubernetes", "4.1.7", "mcp-server-kubernetes", &[]),
    npm("memory", "@modelcontextprotocol/server-memory", "2026.8.31", "mcp-server-memory", &[]),
    npm("notion", "@notionhq/notion-mcp-server", "2.5.2", "notion-mcp-server", &[]),
    npm("playwright", "@playwright/mcp", "0.0.83", "playwright-mcp", &[]),
    npm(
        "sequential-thinking",
        "@modelcontextprotocol/server-sequential-thinking",
        "2026.8.31",
        "mcp-server-sequential-thinking",
        &[],
    ),
    pypi("fetch", "mcp-server-fetch", "2026.10.24", "mcp-server-fetch", &[]),
    pypi("git", "mcp-server-git", "2026.10.19", "mcp-server-git", &[]),
    pypi("time", "mcp-server-time", "2026.10.19", "mcp-server-time", &[]),
];

const fn npm(
    name: &'static str,
    package: &'static str,
    version: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
) -> Server {
    Server { name, package, version, program, arguments, registry: Registry::Npm }
}

const fn pypi(
    name: &'static str,
    package: &'static str,
    version: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
) -> Server {
    Server { name, package, version, program, arguments, registry: Registry::PyPi }
}

/// Records the servers that are named, or all of them, and writes where they come from.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    let Some((verb, names)) = arguments.split_first() else {
        bail!("say `record`, and the servers if not all: {}", known());
    };
    if verb != "record" {
        bail!("mcp-schemas has no {verb:?}, only `record`");
    }
    if let Some(name) = names.iter().find(|name| SERVERS.iter().all(|server| server.name != **name)) {
        bail!("no server is called {name:?}; there are {}", known());
    }
    fs::create_dir_all(root.join(FIXTURES)).context("creating the folder of the fixtures")?;
    let mut failed = Vec::new();
    for server in
        SERVERS.iter().filter(|server| names.is_empty() || names.iter().any(|name| name == server.name))
    {
        match server.record(root) {
            Ok(tools) => println!("{}: {tools} tools", server.name),
            Err(error) => {
                eprintln!("{}: {error:#}", server.name);
                failed.push(server.name);
            }
        }
    }
    write_origin(root)?;
    if failed.is_empty() {
        return Ok(Verdict::Passed);
    }
    eprintln!("mcp-schemas: not recorded: {}", failed.join(", "));
    Ok(Verdict::Failed)
}

fn known() -> String {
    SERVERS.iter().map(|server| server.name).collect::<Vec<_>>().join(", ")
}

impl Server {
    fn record(&self, root: &Path) -> Result<usize> {
        let folder = root.join(FOLDER).join(self.name);
        fs::create_dir_all(folder.join("scratch"))
            .with_context(|| format!("creating {}", folder.display()))?;
        self.install(&folder)?;
        let licence = self.licence(&folder)?;
        let mut session = Session::start(self.command(&folder))?;
        let tools = session.tools()?;
        let count = tools.len();
        let recorded = json!({
            "package": self.package,
            "version": self.version,
            "registry": self.registry.name(),
            "licence": licence,
            "recorded": today()?,
            "tools": tools,
        });
        let text = serde_json::to_string_pretty(&recorded).context("writing the list")? + "\n";
        if text.len() > MAX_BYTES {
            bail!("its list has {} bytes, more than {MAX_BYTES}", text.len());
        }
        let path = root.join(FIXTURES).join(format!("{}.json", self.name));
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        Ok(count)
    }

    fn install(&self, folder: &Path) -> Result<()> {
        if self.executable(folder).is_file() {
            return Ok(());
        }
        match self.registry {
            Registry::Npm => {
                let mut install = Command::new("npm");
                install.current_dir(folder);
                install.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", "."]);
                install.arg(format!("{}@{}", self.package, self.version));
                command::succeed(install, "npm and its registry are needed")
            }
            Registry::PyPi => {
                let mut create = Command::new("python3");
                create.current_dir(folder).args(["-m", "venv", "venv"]);
                command::succeed(create, "`python3` with `venv` is needed")?;
                let mut install = Command::new(folder.join("venv/bin/python"));
                install.args(["-m", "pip", "install", "--quiet"]);
                install.arg(format!("{}=={}", self.package, self.version));
                command::succeed(install, "PyPI is needed, or an index that pip is told of")
            }
        }
    }

    fn executable(&self, folder: &Path) -> PathBuf {
        match self.registry {
            Registry::Npm => folder.join("node_modules/.bin").join(self.program),
            Registry::PyPi => folder.join("venv/bin").join(self.program),
        }
    }

    fn command(&self, folder: &Path) -> Command {
        let scratch = folder.join("scratch");
        let mut command = Command::new(self.executable(folder));
        command.current_dir(&scratch).env_clear().env("HOME", &scratch);
        command.envs(env::var_os("PATH").map(|path| ("PATH", path)));
        let scratch = scratch.to_string_lossy();
        command.args(self.arguments.iter().map(|argument| argument.replace("{}", &scratch)));
        command
    }

    /// As the package states it.
    fn licence(&self, folder: &Path) -> Result<String> {
        match self.registry {
            Registry::Npm => {
                let manifest = folder.join("node_modules").join(self.package).join("package.json");
                let text = fs::read_to_string(&manifest)
                    .with_context(|| format!("reading {}", manifest.display()))?;
                let manifest: Value =
                    serde_json::from_str(&text).context("reading the package's manifest")?;
                Ok(text_at(&manifest, "license").unwrap_or("not stated").to_owned())
            }
            Registry::PyPi => {
                let mut ask = Command::new(folder.join("venv/bin/python"));
                ask.args(["-c", LICENCE, self.package]);
                Ok(command::text_of(ask)?.trim().to_owned())
            }
        }
    }
}

/// Prints the licence that a distribution states.
const LICENCE: &str = "
import sys, importlib.metadata as m
d = m.metadata(sys.argv[1])
stated = d.get('License-Expression') or d.get('License') or ''
classified = [c.split(' :: ')[-1] for c in d.get_all('Classifier', []) if c.startswith('License')]
print((stated.splitlines() or classified or ['not stated'])[0])
";

impl Registry {
    fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::PyPi => "PyPI",
        }
    }
}

/// A started server; it ends with the session.
struct Session {
    child: Child,
    lines: Receiver<String>,
    next: u64,
}

impl Session {
    fn start(mut command: Command) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("starting {program}"))?;
        let stdout = child.stdout.take().context("the server has no stdout")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, lines, next: 1 })
    }

    /// All pages of the list.
    fn tools(&mut self) -> Result<Vec<Value>> {
        self.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "mcp-schemas", "version": "1.0.0" },
            }),
        )?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        let mut tools = Vec::new();
        let mut parameters = json!({});
        for _ in 0..MAX_PAGES {
            let page = self.ask("tools/list", &parameters)?;
            let listed = page.get("tools").and_then(Value::as_array).context("the answer has no tools")?;
            tools.extend(listed.iter().map(kept));
            match page.get("nextCursor").filter(|cursor| cursor.is_string()) {
                None => return Ok(tools),
                Some(cursor) => parameters = json!({ "cursor": cursor }),
            }
        }
        bail!("the list has more than {MAX_PAGES} pages")
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        loop {
            let line = self.lines.recv_timeout(PATIENCE).with_context(|| format!("no answer to {method}"))?;
            // A server may print what is no message, and may notify or ask.
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message.get("id") != Some(&json!(id)) || message.get("method").is_some() {
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("{method} failed: {error}");
            }
            return message.get("result").cloned().context("the answer has no result");
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let stdin = self.child.stdin.as_mut().context("the server has no stdin")?;
        writeln!(stdin, "{message}").and_then(|()| stdin.flush()).context("writing to the server")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A server that has ended already can't be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the fixtures keep of a tool: names, words and schemas.
fn kept(tool: &Value) -> Value {
    let keys = ["name", "title", "description", "inputSchema", "outputSchema"];
    keys.into_iter()
        .filter_map(|key| Some((key.to_owned(), tool.get(key)?.clone())))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn today() -> Result<String> {
    let mut date = Command::new("date");
    date.args(["-u", "+%F"]);
    Ok(command::text_of(date)?.trim().to_owned())
}

/// The origin of every list that is there.
fn write_origin(root: &Path) -> Result<()> {
    let folder = root.join(FIXTURES);
    let mut rows = Vec::new();
    for server in SERVERS {
        let Ok(text) = fs::read_to_string(folder.join(format!("{}.json", server.name))) else { continue };
        let list: Value = serde_json::from_str(&text).with_context(|| format!("reading {}", server.name))?;
        let stated = ["package", "registry", "version", "licence", "recorded"];
        let stated = stated.map(|key| text_at(&list, key).unwrap_or("?")).join(" | ");
        let tools = list.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
        rows.push(format!("| `{}.json` | {stated} | {tools} |\n", server.name));
    }
    let rows = rows.concat();
    let page = format!("{ORIGIN}{rows}");
    fs::write(folder.join("ORIGIN.md"), page).context("writing ORIGIN.md")
}

fn text_at<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

const ORIGIN: &str = "\
Tool lists of published MCP servers, as they answered `tools/list`: names, descriptions and schemas, nothing else.

Recorded by `cargo xtask mcp-schemas record`, which also writes this page; the lists belong to their authors, under the licence that the package states.
The tests of `dsh-json-schema` import every schema; `report.snap` is what they say about it (`INSTA_UPDATE=always`).

| file | package | registry | version | licence | recorded | tools |
|---|---|---|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{SERVERS, Server, Session, kept};
    use std::process::Command;

    /// A server in a shell: one line of noise, then one answer for each line that it reads.
    fn session(answers: &[serde_json::Value]) -> Session {
        let script = answers.iter().map(|answer| format!("read -r line; echo '{answer}'\n"));
        let mut command = Command::new("sh");
        command.args(["-c", &format!("echo starting\n{}", script.collect::<String>())]);
        Session::start(command).unwrap()
    }

    #[test]
    fn all_pages_are_asked_for_and_only_answers_are_taken() {
        let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" }, "_meta": 1 });
        let mut session = session(&[
            json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
            json!({ "jsonrpc": "2.0", "method": "notifications/message" }),
            json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [tool("a")], "nextCursor": "x" } }),
            json!({ "jsonrpc": "2.0", "id": 3, "result": { "tools": [tool("b")] } }),
        ]);
        let tools = session.tools().unwrap();
        assert_eq!(tools, [kept(&tool("a")), kept(&tool("b"))]);
        assert_eq!(tools[0], json!({ "name": "a", "inputSchema": { "type": "object" } }));
    }

    #[test]
    fn a_refusal_is_told() {
        let mut session = session(&[json!({ "jsonrpc": "2.0", "id": 1, "error": { "message": "no key" } })]);
        assert_eq!(session.tools().unwrap_err().to_string(), r#"initialize failed: {"message":"no key"}"#);
    }

    #[test]
    fn names_are_sorted_and_occur_once() {
        let key = |server: &Server| (server.registry == super::Registry::PyPi, server.name);
        assert!(SERVERS.is_sorted_by(|left, right| key(left) < key(right)));
    }
}
