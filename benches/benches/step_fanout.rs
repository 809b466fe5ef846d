//! What does one of a hundred parallel calls of a step cost, with a log in memory?
//!
//! Goal: 10 µs a call. A turn, its assistant message and a fresh session's first appends are part of it.

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput};
use dsh_agent::{Agent, CallTurn, RequestedCall, TurnRunner};
use dsh_agent_loop::{AgentLoop, LoopConfig, LoopParts};
use dsh_benches::{Noop, agent, criterion, one_thread};
use dsh_lifecycle::{SeededIds, Slot};
use dsh_session::TurnEndReason;
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::{Cancel, Definition, Tools};
use tokio::runtime::Runtime;

const CALLS: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = criterion().configure_from_args();
    for at_once in [10, 100] {
        row(&mut criterion, at_once)?;
    }
    criterion.final_summary();
    Ok(())
}

fn row(criterion: &mut Criterion, at_once: usize) -> Result<(), Box<dyn Error>> {
    let tools = Tools::new();
    let _noop = tools.register(None, Definition::typed(Noop)?)?;
    let parts = LoopParts {
        tools,
        prompt: SystemPrompt::default(),
        model: Slot::empty(),
        ids: Arc::new(SeededIds::new(1)),
    };
    let at_once = NonZeroUsize::new(at_once).unwrap_or(NonZeroUsize::MIN);
    let config = LoopConfig {
        max_parallel_tool_calls: at_once,
        max_uncommitted_tool_calls: at_once.max(LoopConfig::default().max_uncommitted_tool_calls),
        ..LoopConfig::default()
    };
    let (turns, runtime) = (AgentLoop::new(parts, config), one_thread()?);
    let (agent, ended) = step(&turns, &runtime, agent()?);
    assert_eq!(ended, Some(TurnEndReason::Completed));
    assert_eq!(agent.session().messages().len(), 1 + CALLS);
    let mut group = criterion.benchmark_group("step_fanout");
    group.throughput(Throughput::Elements(CALLS as u64));
    group.bench_function(format!("100 calls, {at_once} at once"), |bencher| {
        let fresh = || dsh_benches::agent().ok();
        bencher.iter_batched(
            fresh,
            |agent| agent.map(|agent| step(&turns, &runtime, agent)),
            BatchSize::SmallInput,
        );
    });
    group.finish();
    Ok(())
}

/// Gives the agent back, so that dropping its log is not measured.
fn step(turns: &AgentLoop, runtime: &Runtime, agent: Agent) -> (Agent, Option<TurnEndReason>) {
    let call = |number: usize| RequestedCall {
        id: format!("c{number}").into(),
        name: "noop".into(),
        arguments: "{}".into(),
    };
    let calls = (0..CALLS).map(call).collect();
    let turn = CallTurn { origin: "bench".into(), note: "A hundred calls.".into(), calls };
    let ended = runtime.block_on(turns.run_calls(&agent, turn, &Cancel::new()));
    (agent, ended.ok())
}
