//! A call on its way: what comes in, what the stages see, what a body gets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dsh_agent::Agent;
use dsh_json::Json;
use dsh_lifecycle::Cancel;
use parking_lot::Mutex;

use crate::{Arguments, Context, ToolResult};

/// The identity of one call in this process. It is compared and never leaves it; a call that has a parent is a
/// call of a transport, not of a model (spec 01 §2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallToken(u64);

impl CallToken {
    pub(crate) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct CallInput {
    /// The id that the call's result will carry.
    pub call_id: Arc<str>,
    /// The model's call that this one is part of; the call itself when absent.
    pub root_call_id: Option<Arc<str>>,
    /// The name of the tool.
    pub name: Arc<str>,
    /// The arguments, read once.
    pub arguments: Arguments,
    /// Who acts. It decides what is visible and which listeners hear of it; without one, only what is global counts.
    pub agent: Option<Agent>,
    /// The call that this one is made within.
    pub parent: Option<CallToken>,
    /// The caller's cancellation. The call hears it, and can't cancel it.
    pub cancel: Cancel,
}

impl CallInput {
    /// A direct call without an agent and with a cancellation of its own.
    pub fn new(
        call_id: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
        arguments: impl Into<Arguments>,
    ) -> Self {
        Self {
            call_id: call_id.into(),
            root_call_id: None,
            name: name.into(),
            arguments: arguments.into(),
            agent: None,
            parent: None,
            cancel: Cancel::new(),
        }
    }
}

/// A call as the stages see it. It never changes, but for [the grant](Self::is_granted) that it may get.
#[derive(Debug)]
#[non_exhaustive]
pub struct Execution {
    /// Its identity.
    pub token: CallToken,
    /// The id that its result will carry.
    pub call_id: Arc<str>,
    /// The model's call that it is part of.
    pub root_call_id: Arc<str>,
    /// The name that was called.
    pub name: Arc<str>,
    /// The arguments; for malformed ones their text, as a string.
    pub arguments: Json,
    /// Who acts.
    pub agent: Option<Agent>,
    /// The call that it is made within.
    pub parent: Option<CallToken>,
    /// What stops this call: it hears the caller, who does not hear it.
    pub cancel: Cancel,
    /// A person has allowed it.
    pub(crate) granted: AtomicBool,
}

impl Execution {
    /// Whether a person was asked about this very call and has allowed it. It is so before the guards that come after a
    /// grant, so a guard can insist on it whatever listeners decided.
    pub fn is_granted(&self) -> bool {
        self.granted.load(Ordering::Acquire)
    }

    pub(crate) fn grant(&self) {
        self.granted.store(true, Ordering::Release);
    }

    /// The acting session, by its id; `None` for a call that acts for no agent.
    pub fn session_id(&self) -> Option<&str> {
        self.agent.as_ref().map(|agent| &**agent.session().id())
    }
}

/// One trip through the rest of the `execute` stage, with the cancellation that holds for it.
#[derive(Debug)]
pub struct Attempt {
    pub(crate) execution: Arc<Execution>,
    pub(crate) cancel: Cancel,
}

impl Attempt {
    pub(crate) fn first(execution: &Arc<Execution>) -> Self {
        Self { execution: Arc::clone(execution), cancel: execution.cancel.clone() }
    }

    /// The call.
    pub fn execution(&self) -> &Arc<Execution> {
        &self.execution
    }

    /// What stops this attempt: the caller's cancellation or a child of it.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// The same call under a cancellation of its own, which also hears this one: how a wrapper sets a deadline. There
    /// is no way to an attempt that does not hear its caller (spec 01 §7.2).
    #[must_use]
    pub fn child(&self) -> Self {
        Self { execution: Arc::clone(&self.execution), cancel: self.cancel.child() }
    }
}

/// What the `post-execute` stage looks at.
#[derive(Debug)]
#[non_exhaustive]
pub struct Post {
    /// The call.
    pub execution: Arc<Execution>,
    /// Its result so far.
    pub result: Arc<ToolResult>,
}

/// What a tool's body gets besides its arguments.
#[derive(Debug)]
pub struct RunContext {
    execution: Arc<Execution>,
    cancel: Cancel,
    state: Arc<Mutex<AttemptState>>,
}

impl RunContext {
    pub(crate) fn new(attempt: &Attempt, state: &Arc<Mutex<AttemptState>>) -> Self {
        Self {
            execution: Arc::clone(&attempt.execution),
            cancel: attempt.cancel.clone(),
            state: Arc::clone(state),
        }
    }

    /// The call that the body runs for.
    pub fn execution(&self) -> &Arc<Execution> {
        &self.execution
    }

    /// What stops the body. A body that does not listen to it delays its own result, and nothing else is done to it.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Sends a message to the model along with this call's result, whatever the result will be.
    pub fn defer_context(&self, context: Context) {
        self.state.lock().deferred.push(context);
    }

    /// Gives what a person's screen is drawn from, whatever the result will be, also a failure: facts of this run that are
    /// no part of the value. It takes the place of what the tool's `meta` makes; the last one counts. A policy that
    /// withholds the result withholds this too, and a call within another call shows nothing (spec 01 §2.4).
    pub fn attach_meta(&self, meta: Json) {
        self.state.lock().meta = Some(meta);
    }

    /// Ends the turn with this call's result, if that is a success.
    pub fn conclude_turn(&self) {
        self.state.lock().concludes = true;
    }
}

/// What is remembered of a call between its stages.
#[derive(Debug, Default)]
pub(crate) struct CallState {
    /// Some attempt entered the body. It stays true, so that the abort code never lies (spec 01 §14.1).
    pub(crate) body_began: AtomicBool,
    /// The attempt that entered the body last.
    pub(crate) latest: Mutex<Arc<Mutex<AttemptState>>>,
}

/// What belongs to one attempt alone.
#[derive(Debug, Default)]
pub(crate) struct AttemptState {
    pub(crate) deferred: Vec<Context>,
    pub(crate) meta: Option<Json>,
    pub(crate) concludes: bool,
    /// The body has ended well, and nothing had stopped it by then.
    pub(crate) ended_in_time: bool,
}
