//! The loop: who runs turns, of what, and what a turn comes to.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::{Agent, CallTurn, TurnError, TurnRunner};
use dsh_lifecycle::{Cancel, Ids, Slot};
use dsh_llm::{Content, Model};
use dsh_session::TurnEndReason;
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::Tools;

use crate::LoopConfig;
use crate::parked::Agents;
use crate::turn::Turn;

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
    agents: Agents,
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
        Self { parts, config, agents: Agents::default() }
    }

    /// Runs one turn: the prompt goes to the model, its calls are run, their results go back, until the model has
    /// nothing more to call or a limit is reached (spec 02 §C).
    ///
    /// What a model or a tool does wrong is in the log and in the outcome. An `Err` is a failure of the log, told after
    /// everything that runs has settled; what is open in it is closed as far as it can be written, or else before the
    /// next turn. Cancelling `cancel` ends the turn as aborted, after everything that runs has stopped; the log holds a
    /// result for every call. Messages that no step was left to carry wait for the agent's next turn, in this process.
    pub async fn run_turn(
        &self,
        agent: &Agent,
        prompt: Content,
        cancel: &Cancel,
    ) -> Result<TurnOutcome, TurnError> {
        let occupied = self.agents.occupy(agent)?;
        let mut turn = Turn::open(self, agent, cancel, &occupied)?;
        let reason = turn.converse(prompt).await;
        turn.close(reason).await
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
        let occupied = self.agents.occupy(agent)?;
        let mut turn = Turn::open(self, agent, cancel, &occupied)?;
        let reason = turn.call(calls).await;
        Ok(turn.close(reason).await?.reason)
    }
}
