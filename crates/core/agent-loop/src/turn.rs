//! One turn, from its start to its honest end.

use std::sync::Arc;

use dsh_agent::{Agent, CallTurn, TurnError};
use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::{Content, ContentBlock, ErrorFacts, Message, Role, Source};
use dsh_session::{
    AbortReason, AssistantMessage, Session, StepEnd, StepStart, TurnEnd, TurnEndReason, TurnStart,
    UserMessage,
};
use dsh_tools_core::Context;

use crate::driver::{AgentLoop, TurnOutcome};
use crate::ids::unique_call_ids;
use crate::parked::Occupied;
use crate::request::LastRequest;
use crate::step::After;

pub(crate) struct Turn<'a> {
    pub(crate) driver: &'a AgentLoop,
    pub(crate) agent: &'a Agent,
    pub(crate) cancel: &'a Cancel,
    pub(crate) number: u32,
    pub(crate) occupied: &'a Occupied<'a>,
    pub(crate) last_request: Option<LastRequest>,
    answer: Option<Content>,
}

impl<'a> Turn<'a> {
    pub(crate) fn open(
        driver: &'a AgentLoop,
        agent: &'a Agent,
        cancel: &'a Cancel,
        occupied: &'a Occupied<'a>,
    ) -> Result<Self, TurnError> {
        let session = agent.session();
        // An earlier turn that was dropped, or whose log failed, is still open.
        session.close_open(TurnEndReason::Interrupted)?;
        let number = session.next_turn();
        session.append(&TurnStart { turn: number })?;
        Ok(Self { driver, agent, cancel, number, occupied, last_request: None, answer: None })
    }

    pub(crate) fn session(&self) -> &'a Session {
        self.agent.session()
    }

    /// Steps with the model until there is a reason to end.
    pub(crate) async fn converse(&mut self, prompt: Content) -> Result<TurnEndReason, TurnError> {
        let mut prompt = Some(prompt);
        for step in 1..=self.driver.config.max_steps_per_turn.get() {
            if self.cancel.is_cancelled() {
                return Ok(self.aborted());
            }
            match self.step(step, prompt.take()).await? {
                After::Owes => {}
                After::Ends(reason) => return Ok(reason),
            }
        }
        Ok(TurnEndReason::StepLimit)
    }

    /// One step whose calls come from a program, with an assistant message that says so.
    pub(crate) async fn call(&mut self, turn: CallTurn) -> Result<TurnEndReason, TurnError> {
        let (session, step) = (self.session(), 1);
        session.append(&StepStart { turn: self.number, step })?;
        self.deliver_parked()?;
        let note = std::iter::once(ContentBlock::Text { text: turn.note });
        let calls = turn.calls.into_iter().map(|call| ContentBlock::ToolCall {
            id: call.id,
            name: call.name,
            arguments: call.arguments,
            provider_call_id: None,
        });
        let content = unique_call_ids(note.chain(calls).collect(), session, &*self.driver.parts.ids);
        let source = Source::Model { provider: "dsh".into(), model: turn.origin, replay_state: None };
        let id = self.driver.parts.ids.fresh();
        let message = Message { id, role: Role::Assistant, content: Arc::clone(&content), source };
        session.append_from(&AssistantMessage { turn: self.number, step, message, usage: None }, &[])?;
        self.run_calls(step, &content).await?;
        session.append(&StepEnd { turn: self.number, step })?;
        Ok(TurnEndReason::Completed)
    }

    /// Closes the turn, also after a failure: what is open in the log is answered as what it is (design §4.9).
    pub(crate) async fn close(
        self,
        reason: Result<TurnEndReason, TurnError>,
    ) -> Result<TurnOutcome, TurnError> {
        let session = self.session();
        let reason = match reason {
            Ok(reason) => {
                let reason = self.unless_aborted(reason);
                session.append(&TurnEnd { turn: self.number, reason: reason.clone() })?;
                reason
            }
            Err(error) => {
                let facts = ErrorFacts::new("UNKNOWN", error.to_string());
                let reason = self.unless_aborted(TurnEndReason::Error { error: facts });
                // A log that can't be written stays open, and is closed before the next turn or when it is opened again.
                if session.close_open(reason).is_ok() {
                    // The turn's own error is the one to tell.
                    let _ = session.flush().await;
                }
                return Err(error);
            }
        };
        session.flush().await.map_err(TurnError::Flush)?;
        Ok(TurnOutcome { turn: self.number, reason, answer: self.answer })
    }

    /// Writes what waited for this step.
    pub(crate) fn deliver_parked(&self) -> Result<(), TurnError> {
        while let Some(context) = self.occupied.first_parked() {
            self.append_message(self.message(context))?;
            self.occupied.delivered();
        }
        Ok(())
    }

    pub(crate) fn append_message(&self, message: Message) -> Result<(), TurnError> {
        self.session().append(&UserMessage(message))?;
        Ok(())
    }

    pub(crate) fn user_message(&self, content: Content, source: Source) -> Message {
        Message { id: self.driver.parts.ids.fresh(), role: Role::User, content, source }
    }

    pub(crate) fn answered(&mut self, content: &Content) {
        let said = content.iter().any(|block| block.as_text().is_some_and(|text| !text.is_empty()));
        if said {
            self.answer = Some(Arc::clone(content));
        }
    }

    fn message(&self, context: Context) -> Message {
        let source = match context.form {
            Some(form) => Source::plugin_form(context.plugin, form),
            None => Source::plugin(context.plugin),
        };
        self.user_message(context.content, source)
    }

    /// A turn that was cancelled before its end was aborted, whatever else came of it (spec 02 §C.4).
    fn unless_aborted(&self, reason: TurnEndReason) -> TurnEndReason {
        if self.cancel.is_cancelled() { self.aborted() } else { reason }
    }

    fn aborted(&self) -> TurnEndReason {
        let reason = match self.cancel.cause() {
            Some(Cause::Parent) => AbortReason::Parent,
            Some(Cause::Disposed) => AbortReason::Disposed,
            Some(Cause::Hook(reason)) => AbortReason::Hook(reason),
            Some(Cause::Deadline) => AbortReason::Hook("deadline".into()),
            Some(Cause::User | Cause::Settled) | None => AbortReason::User,
        };
        TurnEndReason::Aborted { reason }
    }
}
