//! Hooks in a turn: where they are asked, and what their answers make of it.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use dsh_agent::{
    AfterError, Entry, HookError, PreStep, Queued, Request, RequestDraft, RequestError, StepContext,
    TurnStopping,
};
use dsh_agent_loop::LoopConfig;
use dsh_lifecycle::Cause;
use dsh_llm::{ErrorFacts, Finish, Message, Model, plain_text};
use dsh_llm_script::{ScriptedModel, Step};
use dsh_session::{AssistantChunk, AssistantMessage, TurnEndReason};
use dsh_system_prompt::Context;
use parking_lot::Mutex;

use crate::kit::{Notes, Scene, calls, message, pass, says};
use crate::log::{all, reason};

/// What to do with the step of these coordinates.
type Judge = dyn Fn(u32, u32, Vec<Message>, &StepContext<'_>) -> Entry + Send + Sync;

/// Notes the coordinates of a step and the number of its messages, and judges it.
struct Judging {
    notes: Notes,
    judge: Box<Judge>,
}

#[async_trait]
impl PreStep for Judging {
    async fn pre_step(&self, step: &StepContext<'_>, messages: Vec<Message>) -> Result<Entry, HookError> {
        self.notes.note(format!("pre {}.{} {}", step.turn, step.step, messages.len()));
        Ok((self.judge)(step.turn, step.step, messages, step))
    }
}

fn judged(
    scene: &Scene,
    judge: impl Fn(u32, u32, Vec<Message>, &StepContext<'_>) -> Entry + Send + Sync + 'static,
) {
    let hook = Judging { notes: scene.notes.clone(), judge: Box::new(judge) };
    scene.keep(scene.hooks().on_pre_step(None, Arc::new(hook)));
}

fn enter(messages: Vec<Message>) -> Entry {
    Entry::Enter(messages)
}

fn reject() -> Entry {
    Entry::Reject("not this".into())
}

#[tokio::test(start_paused = true)]
async fn each_step_is_judged_before_it_begins_also_one_without_messages() {
    let scene = Scene::new([calls([("c1", "p", "{}")]), says("done")]);
    judged(&scene, |_, _, messages, _| enter(messages));
    scene.keep(scene.prompt.context(None, Context::new("mode", 0, "mode: calm")).unwrap());
    scene.turn("go").await;
    let expected = ["0 pre 1.1 2", "0 step/start 1", "0 pre 1.2 0", "0 step/start 2"];
    assert_eq!(scene.noted(&["pre", "step/start"]), expected);
}

#[tokio::test(start_paused = true)]
async fn what_it_leaves_is_what_is_said() {
    let scene = Scene::new([says("fine")]);
    judged(&scene, |_, _, mut messages, _| {
        messages.insert(0, message("before"));
        messages.push(message("after"));
        enter(messages)
    });
    scene.turn("go").await;
    assert_eq!(scene.log_of(&["user:"]), ["user: before", "user: go", "user: after"]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_turn_has_no_step_and_spends_its_prompt() {
    let scene = Scene::new([says("fine")]);
    judged(&scene, |turn, _, messages, _| if turn == 1 { reject() } else { enter(messages) });
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::Blocked);
    assert_eq!(
        scene.whole_log(),
        ["inbox turn@0 +go", "turn/start 1", "inbox turn@0 -1", "turn/end blocked"]
    );
    assert_eq!(scene.noted(&["claimed", "blocked", "failed"]), ["0 claimed 1 go", "0 blocked 1 not this"]);
    assert_eq!(scene.turn("again").await.reason, TurnEndReason::Completed);
    assert_eq!(scene.log_of(&["user:"]), ["user: again"]);
}

#[tokio::test(start_paused = true)]
async fn a_later_step_can_be_refused_too() {
    let scene = Scene::new([calls([("c1", "p", "{}")]), says("never said")]);
    judged(&scene, |_, step, messages, _| if step == 2 { reject() } else { enter(messages) });
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::Blocked);
    assert_eq!(scene.requests().len(), 1);
    assert_eq!(
        scene.log_of(&["step/start", "step/end", "turn/end"]),
        ["step/start 1", "step/end 1", "turn/end blocked"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_step_that_is_left_without_messages_is_taken_only_if_it_is_owed() {
    let empty = |_, _, _, _: &StepContext<'_>| enter(vec![]);
    let scene = Scene::new([says("never said")]);
    judged(&scene, empty);
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::Completed);
    assert_eq!(scene.log(), ["turn/start 1", "turn/end completed"]);
    assert_eq!(scene.waits(), "[] []");

    let scene = Scene::new([calls([("c1", "p", r#"{"say":"unheard"}"#)]), says("read")]);
    judged(&scene, |_, step, messages, _| enter(if step == 1 { messages } else { vec![] }));
    scene.turn("go").await;
    assert_eq!(
        scene.log_of(&["step/start", "probe:", "model:"]).len(),
        4,
        "its results are owed to the model"
    );

    let scene =
        Scene::new([calls([("c1", "p", r#"{"conclude":true,"say":"unheard"}"#)]), says("never said")]);
    judged(&scene, |_, step, messages, _| enter(if step == 1 { messages } else { vec![] }));
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::Completed);
    assert_eq!(scene.log_of(&["step/start"]), ["step/start 1"], "nothing was owed");
}

#[tokio::test(start_paused = true)]
async fn what_comes_while_it_judges_is_not_judged_with_the_rest() {
    for refused in [true, false] {
        let scene = Scene::new([says("one"), says("two")]);
        judged(&scene, move |turn, step, messages, cx| {
            if (turn, step) == (1, 1) {
                cx.agent.inbox().inject(message("meanwhile")).unwrap();
            }
            if refused && turn == 1 { reject() } else { enter(messages) }
        });
        scene.turn("go").await;
        if refused {
            assert_eq!(scene.waits(), "[meanwhile] []");
            scene.turn("again").await;
            assert_eq!(scene.log_of(&["user:"]), ["user: meanwhile", "user: again"]);
        } else {
            let expected = ["step/start 1", "user: go", "step/start 2", "user: meanwhile"];
            assert_eq!(scene.log_of(&["step/start", "user:"]), expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_retracted_while_it_judges_is_not_said() {
    let scene = Scene::new([says("fine")]);
    scene.inject("never mind");
    judged(&scene, |_, _, messages, cx| {
        cx.agent.inbox().retract("never mind").unwrap();
        enter(messages)
    });
    scene.turn("go").await;
    assert_eq!(scene.log_of(&["user:"]), ["user: go"]);
}

struct OutOfOrder;

#[async_trait]
impl PreStep for OutOfOrder {
    async fn pre_step(&self, _: &StepContext<'_>, _: Vec<Message>) -> Result<Entry, HookError> {
        Err("out of order".into())
    }
}

#[tokio::test(start_paused = true)]
async fn a_judge_that_fails_ends_the_turn_and_the_prompts_wait_on() {
    let scene = Scene::new([says("one"), says("two"), says("three")]);
    let failing = scene.hooks().on_pre_step(None, Arc::new(OutOfOrder));
    let act = async || {
        scene.followup("first");
        scene.followup("second");
    };
    scene.driven(act).await;
    assert_eq!(scene.log(), ["turn/start 1", "turn/end error UNKNOWN"]);
    assert_eq!(scene.noted(&["failed"]), ["0 failed 1.1 UNKNOWN"]);
    assert_eq!(scene.waits(), "[] [first, second]");
    drop(failing);
    scene.driven(async || scene.followup("third")).await;
    assert_eq!(scene.log_of(&["user:"]), ["user: first", "user: second", "user: third"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_no_log_takes_is_the_judges_failure() {
    let scene = Scene::new([says("fine")]);
    judged(&scene, |turn, _, messages, _| {
        if turn == 1 { enter(vec![Message { id: "".into(), ..message("x") }]) } else { enter(messages) }
    });
    let TurnEndReason::Error { error } = scene.turn("go").await.reason else { unreachable!() };
    insta::assert_snapshot!(error.message, @"a pre-step hook entered a message that no log takes: $.id: must not be empty");
    assert_eq!(scene.turn("again").await.reason, TurnEndReason::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_refused_prompt_does_not_strand_those_behind_it() {
    let scene = Scene::new([says("fine")]);
    judged(&scene, |turn, _, messages, _| if turn == 1 { reject() } else { enter(messages) });
    let act = async || {
        scene.followup("refused");
        scene.followup("somebody else's");
    };
    scene.driven(act).await;
    assert_eq!(
        scene.log_of(&["turn/end", "user:"]),
        ["turn/end blocked", "user: somebody else's", "turn/end completed"]
    );
    assert_eq!(scene.noted(&["status"]), ["0 status running", "0 status idle"]);
}

/// Steers so many times, and then fails if it is told to.
struct Objects {
    left: AtomicUsize,
    fails: bool,
}

#[async_trait]
impl TurnStopping for Objects {
    async fn turn_stopping(&self, step: &StepContext<'_>) -> Result<(), HookError> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        match left {
            Ok(left) => Ok(step.agent.inbox().steer(message(&format!("{left} more")))?),
            Err(_) if self.fails => Err("it gave up".into()),
            Err(_) => Ok(()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_objects_to_the_end_steers_the_turn() {
    let scene = Scene::new([says("a"), says("b"), says("c"), says("d")]);
    scene.keep(scene.hooks().on_turn_stopping(None, Arc::new(Objects { left: 2.into(), fails: false })));
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::Completed);
    assert_eq!(
        scene.log_of(&["turn/start", "user:"]),
        ["turn/start 1", "user: go", "user: 2 more", "user: 1 more"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_objection_that_fails_ends_the_turn_and_the_loop_lives_on() {
    let scene = Scene::new([says("a"), says("b"), says("c")]);
    let hook = scene.hooks().on_turn_stopping(None, Arc::new(Objects { left: 1.into(), fails: true }));
    assert_eq!(reason(&scene.turn("go").await.reason), "error UNKNOWN");
    assert_eq!(scene.noted(&["failed"]), ["0 failed 1.2 UNKNOWN"]);
    drop(hook);
    assert_eq!(scene.turn("again").await.reason, TurnEndReason::Completed);
}

#[tokio::test(start_paused = true)]
async fn steering_without_end_meets_the_step_limit() {
    let config = LoopConfig { max_steps_per_turn: 3.try_into().unwrap(), ..LoopConfig::default() };
    let scene = Scene::with(config, []);
    scene.keep(scene.hooks().on_turn_stopping(None, Arc::new(Objects { left: 99.into(), fails: false })));
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::StepLimit);
    assert_eq!((scene.requests().len(), &*scene.waits()), (3, "[97 more] []"));
}

/// Takes these models in turn, whatever was chosen.
struct Routes(Mutex<Vec<Arc<dyn Model>>>);

#[async_trait]
impl Request for Routes {
    async fn request(&self, _: &StepContext<'_>, draft: RequestDraft) -> Result<RequestDraft, HookError> {
        let model = self.0.lock().pop();
        Ok(RequestDraft { model: model.or(draft.model), max_tokens: NonZeroU64::new(5) })
    }
}

fn script(name: &str, step: Step) -> Arc<dyn Model> {
    Arc::new(ScriptedModel::new(dsh_llm_script::Script { steps: vec![step] }).named(name))
}

#[tokio::test(start_paused = true)]
async fn a_request_goes_where_a_hook_sends_it_and_the_log_says_so() {
    let scene = Scene::new([]);
    scene.unplug();
    scene.keep(
        scene.hooks().on_request(None, Arc::new(Routes(Mutex::new(vec![script("other", says("hello"))])))),
    );
    let outcome = scene.turn("go").await;
    assert_eq!(outcome.answer.as_deref().map(plain_text).as_deref(), Some("hello"));
    assert_eq!(scene.log_of(&["route"]), ["route other"]);
    let config = &all::<dsh_session::RequestHeader>(scene.session())[0].header.config;
    assert_eq!((&*config.model, config.max_tokens), ("other", Some(5)));
}

/// Asks for a retry until this many failures were seen, or fails itself.
struct Retries {
    notes: Notes,
    left: AtomicUsize,
    fails: bool,
}

#[async_trait]
impl RequestError for Retries {
    async fn request_error(
        &self,
        step: &StepContext<'_>,
        error: &ErrorFacts,
    ) -> Result<AfterError, HookError> {
        self.notes.note(format!("error {}.{} {}", step.turn, step.step, error.code));
        if self.fails {
            return Err("no idea".into());
        }
        pass(3).await;
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        Ok(if left.is_ok() { AfterError::Retry } else { AfterError::Fail })
    }
}

fn retries(scene: &Scene, left: usize, fails: bool) {
    let hook = Retries { notes: scene.notes.clone(), left: left.into(), fails };
    scene.keep(scene.hooks().on_request_error(None, Arc::new(hook)));
}

fn broken(words: &str) -> Step {
    Step { finish: Finish::Error(ErrorFacts::new("BROKEN", "the line broke")), ..says(words) }
}

#[tokio::test(start_paused = true)]
async fn a_failed_request_is_made_again_in_the_same_step() {
    let scene = Scene::new([broken("half"), broken("again half"), says("whole")]);
    retries(&scene, 2, false);
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::Completed);
    let expected = ["turn/start 1", "step/start 1", "model: whole", "step/end 1"];
    assert_eq!(scene.log_of(&["turn/start", "step/start", "model:", "step/end"]), expected);
    assert_eq!(scene.noted(&["error", "request"]).len(), 5);
    // The answer is made of its own attempt's chunks.
    let events = scene.session().events();
    let answer = events.iter().find(|event| event.read::<AssistantMessage>().is_some()).unwrap();
    let chunks = events.iter().filter(|event| event.read::<AssistantChunk>().is_some());
    let last: Vec<_> = chunks.map(|event| event.seq).collect();
    let own = answer.source_event_seqs.as_deref().unwrap();
    assert!(own.len() < last.len() && last.ends_with(own));
}

#[tokio::test(start_paused = true)]
async fn without_a_retry_the_failure_ends_the_turn_verbatim() {
    let scene = Scene::new([broken("half")]);
    retries(&scene, 0, false);
    let facts = ErrorFacts::new("BROKEN", "the line broke");
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::Error { error: facts });
    assert_eq!(scene.noted(&["error"]), ["0 error 1.1 BROKEN"]);
}

#[tokio::test(start_paused = true)]
async fn retries_have_a_limit() {
    let config = LoopConfig { max_attempts_per_request: 2.try_into().unwrap(), ..LoopConfig::default() };
    let scene = Scene::with(config, [broken("a"), broken("b"), says("never said")]);
    retries(&scene, 9, false);
    let TurnEndReason::Error { error } = scene.turn("go").await.reason else { unreachable!() };
    insta::assert_snapshot!(error.message, @"the line broke (2 attempts, `maxAttemptsPerRequest`)");
}

#[tokio::test(start_paused = true)]
async fn there_is_no_retry_after_an_abort_or_when_the_hook_fails() {
    let scene = Scene::new([broken("half"), says("never said")]);
    retries(&scene, 1, false);
    let stop = async {
        pass(1).await;
        scene.agent.cancel(Cause::User, Queued::Discard);
    };
    let (outcome, ()) = tokio::join!(scene.turn("go"), stop);
    assert_eq!((reason(&outcome.reason), scene.requests().len()), ("aborted user".to_owned(), 1));

    let scene = Scene::new([broken("half"), says("never said")]);
    retries(&scene, 1, true);
    assert_eq!(reason(&scene.turn("go").await.reason), "error UNKNOWN");
    assert_eq!(scene.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_a_hook_is_not_offered_for_a_retry() {
    struct Fails;
    #[async_trait]
    impl Request for Fails {
        async fn request(&self, _: &StepContext<'_>, _: RequestDraft) -> Result<RequestDraft, HookError> {
            Err("no route".into())
        }
    }
    let scene = Scene::new([says("never said")]);
    retries(&scene, 1, false);
    scene.keep(scene.hooks().on_request(None, Arc::new(Fails)));
    let TurnEndReason::Error { error } = scene.turn("go").await.reason else { unreachable!() };
    assert_eq!(&*error.message, "a request hook failed: no route");
    assert_eq!(
        (scene.noted(&["error"]), scene.log_of(&["step/end"])),
        (vec![], vec!["step/end 1".to_owned()])
    );
}

#[tokio::test(start_paused = true)]
async fn the_session_is_announced_before_its_first_turn() {
    let scene = Scene::new([says("one"), says("two")]);
    let greet = |agent: &dsh_agent::Agent, notice: &dsh_agent::Notice<'_>| {
        if let dsh_agent::Notice::SessionStarted(source) = notice {
            agent.inbox().inject(message(&format!("{source:?}"))).unwrap();
        }
    };
    scene.keep(scene.hooks().observe(None, Arc::new(greet)));
    scene.turn("go").await;
    scene.turn("again").await;
    assert_eq!(scene.log_of(&["user:"]), ["user: Startup", "user: go", "user: again"]);
}
