//! One busy conversation that is hit everywhere: cancelled, dropped, cut off and refused its log, at each point that
//! there is. Afterwards the log is sound, each call has one result, and each message was said once, or waits.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use async_trait::async_trait;
use dsh_agent::{
    AfterError, Entry, HookError, InboxSpliced, PreStep, Queued, Request, RequestDraft, RequestError, Status,
    StepContext, Target, TurnStopping,
};
use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::{ErrorFacts, Finish, Message, Source};
use dsh_llm_script::Step;
use dsh_session::{AssistantMessage, Event, Session, SessionObserver, ToolCall, ToolResult, UserMessage};
use dsh_tools_core::{Layer, Next, ToolError};
use tokio::runtime::Builder;
use tokio::task::yield_now;

use crate::kit::{Scene, calls, message, says, spec, thinks};
use crate::log::{all, call_ids};

/// A failed request, calls that overlap and calls that don't, messages that ride on results, and answers.
fn script() -> Vec<Step> {
    let broken = Step { finish: Finish::Error(ErrorFacts::new("BROKEN", "broken")), ..says("half") };
    let batch = calls([
        ("c1", "p", r#"{"ms":4,"say":"note one"}"#),
        ("c2", "p", r#"{"ms":2,"stop":true}"#),
        ("c3", "x", r#"{"ms":1,"say":"note three"}"#),
        ("c4", "p", r#"{"fail":true}"#),
        ("c5", "nobody", "{}"),
        ("c6", "p", "not json"),
    ]);
    let more = calls([("d1", "x", "{}"), ("d2", "x", r#"{"conclude":true}"#)]);
    let mut steps = vec![broken, thinks(1, batch), more, says("so")];
    steps.extend((0..40).map(|n| says(&format!("answer {n}"))));
    steps
}

fn busy() -> Scene {
    slowed(Scene::new(script()))
}

/// The same conversation in the next process.
fn continued(events: Vec<Event>) -> Scene {
    slowed(Scene::continuing(Session::resume(spec(None), events).unwrap(), script()))
}

/// With somebody at each place who lets others go first.
fn slowed(scene: Scene) -> Scene {
    let hooks = scene.hooks();
    scene.keep(hooks.on_pre_step(None, Arc::new(Slow)));
    scene.keep(hooks.on_request(None, Arc::new(Slow)));
    scene.keep(hooks.on_request_error(None, Arc::new(Slow)));
    scene.keep(hooks.on_turn_stopping(None, Arc::new(Slow)));
    scene.keep(scene.tools.on_pre_execute(None, Arc::new(Slow)));
    scene.keep(scene.tools.on_execute(None, Arc::new(Slow)));
    scene.keep(scene.tools.on_post_execute(None, Arc::new(Slow)));
    scene
}

struct Slow;

#[async_trait]
impl PreStep for Slow {
    async fn pre_step(&self, _: &StepContext<'_>, messages: Vec<Message>) -> Result<Entry, HookError> {
        yield_now().await;
        Ok(Entry::Enter(messages))
    }
}

#[async_trait]
impl Request for Slow {
    async fn request(&self, _: &StepContext<'_>, draft: RequestDraft) -> Result<RequestDraft, HookError> {
        yield_now().await;
        Ok(draft)
    }
}

#[async_trait]
impl RequestError for Slow {
    async fn request_error(&self, _: &StepContext<'_>, _: &ErrorFacts) -> Result<AfterError, HookError> {
        yield_now().await;
        Ok(AfterError::Retry)
    }
}

#[async_trait]
impl TurnStopping for Slow {
    async fn turn_stopping(&self, _: &StepContext<'_>) -> Result<(), HookError> {
        yield_now().await;
        Ok(())
    }
}

#[async_trait]
impl<Cx: Sync, Answer> Layer<Cx, Answer> for Slow {
    async fn call(&self, cx: &Cx, next: Next<'_, Cx, Answer>) -> Result<Answer, ToolError> {
        yield_now().await;
        next.run(cx).await
    }
}

/// Runs `test` for 0, 1, 2… in virtual time, until it says that there is no such point any more.
fn at_every_point(test: impl AsyncFn(usize) -> bool) {
    for point in 0..2_000 {
        if !in_virtual_time(test(point)) {
            assert!(point > 30, "there are only {point} points");
            return;
        }
    }
    unreachable!("there is no end");
}

fn in_virtual_time<T>(test: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(test)
}

/// Polls `work` to its end, and calls `act` before the poll of this number, which may say to stop there. Whether it came
/// to that poll.
async fn hit<T>(point: usize, act: impl Fn() -> bool, work: impl Future<Output = T>) -> bool {
    let (mut work, mut polls) = (Box::pin(work), 0);
    poll_fn(|cx| {
        polls += 1;
        if polls == point + 1 && !act() {
            return Poll::Ready(true);
        }
        work.as_mut().poll(cx).map(|_| polls > point)
    })
    .await
}

#[test]
fn a_turn_cancelled_at_any_poll_answers_every_call_once() {
    at_every_point(async |point| {
        let scene = busy();
        let cancel = || {
            scene.cancel.cancel(Cause::User);
            true
        };
        let came_to_it = hit(point, cancel, scene.turn("go")).await;
        assert_answered(&scene);
        scene.turn_under(&Cancel::new(), "again").await;
        assert_answered(&scene);
        came_to_it
    });
}

/// Does something when it is told of the event of this number.
struct At<F> {
    point: usize,
    told: AtomicUsize,
    act: F,
}

impl<F: Fn() + Send + Sync> SessionObserver for At<F> {
    fn appended(&self, _: &Arc<Event>) {
        if self.told.fetch_add(1, Ordering::Relaxed) == self.point {
            (self.act)();
        }
    }
}

#[test]
fn an_agent_cancelled_at_any_event_loses_nothing() {
    for queued in [Queued::Keep, Queued::Discard] {
        at_every_point(async |point| {
            let scene = busy();
            let agent = scene.agent.clone();
            let act = move || agent.cancel(Cause::User, queued);
            let at = Arc::new(At { point, told: AtomicUsize::new(0), act });
            let observing = scene.session().observe(Arc::<At<_>>::clone(&at) as Arc<dyn SessionObserver>);
            scene.driven(async || sends(&scene)).await;
            drop(observing);
            let came_to_it = at.told.load(Ordering::Relaxed) > point;
            assert_answered(&scene);
            assert_accounted(&scene);
            scene.driven(async || scene.agent.wake()).await;
            assert_answered(&scene);
            assert_accounted(&scene);
            assert_eq!(scene.waits(), "[] []");
            came_to_it
        });
    }
}

#[test]
fn a_driver_dropped_at_any_poll_leaves_a_log_that_the_next_one_closes() {
    at_every_point(async |point| {
        let scene = busy();
        let stop = Cancel::new();
        let driving = async {
            let act = async {
                sends(&scene);
                scene.agent.when_idle().await;
                stop.cancel(Cause::Disposed);
            };
            tokio::join!(scene.turns.drive(&scene.agent, &stop), act)
        };
        let came_to_it = hit(point, || false, driving).await;
        assert_eq!(scene.agent.status(), Status::Idle);
        scene.driven(async || scene.followup("again")).await;
        scene.driven(async || scene.agent.wake()).await;
        assert_answered(&scene);
        assert_accounted(&scene);
        assert_eq!(scene.waits(), "[] []");
        came_to_it
    });
}

#[test]
fn a_process_killed_after_any_event_has_a_successor_that_says_every_message_once() {
    let events = in_virtual_time(async {
        let scene = busy();
        scene.driven(async || sends(&scene)).await;
        scene.store.written.lock().clone()
    });
    at_every_point(async |point| {
        let Some(left) = events.get(..point) else { return false };
        let scene = continued(left.to_vec());
        scene.driven(async || scene.agent.wake()).await;
        assert_answered(&scene);
        assert_accounted(&scene);
        assert_eq!(scene.waits(), "[] []", "after {point}");
        true
    });
}

#[test]
fn an_agent_that_is_refused_any_write_lives_on_and_loses_nothing_that_was_taken() {
    for stays_down in [false, true] {
        at_every_point(async |point| {
            let scene = busy();
            *scene.store.fails_after.lock() = Some(point);
            scene.store.stays_down.store(stays_down, Ordering::Relaxed);
            scene.driven_anyhow(async || sends(&scene)).await;
            let came_to_it = scene.store.fails_after.lock().take().is_none();
            assert_stored(&scene);
            assert_accounted(&scene);

            // Another process finds all that was taken.
            let next = continued(scene.store.written.lock().clone());
            next.driven(async || next.agent.wake()).await;
            assert_answered(&next);
            assert_accounted(&next);
            assert_eq!(next.waits(), "[] []");

            // And this one goes on when the store is back.
            scene.store.down.store(false, Ordering::Relaxed);
            scene.driven(async || scene.followup("at last")).await;
            scene.driven(async || scene.agent.wake()).await;
            assert_stored(&scene);
            assert_answered(&scene);
            assert_accounted(&scene);
            assert_eq!(scene.waits(), "[] []");
            came_to_it
        });
    }
}

#[test]
fn a_caller_whose_log_refuses_any_write_is_told() {
    at_every_point(async |point| {
        let scene = busy();
        *scene.store.fails_after.lock() = Some(point);
        let ended = scene.turns.run_turn(&scene.agent, dsh_llm::text("go"), &scene.cancel).await;
        let came_to_it = scene.store.fails_after.lock().take().is_none();
        assert_eq!(ended.is_err(), came_to_it, "{ended:?}");
        assert_stored(&scene);
        scene.turn("again").await;
        assert_answered(&scene);
        assert_accounted(&scene);
        assert_eq!(scene.waits(), "[] []");
        came_to_it
    });
}

/// A message for whatever step comes, and two prompts. What the inbox does not take is not missed.
fn sends(scene: &Scene) {
    let inbox = scene.agent.inbox();
    let _ = inbox.inject(message("aside"));
    let _ = inbox.followup(message("go"));
    let _ = inbox.followup(message("tail"));
}

/// Every call was answered once, and every request is one that a provider takes.
fn assert_answered(scene: &Scene) {
    let messages = all::<AssistantMessage>(scene.session());
    let mut asked: Vec<_> = messages.iter().flat_map(|answer| call_ids(&answer.message)).collect();
    let results = all::<ToolResult>(scene.session());
    let mut answered: Vec<_> = results.iter().map(|result| &**result.call_id().unwrap()).collect();
    asked.sort_unstable();
    answered.sort_unstable();
    assert_eq!(asked, answered);
    assert!(all::<ToolCall>(scene.session()).iter().all(|call| asked.contains(&&*call.call_id)));
    for request in scene.requests() {
        assert_takeable(&request.messages);
    }
}

/// The results of a message's calls come right after it, in its order.
fn assert_takeable(messages: &[Arc<Message>]) {
    let mut owed: Vec<&str> = Vec::new();
    for message in messages {
        match &message.source {
            Source::Tool { call_id } => {
                assert_eq!(owed.first(), Some(&&**call_id));
                owed.remove(0);
            }
            Source::User | Source::Plugin { .. } | Source::Model { .. } | Source::Other(_) => {
                assert_eq!(owed, [""; 0]);
                owed = call_ids(message);
            }
        }
    }
    assert_eq!(owed, [""; 0]);
}

/// What came into the inbox was said once, was discarded, or waits; nothing else was said.
fn assert_accounted(scene: &Scene) {
    let inserted = all::<InboxSpliced>(scene.session()).into_iter().flat_map(|spliced| spliced.inserted);
    let mut came: Vec<_> = inserted.map(|message| message.id.to_string()).collect();
    let mut ended = scene.dropped.lock().clone();
    ended.extend(all::<UserMessage>(scene.session()).iter().map(|said| said.0.id.to_string()));
    for list in [Target::NextStep, Target::NextTurn] {
        ended.extend(scene.agent.inbox().messages(list).iter().map(|message| message.id.to_string()));
    }
    came.sort();
    ended.sort();
    assert_eq!(came, ended);
}

/// Memory and store hold the same.
fn assert_stored(scene: &Scene) {
    let held: Vec<_> = scene.session().events().iter().map(|event| (**event).clone()).collect();
    assert_eq!(held, *scene.store.written.lock());
}
