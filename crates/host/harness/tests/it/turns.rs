//! Turns from a prompt to an answer, and how they end when somebody or something gives up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dsh_agent::Agent;
use dsh_harness::{Environment, Harness, SessionChoice, TurnFailure, row};
use dsh_lifecycle::{Cancel, Cause, Clock, Ids, SeededIds, SteppingClock};
use dsh_llm::{ContentBlock, text};
use dsh_session::{
    AbortReason, Event, Payload, RequestContext, Session, SessionObserver, TurnEnd, TurnEndReason,
};
use tokio::sync::Notify;

use crate::world::{SCRIPTED, World, config, verdict};

const WORK: &str = r#"{"steps": [
    {"text": "Looking.", "toolCalls": [
        {"name": "glob", "arguments": {"pattern": "**/*.txt"}},
        {"name": "grep", "arguments": {"pattern": "needle"}},
        {"name": "read", "arguments": {"file_path": "hay/b.txt"}}]},
    {"toolCalls": [{"name": "write", "arguments": {"file_path": "out/found.txt", "content": "in b\n"}}]},
    {"toolCalls": [{"name": "read", "arguments": {"file_path": "out/found.txt"}}]},
    {"text": "Done."}]}"#;

/// Answers after an hour.
const SLOW: &str = r#"{"steps": [{"text": "Late.", "delayMs": 3600000}]}"#;

fn hay(world: &World) {
    world.put("root/hay/a.txt", "straw\n");
    world.put("root/hay/b.txt", "straw\na needle\n");
}

#[tokio::test]
async fn a_script_works_on_real_files() {
    let world = World::new();
    hay(&world);
    let harness = world.scripted(WORK);
    let agent = crate::world::agent(&harness);
    let outcome = harness.run_turn(&agent, text("Find it."), &Cancel::new()).await.unwrap();
    assert_eq!(outcome.reason, TurnEndReason::Completed);
    assert_eq!(dsh_llm::plain_text(&outcome.answer.unwrap()), "Done.");
    assert_eq!(std::fs::read_to_string(world.file("out/found.txt")).unwrap(), "in b\n");
    assert!(verdict(agent.session()).is_ok());
    insta::assert_snapshot!(transcript(&world, agent.session()));
}

#[tokio::test]
async fn a_turn_whose_future_is_dropped_is_cancelled_and_closes_its_log() {
    let world = World::new();
    let harness = world.scripted(SLOW);
    let open = harness.open_session(&SessionChoice::File(world.path("a.jsonl"))).unwrap();
    let agent = harness.agent(open.session);
    let asked = when_asked(&agent);
    let cancel = Cancel::new();
    tokio::select! {
        ended = harness.run_turn(&agent, text("Go."), &cancel) => panic!("it ended: {ended:?}"),
        () = asked.notified() => {}
    }
    harness.shut_down().await;
    assert!(!cancel.is_cancelled());
    closed_as(agent.session(), &TurnEndReason::Aborted { reason: AbortReason::Disposed });
    let stored = dsh_session_jsonl::read(world.path("a.jsonl")).unwrap();
    assert_eq!(stored.events.len() as u64, agent.session().len());
}

#[tokio::test]
async fn the_callers_cancellation_ends_the_turn_with_its_cause() {
    let world = World::new();
    let harness = world.scripted(SLOW);
    let agent = crate::world::agent(&harness);
    let asked = when_asked(&agent);
    let cancel = Cancel::new();
    let (ended, ()) = tokio::join!(harness.run_turn(&agent, text("Go."), &cancel), async {
        asked.notified().await;
        cancel.cancel(Cause::User);
    });
    let reason = TurnEndReason::Aborted { reason: AbortReason::User };
    assert_eq!(ended.unwrap().reason, reason);
    closed_as(agent.session(), &reason);
}

#[tokio::test]
async fn an_agent_has_one_turn_at_a_time() {
    let world = World::new();
    let harness = world.scripted(SLOW);
    let agent = crate::world::agent(&harness);
    let asked = when_asked(&agent);
    let cancel = Cancel::new();
    let (_, second) = tokio::join!(harness.run_turn(&agent, text("Go."), &cancel), async {
        asked.notified().await;
        let second = harness.run_turn(&agent, text("And you."), &cancel).await;
        cancel.cancel(Cause::User);
        second
    });
    assert_eq!(second.unwrap_err().to_string(), "the agent is busy with another turn; wait for it to end");
    assert!(verdict(agent.session()).is_ok());
}

/// Wherever the loop asks for an id it may panic here: before the first step, with calls that have no results, between
/// two steps.
#[tokio::test]
async fn a_panic_inside_the_loop_ends_the_turn_and_leaves_an_honest_log() {
    let mut panics = 0;
    loop {
        let world = World::new();
        hay(&world);
        world.put("script.json", WORK);
        // The first is the session's.
        let ids = RunDry { ids: SeededIds::new(7), left: AtomicUsize::new(panics + 1) };
        let text_of = config(&world.file("dsh.toml"), SCRIPTED);
        let harness = Harness::builder(world.environment_with(ids)).config(text_of).build().unwrap();
        let agent = crate::world::agent(&harness);
        let ended = harness.run_turn(&agent, text("Find it."), &Cancel::new()).await;
        let verdict = verdict(agent.session());
        assert!(verdict.is_ok() && verdict.open_turn.is_none(), "{panics} ids: {verdict:?}");
        if ended.is_ok() {
            break;
        }
        assert!(matches!(ended, Err(TurnFailure::Panicked)), "{panics} ids: {ended:?}");
        // The prompt's own id is asked for before there is a turn.
        if panics > 0 {
            let end = last_end(agent.session());
            assert!(matches!(&end, TurnEndReason::Error { error } if *error.code == *"PANICKED"), "{end:?}");
        }
        panics += 1;
    }
    assert!(panics >= 8, "the loop asked for {panics} ids only");
}

#[tokio::test]
async fn a_panic_of_a_turn_that_nobody_waits_for_leaves_an_honest_log_too() {
    let world = World::new();
    world.put("script.json", SLOW);
    let clock = Arc::new(StopOnce { clock: SteppingClock::starting_at(0), armed: AtomicBool::new(false) });
    let environment = Environment { clock: Arc::clone(&clock) as _, ..world.environment() };
    let text_of = config(&world.file("dsh.toml"), SCRIPTED);
    let harness = Harness::builder(environment).config(text_of).build().unwrap();
    let agent = crate::world::agent(&harness);
    let (asked, cancel) = (when_asked(&agent), Cancel::new());
    tokio::select! {
        ended = harness.run_turn(&agent, text("Go."), &cancel) => panic!("it ended: {ended:?}"),
        () = asked.notified() => clock.armed.store(true, Ordering::Relaxed),
    }
    harness.shut_down().await;
    let end = last_end(agent.session());
    assert!(matches!(&end, TurnEndReason::Error { error } if *error.code == *"PANICKED"), "{end:?}");
    let verdict = verdict(agent.session());
    assert!(verdict.is_ok() && verdict.open_turn.is_none(), "{verdict:?}");
}

#[tokio::test]
async fn turns_that_were_let_go_end_before_the_plugins_do() {
    let world = World::new();
    world.put("script.json", SLOW);
    let ended_first = Arc::new(AtomicUsize::new(0));
    let noting = Arc::clone(&ended_first);
    let sessions = Arc::new(parking_lot::Mutex::new(None::<Session>));
    let looked_at = Arc::clone(&sessions);
    let last = row("last", "looks at the log when it goes", move |_: toml::Table, _: &dsh_harness::Host| {
        let (noting, looked_at) = (Arc::clone(&noting), Arc::clone(&looked_at));
        Ok(dsh_lifecycle::Registration::new(move || {
            let session = looked_at.lock().take();
            if session.is_some_and(|session| verdict(&session).open_turn.is_none()) {
                noting.fetch_add(1, Ordering::Relaxed);
            }
        })
        .into())
    });
    let text_of = config(&world.file("dsh.toml"), SCRIPTED);
    let harness = world.builder().config(text_of).row(last).build().unwrap();
    let agent = crate::world::agent(&harness);
    *sessions.lock() = Some(agent.session().clone());
    let asked = when_asked(&agent);
    let cancel = Cancel::new();
    tokio::select! {
        ended = harness.run_turn(&agent, text("Go."), &cancel) => panic!("it ended: {ended:?}"),
        () = asked.notified() => {}
    }
    harness.shut_down().await;
    assert_eq!(ended_first.load(Ordering::Relaxed), 1);
}

/// Is told when the model is about to be asked.
fn when_asked(agent: &Agent) -> Arc<Notify> {
    let asked = Arc::new(Notify::new());
    agent.session().observe(Arc::new(WhenAsked(Arc::clone(&asked)))).keep();
    asked
}

struct WhenAsked(Arc<Notify>);

impl SessionObserver for WhenAsked {
    fn appended(&self, event: &Arc<Event>) {
        if *event.kind == *RequestContext::TYPE {
            self.0.notify_one();
        }
    }
}

/// A source of ids that panics when it has given this many.
struct RunDry {
    ids: SeededIds,
    left: AtomicUsize,
}

impl Ids for RunDry {
    fn fresh(&self) -> Arc<str> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        assert!(left.is_ok(), "no ids left, on purpose");
        self.ids.fresh()
    }
}

/// A clock that panics once, when it is armed.
struct StopOnce {
    clock: SteppingClock,
    armed: AtomicBool,
}

impl Clock for StopOnce {
    fn now_ms(&self) -> i64 {
        assert!(!self.armed.swap(false, Ordering::Relaxed), "no time, on purpose");
        self.clock.now_ms()
    }
}

fn last_end(session: &Session) -> TurnEndReason {
    session.events().iter().rev().find_map(|event| event.read::<TurnEnd>()).unwrap().unwrap().reason
}

fn closed_as(session: &Session, reason: &TurnEndReason) {
    assert_eq!(&last_end(session), reason);
    let verdict = verdict(session);
    assert!(verdict.is_ok() && verdict.open_turn.is_none(), "{verdict:?}");
}

/// The messages of a session as lines.
fn transcript(world: &World, session: &Session) -> String {
    let mut lines = Vec::new();
    for message in session.messages() {
        for block in message.content.iter() {
            lines.push(match block {
                ContentBlock::ToolCall { name, arguments, .. } => format!("{name} {arguments}"),
                ContentBlock::ToolResult { content, .. } => {
                    format!("→ {}", dsh_llm::plain_text(content).replace('\n', "\n  ").replace("  \n", "\n"))
                }
                ContentBlock::Text { text } => format!("{:?}: {text}", message.role),
                ContentBlock::Reasoning { .. } | ContentBlock::Image { .. } | ContentBlock::Other(_) => {
                    format!("{:?}: …", message.role)
                }
            });
        }
    }
    lines.join("\n").replace(world.path("root").to_str().unwrap(), "$ROOT")
}
