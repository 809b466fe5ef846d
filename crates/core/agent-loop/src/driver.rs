//! The loop: who runs turns, of what, which follow each other, and what a turn comes to.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::{Agent, ArrivingCall, CallOrigin, CallTurn, Notice, Running, Target, TurnError, TurnRunner};
use dsh_lifecycle::{Cancel, Ids, Slot, contain_async};
use dsh_llm::{Content, ErrorFacts, Message, Model, Role, Source};
use dsh_session::TurnEndReason;
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::Tools;
use futures_util::stream::BoxStream;

use crate::turn::Turn;
use crate::{LoopConfig, LoopSettings};

/// What a loop works with.
#[derive(Clone)]
pub struct LoopParts {
    /// The tools.
    pub tools: Tools,
    /// What models are told.
    pub prompt: SystemPrompt,
    /// The model, looked up at each request.
    pub model: Slot<dyn Model>,
    /// Where fresh ids come from.
    pub ids: Arc<dyn Ids>,
}

/// Drives turns of agents.
pub struct AgentLoop {
    pub(crate) parts: LoopParts,
    pub(crate) config: LoopConfig,
    pub(crate) settings: LoopSettings,
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnOutcome {
    /// Its number in the session.
    pub turn: u32,
    /// How it ended.
    pub reason: TurnEndReason,
    /// The last thing that the model said, if it said anything.
    pub answer: Option<Content>,
}

impl AgentLoop {
    /// A loop of these parts.
    pub fn new(parts: LoopParts, config: LoopConfig) -> Self {
        let settings = LoopSettings::new(config.max_parallel_tool_calls);
        Self { parts, config, settings }
    }

    /// How far turns may go, and how much may wait for an agent.
    pub fn config(&self) -> &LoopConfig {
        &self.config
    }

    /// What may change while it runs.
    pub fn settings(&self) -> &LoopSettings {
        &self.settings
    }

    /// Runs the turn of one prompt: the prompt goes to the model, its calls are run, their results go back, until the
    /// model has nothing more to call or a limit is reached (spec 02 §C). Prompts that waited before it have their turns
    /// first.
    ///
    /// What a model, a tool or a hook does wrong is in the log and in the outcome. An `Err` is a failure of the log, told
    /// after everything that runs has settled; what is open in it is closed as far as it can be written, or else before
    /// the next turn. Cancelling `cancel` ends the turn as aborted, after everything that runs has stopped; the log holds
    /// a result for every call. A prompt that no step was given is taken back from the inbox; whatever else waits there
    /// stays. Refused with [`TurnError::Busy`] while somebody runs turns of this agent.
    pub async fn run_turn(
        &self,
        agent: &Agent,
        prompt: Content,
        cancel: &Cancel,
    ) -> Result<TurnOutcome, TurnError> {
        let mut running = agent.occupy(cancel)?;
        agent.announce();
        let id = self.parts.ids.fresh();
        let message =
            Message { id: Arc::clone(&id), role: Role::User, content: prompt, source: Source::User };
        agent.inbox().queue(message)?;
        loop {
            let outcome = match open(&running) {
                Ok(number) => Turn::opened(self, agent, running.cancel(), number).run().await,
                Err(error) => Err(error),
            };
            // Prompts that waited before it were in its way.
            let next = if agent.inbox().holds(&id) {
                running.next(outcome.as_ref().ok().map(|ended| &ended.reason))
            } else {
                None
            };
            let Some(right) = next else {
                // The log told already what is wrong with it, if it does not take this either.
                let _ = agent.inbox().retract(&id);
                return outcome;
            };
            running = right;
        }
    }

    /// Runs turns for what comes into the inbox of an agent, until `stop` is cancelled. A message that wakes the idle
    /// agent begins a turn at once; this future runs it, and the turns that follow without a pause
    /// ([`Running::next`] says which). What goes wrong in them is in the log and told to observers.
    ///
    /// Cancelling `stop` ends the turn that runs as aborted and then this future. Whoever drives awaits it: dropping it
    /// abandons a turn in the middle of its work. Refused with [`TurnError::Busy`] while there is another driver.
    pub async fn drive(&self, agent: &Agent, stop: &Cancel) -> Result<(), TurnError> {
        agent.announce();
        let driving = agent.attach(stop)?;
        while let Some((running, turn)) = driving.begun().await {
            self.run_turns(running, turn).await;
        }
        Ok(())
    }

    /// One turn after the other, until nothing is left to do or the budget is used up.
    async fn run_turns(&self, mut running: Running, mut number: u32) {
        let mut alone = 0;
        loop {
            let mut turn = Turn::opened(self, running.agent(), running.cancel(), number);
            let ended = contain_async(turn.run()).await;
            alone = if turn.heard_a_person { 0 } else { alone + 1 };
            let reason = match ended {
                Ok(outcome) => outcome.ok().map(|outcome| outcome.reason),
                Err(panic) => Some(turn.close_after(&panic).await),
            };
            let Some(right) = running.next(reason.as_ref()) else { return };
            running = right;
            if alone >= self.config.max_turns_without_input.get() && only_machines_wait(running.agent()) {
                tell_failure(running.agent(), None, &out_of_turns(alone));
                return;
            }
            let Ok(opened) = open(&running) else { return };
            number = opened;
        }
    }
}

#[async_trait]
impl TurnRunner for AgentLoop {
    async fn run_calls(
        &self,
        agent: &Agent,
        calls: CallTurn,
        cancel: &Cancel,
    ) -> Result<TurnEndReason, TurnError> {
        let running = agent.occupy(cancel)?;
        agent.announce();
        let mut turn = Turn::opened(self, agent, running.cancel(), open(&running)?);
        Ok(turn.run_program(calls).await?.reason)
    }

    async fn run_arriving(
        &self,
        agent: &Agent,
        origin: CallOrigin,
        calls: BoxStream<'_, ArrivingCall>,
        cancel: &Cancel,
    ) -> Result<TurnEndReason, TurnError> {
        let running = agent.occupy(cancel)?;
        agent.announce();
        let mut turn = Turn::opened(self, agent, running.cancel(), open(&running)?);
        Ok(turn.run_arriving(origin, calls).await?.reason)
    }
}

/// Begins a turn in the log; a failure is told.
fn open(running: &Running) -> Result<u32, TurnError> {
    running.open_turn().map_err(|error| {
        let words = format!("failed to begin a turn: {error}");
        tell_failure(running.agent(), None, &ErrorFacts::new("UNKNOWN", words));
        TurnError::Log(error)
    })
}

/// Whether nothing that waits comes from a person.
fn only_machines_wait(agent: &Agent) -> bool {
    let lists = [Target::NextStep, Target::NextTurn].map(|target| agent.inbox().messages(target));
    lists.iter().flatten().all(|message| message.source != Source::User)
}

pub(crate) fn tell_failure(agent: &Agent, at: Option<(u32, u32)>, error: &ErrorFacts) {
    let (turn, step) = at.map_or((None, 0), |(turn, step)| (Some(turn), step));
    agent.tell(&Notice::Failed { turn, step, error });
}

fn out_of_turns(turns: u32) -> ErrorFacts {
    let words = format!(
        "the agent took {turns} turns in a row without a word from a person (`maxTurnsWithoutInput`); what waits is left for the next wake"
    );
    ErrorFacts::new("TURN_LIMIT", words)
}
