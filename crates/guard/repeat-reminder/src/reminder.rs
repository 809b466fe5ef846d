//! Where the reminder listens.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::{Entry, HookError, Hooks, PreStep, StepContext};
use dsh_lifecycle::{Ids, Registrations};
use dsh_llm::{Content, Message, Role, Source};
use dsh_tools_core::{
    CallToken, Context, Execution, Guard, Layer, Next, Observer, Post, PostDecision, PreDecision, ToolError,
    ToolResult, Tools, codes, short_name,
};
use parking_lot::Mutex;

use crate::chain::Chain;
use crate::chains::Chains;
use crate::config::Settings;
use crate::{ConfigError, RepeatConfig, past, words};

/// The name that reminders have as their source.
pub const PLUGIN: &str = "repeat-reminder";
/// The form that they have.
const FORM: &str = "notice";

/// Counts the calls of agents and reminds them. The rules are in the crate's documentation.
pub struct RepeatReminder {
    tools: Tools,
    ids: Arc<dyn Ids>,
    settings: Settings,
    chains: Chains,
    /// Calls that were counted and whose results are not published yet.
    counted: Mutex<HashSet<CallToken>>,
}

impl RepeatReminder {
    /// A reminder that has seen nothing yet. `ids` names the messages that ride on no result.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(tools: Tools, ids: Arc<dyn Ids>, config: RepeatConfig) -> Result<Self, ConfigError> {
        let (settings, chains, counted) = (Settings::of(config)?, Chains::default(), Mutex::default());
        Ok(Self { tools, ids, settings, chains, counted })
    }

    /// Listens to the results of all calls and to what people say, and guards calls if there is a count from which on they are
    /// denied. Dropping what it returns ends that.
    #[must_use = "dropping it takes the reminder away"]
    pub fn register(self, hooks: &Hooks) -> Registrations {
        let tools = self.tools.clone();
        let this = Arc::new(self);
        let mut registered: Registrations = [
            tools.on_post_execute(None, Arc::clone(&this) as _),
            tools.on_result(None, Arc::clone(&this) as _),
            hooks.on_pre_step(None, Arc::clone(&this) as _),
        ]
        .into_iter()
        .collect();
        if this.settings.config.deny_at.is_some() {
            registered.push(tools.on_pre_execute(None, Arc::clone(&this) as _));
            registered.push(tools.guard(None, this));
        }
        registered
    }

    /// Looks at the chain that a call belongs to; not if nobody makes it, or its tool is not looked at.
    fn look<T>(&self, call: &Execution, look: impl Fn(&mut Chain) -> Option<T>) -> Option<T> {
        let agent = call.agent.as_ref()?;
        if !self.settings.tracks(&call.name) || self.tools.called(call).is_some_and(|tool| tool.polls()) {
            return None;
        }
        let begun = || past::life(agent, &self.tools, &self.settings);
        self.chains.with(agent, begun, |life| look(life.chain(call.parent.is_some())))
    }

    /// Counts a call; what the model is to be told now.
    fn observe(&self, call: &Execution, result: &ToolResult) -> Option<Content> {
        let (arguments, config) = (&call.arguments, &self.settings.config);
        let (is_first, rounds, tools) = self.look(call, |chain| {
            let seen = self.settings.call(&call.name, arguments, result.is_error(), &result.content);
            let mut repeats = chain.push(seen, config.max_period).repeats();
            repeats.find_map(|(period, rounds, is_whole)| {
                let is_first = self.settings.due(rounds).filter(|_| is_whole)?;
                Some((is_first, rounds, chain.tools(period)))
            })
        })?;
        let (preview, one) = (config.arguments_preview_chars.get(), tools.len() == 1);
        let detailed = || words::detailed(&tools, rounds, arguments, preview);
        Some(if is_first && one { words::nudge() } else { detailed() })
    }
}

#[async_trait]
impl Layer<Execution, PreDecision> for RepeatReminder {
    /// What is denied is denied before anybody is asked; the guard holds whatever listeners say.
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        if let Some(reason) = self.check(cx) { Ok(PreDecision::Deny(reason)) } else { next.run(cx).await }
    }
}

impl Guard for RepeatReminder {
    /// Denies a call that would be, or would go on with, a repetition that was counted too often. It counts all the same.
    fn check(&self, call: &Execution) -> Option<String> {
        let at = self.settings.config.deny_at?;
        self.look(call, |chain| {
            let mut repeats = chain.ahead(&call.name, &call.arguments).repeats();
            let (period, rounds, _) = repeats.find(|(_, rounds, _)| *rounds >= at)?;
            Some(words::denied(&chain.tools(period), rounds))
        })
    }
}

#[async_trait]
impl Layer<Post, PostDecision> for RepeatReminder {
    /// Counts first, whatever others decide, and puts its message in front of theirs.
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        self.counted.lock().insert(cx.execution.token);
        let told = self.observe(&cx.execution, &cx.result);
        let mut decision = next.run(cx).await?;
        if let Some(content) = told {
            let (PostDecision::Accept(_, contexts) | PostDecision::Block(_, contexts)) = &mut decision;
            contexts.insert(0, Context { plugin: PLUGIN.into(), form: Some(FORM.into()), content });
        }
        Ok(decision)
    }
}

impl Observer for RepeatReminder {
    /// Sees the calls that were refused before any listener was asked.
    fn result(&self, call: &Arc<Execution>, result: &Arc<ToolResult>) {
        let was_counted = self.counted.lock().remove(&call.token);
        let code = result.error().and_then(ToolError::code).unwrap_or_default();
        if was_counted || [codes::ABORTED, codes::ABORTED_BEFORE_DISPATCH].contains(&code) {
            return;
        }
        let (Some(content), Some(agent)) = (self.observe(call, result), &call.agent) else { return };
        let source = Source::plugin_form(PLUGIN, FORM);
        let message = Message { id: self.ids.fresh(), role: Role::User, content, source };
        if let Err(error) = agent.inbox().inject(message) {
            tracing::warn!(%error, tool = short_name(&call.name), "a reminder was left out");
        }
    }
}

#[async_trait]
impl PreStep for RepeatReminder {
    /// A person's word begins everything anew, also one that is then refused.
    async fn pre_step(&self, step: &StepContext<'_>, messages: Vec<Message>) -> Result<Entry, HookError> {
        if messages.iter().any(|message| message.source == Source::User) {
            self.chains.forget(step.agent);
        }
        Ok(Entry::Enter(messages))
    }
}
