//! Listeners that take their time.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_lifecycle::{Cancel, Registration};
use dsh_llm::{Content, plain_text, text};
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_timeout_policy::LISTENER_TIMEOUT;
use dsh_tools_core::{
    Agent, CallInput, Dispatch, Execution, Layer, Next, Post, PostDecision, PreDecision, ToolError, object,
};
use tokio::time::{Instant, sleep};

use crate::scene::{Does, Scene, told};

/// Takes so many milliseconds before it hands on.
struct Slow(u64);

#[async_trait]
impl Layer<Execution, PreDecision> for Slow {
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        sleep(Duration::from_millis(self.0)).await;
        next.run(cx).await
    }
}

#[async_trait]
impl Layer<Post, PostDecision> for Slow {
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        sleep(Duration::from_millis(self.0)).await;
        next.run(cx).await
    }
}

#[async_trait]
impl Layer<Dispatch, Content> for Slow {
    async fn call(&self, _: &Dispatch, _: Next<'_, Dispatch, Content>) -> Result<Content, ToolError> {
        sleep(Duration::from_millis(self.0)).await;
        Ok(text("short"))
    }
}

async fn called(listen: impl Fn(&Scene, Arc<Slow>) -> Registration, millis: u64) -> (String, String, u128) {
    let scene = Scene::new(r#"{"listenerMs": 100}"#, None, Does::EndsAfter(0));
    let _slow = listen(&scene, Arc::new(Slow(millis)));
    let began = Instant::now();
    let result = scene.call(&Cancel::new()).await;
    (told(&result), plain_text(&result.content), began.elapsed().as_millis())
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_is_late_allows_nothing() {
    let before = |scene: &Scene, slow: Arc<Slow>| scene.tools.on_pre_execute(None, slow);
    assert_eq!(called(before, 99).await, ("done".into(), "done".into(), 99));
    let (code, text, took) = called(before, 60_000).await;
    assert_eq!((code.as_str(), took), (LISTENER_TIMEOUT, 100));
    assert_eq!(text, "Error: a policy did not decide within 100 ms (`listenerMs`). The call did not run.");
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_is_late_lets_nothing_through() {
    let after = |scene: &Scene, slow: Arc<Slow>| scene.tools.on_post_execute(None, slow);
    assert_eq!(called(after, 99).await, ("done".into(), "done".into(), 99));
    let (code, text, took) = called(after, 60_000).await;
    assert_eq!((code.as_str(), took), (LISTENER_TIMEOUT, 100));
    assert_eq!(
        text,
        "Error: a policy did not decide within 100 ms (`listenerMs`). What the call came to is withheld, and it may have taken \
         effect: look before you try again."
    );
}

#[tokio::test(start_paused = true)]
async fn the_record_of_a_program_s_call_is_kept_whole() {
    let scene = Scene::new(r#"{"listenerMs": 100}"#, None, Does::EndsAfter(0));
    let session = Session::create(SessionSpec {
        header: Header::new("s", 0).unwrap(),
        vocabulary: Arc::new(Vocabulary::core()),
        clock: Arc::new(dsh_lifecycle::SteppingClock::starting_at(0)),
        sink: None,
    });
    let agent = Agent::new(Scope::root(), session);
    let input = CallInput { agent: Some(agent.clone()), ..CallInput::new("c", "t", object! {}) };
    let dsh_tools_core::Prepared::Ready(ready) = scene.tools.prepare(input).await else { panic!("settled") };
    let settled = scene.tools.dispatch(ready).await;
    let program = Arc::clone(scene.tools.finish(settled).await.execution());
    for (millis, kept) in [(99, "short"), (60_000, "whole")] {
        let _slow = scene.tools.on_dispatch_log(None, Arc::new(Slow(millis)));
        let dispatch = Dispatch {
            program: Arc::clone(&program),
            agent: agent.clone(),
            sub_call_id: "c:code:1".into(),
            name: "t".into(),
            is_error: false,
            content: text("whole"),
        };
        assert_eq!(plain_text(&scene.tools.kept_of(&dispatch).await), kept, "{millis}");
    }
}

/// The budget of a call, that of its listeners and the wait for an answer have nothing to do with each other.
#[tokio::test(start_paused = true)]
async fn each_stage_has_its_own_time() {
    let scene = Scene::new(r#"{"listenerMs": 100}"#, Some(50), Does::EndsAfter(40));
    let _before = scene.tools.on_pre_execute(None, Arc::new(Slow(90)));
    let _after = scene.tools.on_post_execute(None, Arc::new(Slow(90)));
    let began = Instant::now();
    assert_eq!(told(&*scene.call(&Cancel::new()).await), "done");
    assert_eq!(began.elapsed().as_millis(), 220);
}
