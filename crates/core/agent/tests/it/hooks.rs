//! Hooks: who is asked, in what order, and what a failure or a cancellation makes of it.

use std::error::Error;
use std::fmt;
use std::future::pending;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::{
    AfterError, Agent, Entry, HookError, HookFailure, Notice, PreStep, Request, RequestDraft, RequestError,
    StepContext, TurnStopping,
};
use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::{ErrorFacts, Message, plain_text};
use dsh_scope::Scope;
use parking_lot::Mutex;

use crate::kit::{Stage, message};

/// A hook that does what it is called.
#[derive(Clone, Copy)]
enum Does {
    Add(&'static str),
    Reject,
    Fail,
    Panic,
    Wait,
    Cancel,
    Retry,
}

#[derive(Debug)]
struct Outer(fmt::Error);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it did not work")
    }
}

impl Error for Outer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

impl Does {
    async fn act(self, step: &StepContext<'_>) -> Result<(), HookError> {
        match self {
            Self::Add(_) | Self::Reject | Self::Retry => Ok(()),
            Self::Fail => Err(Box::new(Outer(fmt::Error))),
            Self::Panic => panic!("on purpose"),
            Self::Wait => pending().await,
            Self::Cancel => {
                step.cancel.cancel(Cause::User);
                Ok(())
            }
        }
    }
}

#[async_trait]
impl PreStep for Does {
    async fn pre_step(&self, step: &StepContext<'_>, mut messages: Vec<Message>) -> Result<Entry, HookError> {
        self.act(step).await?;
        match self {
            Self::Add(id) => messages.push(message(id)),
            Self::Reject => return Ok(Entry::Reject("no".into())),
            Self::Fail | Self::Panic | Self::Wait | Self::Cancel | Self::Retry => {}
        }
        Ok(Entry::Enter(messages))
    }
}

#[async_trait]
impl Request for Does {
    async fn request(&self, step: &StepContext<'_>, draft: RequestDraft) -> Result<RequestDraft, HookError> {
        self.act(step).await?;
        Ok(draft)
    }
}

#[async_trait]
impl RequestError for Does {
    async fn request_error(&self, step: &StepContext<'_>, _: &ErrorFacts) -> Result<AfterError, HookError> {
        self.act(step).await?;
        Ok(if matches!(self, Self::Retry) { AfterError::Retry } else { AfterError::Fail })
    }
}

#[async_trait]
impl TurnStopping for Does {
    async fn turn_stopping(&self, step: &StepContext<'_>) -> Result<(), HookError> {
        self.act(step).await
    }
}

fn context<'a>(agent: &'a Agent, cancel: &'a Cancel) -> StepContext<'a> {
    StepContext { agent, turn: 1, step: 1, cancel }
}

/// What hooks of all kinds come to, one word each, when they do this in this order.
async fn outcomes(hooks: &[Does]) -> [String; 4] {
    let stage = Stage::new();
    let agent = &stage.agent;
    for hook in hooks {
        let hook = Arc::new(*hook);
        agent.hooks().on_pre_step(None, Arc::clone(&hook) as _).keep();
        agent.hooks().on_request(None, Arc::clone(&hook) as _).keep();
        agent.hooks().on_request_error(None, Arc::clone(&hook) as _).keep();
        agent.hooks().on_turn_stopping(None, hook).keep();
    }
    let failed = |failure| match failure {
        HookFailure::Cancelled => "cancelled".to_owned(),
        HookFailure::Failed(error) => format!("{}: {}", error.code, error.message),
    };
    let pre_step = {
        let cancel = Cancel::new();
        match agent.hooks().pre_step(&context(agent, &cancel), vec![message("a")]).await {
            Ok(Entry::Enter(messages)) => {
                messages.iter().map(|m| plain_text(&m.content)).collect::<Vec<_>>().join(" ")
            }
            Ok(Entry::Reject(reason)) => format!("rejected: {reason}"),
            Err(failure) => failed(failure),
        }
    };
    let request = {
        let cancel = Cancel::new();
        let draft = agent.hooks().request(&context(agent, &cancel), RequestDraft::default()).await;
        draft.map_or_else(failed, |_| "ok".to_owned())
    };
    let request_error = {
        let (cancel, error) = (Cancel::new(), ErrorFacts::new("X", "x"));
        let after = agent.hooks().request_error(&context(agent, &cancel), &error).await;
        after.map_or_else(failed, |after| format!("{after:?}").to_lowercase())
    };
    let stopping = {
        let cancel = Cancel::new();
        let asked = agent.hooks().turn_stopping(&context(agent, &cancel)).await;
        asked.map_or_else(failed, |()| "ok".to_owned())
    };
    [pre_step, request, request_error, stopping]
}

#[tokio::test]
async fn without_hooks_everything_goes_its_way() {
    assert_eq!(outcomes(&[]).await, ["a", "ok", "fail", "ok"]);
}

#[tokio::test]
async fn each_gets_what_the_one_before_it_left() {
    assert_eq!(outcomes(&[Does::Add("b"), Does::Add("c")]).await[0], "a b c");
}

#[tokio::test]
async fn a_refusal_and_a_retry_are_final() {
    let decided = outcomes(&[Does::Reject, Does::Retry, Does::Panic]).await;
    assert_eq!((&*decided[0], &*decided[2]), ("rejected: no", "retry"));
}

#[tokio::test]
async fn a_failure_names_its_stage_and_its_causes() {
    let expected = ["pre-step", "request", "request-error", "turn-stopping"].map(|stage| {
        format!(
            "UNKNOWN: a {stage} hook failed: it did not work: an error occurred when formatting an argument"
        )
    });
    assert_eq!(outcomes(&[Does::Fail, Does::Reject]).await, expected);
}

#[tokio::test]
async fn a_panic_is_a_failure() {
    let expected = ["pre-step", "request", "request-error", "turn-stopping"]
        .map(|stage| format!("PANICKED: a {stage} hook panicked: on purpose"));
    assert_eq!(outcomes(&[Does::Panic]).await, expected);
}

#[tokio::test]
async fn what_is_said_of_a_cancelled_turn_does_not_count() {
    assert_eq!(outcomes(&[Does::Cancel, Does::Panic]).await, ["cancelled"; 4]);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_ends_the_waiting_for_a_hook() {
    struct Dropped(Arc<Mutex<bool>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            *self.0.lock() = true;
        }
    }
    struct Waits(Arc<Mutex<bool>>);
    #[async_trait]
    impl TurnStopping for Waits {
        async fn turn_stopping(&self, step: &StepContext<'_>) -> Result<(), HookError> {
            let _dropped = Dropped(Arc::clone(&self.0));
            Does::Wait.act(step).await
        }
    }
    let (stage, cancel, dropped) = (Stage::new(), Cancel::new(), Arc::new(Mutex::new(false)));
    let agent = &stage.agent;
    agent.hooks().on_turn_stopping(None, Arc::new(Waits(Arc::clone(&dropped)))).keep();
    let stopping = async {
        let asked = agent.hooks().turn_stopping(&context(agent, &cancel)).await;
        assert!(*dropped.lock(), "the future is dropped where it stands, as the contract says");
        asked
    };
    let (asked, ()) = tokio::join!(stopping, async { cancel.cancel(Cause::User) });
    assert_eq!(asked, Err(HookFailure::Cancelled));
}

#[tokio::test]
async fn hooks_count_for_their_scope_and_below_in_the_order_of_registration() {
    let stage = Stage::new();
    let (hooks, parent) = (stage.agent.hooks().clone(), Scope::root());
    let parts = dsh_agent::AgentParts { hooks: hooks.clone(), ..Default::default() };
    let child = Agent::with(parent.child(), stage.agent.session().clone(), parts);
    hooks.on_pre_step(Some(child.scope()), Arc::new(Does::Add("child"))).keep();
    let of_parent = hooks.on_pre_step(Some(&parent), Arc::new(Does::Add("parent")));
    hooks.on_pre_step(None, Arc::new(Does::Add("all"))).keep();
    let entered = async |agent: &Agent| {
        let cancel = Cancel::new();
        let entry = hooks.pre_step(&context(agent, &cancel), vec![]).await.unwrap();
        let Entry::Enter(messages) = entry else { unreachable!() };
        messages.iter().map(|message| message.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(entered(&child).await, ["child", "parent", "all"]);
    assert_eq!(entered(&stage.agent).await, ["all"]);
    drop(of_parent);
    assert_eq!(entered(&child).await, ["child", "all"]);
}

#[test]
fn an_observer_that_panics_stops_nobody() {
    let stage = Stage::new();
    stage.agent.hooks().observe(None, Arc::new(|_: &Agent, _: &Notice<'_>| panic!("on purpose"))).keep();
    stage.agent.inbox().followup(message("a")).unwrap();
    assert_eq!((stage.waits(), stage.told()), ("[] [a]".to_owned(), vec!["inserted a".to_owned()]));
}
