//! One turn, from its start to its honest end.

use std::sync::Arc;

use dsh_agent::{Agent, HookFailure, StepContext, Target, TurnError};
use dsh_lifecycle::{Cancel, Cause, Panic};
use dsh_llm::{Content, ErrorFacts};
use dsh_session::{AbortReason, Session, TurnEnd, TurnEndReason};

use crate::driver::{AgentLoop, TurnOutcome, tell_failure};
use crate::enter::Entered;
use crate::request::LastRequest;
use crate::step::After;

pub(crate) struct Turn<'a> {
    pub(crate) driver: &'a AgentLoop,
    pub(crate) agent: &'a Agent,
    pub(crate) cancel: Cancel,
    pub(crate) number: u32,
    /// The current step; 0 before the first.
    pub(crate) step: u32,
    pub(crate) last_request: Option<LastRequest>,
    /// Whether some step hit the model's ceiling. It names the end of the turn and does not bring it about.
    pub(crate) hit_ceiling: bool,
    /// Whether a person said anything in it.
    pub(crate) heard_a_person: bool,
    answer: Option<Content>,
}

impl<'a> Turn<'a> {
    /// A turn whose `turn/start` is in the log.
    pub(crate) fn opened(driver: &'a AgentLoop, agent: &'a Agent, cancel: Cancel, number: u32) -> Self {
        Self {
            driver,
            agent,
            cancel,
            number,
            step: 0,
            last_request: None,
            hit_ceiling: false,
            heard_a_person: false,
            answer: None,
        }
    }

    /// Steps with the model, and closes the turn.
    pub(crate) async fn run(&mut self) -> Result<TurnOutcome, TurnError> {
        let watch = self.watch();
        let reason = watch.over(self.converse()).await;
        self.close(reason).await
    }

    /// Steps with the model until there is a reason to end (spec 02 §C.3).
    async fn converse(&mut self) -> Result<TurnEndReason, TurnError> {
        let mut owes_a_request = false;
        for step in 1..=self.driver.config.max_steps_per_turn.get() {
            self.step = step;
            let step = match self.enter(owes_a_request).await? {
                Entered::Step(step) => step,
                Entered::Nothing => return Ok(self.completed()),
                Entered::Ends(reason) => return Ok(reason),
            };
            match self.take(step).await? {
                After::Ends(reason) => return Ok(reason),
                After::Owes => owes_a_request = true,
                After::Stops => {
                    owes_a_request = false;
                    if let Some(reason) = self.stops().await {
                        return Ok(reason);
                    }
                }
            }
        }
        Ok(TurnEndReason::StepLimit)
    }

    /// The turn's end, unless something waits for its next step or a hook steers it.
    async fn stops(&self) -> Option<TurnEndReason> {
        let has_more = || !self.agent.inbox().messages(Target::NextStep).is_empty();
        if has_more() && !self.cancel.is_cancelled() {
            return None;
        }
        match self.agent.hooks().turn_stopping(&self.context()).await {
            Err(failure) => Some(self.ended_by(failure)),
            Ok(()) if has_more() => None,
            Ok(()) => Some(self.completed()),
        }
    }

    /// Closes the turn, also after a failure: what is open in the log is answered as what it is (design §4.9).
    pub(crate) async fn close(
        &mut self,
        reason: Result<TurnEndReason, TurnError>,
    ) -> Result<TurnOutcome, TurnError> {
        let closed = match reason {
            Ok(reason) => self.close_as(reason).await,
            Err(error) => {
                let facts = ErrorFacts::new("UNKNOWN", error.to_string());
                self.close_open(self.unless_aborted(TurnEndReason::Error { error: facts })).await;
                Err(error)
            }
        };
        match &closed {
            Ok(TurnOutcome { reason: TurnEndReason::Error { error }, .. }) => self.tell_failure(error),
            Ok(_) => {}
            Err(error) => self.tell_failure(&ErrorFacts::new("UNKNOWN", error.to_string())),
        }
        closed
    }

    async fn close_as(&mut self, reason: TurnEndReason) -> Result<TurnOutcome, TurnError> {
        let reason = self.unless_aborted(reason);
        self.session().end_turn(&TurnEnd { turn: self.number, reason: reason.clone() })?;
        self.session().flush().await.map_err(TurnError::Flush)?;
        Ok(TurnOutcome { turn: self.number, reason, answer: self.answer.take() })
    }

    /// Closes a turn that panicked.
    pub(crate) async fn close_after(&mut self, panic: &Panic) -> TurnEndReason {
        let error =
            ErrorFacts::new("PANICKED", format!("the turn was stopped by an internal error: {panic}"));
        self.tell_failure(&error);
        let reason = TurnEndReason::Error { error };
        self.close_open(reason.clone()).await;
        reason
    }

    /// A log that can't be written stays open, and is closed before the next turn or when it is opened again.
    async fn close_open(&self, reason: TurnEndReason) {
        if self.session().close_open(reason).is_ok() {
            // The turn's own error is the one to tell.
            let _ = self.session().flush().await;
        }
    }

    pub(crate) fn session(&self) -> &'a Session {
        self.agent.session()
    }

    /// Where hooks are asked.
    pub(crate) fn context(&self) -> StepContext<'_> {
        StepContext { agent: self.agent, turn: self.number, step: self.step, cancel: &self.cancel }
    }

    pub(crate) fn answered(&mut self, content: &Content) {
        let said = content.iter().any(|block| block.as_text().is_some_and(|text| !text.is_empty()));
        if said {
            self.answer = Some(Arc::clone(content));
        }
    }

    /// What hooks that gave no answer make of the turn.
    pub(crate) fn ended_by(&self, failure: HookFailure) -> TurnEndReason {
        match failure {
            HookFailure::Cancelled => self.aborted(),
            HookFailure::Failed(error) => TurnEndReason::Error { error },
        }
    }

    pub(crate) fn aborted(&self) -> TurnEndReason {
        let reason = match self.cancel.cause() {
            Some(Cause::Parent) => AbortReason::Parent,
            Some(Cause::Disposed) => AbortReason::Disposed,
            Some(Cause::Hook(reason)) => AbortReason::Hook(reason),
            Some(Cause::Deadline) => AbortReason::Hook("deadline".into()),
            Some(Cause::User | Cause::Settled) | None => AbortReason::User,
        };
        TurnEndReason::Aborted { reason }
    }

    fn completed(&self) -> TurnEndReason {
        if self.hit_ceiling { TurnEndReason::MaxTokens } else { TurnEndReason::Completed }
    }

    /// A turn that was cancelled before its end was aborted, whatever else came of it (spec 02 §C.4).
    fn unless_aborted(&self, reason: TurnEndReason) -> TurnEndReason {
        if self.cancel.is_cancelled() { self.aborted() } else { reason }
    }

    fn tell_failure(&self, error: &ErrorFacts) {
        tell_failure(self.agent, Some((self.number, self.step)), error);
    }
}
