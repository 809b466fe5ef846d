//! One step: what the model is told, what it answers, what it calls.

use std::sync::Arc;

use dsh_agent::{AfterError, RequestDraft, TurnError};
use dsh_llm::{Assembled, Content, ContentBlock, ErrorFacts, Finish, Message, Role, Source};
use dsh_session::{AssistantMessage, StepEnd, StepStart, TurnEndReason};

use crate::enter::{Step, error_end};
use crate::ids::unique_call_ids;
use crate::listen::Route;
use crate::request::LastRequest;
use crate::turn::Turn;

/// What follows a step.
pub(crate) enum After {
    /// The model is owed its results.
    Owes,
    /// The model has nothing more to do.
    Stops,
    /// The turn ends.
    Ends(TurnEndReason),
}

impl Turn<'_> {
    /// Takes a step: its messages are said, the model is asked, its calls are run.
    pub(crate) async fn take(&mut self, step: Step) -> Result<After, TurnError> {
        let session = self.session();
        session.append(&StepStart { turn: self.number, step: self.step })?;
        let Step { proposed, messages, system, assembly } = step;
        self.agent.inbox().deliver(self.number, &proposed, messages)?;
        let told = Told { system, tools: assembly.tools };
        let after = self.request(&told).await?;
        session.append(&StepEnd { turn: self.number, step: self.step })?;
        Ok(after)
    }

    /// Makes the step's request, and makes it again as often as hooks ask for it and the limit allows (spec 02 §C.5).
    async fn request(&mut self, told: &Told) -> Result<After, TurnError> {
        let limit = self.driver.config.max_attempts_per_request.get();
        let mut attempt = 1;
        loop {
            let mut error = match self.attempt(told).await? {
                Attempted::Answered(after) => return Ok(after),
                Attempted::Failed(error) => error,
            };
            if self.cancel.is_cancelled() {
                return Ok(After::Ends(self.aborted()));
            }
            match self.agent.hooks().request_error(&self.context(), &error).await {
                Err(failure) => return Ok(After::Ends(self.ended_by(failure))),
                Ok(AfterError::Fail) => return Ok(After::Ends(TurnEndReason::Error { error })),
                Ok(AfterError::Retry) if attempt < limit => attempt += 1,
                Ok(AfterError::Retry) => {
                    let words = format!("{} ({attempt} attempts, `maxAttemptsPerRequest`)", error.message);
                    error.message = words.into();
                    return Ok(After::Ends(TurnEndReason::Error { error }));
                }
            }
        }
    }

    async fn attempt(&mut self, told: &Told) -> Result<Attempted, TurnError> {
        let ends = |reason| Ok(Attempted::Answered(After::Ends(reason)));
        let model = self.driver.parts.model.get();
        let draft = RequestDraft { model, max_tokens: self.driver.config.max_tokens };
        let draft = match self.agent.hooks().request(&self.context(), draft).await {
            Ok(_) if self.cancel.is_cancelled() => return ends(self.aborted()),
            Ok(draft) => draft,
            Err(failure) => return ends(self.ended_by(failure)),
        };
        let Some(model) = draft.model else { return ends(error_end("NO_MODEL", NO_MODEL)) };
        let route = match Route::of(&*model) {
            Ok(route) => route,
            Err(error) => return Ok(Attempted::Failed(error)),
        };
        let session = self.session();
        let last = self.last_request.get_or_insert_with(|| LastRequest::of(session));
        let request = last.derive(session, &route, told, draft.max_tokens)?;
        // What the request is derived from is on the device before anybody acts on it.
        session.flush().await.map_err(TurnError::Flush)?;
        let (answer, chunks) = self.listen(&*model, request).await?;
        let after = match &answer.finish {
            Finish::Stop | Finish::ToolCalls => {
                let content = self.remember(route, &answer, &chunks)?;
                self.act(&content).await?
            }
            Finish::MaxTokens => {
                self.remember(route, &answer, &chunks)?;
                self.hit_ceiling = true;
                After::Stops
            }
            Finish::Error(error) => return Ok(Attempted::Failed(error.clone())),
            Finish::Aborted => {
                return Ok(Attempted::Failed(ErrorFacts::new("UNKNOWN", ABORTED_ELSEWHERE)));
            }
        };
        Ok(Attempted::Answered(after))
    }

    fn remember(&mut self, route: Route, answer: &Assembled, chunks: &[u64]) -> Result<Content, TurnError> {
        let ids = &*self.driver.parts.ids;
        let content = unique_call_ids(Arc::clone(&answer.content), self.session(), ids);
        self.answered(&content);
        let replay_state = answer.replay_state.clone();
        let source = Source::Model { provider: route.provider, model: route.model, replay_state };
        let message =
            Message { id: ids.fresh(), role: Role::Assistant, content: Arc::clone(&content), source };
        let event = AssistantMessage { turn: self.number, step: self.step, message, usage: answer.usage };
        self.session().append_from(&event, chunks)?;
        Ok(content)
    }

    async fn act(&self, content: &Content) -> Result<After, TurnError> {
        if !content.iter().any(|block| matches!(block, ContentBlock::ToolCall { .. })) {
            return Ok(After::Stops);
        }
        Ok(if self.run_calls(content).await? { After::Stops } else { After::Owes })
    }
}

/// What the model is told at one step, besides the history.
pub(crate) struct Told {
    pub(crate) system: Option<Arc<str>>,
    pub(crate) tools: Arc<[dsh_llm::ToolSchema]>,
}

enum Attempted {
    /// The model answered, or the request could not be made.
    Answered(After),
    /// The model failed.
    Failed(ErrorFacts),
}

const NO_MODEL: &str =
    "no model is configured; name one with `--model`, or as `use` under `[model]` in dsh.toml";

const ABORTED_ELSEWHERE: &str = "the provider aborted the answer, though nobody here asked it to";
