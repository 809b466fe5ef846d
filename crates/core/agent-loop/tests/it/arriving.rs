//! Calls that join an open step as they arrive.

use std::sync::Arc;
use std::time::Duration;

use dsh_agent::{ArrivingCall, CallOrigin, RequestedCall, TurnError, TurnRunner};
use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::{ContentBlock, Message};
use dsh_session::{Session, ToolResult, TurnEndReason};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::kit::{Scene, pass, says, spec};
use crate::log::{assert_sound, call_ids};

/// Where calls come from.
struct Desk(mpsc::UnboundedSender<ArrivingCall>);

/// A call that was sent.
struct Sent {
    cancel: Cancel,
    settled: oneshot::Receiver<ToolResult>,
}

impl Desk {
    fn call(&self, id: &str, name: &str, arguments: &str) -> Sent {
        let (cancel, (settle, settled)) = (Cancel::new(), oneshot::channel());
        let call = RequestedCall { id: id.into(), name: name.into(), arguments: arguments.into() };
        self.0.send(ArrivingCall { call, cancel: cancel.clone(), settled: settle }).unwrap();
        Sent { cancel, settled }
    }
}

impl Sent {
    /// The code of its result, or `ok`, or `failed` without a code: a probe that heard its stop.
    async fn result(self) -> String {
        let result = self.settled.await.unwrap();
        let [ContentBlock::ToolResult { is_error, .. }] = &*result.message.content else { unreachable!() };
        let plain = if *is_error { "failed" } else { "ok" };
        result.error.map_or_else(|| plain.to_owned(), |error| error.code.to_string())
    }
}

fn desk() -> (Desk, BoxStream<'static, ArrivingCall>) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    (Desk(sender), stream::poll_fn(move |cx| receiver.poll_recv(cx)).boxed())
}

fn origin() -> CallOrigin {
    CallOrigin { origin: "test".into(), note: "A client calls.".into() }
}

/// Runs a turn of the calls that `act` sends.
async fn served(scene: &Scene, act: impl AsyncFnOnce(&Desk)) -> TurnEndReason {
    let (desk, calls) = desk();
    let acts = async {
        act(&desk).await;
        drop(desk);
    };
    let ((), ended) =
        tokio::join!(acts, scene.turns.run_arriving(&scene.agent, origin(), calls, &scene.cancel));
    scene.assert_sound();
    ended.unwrap()
}

#[tokio::test(start_paused = true)]
async fn calls_that_overlap_share_a_step() {
    let scene = Scene::new([]);
    let ended = served(&scene, async |desk| {
        let first = desk.call("c1", "p", r#"{"ms":10}"#);
        pass(2).await;
        let second = desk.call("c2", "p", r#"{"ms":3}"#);
        assert_eq!((first.result().await, second.result().await), ("ok".into(), "ok".into()));
        desk.call("c3", "nosuch", "{}").result().await;
    });
    assert_eq!(ended.await, TurnEndReason::Completed);
    let expected = [
        "turn/start 1",
        "step/start 1",
        "model: A client calls. [c1]",
        "call c1",
        "model: A client calls. [c2]",
        "call c2",
        "result c1 ok",
        "result c2 ok",
        "model: A client calls. [c3]",
        "call c3",
        "result c3 UNKNOWN_TOOL",
        "step/end 1",
        "turn/end completed",
    ];
    assert_eq!(scene.log(), expected);
    assert_eq!(scene.noted(&["begin", "end"]), ["0 begin c1", "2 begin c2", "5 end c2", "10 end c1"]);
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_between_them_is_a_barrier() {
    let scene = Scene::new([]);
    served(&scene, async |desk| {
        let _all = [
            desk.call("c1", "p", r#"{"ms":4}"#),
            desk.call("c2", "x", r#"{"ms":2}"#),
            desk.call("c3", "p", r#"{"ms":3}"#),
            desk.call("c4", "p", r#"{"ms":1}"#),
        ];
        pass(5).await;
    })
    .await;
    let expected = [
        "0 begin c1",
        "4 end c1",
        "4 begin c2",
        "6 end c2",
        "6 begin c3",
        "6 begin c4",
        "7 end c4",
        "9 end c3",
    ];
    assert_eq!(scene.noted(&["begin", "end"]), expected);
    let expected = ["call c1", "result c1 ok", "call c2", "result c2 ok", "call c3", "call c4"];
    assert_eq!(scene.log_of(&["call", "result"])[..6], expected);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_cancelled_stops_alone() {
    let scene = Scene::new([]);
    let ended = served(&scene, async |desk| {
        let running = desk.call("c1", "p", r#"{"ms":500,"stop":true}"#);
        let beside = desk.call("c2", "p", r#"{"ms":9,"stop":true}"#);
        let barrier = desk.call("c3", "x", r#"{"ms":5,"stop":true}"#);
        let waiting = desk.call("c4", "p", "{}");
        pass(2).await;
        running.cancel.cancel(Cause::User);
        waiting.cancel.cancel(Cause::User);
        assert_eq!(running.result().await, "failed");
        assert_eq!(beside.result().await, "ok");
        assert_eq!(barrier.result().await, "ok");
        assert_eq!(waiting.result().await, "ABORTED_BEFORE_DISPATCH");
    });
    assert_eq!(ended.await, TurnEndReason::Completed);
    let expected = ["0 begin c1", "0 begin c2", "2 end c1", "9 end c2", "9 begin c3", "14 end c3"];
    assert_eq!(scene.noted(&["begin", "end"]), expected);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_turn_answers_them_all() {
    let scene = Scene::new([]);
    let ended = served(&scene, async |desk| {
        let running = desk.call("c1", "p", r#"{"ms":500,"stop":true}"#);
        let waiting = desk.call("c2", "x", "{}");
        pass(2).await;
        scene.cancel.cancel(Cause::User);
        assert_eq!(running.result().await, "failed");
        assert_eq!(waiting.result().await, "ABORTED_BEFORE_DISPATCH");
        // Whoever comes later is not taken.
        desk.0.closed().await;
    });
    assert!(matches!(ended.await, TurnEndReason::Aborted { .. }));
    let expected = [
        "call c1",
        "result c1 failed",
        "call c2",
        "result c2 ABORTED_BEFORE_DISPATCH",
        "turn/end aborted user",
    ];
    assert_eq!(scene.log_of(&["call", "result", "turn/end"]), expected);
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_taken_is_replaced() {
    let scene = Scene::new([]);
    served(&scene, async |desk| {
        desk.call("c1", "p", "{}").result().await;
        let again = desk.call("c1", "p", "{}").settled.await.unwrap();
        assert_ne!(again.call_id().map(|id| &**id), Some("c1"));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn one_agent_serves_one_source() {
    let scene = Scene::new([]);
    served(&scene, async |_| {
        pass(1).await;
        let (_desk, calls) = desk();
        let busy = scene.turns.run_arriving(&scene.agent, origin(), calls, &scene.cancel).await;
        assert!(matches!(busy, Err(TurnError::Busy)), "{busy:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_log_cut_off_in_their_midst_is_repaired() {
    let scene = Scene::new([]);
    let (desk, calls) = desk();
    let calling = [
        desk.call("c1", "p", r#"{"ms":50}"#),
        desk.call("c2", "p", r#"{"ms":1}"#),
        desk.call("c3", "x", "{}"),
    ];
    let cut = scene.turns.run_arriving(&scene.agent, origin(), calls, &scene.cancel);
    timeout(Duration::from_millis(5), cut).await.unwrap_err();
    for call in calling {
        call.settled.await.unwrap_err();
    }
    let events: Vec<_> = scene.session().events().iter().map(|event| (**event).clone()).collect();
    // Wherever the process was killed.
    for kept in 0..=events.len() {
        let session = Session::resume(spec(None), events[..kept].to_vec()).unwrap();
        assert_sound(&session, &[]);
        assert_answered(&session.messages());
    }
    let next = Scene::continuing(Session::resume(spec(None), events).unwrap(), [says("I see")]);
    assert_eq!(
        next.log_of(&["result"]),
        ["result c1 TOOL_OUTCOME_UNKNOWN", "result c2 TOOL_OUTCOME_UNKNOWN"]
    );
    next.turn("go on").await;
    next.assert_sound();
}

#[tokio::test(start_paused = true)]
async fn a_model_that_goes_on_sees_each_call_with_its_result() {
    let scene = Scene::new([says("I see")]);
    served(&scene, async |desk| {
        let _both = [desk.call("c1", "p", r#"{"ms":5}"#), desk.call("c2", "p", "{}")];
        pass(1).await;
    })
    .await;
    scene.turn("go on").await;
    scene.assert_sound();
    assert_answered(&scene.requests()[0].messages);
}

/// Each call of the messages has one result, after it.
#[track_caller]
fn assert_answered(messages: &[Arc<Message>]) {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        open.extend(call_ids(message).into_iter().map(str::to_owned));
        for block in message.content.iter() {
            if let ContentBlock::ToolResult { tool_call_id, .. } = block {
                let position = open.iter().position(|id| **id == **tool_call_id).unwrap();
                open.remove(position);
            }
        }
    }
    assert!(open.is_empty(), "no result for {open:?}");
}
