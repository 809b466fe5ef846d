//! What does `run_code` cost, on a thread and in a worker process?
//!
//! Goals (`docs/spec/06-code-mode.md` §14.6): a trivial program in 0.3 ms on a thread and 1 ms in a worker that is in stock (5 ms
//! where none is); 1,000 calls in turn in 12 and 35 ms, at once in 15 and 25 ms; 100 calls of 10 ms each, ten at a time, in
//! 115 ms. Each run has a fresh engine, validated arguments and values, and a log in memory. Each row is a median; the
//! worker is this very program. A word after `--` chooses the rows that have it in their names.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use dsh_agent::Agent;
use dsh_benches::median;
use dsh_code_mode::{CodeMode, CodeModeConfig};
use dsh_code_runtime::{CodeRuntime, Limits};
use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Slot, SteppingClock};
use dsh_quickjs::QuickJs;
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_system_prompt::SystemPrompt;
use dsh_tool_sdk::Language;
use dsh_tools_core::{
    AnyTool, BoxFuture, CallInput, Content, Definition, Outcome, Presentation, RUN_CODE, RunContext,
    ToolError, Tools, text, with_dispatches,
};
use dsh_worker::Entry;
use tokio::time::Instant;

#[expect(clippy::print_stdout, reason = "the answers of this program")]
fn main() -> Result<(), Box<dyn Error>> {
    dsh_quickjs::become_worker();
    // `--test` shows that it works.
    let rounds = if std::env::args().any(|argument| argument == "--test") { 1 } else { 40 };
    let asked = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let asked = asked.as_deref();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    println!("{:42} {:>10} {:>10}", "", "thread", "process");
    let [thread, process] = runtime.block_on(async {
        let limits = Limits::default;
        let thread = measure(Arc::new(QuickJs::on_threads(limits())), rounds, asked).await;
        let spec = QuickJs::worker_spec(Entry::Reexec, &limits());
        [thread, measure(Arc::new(QuickJs::in_workers(limits(), spec)), rounds, asked).await]
    });
    let middle = |times| median(times).unwrap_or_default();
    for ((name, thread), (_, process)) in thread?.into_iter().zip(process?) {
        println!("{name:42} {:>10.2?} {:>10.2?}", middle(thread), middle(process));
    }
    Ok(())
}

type Row = (&'static str, Vec<Duration>);

const IN_TURN: &str =
    "let n = 0; for (let i = 0; i < 1000; i++) { const r = await tools.noop({ i }); if (r.ok) n++ } return n";
const AT_ONCE: &str = "const rs = await Promise.all(Array.from({ length: 1000 }, (_, i) => tools.noop({ i }))); return rs.length";
const WAITING: &str = "const rs = await Promise.all(Array.from({ length: 100 }, (_, i) => tools.slow({ i }))); return rs.length";

async fn measure(
    runtime: Arc<dyn CodeRuntime>,
    rounds: usize,
    asked: Option<&str>,
) -> Result<Vec<Row>, Box<dyn Error>> {
    let stage = Stage::new(Arc::clone(&runtime))?;
    let mut rows = Vec::new();
    for (name, program, most) in [
        ("return 1, the first program", "return 1", 1),
        ("return 1", "return 1", 300),
        ("1,000 calls in turn", IN_TURN, rounds),
        ("1,000 calls at once", AT_ONCE, rounds),
        ("100 calls of 10 ms, ten at a time", WAITING, rounds),
    ] {
        if !asked.is_none_or(|asked| name.contains(asked)) {
            continue;
        }
        let mut times = Vec::new();
        for _ in 0..if rounds == 1 { 1 } else { most } {
            // Between two programs of a model there is time.
            tokio::time::sleep(Duration::from_millis(5)).await;
            times.push(stage.run(program).await?);
        }
        rows.push((name, times));
    }
    runtime.close().await;
    Ok(rows)
}

/// Takes a whole number, says that it is well after a time, and may overlap.
struct Noop(Duration);

fn noop(name: &str, takes: Duration) -> Result<Definition, Box<dyn Error>> {
    let parameters = Schema::params().required("i", Schema::integer()).build()?;
    let output = Schema::object().closed().required("ok", Schema::boolean()).build()?;
    Ok(Definition::raw(name, "Does nothing.", parameters, output, Noop(takes))?)
}

impl AnyTool for Noop {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async {
            if !self.0.is_zero() {
                tokio::time::sleep(self.0).await;
            }
            Ok(object! { "ok": true })
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("ok"))
    }

    fn parallel(&self, _: &Json) -> bool {
        true
    }
}

struct Stage {
    tools: Tools,
    _kept: Vec<Box<dyn std::any::Any>>,
}

impl Stage {
    fn new(runtime: Arc<dyn CodeRuntime>) -> Result<Self, Box<dyn Error>> {
        let (tools, prompt) = (Tools::new(), SystemPrompt::default());
        let runtime: Slot<dyn CodeRuntime> = Slot::filled(runtime);
        let mode = CodeMode::new(tools.clone(), runtime, Language::TypeScript, CodeModeConfig::default());
        let kept: Vec<Box<dyn std::any::Any>> = vec![
            Box::new(mode.register(&prompt)?),
            Box::new(prompt),
            Box::new(tools.present_as(None, Presentation::Code)?),
            Box::new(tools.register(None, noop("noop", Duration::ZERO)?)?),
            Box::new(tools.register(None, noop("slow", Duration::from_millis(10))?)?),
        ];
        Ok(Self { tools, _kept: kept })
    }

    async fn run(&self, program: &str) -> Result<Duration, Box<dyn Error>> {
        let session = Session::create(SessionSpec {
            header: Header::new("bench", 0)?,
            vocabulary: Arc::new(with_dispatches(Vocabulary::core())?),
            clock: Arc::new(SteppingClock::starting_at(0)),
            sink: None,
        });
        let arguments = object! { "code": program, "description": "Measures" };
        let agent = Some(Agent::new(Scope::root(), session));
        let input = CallInput { agent, ..CallInput::new("c1", RUN_CODE, arguments) };
        let start = Instant::now();
        let result = self.tools.execute(input).await;
        let took = start.elapsed();
        match result.outcome {
            Outcome::Succeeded { .. } => Ok(took),
            Outcome::Failed(_) => Err(dsh_llm::plain_text(&result.content).into()),
        }
    }
}
