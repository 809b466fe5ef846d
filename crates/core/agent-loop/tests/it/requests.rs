//! What the model is asked, what the log says about it, and when the log is on the device.

use std::num::NonZeroU64;
use std::sync::Arc;

use dsh_agent_loop::LoopConfig;
use dsh_lifecycle::Cancel;
use dsh_llm::{Chunk, ContentBlock, Finish, Model, ModelRequest};
use dsh_session::{RequestHeader, Session};
use dsh_system_prompt::Section;
use futures_util::stream::{self, BoxStream, StreamExt};

use crate::kit::{Scene, calls, says, spec};
use crate::log::{all, reason};

#[tokio::test(start_paused = true)]
async fn the_header_is_logged_once_and_on_change() {
    let scene = Scene::new([calls([("c1", "p", "{}")]), says("one"), says("two"), says("three")]);
    scene.turn("go").await;
    scene.turn("again").await;
    scene.keep(scene.prompt.section(None, Section::new("role", 0, "You are brief.")).unwrap());
    scene.turn("and again").await;
    let expected = ["header initial", "route inline", "header change"];
    assert_eq!(scene.log_of(&["header", "route"]), expected);
    let systems: Vec<_> = scene.requests().iter().map(|request| request.system.clone()).collect();
    assert_eq!(systems, [None, None, None, Some("You are brief.".into())]);
}

#[tokio::test(start_paused = true)]
async fn a_continued_session_logs_its_header_anew() {
    let first = Scene::new([says("one")]);
    first.turn("go").await;
    let events = first.session().events().iter().map(|event| (**event).clone()).collect();
    let session = Session::resume(spec(None), events).unwrap();
    let second = Scene::continuing(session, [says("two"), says("three")]);
    assert_eq!(second.turn("again").await.turn, 2);
    second.turn("and again").await;
    assert_eq!(second.log_of(&["header", "route"]), ["header initial", "route inline", "header resume"]);
}

#[tokio::test(start_paused = true)]
async fn the_ceiling_is_asked_for_and_logged() {
    let config = LoopConfig { max_tokens: NonZeroU64::new(77), ..LoopConfig::default() };
    let scene = Scene::with(config, [says("one")]);
    scene.turn("go").await;
    assert_eq!(scene.requests()[0].max_tokens, Some(77));
    assert_eq!(all::<RequestHeader>(scene.session())[0].header.config.max_tokens, Some(77));
}

#[tokio::test(start_paused = true)]
async fn the_log_is_on_the_device_before_anybody_acts_on_it() {
    let rows = [("c1", "p", "{}"), ("c2", "x", "{}"), ("c3", "x", "no json")];
    let scene = Scene::new([calls(rows), says("done")]);
    scene.turn("go").await;
    let expected = [
        "flush",
        "request", //
        "begin c1",
        "call c2",
        "flush",
        "begin c2",
        "call c3", //
        "flush",
        "request", //
        "turn/end completed",
        "flush",
    ];
    let acts = ["flush", "request", "begin", "turn/end"];
    let noted: Vec<_> = scene
        .noted(&[&acts[..], &["call"]].concat())
        .into_iter()
        .map(|row| row.split_once(' ').unwrap().1.to_owned())
        .filter(|row| row != "call c1")
        .collect();
    assert_eq!(noted, expected);
}

/// A model that streams these chunks.
struct Raw(Vec<Chunk>);

impl Model for Raw {
    fn provider(&self) -> &'static str {
        "raw"
    }

    fn model(&self) -> &'static str {
        "raw"
    }

    fn stream(&self, _: ModelRequest, _: Cancel) -> BoxStream<'static, Chunk> {
        stream::iter(self.0.clone()).boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_can_not_be_understood_is_the_model_s_failure() {
    let nested =
        ContentBlock::ToolResult { tool_call_id: "".into(), content: Arc::from([]), is_error: false };
    let rows = [
        (vec![], "error STREAM_ENDED_EARLY"),
        (vec![Chunk::BlockEnd { index: 0, block: nested }], "error STREAM_INVALID"),
        (vec![Chunk::BlockStart { index: 0, block_type: "".into() }], "error STREAM_INVALID"),
        (
            vec![
                Chunk::Finish { reason: Finish::Stop, replay_state: None },
                Chunk::TextDelta { index: 0, text: "more".into() },
            ],
            "completed",
        ),
    ];
    for (chunks, expected) in rows {
        let scene = Scene::new([]);
        scene.unplug();
        scene.keep(scene.slot.provide(Arc::new(Raw(chunks))).unwrap());
        assert_eq!(reason(&scene.turn("go").await.reason), expected);
    }
}

/// A model that never says anything, and does not listen.
struct Deaf;

impl Model for Deaf {
    fn provider(&self) -> &'static str {
        "deaf"
    }

    fn model(&self) -> &'static str {
        "deaf"
    }

    fn stream(&self, _: ModelRequest, _: Cancel) -> BoxStream<'static, Chunk> {
        stream::pending().boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_listen_can_be_stopped() {
    let scene = Scene::new([]);
    scene.unplug();
    scene.keep(scene.slot.provide(Arc::new(Deaf)).unwrap());
    let stop = async { scene.cancel.cancel(dsh_lifecycle::Cause::User) };
    let (outcome, ()) = tokio::join!(scene.turn("go"), stop);
    assert_eq!(reason(&outcome.reason), "aborted user");
}
