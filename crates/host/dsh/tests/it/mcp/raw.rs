//! The server with nothing but lines in between.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use dsh_json::{Json, object};

use crate::world::{Ran, World};

pub(crate) struct Raw {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// A program that says by one call that it runs, and then waits for ten minutes.
pub(crate) const WAITS: &str =
    "await tools.glob({ pattern: '*' }); await new Promise((done) => setTimeout(done, 600000))";

impl Raw {
    /// A server with the log `one.jsonl`, before anything was said.
    pub(crate) fn start(world: &World) -> Self {
        Self::with(world, &[])
    }

    /// The same with further arguments.
    pub(crate) fn with(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command(["mcp", "--session", "one.jsonl"].iter().chain(arguments));
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    /// The same after the handshake.
    pub(crate) fn begun(world: &World) -> Self {
        let mut raw = Self::start(world);
        raw.begin(object! {});
        raw
    }

    /// The handshake of a client with these capabilities.
    pub(crate) fn begin(&mut self, capabilities: Json) {
        let info = object! { "name": "raw", "version": "1" };
        let params =
            object! { "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info };
        self.ask(0, "initialize", params);
        let answer = self.answer();
        assert_eq!(answer.get("result").unwrap().get("protocolVersion"), Some(&"2025-11-25".into()));
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    pub(crate) fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn ask(&mut self, id: u64, method: &str, params: Json) {
        self.send(object! { "jsonrpc": "2.0", "id": id, "method": method, "params": params }.to_text());
    }

    pub(crate) fn call(&mut self, id: u64, tool: &str, arguments: Json) {
        let meta = object! { "progressToken": id };
        self.ask(id, "tools/call", object! { "name": tool, "arguments": arguments, "_meta": meta });
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        let params = object! { "requestId": id };
        let said = object! { "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params };
        self.send(said.to_text());
    }

    /// Calls a program that waits, and returns when it runs.
    pub(crate) fn call_waiting(&mut self, id: u64) {
        self.call(id, "run_code", object! { "code": WAITS, "description": "Waits for long" });
        let told = self.message();
        assert_eq!(told.get("method"), Some(&"notifications/progress".into()), "{told}");
    }

    /// The next message.
    pub(crate) fn message(&mut self) -> Json {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        Json::parse(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The next message that is no notification.
    pub(crate) fn answer(&mut self) -> Json {
        loop {
            let message = self.message();
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Closes the input, if it is open, and waits for the end.
    pub(crate) fn end(mut self) -> Ran {
        drop(self.input.take());
        let mut rest = String::new();
        while self.output.read_line(&mut rest).unwrap() > 0 {}
        for line in rest.lines() {
            Json::parse(line).unwrap();
        }
        Ran { out: rest, ..Ran::of(self.child.wait_with_output().unwrap()) }
    }

    /// Waits for an end that something else brings about.
    pub(crate) fn ends(mut self) -> Ran {
        let input = self.input.take();
        let ran = self.end();
        drop(input);
        ran
    }
}
