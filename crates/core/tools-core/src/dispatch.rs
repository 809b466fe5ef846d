//! The record of calls that a program makes: two events for each, and the stage that decides what is kept of a result
//! (spec 06 §5). Whoever runs programs writes them; whoever keeps logs small listens.

use std::sync::Arc;

use dsh_json::Json;
use dsh_lifecycle::contain_async;
use dsh_llm::{Content, ShapeError};
use dsh_session::{Pair, Payload, Vocabulary, VocabularyError};
use serde::{Deserialize, Serialize};

use crate::onion::Core;
use crate::{Agent, Execution, Layer, Next, ToolError, Tools};

/// The event `tool/code-dispatch-start`: a program's call starts. Models never see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DispatchStarted {
    /// The model's call that all of this is part of.
    pub root_call_id: Arc<str>,
    /// The call that runs the program.
    pub parent_call_id: Arc<str>,
    /// The call's own id.
    pub sub_call_id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
    /// What it is called with.
    pub arguments: Json,
}

/// The event `tool/code-dispatch`: a program's call has settled. There is exactly one for each that started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DispatchSettled {
    /// The model's call that all of this is part of.
    pub root_call_id: Arc<str>,
    /// The call that runs the program.
    pub parent_call_id: Arc<str>,
    /// The call's own id.
    pub sub_call_id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
    /// What it was called with.
    pub arguments: Json,
    /// Whether it failed.
    pub is_error: bool,
    /// What a model would have read of it, as far as it is kept.
    pub content: Content,
}

impl DispatchStarted {
    /// The event that closes this one.
    pub fn settled(self, is_error: bool, content: Content) -> DispatchSettled {
        let Self { root_call_id, parent_call_id, sub_call_id, name, arguments } = self;
        DispatchSettled { root_call_id, parent_call_id, sub_call_id, name, arguments, is_error, content }
    }
}

impl Payload for DispatchStarted {
    const TYPE: &'static str = "tool/code-dispatch-start";
    const IGNORABLE: bool = true;

    fn check(&self) -> Result<(), ShapeError> {
        named([&self.root_call_id, &self.parent_call_id, &self.sub_call_id, &self.name])
    }
}

impl Payload for DispatchSettled {
    const TYPE: &'static str = "tool/code-dispatch";
    const IGNORABLE: bool = true;

    fn check(&self) -> Result<(), ShapeError> {
        named([&self.root_call_id, &self.parent_call_id, &self.sub_call_id, &self.name])
    }
}

fn named(ids: [&Arc<str>; 4]) -> Result<(), ShapeError> {
    if ids.iter().any(|id| id.is_empty()) {
        return Err(ShapeError::new("an id or the name of a program's call is empty"));
    }
    Ok(())
}

/// A vocabulary that also has the events of programs' calls. What a killed process left started is closed as a failure
/// whose outcome is unknown.
pub fn with_dispatches(vocabulary: Vocabulary) -> Result<Vocabulary, VocabularyError> {
    vocabulary.with_pair(Pair {
        opened: |started: &DispatchStarted| Arc::clone(&started.sub_call_id),
        closed: |settled: &DispatchSettled| Arc::clone(&settled.sub_call_id),
        close: |started| started.clone().settled(true, dsh_llm::text(LOST)),
    })
}

const LOST: &str = "Error: the process ended while this call ran; whether it took effect is not known";

/// A settled call of a program, before it is logged.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// The call that runs the program.
    pub program: Arc<Execution>,
    /// Who acts.
    pub agent: Agent,
    /// The call's own id.
    pub sub_call_id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
    /// Whether it failed.
    pub is_error: bool,
    /// What a model would have read of it, whole.
    pub content: Content,
}

/// A listener of the stage that decides what is kept of a program's call. It changes the record and nothing else: the
/// program has its value already.
pub type DispatchLog = dyn Layer<Dispatch, Content>;

impl Tools {
    /// What to log of a settled call. A listener that fails or panics is reported, and the content is kept whole.
    pub async fn kept_of(&self, dispatch: &Dispatch) -> Content {
        let view = self.view(Some(dispatch.agent.scope()));
        if view.dispatch_log.is_empty() {
            return Arc::clone(&dispatch.content);
        }
        let kept = contain_async(async { Next::new(&view.dispatch_log, &Whole).run(dispatch).await }).await;
        let why = match kept {
            Ok(Ok(content)) => return content,
            Ok(Err(error)) => error.to_string(),
            Err(panic) => panic.to_string(),
        };
        tracing::warn!(call = &*dispatch.sub_call_id, error = why, "a listener of programs' calls failed");
        Arc::clone(&dispatch.content)
    }
}

/// Everything is kept.
struct Whole;

impl Core<Dispatch, Content> for Whole {
    fn run<'a>(&'a self, dispatch: &'a Dispatch) -> crate::BoxFuture<'a, Result<Content, ToolError>> {
        Box::pin(std::future::ready(Ok(Arc::clone(&dispatch.content))))
    }
}
