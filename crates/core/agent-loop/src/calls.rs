//! One step's calls on the lane: their source is a batch, or calls that arrive, and committing one is a line in the log,
//! then publication.

use std::cell::Cell;
use std::future::Ready;
use std::sync::Arc;

use dsh_agent::{ArrivingCall, CallOrigin, RequestedCall, TurnError};
use dsh_json::{Json, Limits as JsonLimits};
use dsh_llm::{Content, ContentBlock, Message, Role, Source};
use dsh_scheduler::{Begun, Limits, Mode, Started, Work, run};
use dsh_session::{CodedError, ToolCall, ToolResult as ToolResulted};
use dsh_tools_core::{Arguments, CallInput, Context, Prepared, Settled, ToolError, ToolResult, codes};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};

use crate::arrival::{Arrival, Ear};
use crate::turn::Turn;

impl Turn<'_> {
    /// Runs the calls of an assistant message. Every call gets exactly one result, in model order (spec 02 §A).
    ///
    /// Returns whether a call concluded the turn. The messages that ride on results wait in the inbox for the next step.
    pub(crate) async fn run_calls(&self, content: &Content) -> Result<bool, TurnError> {
        let json_limits = self.json_limits();
        let calls: Vec<_> = content.iter().filter_map(|block| Pending::of(block, &json_limits)).collect();
        let limits = self.lane_limits();
        let mut work = Native { turn: self, origin: None, concluded: false };
        if calls.len() > limits.waiting.get() {
            let error = too_many_calls(calls.len(), limits.waiting.get());
            for call in calls {
                work.answer(call, error.clone())?;
            }
        } else {
            run(&mut work, stream::iter(calls), limits).await?;
        }
        Ok(work.concluded)
    }

    /// Runs calls as they arrive, until their source has ended or the turn is stopped. Each has an assistant message of
    /// its own, which is logged when the call starts.
    pub(crate) async fn join_calls(
        &self,
        origin: &CallOrigin,
        calls: BoxStream<'_, ArrivingCall>,
    ) -> Result<(), TurnError> {
        let json_limits = self.json_limits();
        let calls = calls.take_until(self.cancel.cancelled());
        let calls = calls.map(|call| Pending::arrived(call, &json_limits));
        let mut work = Native { turn: self, origin: Some(origin), concluded: false };
        run(&mut work, calls, self.lane_limits()).await
    }

    fn json_limits(&self) -> JsonLimits {
        JsonLimits { max_bytes: self.driver.config.max_argument_bytes.get(), ..JsonLimits::default() }
    }

    fn lane_limits(&self) -> Limits {
        let config = &self.driver.config;
        Limits {
            running: self.driver.settings.max_parallel_tool_calls(),
            uncommitted: config.max_uncommitted_tool_calls,
            waiting: config.max_tool_calls_per_step,
            side: 0,
        }
    }
}

/// A call that has not started.
struct Pending {
    id: Arc<str>,
    name: Arc<str>,
    /// As the model wrote it: what the log keeps.
    raw: Arc<str>,
    arguments: Arguments,
    /// The answer of the classifier, with the version of the registry that it holds for.
    mode: Cell<Option<(u64, Mode)>>,
    /// Who waits for it, if it came by itself.
    arrival: Option<Arrival>,
}

impl Pending {
    fn of(block: &ContentBlock, limits: &JsonLimits) -> Option<Self> {
        let ContentBlock::ToolCall { id, name, arguments, .. } = block else { return None };
        Some(Self::new(id, name, arguments, limits, None))
    }

    fn arrived(call: ArrivingCall, limits: &JsonLimits) -> Self {
        let (RequestedCall { id, name, arguments }, arrival) = Arrival::of(call);
        Self::new(&id, &name, &arguments, limits, Some(arrival))
    }

    fn new(
        id: &Arc<str>,
        name: &Arc<str>,
        raw: &Arc<str>,
        limits: &JsonLimits,
        arrival: Option<Arrival>,
    ) -> Self {
        Self {
            id: Arc::clone(id),
            name: Arc::clone(name),
            raw: Arc::clone(raw),
            arguments: Arguments::parse(raw, limits),
            mode: Cell::new(None),
            arrival,
        }
    }
}

struct Native<'a> {
    turn: &'a Turn<'a>,
    /// Who makes calls that have no assistant message yet.
    origin: Option<&'a CallOrigin>,
    concluded: bool,
}

/// What a started call needs for its commit: its id, where its start stands in the log, and who waits for it.
struct Ticket {
    call_id: Arc<str>,
    seq: u64,
    arrival: Option<Arrival>,
}

impl<'a> Work for Native<'a> {
    type Call = Pending;
    type Ticket = Ticket;
    type Output = Settled;
    type Error = TurnError;
    type Body = BoxFuture<'a, Settled>;
    type Side = Ready<Result<(), TurnError>>;

    fn mode(&self, call: &Pending) -> Mode {
        let (tools, scope) = (&self.turn.driver.parts.tools, Some(self.turn.agent.scope()));
        let view = tools.view(scope);
        if let Some((version, mode)) = call.mode.get()
            && version == view.version()
        {
            return mode;
        }
        let parallel = match &call.arguments {
            Arguments::Value { value, .. } => {
                view.resolve(&call.name, false).is_some_and(|tool| tool.parallel(value))
            }
            Arguments::Malformed(_) => false,
        };
        let mode = if parallel { Mode::Parallel } else { Mode::Exclusive };
        call.mode.set(Some((view.version(), mode)));
        mode
    }

    fn stopped(&self) -> bool {
        self.turn.cancel.is_cancelled()
    }

    async fn start(&mut self, mut call: Pending) -> Result<Begun<Self>, TurnError> {
        let turn = self.turn;
        let exclusive = self.mode(&call) == Mode::Exclusive;
        let ear = call.arrival.as_ref().map(|arrival| arrival.ear(&turn.cancel));
        let ticket = self.log_start(&mut call)?;
        let input = CallInput {
            call_id: call.id,
            root_call_id: None,
            name: call.name,
            arguments: call.arguments,
            agent: Some(turn.agent.clone()),
            parent: None,
            cancel: ear.as_ref().map_or_else(|| turn.cancel.clone(), |ear| ear.call.clone()),
        };
        let tools = &turn.driver.parts.tools;
        let started = match heard(ear.clone(), tools.prepare(input)).await {
            Prepared::Settled(settled) => Started::Settled(settled),
            Prepared::Ready(ready) => {
                // A call that may change the world is on the device before it does.
                if exclusive {
                    turn.session().flush().await.map_err(TurnError::Flush)?;
                }
                let body: Self::Body = Box::pin(heard(ear, tools.dispatch(ready)));
                Started::Running(body)
            }
        };
        Ok((ticket, started))
    }

    async fn commit(&mut self, ticket: Ticket, settled: Settled) -> Result<Option<Self::Side>, TurnError> {
        let finished = self.turn.driver.parts.tools.finish(settled).await;
        // First, so that a result never stands in the log without what rides on it.
        self.inject(&finished.result().contexts)?;
        let logged = self.log_result(&ticket, finished.result())?;
        let result = finished.publish();
        self.concluded |= result.concludes_turn();
        if let Some(arrival) = ticket.arrival {
            arrival.settle(logged);
        }
        Ok(None)
    }

    async fn skip(&mut self, call: Pending) -> Result<(), TurnError> {
        let error =
            ToolError::new("AbortError", codes::ABORTED_BEFORE_DISPATCH, "tool call aborted before dispatch");
        self.answer(call, error)
    }
}

/// Awaits a part of a call that may have a canceller of its own.
async fn heard<T>(ear: Option<Ear>, work: impl Future<Output = T>) -> T {
    match ear {
        Some(ear) => Box::pin(ear.over(work)).await,
        None => work.await,
    }
}

impl Native<'_> {
    /// Puts messages into the inbox, for the next step of this turn or of a later one. One that the inbox refuses is left
    /// out; only a log that can't be written fails the step (spec 02 §E.3).
    fn inject(&self, contexts: &[Context]) -> Result<(), TurnError> {
        for Context { plugin, form, content } in contexts {
            let source = match form {
                Some(form) => Source::plugin_form(Arc::clone(plugin), Arc::clone(form)),
                None => Source::plugin(Arc::clone(plugin)),
            };
            let id = self.turn.driver.parts.ids.fresh();
            let message = Message { id, role: Role::User, content: Arc::clone(content), source };
            match self.turn.agent.inbox().inject(message).map_err(TurnError::from) {
                Err(TurnError::Inbox(error)) => {
                    tracing::warn!(%error, plugin = &**plugin, "a message that rides on a result was left out");
                }
                injected => injected?,
            }
        }
        Ok(())
    }

    /// Logs that a call starts, after the assistant message that makes it if there is none yet. Its id is final then.
    fn log_start(&self, call: &mut Pending) -> Result<Ticket, TurnError> {
        if let Some(origin) = self.origin {
            let asked = RequestedCall {
                id: Arc::clone(&call.id),
                name: Arc::clone(&call.name),
                arguments: Arc::clone(&call.raw),
            };
            for block in self.turn.say(origin, [asked])?.iter() {
                if let ContentBlock::ToolCall { id, .. } = block {
                    call.id = Arc::clone(id);
                }
            }
        }
        let event = self.turn.session().append(&ToolCall {
            turn: self.turn.number,
            step: self.turn.step,
            call_id: Arc::clone(&call.id),
            name: Arc::clone(&call.name),
            arguments: Arc::clone(&call.raw),
        })?;
        Ok(Ticket { call_id: Arc::clone(&call.id), seq: event.seq, arrival: call.arrival.take() })
    }

    /// Logs a call that never starts, with its result. Only who waits for it is told of it.
    fn answer(&self, mut call: Pending, error: ToolError) -> Result<(), TurnError> {
        let ticket = self.log_start(&mut call)?;
        let logged = self.log_result(&ticket, &ToolResult::failed(error))?;
        if let Some(arrival) = ticket.arrival {
            arrival.settle(logged);
        }
        Ok(())
    }

    fn log_result(&self, ticket: &Ticket, result: &ToolResult) -> Result<ToolResulted, TurnError> {
        let call_id = Arc::clone(&ticket.call_id);
        let block = ContentBlock::ToolResult {
            tool_call_id: Arc::clone(&call_id),
            content: Arc::clone(&result.content),
            is_error: result.is_error(),
        };
        let message = Message {
            id: self.turn.driver.parts.ids.fresh(),
            role: Role::User,
            content: Arc::from([block]),
            source: Source::Tool { call_id },
        };
        let info = result.error().and_then(|error| error.info.as_ref());
        let error = info.map(|info| CodedError { name: (&*info.name).into(), code: (&*info.code).into() });
        let meta: Option<Json> = result.meta.clone();
        let event = ToolResulted { turn: self.turn.number, step: self.turn.step, message, error, meta };
        self.turn.session().append_from(&event, &[ticket.seq])?;
        Ok(event)
    }
}

/// What the model reads when it asks for more calls than a step may have.
fn too_many_calls(asked: usize, limit: usize) -> ToolError {
    let message = format!(
        "none of the {asked} calls of this message ran: a step may have {limit} (`maxToolCallsPerStep`). Send fewer at a time."
    );
    ToolError::new("ToolNotStartedError", "TOOL_NOT_STARTED", message)
}
