//! One step: what the model is told, what it answers, what it calls.

use std::num::NonZeroU64;
use std::sync::Arc;

use dsh_agent::TurnError;
use dsh_llm::{
    Assembled, Assembler, Content, ContentBlock, ErrorFacts, Finish, Message, Model, ModelRequest, Role,
    STREAM_INVALID, ShapeError, Source,
};
use dsh_session::{AssistantChunk, AssistantMessage, StepEnd, StepStart, TurnEndReason};
use dsh_system_prompt::{AssembleContext, Assembly, ContextTracker, PromptError};
use futures_util::StreamExt;

use crate::ids::{unique_call_ids, with_call_id};
use crate::request::LastRequest;
use crate::turn::Turn;

/// What follows a step.
pub(crate) enum After {
    /// The model is owed its results, or has not read what waits for the next step.
    Owes,
    /// The turn ends.
    Ends(TurnEndReason),
}

impl Turn<'_> {
    /// Takes one step. The messages that wait come first, then the prompt, then what the runtime has to say.
    pub(crate) async fn step(&mut self, step: u32, prompt: Option<Content>) -> Result<After, TurnError> {
        let told = match self.assemble() {
            Ok(told) => told,
            Err(error) => {
                return Ok(failed("UNKNOWN", format!("the prompt could not be assembled: {error}")));
            }
        };
        let session = self.session();
        session.append(&StepStart { turn: self.number, step })?;
        self.deliver_parked()?;
        let prompt = prompt.map(|prompt| self.user_message(prompt, Source::User));
        for message in prompt.into_iter().chain(told.snapshot) {
            self.append_message(message)?;
        }
        let after = self.request(step, told.system, &told.assembly).await?;
        session.append(&StepEnd { turn: self.number, step })?;
        Ok(after)
    }

    fn assemble(&self) -> Result<Told, PromptError> {
        let assembly = self.driver.parts.prompt.assemble(&AssembleContext::of(self.agent))?;
        let system = assembly.render_prompt()?;
        let update =
            ContextTracker::from_messages(&self.session().messages()).update(&assembly.render_contexts()?);
        let snapshot = update.into_message(&*self.driver.parts.ids);
        Ok(Told { system: Some(system).filter(|text| !text.is_empty()).map(Arc::from), snapshot, assembly })
    }

    async fn request(
        &mut self,
        step: u32,
        system: Option<Arc<str>>,
        assembly: &Assembly,
    ) -> Result<After, TurnError> {
        let Some(model) = self.driver.parts.model.get() else {
            return Ok(failed("NO_MODEL", NO_MODEL));
        };
        let max_tokens = self.driver.config.max_tokens.map(NonZeroU64::get);
        let session = self.session();
        let last = self.last_request.get_or_insert_with(|| LastRequest::of(session));
        let request = last.derive(session, &*model, system, assembly, max_tokens)?;
        // What the request is derived from is on the device before anybody acts on it.
        session.flush().await.map_err(TurnError::Flush)?;
        let (answer, chunks) = self.listen(step, &*model, request).await?;
        match &answer.finish {
            Finish::Stop | Finish::ToolCalls => {
                let content = self.remember(step, &*model, &answer, &chunks)?;
                self.act(step, &content).await
            }
            Finish::MaxTokens => {
                self.remember(step, &*model, &answer, &chunks)?;
                Ok(After::Ends(TurnEndReason::MaxTokens))
            }
            Finish::Error(error) => Ok(After::Ends(TurnEndReason::Error { error: error.clone() })),
            Finish::Aborted => Ok(failed("UNKNOWN", ABORTED_ELSEWHERE)),
        }
    }

    /// Logs the stream as it comes, and puts the answer together. A cancellation ends the request; the answer is then
    /// whatever it is, and the turn is aborted.
    async fn listen(
        &self,
        step: u32,
        model: &dyn Model,
        request: ModelRequest,
    ) -> Result<(Assembled, Vec<u64>), TurnError> {
        let (mut assembler, mut seqs) = (Assembler::default(), Vec::new());
        let mut stream = model.stream(request, self.cancel.child());
        while !assembler.is_over() {
            let chunk = tokio::select! {
                biased;
                // First, so that a stream that is always ready can be stopped, too.
                () = self.cancel.cancelled() => None,
                chunk = stream.next() => chunk,
            };
            let Some(chunk) = chunk.map(|chunk| with_call_id(chunk, &*self.driver.parts.ids)) else { break };
            if let Err(problem) = chunk.check() {
                return Ok((unreadable(&problem), seqs));
            }
            assembler.push(&chunk);
            let event = self.session().append(&AssistantChunk { turn: self.number, step, chunk })?;
            seqs.push(event.seq);
        }
        Ok((assembler.finish(), seqs))
    }

    fn remember(
        &mut self,
        step: u32,
        model: &dyn Model,
        answer: &Assembled,
        chunks: &[u64],
    ) -> Result<Content, TurnError> {
        let ids = &*self.driver.parts.ids;
        let content = unique_call_ids(Arc::clone(&answer.content), self.session(), ids);
        self.answered(&content);
        let source = Source::Model {
            provider: model.provider().into(),
            model: model.model().into(),
            replay_state: answer.replay_state.clone(),
        };
        let message =
            Message { id: ids.fresh(), role: Role::Assistant, content: Arc::clone(&content), source };
        let event = AssistantMessage { turn: self.number, step, message, usage: answer.usage };
        self.session().append_from(&event, chunks)?;
        Ok(content)
    }

    async fn act(&self, step: u32, content: &Content) -> Result<After, TurnError> {
        if !content.iter().any(|block| matches!(block, ContentBlock::ToolCall { .. })) {
            return Ok(After::Ends(TurnEndReason::Completed));
        }
        let concluded = self.run_calls(step, content).await?;
        // A message that rides on a concluding result is still to be read (spec 02 §C.3).
        if concluded && !self.occupied.has_parked() {
            return Ok(After::Ends(TurnEndReason::Completed));
        }
        Ok(After::Owes)
    }
}

/// What the model is told at one step, besides the history.
struct Told {
    system: Option<Arc<str>>,
    snapshot: Option<Message>,
    assembly: Assembly,
}

/// The answer of a model whose chunk no log would take: its failure, not the log's.
fn unreadable(problem: &ShapeError) -> Assembled {
    let words = format!("the model's stream can't be understood: {problem}");
    let finish = Finish::Error(ErrorFacts::new(STREAM_INVALID, words));
    Assembled { content: Arc::from([]), usage: None, finish, replay_state: None }
}

fn failed(code: &str, words: impl Into<Arc<str>>) -> After {
    After::Ends(TurnEndReason::Error { error: ErrorFacts::new(code, words) })
}

const NO_MODEL: &str =
    "no model is configured; name one with `--model`, or as `use` under `[model]` in dsh.toml";

const ABORTED_ELSEWHERE: &str = "the provider aborted the answer, though nobody here asked it to";
