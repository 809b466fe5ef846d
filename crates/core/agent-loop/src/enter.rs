//! Whether there is a step, and what it is given: the inbox proposes, hooks decide, the log is told (spec 02 §C.3).

use std::collections::BTreeSet;
use std::sync::Arc;

use dsh_agent::{Entry, Notice, TurnError};
use dsh_llm::{ErrorFacts, Message, Source};
use dsh_session::{Payload, TurnEndReason, UserMessage};
use dsh_system_prompt::{AssembleContext, Assembly, ContextTracker, PromptError};

use crate::turn::Turn;

/// What came of proposing a step.
pub(crate) enum Entered {
    /// It is taken.
    Step(Step),
    /// There is nothing to take a step for.
    Nothing,
    /// The turn ends before it.
    Ends(TurnEndReason),
}

/// What a step begins with.
pub(crate) struct Step {
    /// What waited for it.
    pub(crate) proposed: Vec<Arc<Message>>,
    /// What is said.
    pub(crate) messages: Vec<Message>,
    pub(crate) system: Option<Arc<str>>,
    pub(crate) assembly: Assembly,
}

impl Turn<'_> {
    /// Proposes the next step. Nothing leaves the inbox before the step has said it, or it is decided that there is none:
    /// what a cancellation or a failure stops here waits on.
    pub(crate) async fn enter(&mut self, owes_a_request: bool) -> Result<Entered, TurnError> {
        if self.cancel.is_cancelled() {
            return Ok(Entered::Ends(self.aborted()));
        }
        let inbox = self.agent.inbox();
        let proposed = inbox.proposal(self.step == 1);
        if proposed.is_empty() && !owes_a_request {
            return Ok(Entered::Nothing);
        }
        let mut step = match self.prepare(proposed) {
            Ok(step) => step,
            Err(error) => {
                let words = format!("the prompt could not be assembled: {error}");
                return Ok(Entered::Ends(error_end("UNKNOWN", words)));
            }
        };
        let decision = self.agent.hooks().pre_step(&self.context(), std::mem::take(&mut step.messages)).await;
        match decision {
            Err(failure) => return Ok(Entered::Ends(self.ended_by(failure))),
            Ok(Entry::Reject(reason)) => {
                inbox.claim(self.number, &step.proposed)?;
                self.agent.tell(&Notice::Blocked { turn: self.number, reason: &reason });
                return Ok(Entered::Ends(TurnEndReason::Blocked));
            }
            // A provider of the prompt may have stopped the turn, too.
            Ok(Entry::Enter(_)) if self.cancel.is_cancelled() => return Ok(Entered::Ends(self.aborted())),
            Ok(Entry::Enter(messages)) => step.messages = messages,
        }
        if let Some(error) =
            step.messages.iter().find_map(|message| UserMessage(message.clone()).check().err())
        {
            let words = format!("a pre-step hook entered a message that no log takes: {error}");
            return Ok(Entered::Ends(error_end("UNKNOWN", words)));
        }
        // What was taken out of the inbox while the hooks decided is not said.
        let gone: BTreeSet<_> =
            step.proposed.iter().map(|message| &message.id).filter(|id| !inbox.holds(id)).collect();
        step.messages.retain(|message| !gone.contains(&message.id));
        self.heard_a_person |= step.proposed.iter().any(|message| message.source == Source::User);
        if step.messages.is_empty() && !owes_a_request {
            inbox.claim(self.number, &step.proposed)?;
            return Ok(Entered::Nothing);
        }
        Ok(Entered::Step(step))
    }

    /// What hooks are shown: the messages that wait, and what the runtime has to say after them.
    fn prepare(&self, proposed: Vec<Arc<Message>>) -> Result<Step, PromptError> {
        let assembly = self.driver.parts.prompt.assemble(&AssembleContext::of(self.agent))?;
        let system = assembly.render_prompt()?;
        let update =
            ContextTracker::from_messages(&self.session().messages()).update(&assembly.render_contexts()?);
        let snapshot = update.into_message(&*self.driver.parts.ids);
        let messages = proposed.iter().map(|message| Message::clone(message)).chain(snapshot).collect();
        let system = Some(system).filter(|text| !text.is_empty()).map(Arc::from);
        Ok(Step { proposed, messages, system, assembly })
    }
}

pub(crate) fn error_end(code: &str, words: impl Into<Arc<str>>) -> TurnEndReason {
    TurnEndReason::Error { error: ErrorFacts::new(code, words) }
}
