//! What does a call cost over the Model Context Protocol, and how soon is `dsh mcp` ready?
//!
//! Goals: 300 µs over the same call in process, and 50 ms from the start of the program to the answer of `initialize`. A
//! call does nothing; its turn is logged in memory, and the client is in this process, at the other end of a pipe in
//! memory. The program of the same profile is started; where it is not built, that question is skipped by name. Each row is
//! a median.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use dsh_agent::{Agent, AgentParts, CallTurn, Hooks, RequestedCall};
use dsh_agent_loop::{AgentLoop, LoopConfig, LoopParts};
use dsh_benches::{Noop, median};
use dsh_lifecycle::{Cancel, Ids, SeededIds, Slot, SteppingClock};
use dsh_mcp_server::{McpParts, McpServer, McpServerConfig, SdkText};
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::{Definition, Tools};
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use tokio::time::Instant;

#[expect(clippy::print_stdout, reason = "the answers of this program")]
fn main() -> Result<(), Box<dyn Error>> {
    // `--test` shows that it works.
    let rounds = if std::env::args().any(|argument| argument == "--test") { 1 } else { 2_000 };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let stage = Stage::new()?;
    let middle = |times| median(times).unwrap_or_default();
    let in_process = middle(runtime.block_on(stage.in_process(rounds))?);
    let over_mcp = middle(runtime.block_on(stage.over_mcp(rounds))?);
    println!("a call in process             {in_process:>10.1?}");
    println!("the same over MCP             {over_mcp:>10.1?}");
    let program = program()?;
    if !program.exists() {
        println!("start: skipped, there is no {}", program.display());
        return Ok(());
    }
    let workspace = tempfile::tempdir()?;
    let starts: Result<Vec<_>, _> = (0..rounds.min(40)).map(|_| start(&program, workspace.path())).collect();
    println!("from start to initialised     {:>10.1?}", middle(starts?));
    Ok(())
}

struct Stage {
    parts: McpParts,
    _kept: Box<dyn std::any::Any>,
}

impl Stage {
    fn new() -> Result<Self, Box<dyn Error>> {
        let tools = Tools::new();
        let kept = tools.register(None, Definition::typed(Noop)?)?;
        let session = Session::create(SessionSpec {
            header: Header::new("bench", 0)?,
            vocabulary: Arc::new(dsh_agent::declare(Vocabulary::core())?),
            clock: Arc::new(SteppingClock::starting_at(0)),
            sink: None,
        });
        let config = LoopConfig::default();
        let agent_parts = AgentParts { hooks: Hooks::default(), inbox: config.inbox() };
        let ids: Arc<dyn Ids> = Arc::new(SeededIds::new(1));
        let parts = LoopParts {
            tools: tools.clone(),
            prompt: SystemPrompt::default(),
            model: Slot::empty(),
            ids: Arc::clone(&ids),
        };
        let parts = McpParts {
            tools,
            agent: Agent::with(Scope::root(), session, agent_parts),
            turns: Arc::new(AgentLoop::new(parts, config)),
            ids,
            sdk: Arc::new(NoSdk),
            elicitation: Arc::default(),
        };
        Ok(Self { parts, _kept: Box::new(kept) })
    }

    async fn in_process(&self, rounds: usize) -> Result<Vec<Duration>, Box<dyn Error>> {
        let cancel = Cancel::new();
        let mut times = Vec::new();
        for _ in 0..rounds {
            let call =
                RequestedCall { id: self.parts.ids.fresh(), name: "noop".into(), arguments: "{}".into() };
            let turn = CallTurn { origin: "bench".into(), note: "A call.".into(), calls: vec![call] };
            let start = Instant::now();
            self.parts.turns.run_calls(&self.parts.agent, turn, &cancel).await?;
            times.push(start.elapsed());
        }
        Ok(times)
    }

    async fn over_mcp(&self, rounds: usize) -> Result<Vec<Duration>, Box<dyn Error>> {
        let server = McpServer::new(self.parts.clone(), McpServerConfig::default());
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(ours);
        let client = tokio::spawn(async move {
            let client = ().serve(theirs).await.map_err(|error| error.to_string())?;
            let mut times = Vec::new();
            for _ in 0..rounds {
                let start = Instant::now();
                let call = CallToolRequestParams::new("noop");
                client.call_tool(call).await.map_err(|error| error.to_string())?;
                times.push(start.elapsed());
            }
            client.cancel().await.map_err(|error| error.to_string())?;
            Ok::<_, String>(times)
        });
        // As the program does it.
        tokio::spawn(async move { server.serve(reader, writer, &Cancel::new()).await }).await??;
        Ok(client.await??)
    }
}

struct NoSdk;

impl SdkText for NoSdk {
    fn language(&self) -> &'static str {
        "typescript"
    }

    fn text(&self, _: Option<&Scope>) -> Result<Arc<str>, String> {
        Ok(Arc::default())
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

/// Starts the program, and ends it when it has answered.
fn start(program: &Path, workspace: &Path) -> Result<Duration, Box<dyn Error>> {
    let mut command = Command::new(program);
    command.args(["mcp", "--root"]).arg(workspace).env("XDG_STATE_HOME", workspace);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn()?;
    let mut input = child.stdin.take().ok_or("no input")?;
    writeln!(input, "{INITIALIZE}")?;
    let mut answer = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut answer)?;
    let took = start.elapsed();
    if !answer.contains("serverInfo") {
        return Err(format!("{} does not serve ({answer:?}); build it again", program.display()).into());
    }
    drop(input);
    child.wait()?;
    Ok(took)
}

/// `target/PROFILE/dsh`; this program is `target/PROFILE/deps/mcp-…`.
fn program() -> Result<PathBuf, Box<dyn Error>> {
    let here = std::env::current_exe()?;
    let profile = here.ancestors().nth(2).ok_or("this program lies in no target directory")?;
    Ok(profile.join(format!("dsh{}", std::env::consts::EXE_SUFFIX)))
}
