//! Call ids: whatever the model writes, each call has one of its own and is answered once.

use std::collections::BTreeSet;

use dsh_agent::TurnRunner;
use dsh_llm::ContentBlock;
use dsh_session::{AssistantMessage, Session, ToolResult};

use crate::kit::{Scene, calls, says};
use crate::log::{all, call_ids};
use crate::turns::requested;

/// Each call's id, shortened to `fresh` when it was replaced, and what the provider called it.
fn named(session: &Session) -> Vec<(String, Option<String>)> {
    let mut named = Vec::new();
    for answer in all::<AssistantMessage>(session) {
        for block in answer.message.tool_calls() {
            let ContentBlock::ToolCall { id, provider_call_id, .. } = block else { unreachable!() };
            let id = if id.len() == 36 { "fresh" } else { id };
            named.push((id.to_owned(), provider_call_id.as_deref().map(str::to_owned)));
        }
    }
    named
}

/// Every call of the log has exactly one result, in order, and a name of its own.
fn assert_each_answered_once(session: &Session) {
    let messages = all::<AssistantMessage>(session);
    let called: Vec<_> = messages.iter().flat_map(|answer| call_ids(&answer.message)).collect();
    let results = all::<ToolResult>(session);
    let answered: Vec<_> = results.iter().map(|result| &**result.call_id().unwrap()).collect();
    assert_eq!(answered, called);
    assert_eq!(called.iter().collect::<BTreeSet<_>>().len(), called.len());
}

fn owned(id: &str, provider: Option<&str>) -> (String, Option<String>) {
    (id.to_owned(), provider.map(str::to_owned))
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_repeated_in_a_message_is_replaced() {
    let scene = Scene::new([calls([("c", "p", "{}"), ("c", "p", "{}"), ("d", "p", "{}")]), says("done")]);
    scene.turn("go").await;
    assert_eq!(named(scene.session()), [owned("c", None), owned("fresh", Some("c")), owned("d", None)]);
    assert_each_answered_once(scene.session());
}

#[tokio::test(start_paused = true)]
async fn an_id_of_an_earlier_step_or_turn_is_replaced() {
    let again = || calls([("c", "x", "{}")]);
    let scene = Scene::new([again(), again(), says("done"), again(), says("done")]);
    scene.turn("go").await;
    scene.turn("again").await;
    let renamed = owned("fresh", Some("c"));
    assert_eq!(named(scene.session()), [owned("c", None), renamed.clone(), renamed]);
    assert_each_answered_once(scene.session());
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_id_is_given_one() {
    let nameless = || calls([("", "p", "{}"), ("", "p", "{}")]);
    let scene = Scene::new([nameless(), nameless(), says("done")]);
    scene.turn("go").await;
    assert_eq!(named(scene.session()), vec![owned("fresh", None); 4]);
    assert_each_answered_once(scene.session());
}

#[tokio::test(start_paused = true)]
async fn the_ids_of_a_program_s_calls_are_no_exception() {
    let scene = Scene::new([]);
    for _ in 0..2 {
        let calls = requested(&[("c", "p", "{}"), ("", "p", "{}")]);
        scene.turns.run_calls(&scene.agent, calls, &scene.cancel).await.unwrap();
    }
    scene.assert_sound();
    let fresh = owned("fresh", None);
    let expected = [owned("c", None), fresh.clone(), owned("fresh", Some("c")), fresh];
    assert_eq!(named(scene.session()), expected);
    assert_each_answered_once(scene.session());
}
