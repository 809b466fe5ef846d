//! The table of plugins. The order of the rows is the order of calls: the first is the outermost.
//!
//! <!-- pipeline-picture -->
//! ```text
//! model text ─parse→  prepare    pre-execute… → decision → guards             ordered, in model order
//!                     dispatch   (ask → approval → guards) → execute… around  overlaps, up to the cap
//!                                the body → value → output schema → render
//!                     finish     post-execute… → finalizeContent → bound      ordered, in model order
//!                     commit     log → publish (results)
//! ```

use std::sync::Arc;

use dsh_agent_loop::{AgentLoop, LoopConfig, LoopParts};
use dsh_approval_policy::ApprovalPolicy;
use dsh_code_mode::CodeMode;
use dsh_fs_local::{LocalFs, LocalFsConfig, LocalSearch};
use dsh_lifecycle::{Cancel, Cause, Clock, Registration, Registrations};
use dsh_mcp_server::McpServerConfig;
use dsh_observation_policy::{ObservationConfig, ObservationPolicy};
use dsh_permission_presets::{Presets, PresetsConfig};
use dsh_permission_rules::{PermissionRules, RulesConfig};
use dsh_repeat_reminder::{RepeatConfig, RepeatReminder};
use dsh_sandbox_policy::{
    CONTEXT_NAME, CONTEXT_ORDER, ModeChanged, PolicySource, SandboxMode, standing_rule,
};
use dsh_session::Vocabulary;
use dsh_session_permissions::SessionPermissions;
use dsh_spill_local::{LocalSpill, LocalSpillConfig};
use dsh_spill_policy::{SpillConfig, SpillPolicy};
use dsh_system_prompt::{AssembleContext, Context, OfferedTools, PromptConfig, Section, Text};
use dsh_timeout_policy::{TimeoutConfig, TimeoutPolicy};
use dsh_tool_fs::{FsTools, FsToolsConfig};
use dsh_tool_fs_search::{SearchTools, SearchToolsConfig};
use dsh_tool_sdk::Language;
use dsh_tools_core::{Presentation, with_dispatches};
use dsh_user_approval::{ApprovalConfig, Approvals};
use serde::Deserialize;

use crate::model::ModelConfig;
use crate::programs::CodeConfig;
use crate::row::{MountError, Row, row};
use crate::{Host, ModelChoice};

/// The rows that every harness has, in order.
pub(crate) fn table() -> Vec<Row> {
    vec![
        row("sandbox-policy", "what tools may reach", sandbox_policy),
        row("system-prompt", "identity, persona and tool order of the prompt", system_prompt),
        row("model", "the model that answers", model),
        row("agent-loop", "turns and steps", agent_loop),
        row("user-approval", "asks people about calls, and keeps the record", user_approval),
        row("permission-presets", "one choice for what tools may reach and who is asked", permission_presets),
        row("permission-rules", "which tools may run, and which are asked about", permission_rules),
        row("timeout-policy", "deadlines for tools that declare a budget", timeout_policy),
        row("repeat-reminder", "tells the model that it repeats itself", repeat_reminder),
        row("spill-local", "keeps large results as private files", spill_local),
        row("spill-policy", "keeps what the model reads within a budget", spill_policy),
        row("fs-local", "files and searches on the local disk", fs_local),
        row("observation-policy", "what was not read is not overwritten", observation_policy),
        row("tool-fs", "the tools `read`, `write` and `edit`", tool_fs),
        row("tool-fs-search", "the tools `glob` and `grep`", tool_fs_search),
        row("mcp-server", "bounds for clients of `dsh mcp`", mcp_server),
        row("code-mode", "the tool `run_code`: one program in place of many calls", code_mode),
    ]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SandboxConfig {
    #[serde(default)]
    mode: Option<SandboxMode>,
}

#[expect(clippy::needless_pass_by_value, reason = "a row gets its configuration")]
fn sandbox_policy(config: SandboxConfig, host: &Host) -> Result<Registrations, MountError> {
    host.declare(Vocabulary::with::<ModeChanged>)?;
    let policy = Arc::clone(&host.policy);
    let rule = move |cx: &AssembleContext| match &cx.agent {
        Some(agent) => standing_rule(&policy.policy(Some(agent.session().id()))),
        None => String::new(),
    };
    let told = Context::new(CONTEXT_NAME, CONTEXT_ORDER, Text::from_fn(rule));
    let mut mounted: Registrations = host.prompt.context(None, told)?.into();
    let Some(mode) = config.mode else { return Ok(mounted) };
    let before = host.policy.set_mode(mode);
    let policy = Arc::downgrade(&host.policy);
    let restore = move || {
        if let Some(policy) = policy.upgrade() {
            policy.set_mode(before);
        }
    };
    mounted.push(Registration::new(restore));
    Ok(mounted)
}

fn system_prompt(config: PromptConfig, host: &Host) -> Result<Registrations, MountError> {
    let mut mounted = host.prompt.configure(config)?;
    let tools = host.tools.clone();
    let offered = move |cx: &AssembleContext| {
        let view = tools.view(cx.effective_scope());
        let offered = view.offered()?;
        Ok(OfferedTools {
            schemas: Arc::clone(&offered.schemas),
            known_names: Some(Arc::clone(&offered.known)),
        })
    };
    mounted.push(host.prompt.tools(None, Arc::new(offered)));
    Ok(mounted)
}

fn model(mut config: ModelConfig, host: &Host) -> Result<Registrations, MountError> {
    if let Some(own) = &host.own_model {
        return Ok(host.model.provide(Arc::clone(own))?.into());
    }
    let configured = config.choice.take().map(|choice| choice.based(&host.environment, &host.config_base));
    // Who has a key and says nothing else means to use it.
    let keyed = || host.environment.providers.with_key().map(|provider| ModelChoice::Of(provider, None));
    let choice = host.model_choice.clone().or(configured).or_else(keyed).unwrap_or(ModelChoice::Demo);
    Ok(host.model.provide(choice.load(&host.environment, config)?)?.into())
}

fn agent_loop(config: LoopConfig, host: &Host) -> Result<Registrations, MountError> {
    host.declare(dsh_agent::declare)?;
    let tools = host.tools.clone();
    let about_calls = move |cx: &AssembleContext| match tools.view(cx.effective_scope()).presentation() {
        Presentation::Native | Presentation::Both => ABOUT_CALLS,
        Presentation::Code => "",
    };
    let section = Section::new("harness:calls", -90, Text::from_fn(about_calls));
    let mut mounted: Registrations = host.prompt.section(None, section)?.into();
    let parts = LoopParts {
        tools: host.tools.clone(),
        prompt: host.prompt.clone(),
        model: host.model.clone(),
        ids: Arc::clone(&host.environment.ids),
    };
    mounted.push(host.turns.provide(Arc::new(AgentLoop::new(parts, config)))?);
    Ok(mounted)
}

/// What a model can't know about how its calls are run (spec 02 §A).
const ABOUT_CALLS: &str = "Calls in one message are run together: those that only read overlap, those that change something run \
in order. So send at once what does not depend on each other's results. A call that fails says why; change what it says, \
and don't repeat it unchanged. When the work is done, say in a few words what you did and what you found.";

fn user_approval(config: ApprovalConfig, host: &Host) -> Result<Registrations, MountError> {
    host.declare(dsh_user_approval::declare)?;
    let approvals = Approvals::new(Arc::clone(&host.environment.ids), config);
    let mut mounted = approvals.mount(&host.tools, &host.prompt)?;
    if let Some(answerer) = &host.answerer {
        mounted.push(approvals.answer_with(None, Arc::clone(answerer)));
    }
    mounted.push(host.approvals.provide(Arc::new(approvals))?);
    Ok(mounted)
}

fn permission_presets(config: PresetsConfig, host: &Host) -> Result<Registrations, MountError> {
    host.declare(dsh_permission_presets::declare)?;
    let approvals = host.approvals.get().ok_or("the row `user-approval` is not mounted")?;
    let policies = approvals.policies().clone();
    let permissions = SessionPermissions::new(policies.clone(), Arc::clone(&host.policy) as _);
    let presets = Presets::new(config, permissions)?;
    let presets = match &host.preset_choice {
        Some(choice) => presets.with_choice(choice)?,
        None => presets,
    };
    let mut mounted = presets.register(&host.hooks);
    // What acts for no session is held to the same.
    let name = host.preset_choice.as_ref().unwrap_or(presets.default_preset());
    let initial = presets.resolve(name)?;
    if host.preset_choice.is_none()
        && policies.default_policy() == ApprovalPolicy::Never
        && initial.approval == ApprovalPolicy::Ask
    {
        return Err(format!(
            "the preset `{name}` asks, and [user-approval] says `policy = \"never\"`: choose a preset that never asks as `defaultPreset`, \
             or take the policy away"
        )
        .into());
    }
    let before = (host.policy.set_mode(initial.sandbox), policies.set_default_policy(initial.approval));
    let policy = Arc::downgrade(&host.policy);
    mounted.push(Registration::new(move || {
        let (mode, approval) = before;
        policies.set_default_policy(approval);
        if let Some(policy) = policy.upgrade() {
            policy.set_mode(mode);
        }
    }));
    mounted.push(host.presets.provide(Arc::new(presets))?);
    Ok(mounted)
}

fn permission_rules(config: RulesConfig, host: &Host) -> Result<Registrations, MountError> {
    let mut mounted = PermissionRules::new(host.tools.clone(), config.clone())?.register();
    if !mounted.is_empty() {
        mounted.push(host.rules.provide(Arc::new(config))?);
    }
    Ok(mounted)
}

#[expect(clippy::unnecessary_wraps, reason = "as every row")]
fn timeout_policy(config: TimeoutConfig, host: &Host) -> Result<Registrations, MountError> {
    Ok(TimeoutPolicy::new(host.tools.clone(), config).register())
}

fn repeat_reminder(config: RepeatConfig, host: &Host) -> Result<Registrations, MountError> {
    let reminder = RepeatReminder::new(host.tools.clone(), Arc::clone(&host.environment.ids), config)?;
    Ok(reminder.register(&host.hooks))
}

fn spill_local(mut config: LocalSpillConfig, host: &Host) -> Result<Registrations, MountError> {
    if host.whole_results {
        return Ok(Registrations::new());
    }
    if let Some(own) = &host.own_spill_store {
        return Ok(host.spill.provide(Arc::clone(own))?.into());
    }
    let environment = &host.environment;
    // Beside the logs that mention them, so that they are there when a session goes on.
    let beside = environment.state.as_ref().and_then(|state| state.parent()).map(|state| state.join("spill"));
    let configured = config.root.take().map(|root| environment.expand(&root, &host.config_base));
    config.root = configured.or(beside);
    // A sweep in the background moves nobody's clock.
    let now = Arc::new(Stopped(environment.clock.now_ms()));
    let store = LocalSpill::new(config, &environment.root, now)?;
    let mut mounted: Registrations = host.spill.provide(Arc::new(store.clone()))?.into();
    // Whoever is shown a locator reads it with `read`, and no other session's.
    let of_session = store.clone();
    mounted.push(host.policy.read_own(move |session| of_session.directory(session)));
    let sweep = move |cancel: Cancel| async move {
        match store.sweep(&cancel).await {
            Err(error) if !cancel.is_cancelled() => tracing::warn!(%error, "old results could not be swept"),
            Ok(_) | Err(_) => {}
        }
    };
    mounted.append(in_background(host, sweep));
    Ok(mounted)
}

/// A clock at the moment at which it was looked at.
struct Stopped(i64);

impl Clock for Stopped {
    fn now_ms(&self) -> i64 {
        self.0
    }
}

fn spill_policy(mut config: SpillConfig, host: &Host) -> Result<Registrations, MountError> {
    /// What a model reads of one result where nothing is configured (spec 08 §4.1).
    const INLINE_BYTES: u64 = 50_000;
    config.max_inline_bytes = match config.max_inline_bytes {
        _ if host.whole_results => None,
        configured => configured.or(Some(INLINE_BYTES)),
    };
    Ok(SpillPolicy::new(host.tools.clone(), host.spill.clone(), config).register()?)
}

fn fs_local(config: LocalFsConfig, host: &Host) -> Result<Registrations, MountError> {
    let local = Arc::new(LocalFs::new(config));
    let files = host.fs.provide(Arc::clone(&local) as _)?;
    let search = host.search.provide(Arc::new(LocalSearch::default()))?;
    let mut mounted: Registrations = [files, search].into_iter().collect();
    let policy = host.policy.current();
    let sweep = move |cancel: Cancel| async move {
        match local.sweep(&policy, &cancel).await {
            Err(error) if !cancel.is_cancelled() => {
                tracing::warn!(%error, "what killed processes left in the workspace could not be swept");
            }
            Ok(_) | Err(_) => {}
        }
    };
    mounted.append(in_background(host, sweep));
    Ok(mounted)
}

#[expect(clippy::needless_pass_by_value, reason = "a row gets its configuration")]
fn observation_policy(config: ObservationConfig, host: &Host) -> Result<Registrations, MountError> {
    if !config.enabled {
        return Ok(Registrations::new());
    }
    Ok(host.intents.provide(Arc::new(ObservationPolicy::new(&config)))?.into())
}

fn tool_fs(config: FsToolsConfig, host: &Host) -> Result<Registrations, MountError> {
    let tools = FsTools::new(host.fs.clone(), Arc::clone(&host.policy) as _, config)
        .with_intents(host.intents.clone())
        .with_spill(host.spill.clone());
    let tools = if somebody_is_asked(host) { tools.with_escalation() } else { tools };
    Ok(tools.register(&host.tools, &host.prompt)?)
}

fn tool_fs_search(config: SearchToolsConfig, host: &Host) -> Result<Registrations, MountError> {
    let tools = SearchTools::new(host.search.clone(), Arc::clone(&host.policy) as _, config)
        .with_spill(host.spill.clone());
    let tools = if somebody_is_asked(host) { tools.with_escalation() } else { tools };
    Ok(tools.register(&host.tools, &host.prompt)?)
}

fn code_mode(config: CodeConfig, host: &Host) -> Result<Registrations, MountError> {
    host.declare(with_dispatches)?;
    let (programs, runtime) = config.runtime(&host.worker);
    let mut mounted: Registrations = host.runtime.provide(runtime)?.into();
    let (tools, runtime) = (host.tools.clone(), host.runtime.clone());
    let code_mode = CodeMode::new(tools, runtime, Language::TypeScript, programs);
    let code_mode = if host.environment.measures { code_mode } else { code_mode.without_measures() };
    mounted.append(code_mode.register(&host.prompt)?);
    mounted.push(host.tools.present_as(None, host.presentation)?);
    Ok(mounted)
}

fn mcp_server(config: McpServerConfig, host: &Host) -> Result<Registrations, MountError> {
    Ok(host.mcp.provide(Arc::new(config))?.into())
}

/// Work beside everything else, which ends when the row is unmounted; a harness that shuts down waits for it.
fn in_background<F: Future<Output = ()> + Send + 'static>(
    host: &Host,
    work: impl FnOnce(Cancel) -> F,
) -> Registrations {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return Registrations::new() };
    let stop = Cancel::new();
    drop(host.tasks.spawn_on(work(stop.clone()), &runtime));
    Registration::new(move || stop.cancel(Cause::Disposed)).into()
}

/// Whether to offer what needs an approval: where nobody can be asked, it would only be refused (design §7).
fn somebody_is_asked(host: &Host) -> bool {
    host.answerer.as_ref().is_some_and(|answerer| answerer.may_allow())
}
