//! A program's calls on the lane: they come as the program makes them, and committing one answers the program; what is
//! kept of it is logged beside (spec 06 §4–5).

use std::collections::BTreeSet;
use std::sync::Arc;

use dsh_json::Json;
use dsh_lifecycle::Cancel;
use dsh_llm::ContentBlock;
use dsh_scheduler::{Begun, Mode, Started, Work};
use dsh_session::AppendError;
use dsh_tools_core::{
    Agent, Arguments, BoxFuture, CallInput, Context, Dispatch, DispatchStarted, Execution, Outcome, Prepared,
    RunContext, Settled, ToolResult, Tools,
};
use tokio::sync::oneshot;

use crate::asking::Asking;
use crate::host::Submission;
use crate::words;

/// The plugin that forwarded messages name as their source.
const PLUGIN: &str = "tools-code-mode";

/// The calls of one program.
pub(crate) struct ProgramCalls<'a> {
    pub(crate) tools: &'a Tools,
    /// The call that runs the program.
    pub(crate) cx: &'a RunContext,
    /// Cancelled when the program is over.
    pub(crate) over: &'a Cancel,
    /// Runs while a person is asked about a call.
    pub(crate) asking: &'a Asking,
    /// The ids of the calls that were started.
    pub(crate) started: BTreeSet<u64>,
}

/// What a started call keeps for its commit.
pub(crate) struct Ticket {
    started: DispatchStarted,
    answer: oneshot::Sender<Result<Json, String>>,
}

impl ProgramCalls<'_> {
    fn program(&self) -> &Arc<Execution> {
        self.cx.execution()
    }

    fn agent(&self) -> Option<&Agent> {
        self.program().agent.as_ref()
    }

    /// What rides on a result goes on with the program's own.
    fn forward(&self, result: &ToolResult) {
        let Outcome::Succeeded { concludes, .. } = result.outcome else {
            result.contexts.iter().for_each(|context| self.cx.defer_context(context.clone()));
            return;
        };
        if result.content.iter().any(|block| matches!(block, ContentBlock::Image { .. })) {
            let content = Arc::clone(&result.content);
            self.cx.defer_context(Context { plugin: PLUGIN.into(), form: None, content });
        }
        result.contexts.iter().for_each(|context| self.cx.defer_context(context.clone()));
        if concludes {
            self.cx.conclude_turn();
        }
    }
}

impl<'a> Work for ProgramCalls<'a> {
    type Call = Submission;
    type Ticket = Ticket;
    type Output = Settled;
    type Error = AppendError;
    type Body = BoxFuture<'a, Settled>;
    type Side = BoxFuture<'a, Result<(), AppendError>>;

    fn mode(&self, call: &Submission) -> Mode {
        let view = self.tools.view(self.agent().map(Agent::scope));
        let parallel = view.resolve(&call.name, true).is_some_and(|tool| tool.parallel(&call.arguments));
        if parallel { Mode::Parallel } else { Mode::Exclusive }
    }

    fn stopped(&self) -> bool {
        self.over.is_cancelled()
    }

    async fn start(&mut self, call: Submission) -> Result<Begun<Self>, AppendError> {
        let Submission { id, name, arguments, answer } = call;
        self.started.insert(id);
        let program = self.program();
        let sub_call_id: Arc<str> = format!("{}:code:{id}", program.call_id).into();
        let started = DispatchStarted {
            root_call_id: Arc::clone(&program.root_call_id),
            parent_call_id: Arc::clone(&program.call_id),
            sub_call_id: Arc::clone(&sub_call_id),
            name: Arc::clone(&name),
            arguments: arguments.clone(),
        };
        if let Some(agent) = self.agent() {
            agent.session().append(&started)?;
        }
        let input = CallInput {
            call_id: sub_call_id,
            root_call_id: Some(Arc::clone(&program.root_call_id)),
            name,
            arguments: Arguments::from(arguments),
            agent: program.agent.clone(),
            parent: Some(program.token),
            cancel: self.over.clone(),
        };
        let (tools, asking) = (self.tools, self.asking);
        let begun = match tools.prepare(input).await {
            Prepared::Settled(settled) => Started::Settled(settled),
            Prepared::Ready(ready) if ready.asks() => {
                let body: BoxFuture<'a, Settled> = Box::pin(async move {
                    match asking.during(tools.approve(ready)).await {
                        Prepared::Ready(ready) => tools.dispatch(ready).await,
                        Prepared::Settled(settled) => settled,
                    }
                });
                Started::Running(body)
            }
            Prepared::Ready(ready) => {
                let body: BoxFuture<'a, Settled> = Box::pin(tools.dispatch(ready));
                Started::Running(body)
            }
        };
        Ok((Ticket { started, answer }, begun))
    }

    async fn commit(&mut self, ticket: Ticket, output: Settled) -> Result<Option<Self::Side>, AppendError> {
        let finished = self.tools.finish(output).await;
        let result = finished.result();
        self.forward(result);
        let answer = match &result.outcome {
            Outcome::Succeeded { value, .. } => Ok(value.clone()),
            Outcome::Failed(error) => Err(error.message.clone()),
        };
        let is_error = answer.is_err();
        // The program goes on now; a program that is gone needs no answer.
        let _ = ticket.answer.send(answer);
        let (tools, program) = (self.tools, self.program());
        let Some(agent) = self.agent() else {
            finished.publish();
            return Ok(None);
        };
        let dispatch = Dispatch {
            program: Arc::clone(program),
            agent: agent.clone(),
            sub_call_id: Arc::clone(&ticket.started.sub_call_id),
            name: Arc::clone(&ticket.started.name),
            is_error,
            content: Arc::clone(&result.content),
        };
        let started = ticket.started;
        Ok(Some(Box::pin(async move {
            let content = tools.kept_of(&dispatch).await;
            dispatch.agent.session().append(&started.settled(is_error, content))?;
            finished.publish();
            Ok(())
        })))
    }

    async fn skip(&mut self, call: Submission) -> Result<(), AppendError> {
        let _ = call.answer.send(Err(words::abandoned(&call.name)));
        Ok(())
    }
}
