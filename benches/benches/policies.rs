//! What do the policies cost a call that none of them has anything to do with, and what when they have?
//!
//! Goals: all of them mounted add 2 µs to a call at the most; a result of 5 MB is stored and cut in 8 ms, the flush left out;
//! the digest of 1 MB of arguments takes 5 ms.

use std::error::Error;
use std::hint::black_box;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use criterion::{BatchSize, Criterion};
use dsh_agent::Hooks;
use dsh_benches::{Noop, agent, criterion};
use dsh_json::{Json, array, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{SeededIds, Slot, SteppingClock};
use dsh_llm::{Content, text};
use dsh_permission_rules::{PermissionRules, RulesConfig};
use dsh_repeat_reminder::{RepeatConfig, RepeatReminder};
use dsh_spill::SpillStore;
use dsh_spill_local::{LocalSpill, LocalSpillConfig};
use dsh_spill_policy::{SpillConfig, SpillPolicy};
use dsh_system_prompt::SystemPrompt;
use dsh_timeout_policy::{TimeoutConfig, TimeoutPolicy};
use dsh_tools_core::{
    AnyTool, BoxFuture, CallInput, Definition, Registrations, RunContext, ToolError, Tools,
};
use dsh_user_approval::{ApprovalConfig, Approvals};
use tokio::runtime::{Builder, Runtime};

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = criterion().configure_from_args();
    for (name, mounted) in [("none", false), ("all, idle", true)] {
        idle(&mut criterion, name, mounted)?;
    }
    spilled(&mut criterion)?;
    canonical(&mut criterion);
    criterion.final_summary();
    Ok(())
}

/// Budgets need timers.
fn with_timers() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}

/// All policies, each with something to look at and nothing to do. A budget that is not reached, rules for other tools.
fn mount(
    tools: &Tools,
    hooks: &Hooks,
    store: &Slot<dyn SpillStore>,
) -> Result<Registrations, Box<dyn Error>> {
    let ids = || Arc::new(SeededIds::new(1));
    let rules = RulesConfig {
        ask: vec!["write*".to_owned(), "mcp_*".to_owned()],
        deny: vec!["bash".to_owned()],
        ..RulesConfig::default()
    };
    let timeouts = TimeoutConfig { default_ms: NonZeroU64::new(60_000), ..TimeoutConfig::default() };
    let spilling = SpillConfig { max_inline_bytes: Some(50_000), ..SpillConfig::default() };
    let mut mounted =
        Approvals::new(ids(), ApprovalConfig::default()).mount(tools, &SystemPrompt::default())?;
    mounted.append(PermissionRules::new(tools.clone(), rules)?.register());
    mounted.append(TimeoutPolicy::new(tools.clone(), timeouts).register());
    mounted.append(RepeatReminder::new(tools.clone(), ids(), RepeatConfig::default())?.register(hooks));
    mounted.append(SpillPolicy::new(tools.clone(), store.clone(), spilling).register()?);
    Ok(mounted)
}

fn idle(criterion: &mut Criterion, name: &str, mounted: bool) -> Result<(), Box<dyn Error>> {
    let (tools, hooks, store) = (Tools::new(), Hooks::default(), Slot::empty());
    let _noop = tools.register(None, Definition::typed(Noop)?)?;
    let _policies = if mounted { mount(&tools, &hooks, &store)? } else { Registrations::new() };
    let runtime = with_timers()?;
    let call = CallInput { agent: Some(agent()?), ..CallInput::new("c1", "noop", object! {}) };
    assert!(!runtime.block_on(tools.execute(call.clone())).is_error());
    criterion.bench_function(&format!("policies/{name}"), |bencher| {
        bencher.to_async(&runtime).iter(|| tools.execute(call.clone()));
    });
    Ok(())
}

/// Says 5 MB.
struct Talker(Content);

impl AnyTool for Talker {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(std::future::ready(Ok(object! {})))
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(Arc::clone(&self.0))
    }
}

fn spilled(criterion: &mut Criterion) -> Result<(), Box<dyn Error>> {
    // Where flushing costs nothing, if there is such a place.
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    let root = dir.path().join("spill");
    let config = LocalSpillConfig { root: Some(root.clone()), sync: false, ..LocalSpillConfig::default() };
    let local = LocalSpill::new(config, dir.path(), Arc::new(SteppingClock::starting_at(0)))?;
    let (tools, hooks, store) = (Tools::new(), Hooks::default(), Slot::<dyn SpillStore>::empty());
    let _store = store.provide(Arc::new(local))?;
    let any = || Schema::object().open().build();
    let talker = Talker(text("a line of some words\n".repeat(5_000_000 / 21)));
    let _talker = tools.register(None, Definition::raw("talk", "Talks.", any()?, any()?, talker)?)?;
    let _policies = mount(&tools, &hooks, &store)?;
    let runtime = with_timers()?;
    let call = CallInput { agent: Some(agent()?), ..CallInput::new("c1", "talk", object! {}) };
    let read = runtime.block_on(tools.execute(call.clone()));
    assert!(dsh_llm::plain_text(&read.content).len() <= 50_000, "it is not cut");
    criterion.bench_function("policies/5 MB spilled", |bencher| {
        // Each time anew: what is stored already costs less.
        let fresh = || {
            let _ = std::fs::remove_dir_all(&root);
            call.clone()
        };
        bencher.iter_batched(fresh, |call| runtime.block_on(tools.execute(call)), BatchSize::PerIteration);
    });
    Ok(())
}

fn canonical(criterion: &mut Criterion) {
    let entry =
        |at: u64| object! { "path": format!("src/file-{at}.rs"), "line": at, "text": "let x = \"ä\";\n" };
    let many: Vec<Json> = (0..16_000).map(entry).collect();
    let arguments = object! { "z": many, "a": array![1, "two", true] };
    let bytes = arguments.canonical().len();
    assert!((1_000_000..1_200_000).contains(&bytes), "{bytes} bytes");
    criterion.bench_function("policies/1 MB canonical", |bencher| {
        bencher.iter(|| black_box(&arguments).canonical());
    });
}
