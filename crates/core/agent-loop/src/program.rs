//! A step whose calls come from a program, with assistant messages that say so.

use std::sync::Arc;

use dsh_agent::{ArrivingCall, CallOrigin, CallTurn, RequestedCall, TurnError};
use dsh_llm::{Content, ContentBlock, Message, Role, Source};
use dsh_session::{AssistantMessage, StepEnd, StepStart, TurnEndReason};
use futures_util::stream::BoxStream;

use crate::driver::TurnOutcome;
use crate::ids::unique_call_ids;
use crate::turn::Turn;

impl Turn<'_> {
    /// Makes a program's calls, and closes the turn.
    pub(crate) async fn run_program(&mut self, turn: CallTurn) -> Result<TurnOutcome, TurnError> {
        let watch = self.watch();
        let reason = watch.over(self.call(turn)).await;
        self.close(reason).await
    }

    /// Makes calls as they arrive, and closes the turn after the last.
    pub(crate) async fn run_arriving(
        &mut self,
        origin: CallOrigin,
        calls: BoxStream<'_, ArrivingCall>,
    ) -> Result<TurnOutcome, TurnError> {
        let watch = self.watch();
        let reason = watch.over(self.call_arriving(origin, calls)).await;
        self.close(reason).await
    }

    async fn call(&mut self, turn: CallTurn) -> Result<TurnEndReason, TurnError> {
        self.begin_step()?;
        let CallTurn { origin, note, calls } = turn;
        let content = self.say(&CallOrigin { origin, note }, calls)?;
        self.run_calls(&content).await?;
        self.end_step()
    }

    async fn call_arriving(
        &mut self,
        origin: CallOrigin,
        calls: BoxStream<'_, ArrivingCall>,
    ) -> Result<TurnEndReason, TurnError> {
        self.begin_step()?;
        self.join_calls(&origin, calls).await?;
        self.end_step()
    }

    /// Begins the turn's one step. What waits for the next step is said in it.
    fn begin_step(&mut self) -> Result<(), TurnError> {
        self.step = 1;
        self.session().append(&StepStart { turn: self.number, step: self.step })?;
        let inbox = self.agent.inbox();
        let waiting = inbox.proposal(false);
        let messages = waiting.iter().map(|message| Message::clone(message)).collect();
        Ok(inbox.deliver(self.number, &waiting, messages)?)
    }

    fn end_step(&self) -> Result<TurnEndReason, TurnError> {
        self.session().append(&StepEnd { turn: self.number, step: self.step })?;
        Ok(TurnEndReason::Completed)
    }

    /// Logs the assistant message that makes these calls, and returns what it holds: their ids may be others now.
    pub(crate) fn say(
        &self,
        origin: &CallOrigin,
        calls: impl IntoIterator<Item = RequestedCall>,
    ) -> Result<Content, TurnError> {
        let note = std::iter::once(ContentBlock::Text { text: Arc::clone(&origin.note) });
        let calls = calls.into_iter().map(|call| ContentBlock::ToolCall {
            id: call.id,
            name: call.name,
            arguments: call.arguments,
            provider_call_id: None,
        });
        let ids = &*self.driver.parts.ids;
        let content = unique_call_ids(note.chain(calls).collect(), self.session(), ids);
        let source =
            Source::Model { provider: "dsh".into(), model: Arc::clone(&origin.origin), replay_state: None };
        let message =
            Message { id: ids.fresh(), role: Role::Assistant, content: Arc::clone(&content), source };
        let event = AssistantMessage { turn: self.number, step: self.step, message, usage: None };
        self.session().append_from(&event, &[])?;
        Ok(content)
    }
}
