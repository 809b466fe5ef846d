//! Calls of some agents and messages to them, and the reminders that come of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use dsh_agent::{Agent, Hooks, StepContext, Target};
use dsh_json::{Json, object};
use dsh_lifecycle::{Cancel, Registrations, SeededIds};
use dsh_llm::{Message, Role, Source, plain_text, text};
use dsh_repeat_reminder::{PLUGIN, RepeatConfig, RepeatReminder};
use dsh_tools_core::{Arguments, CallInput, ToolResult, Tools};

use super::arguments::{read, tool};
use crate::Fault;
use crate::agents::agent;
use crate::fault::{required, required_text};

/// One entry of a sequence.
pub(super) struct Entry {
    /// Who acts or is spoken to.
    pub(super) agent: Option<String>,
    pub(super) event: Event,
}

pub(super) enum Event {
    Call {
        tool: String,
        arguments: Arguments,
        /// The text of the arguments, where there is one.
        text: Option<String>,
    },
    /// A message, of a person or of somebody else.
    Said { by_person: bool },
}

/// The entries of a vector.
pub(super) fn entries(input: &Json) -> Result<Vec<Entry>, Fault> {
    let calls = required(input, "calls")?;
    let calls = calls.as_array().ok_or_else(|| Fault::form("calls", calls, "a list"))?;
    calls.iter().map(entry).collect()
}

fn entry(given: &Json) -> Result<Entry, Fault> {
    let agent = match given.get("agent") {
        None => Some("a".to_owned()),
        Some(Json::Null) => None,
        Some(agent) => {
            Some(agent.as_str().ok_or_else(|| Fault::form("agent", agent, "a name or nothing"))?.to_owned())
        }
    };
    if let Some(said) = given.get("user_message") {
        let by_person = said.as_bool().unwrap_or(said.as_str() == Some("user"));
        return Ok(Entry { agent, event: Event::Said { by_person } });
    }
    if let Some(kind) = given.get("sourceKind") {
        return Ok(Entry { agent, event: Event::Said { by_person: kind.as_str() == Some("user") } });
    }
    let tool = required_text(given, "tool")?.to_owned();
    let (arguments, text) = match given.get("args_text") {
        Some(_) => {
            let text = required_text(given, "args_text")?;
            (read(text), Some(text.to_owned()))
        }
        None => (given.get("args").cloned().unwrap_or_else(|| object! {}).into(), None),
    };
    Ok(Entry { agent, event: Event::Call { tool, arguments, text } })
}

/// The configuration of a vector; `None` where it is none.
pub(super) fn config(input: &Json) -> Option<RepeatConfig> {
    match input.get("config") {
        None | Some(Json::Null) => Some(RepeatConfig::default()),
        Some(config) => config.read().ok(),
    }
}

pub(super) fn run(input: &Json) -> Result<Json, Fault> {
    let entries = entries(input)?;
    let (tools, hooks) = (Tools::new(), Hooks::default());
    let ids = Arc::new(SeededIds::new(1));
    let reminder =
        config(input).map(|config| RepeatReminder::new(tools.clone(), ids, config)).and_then(Result::ok);
    let Some(reminder) = reminder else { return Ok(object! { "config_error": true }) };
    let mut mounted: Registrations = reminder.register(&hooks);
    for name in ["probe", "other"] {
        mounted.push(tools.register(None, tool(name)?).map_err(Fault::scene)?);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Fault::scene)?;
    let mut world = World { tools, hooks, agents: BTreeMap::new() };
    let mut reminders: Vec<Json> = Vec::new();
    for (position, entry) in entries.into_iter().enumerate() {
        if let Some(form) = runtime.block_on(world.play(entry))? {
            reminders.push(object! { "position": position, "form": form });
        }
    }
    drop(mounted);
    Ok(object! { "reminders": Json::from(reminders) })
}

struct World {
    tools: Tools,
    hooks: Hooks,
    agents: BTreeMap<String, Agent>,
}

impl World {
    /// The form of the reminder that comes of an entry.
    async fn play(&mut self, entry: Entry) -> Result<Option<&'static str>, Fault> {
        let agent = entry.agent.map(|name| self.named(name)).transpose()?;
        match entry.event {
            Event::Call { tool, arguments, .. } => {
                let input = CallInput { agent: agent.clone(), ..CallInput::new("call", &*tool, arguments) };
                let result = self.tools.execute(input).await;
                Ok(reminder(&result, agent.as_ref())?.map(|said| form(&said, &tool)))
            }
            Event::Said { by_person } => {
                if let Some(agent) = agent {
                    self.say(&agent, by_person).await?;
                }
                Ok(None)
            }
        }
    }

    fn named(&mut self, name: String) -> Result<Agent, Fault> {
        if let Some(agent) = self.agents.get(&name) {
            return Ok(agent.clone());
        }
        let agent = agent(&self.hooks)?;
        self.agents.insert(name, agent.clone());
        Ok(agent)
    }

    async fn say(&self, agent: &Agent, by_person: bool) -> Result<(), Fault> {
        let source = if by_person { Source::User } else { Source::plugin("another") };
        let message = Message { id: "message".into(), role: Role::User, content: text("Go on."), source };
        let cancel = Cancel::new();
        let step = StepContext { agent, turn: 1, step: 1, cancel: &cancel };
        let entered = self.hooks.pre_step(&step, vec![message]).await;
        entered.map(drop).map_err(|error| Fault::scene(format!("{error:?}")))
    }
}

/// The reminder that rides on a result, or waits for the next step.
fn reminder(result: &ToolResult, agent: Option<&Agent>) -> Result<Option<String>, Fault> {
    if let Some(context) = result.contexts.iter().find(|context| &*context.plugin == PLUGIN) {
        return Ok(Some(plain_text(&context.content)));
    }
    let Some(agent) = agent else { return Ok(None) };
    let Some(message) = agent.inbox().messages(Target::NextStep).into_iter().next() else { return Ok(None) };
    agent.inbox().retract(&message.id).map_err(Fault::scene)?;
    Ok(Some(plain_text(&message.content)))
}

/// A reminder that names the tool is a detailed one.
fn form(said: &str, tool: &str) -> &'static str {
    if said.contains(&format!("`{tool}`")) { "detailed" } else { "gentle" }
}
