//! Hearing a model out: its chunks are logged as they come. A model is foreign code, so its panic is its failure.

use std::sync::Arc;

use dsh_agent::TurnError;
use dsh_lifecycle::{Panic, contain, contain_async};
use dsh_llm::{Assembled, Assembler, ErrorFacts, Finish, Model, ModelRequest, STREAM_INVALID, ShapeError};
use dsh_session::AssistantChunk;
use futures_util::StreamExt;

use crate::ids::with_call_id;
use crate::turn::Turn;

/// The names that a model goes by.
pub(crate) struct Route {
    pub(crate) provider: Arc<str>,
    pub(crate) model: Arc<str>,
}

impl Route {
    pub(crate) fn of(model: &dyn Model) -> Result<Self, ErrorFacts> {
        contain(|| Self { provider: model.provider().into(), model: model.model().into() })
            .map_err(|panic| panicked(&panic))
    }
}

impl Turn<'_> {
    /// Logs the stream as it comes, and puts the answer together. A cancellation ends the request; the answer is then
    /// whatever it is, and the turn is aborted.
    pub(crate) async fn listen(
        &self,
        model: &dyn Model,
        request: ModelRequest,
    ) -> Result<(Assembled, Vec<u64>), TurnError> {
        let (mut assembler, mut seqs) = (Assembler::default(), Vec::new());
        let mut stream = match contain(|| model.stream(request, self.cancel.child())) {
            Ok(stream) => stream,
            Err(panic) => return Ok((failed(panicked(&panic)), seqs)),
        };
        while !assembler.is_over() {
            let chunk = tokio::select! {
                biased;
                // First, so that a stream that is always ready can be stopped, too.
                () = self.cancel.cancelled() => Ok(None),
                chunk = contain_async(stream.next()) => chunk,
            };
            let chunk = match chunk {
                Ok(Some(chunk)) => with_call_id(chunk, &*self.driver.parts.ids),
                Ok(None) => break,
                Err(panic) => return Ok((failed(panicked(&panic)), seqs)),
            };
            if let Err(problem) = chunk.check() {
                return Ok((failed(unreadable(&problem)), seqs));
            }
            assembler.push(&chunk);
            let event = AssistantChunk { turn: self.number, step: self.step, chunk };
            seqs.push(self.session().append(&event)?.seq);
        }
        Ok((assembler.finish(), seqs))
    }
}

fn failed(error: ErrorFacts) -> Assembled {
    Assembled { content: Arc::from([]), usage: None, finish: Finish::Error(error), replay_state: None }
}

/// A chunk that no log would take is the model's failure, not the log's.
fn unreadable(problem: &ShapeError) -> ErrorFacts {
    ErrorFacts::new(STREAM_INVALID, format!("the model's stream can't be understood: {problem}"))
}

fn panicked(panic: &Panic) -> ErrorFacts {
    ErrorFacts::new("PANICKED", format!("the model was stopped by an internal error: {panic}"))
}
