//! A running harness.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_agent::{Agent, AgentParts, CallTurn, TurnError, TurnRunner};
use dsh_agent_loop::{AgentLoop, TurnOutcome};
use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::{Content, ErrorFacts};
use dsh_scope::Scope;
use dsh_session::{Session, TurnEndReason};
use dsh_tools_core::Presentation;
use futures_util::FutureExt;
use parking_lot::Mutex;

use crate::mounted::Mounted;
use crate::{Host, MountedPlugin};

/// Everything that is mounted, and the turns that run on it.
///
/// Dropping it unmounts the plugins in reverse order. Turns are tasks that the harness keeps track of: dropping the
/// future of one cancels it, and [`shut_down`](Self::shut_down) waits until all have ended (design §4.10).
pub struct Harness {
    host: Host,
    mounted: Mutex<Mounted>,
    config_file: PathBuf,
    stop: Cancel,
}

/// Why a turn has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum TurnFailure {
    /// The log failed, or the agent is busy.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// No row runs turns.
    #[error("no plugin runs turns; mount `agent-loop`")]
    NoLoop,
    /// The harness is shut down, or shutting down.
    #[error("the harness is shut down; it runs no more turns")]
    ShutDown,
    /// The loop itself panicked. The log was closed as far as it could be.
    #[error("the turn was stopped by an internal error; the log says what was open")]
    Panicked,
}

impl Harness {
    pub(crate) fn new(host: Host, mounted: Mounted, config_file: PathBuf) -> Self {
        Self { host, mounted: Mutex::new(mounted), config_file, stop: Cancel::new() }
    }

    /// The registries and services.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What is mounted, in order.
    pub fn plugins(&self) -> Vec<MountedPlugin> {
        self.mounted.lock().facts()
    }

    /// How tools are shown to a model.
    pub fn mode(&self) -> Presentation {
        self.host.presentation
    }

    /// The configuration file; `None` for the built-in defaults.
    pub fn config_file(&self) -> Option<&Path> {
        Some(&*self.config_file).filter(|file| !file.as_os_str().is_empty())
    }

    /// An agent of its own scope whose history is `session`. A session has one agent.
    pub fn agent(&self, session: Session) -> Agent {
        self.host.policy.follow(&session);
        let inbox = self.host.turns.get().map(|turns| turns.config().inbox()).unwrap_or_default();
        Agent::with(Scope::root(), session, AgentParts { hooks: self.host.hooks.clone(), inbox })
    }

    /// Runs one turn of an agent in a task of its own. Dropping the future cancels the turn, which then still closes
    /// its log.
    pub async fn run_turn(
        &self,
        agent: &Agent,
        prompt: Content,
        cancel: &Cancel,
    ) -> Result<TurnOutcome, TurnFailure> {
        let (turns, agent_of_task) = (self.turns()?, agent.clone());
        self.tracked(agent, cancel, move |cancel| async move {
            turns.run_turn(&agent_of_task, prompt, &cancel).await
        })
        .await
    }

    /// Runs calls as a turn of an agent, in the same way.
    pub async fn run_calls(
        &self,
        agent: &Agent,
        calls: CallTurn,
        cancel: &Cancel,
    ) -> Result<TurnEndReason, TurnFailure> {
        let (turns, agent_of_task) = (self.turns()?, agent.clone());
        self.tracked(agent, cancel, move |cancel| async move {
            turns.run_calls(&agent_of_task, calls, &cancel).await
        })
        .await
    }

    /// Begins no more turns, cancels those that run, waits until they have ended, and unmounts everything in reverse
    /// order. It may be called while others wait for their turns; calling it again changes nothing.
    pub async fn shut_down(&self) {
        self.stop.cancel(Cause::Disposed);
        self.host.tasks.close();
        self.host.tasks.wait().await;
        if let Some(runtime) = self.host.runtime.get() {
            runtime.close().await;
        }
        let mounted = std::mem::take(&mut *self.mounted.lock());
        drop(mounted);
    }

    fn turns(&self) -> Result<Arc<AgentLoop>, TurnFailure> {
        self.host.turns.get().ok_or(TurnFailure::NoLoop)
    }

    async fn tracked<T, F>(
        &self,
        agent: &Agent,
        cancel: &Cancel,
        turn: impl FnOnce(Cancel) -> F,
    ) -> Result<T, TurnFailure>
    where
        F: Future<Output = Result<T, TurnError>> + Send + 'static,
        T: Send + 'static,
    {
        if self.stop.is_cancelled() {
            return Err(TurnFailure::ShutDown);
        }
        let of_task = cancel.child();
        let _hang_up = HangUp(of_task.clone());
        let mut task = self.host.tasks.spawn(closed(turn(of_task.clone()), agent.clone()));
        let ended = tokio::select! {
            ended = &mut task => ended,
            () = self.stop.cancelled() => {
                of_task.cancel(Cause::Disposed);
                task.await
            }
        };
        // The task contains panics of the turn; it ends without an answer only together with its runtime.
        ended.unwrap_or(Err(TurnFailure::Panicked))
    }
}

/// The turn, and the closing of its log if a panic takes it away. Inside the task, because whoever waited may be gone.
async fn closed<T>(turn: impl Future<Output = Result<T, TurnError>>, agent: Agent) -> Result<T, TurnFailure> {
    if let Ok(ended) = AssertUnwindSafe(turn).catch_unwind().await {
        return ended.map_err(TurnFailure::Turn);
    }
    let facts = ErrorFacts::new("PANICKED", "the turn was stopped by an internal error");
    let session = agent.session();
    match session.close_open(TurnEndReason::Error { error: facts }) {
        Ok(_) => {
            if let Err(error) = session.flush().await {
                tracing::error!(%error, "the log of a turn that panicked could not be flushed");
            }
        }
        Err(error) => tracing::error!(%error, "the log of a turn that panicked could not be closed"),
    }
    Err(TurnFailure::Panicked)
}

impl Drop for Harness {
    fn drop(&mut self) {
        self.stop.cancel(Cause::Disposed);
    }
}

/// Cancels the turn when whoever waits for it goes away.
struct HangUp(Cancel);

impl Drop for HangUp {
    fn drop(&mut self) {
        self.0.cancel(Cause::Disposed);
    }
}
