//! Reminders beside what other listeners decide (spec 09 §C.5).

use std::sync::Arc;

use async_trait::async_trait;
use dsh_json::object;
use dsh_llm::{plain_text, text};
use dsh_repeat_reminder::PLUGIN;
use dsh_tools_core::{Accept, Context, Layer, Next, Outcome, Post, PostDecision, ToolError};

use crate::scene::Scene;

enum Judge {
    Block,
    Value,
    Fail,
}

#[async_trait]
impl Layer<Post, PostDecision> for Judge {
    async fn call(&self, _: &Post, _: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        let own = Context { plugin: "judge".into(), form: Some("note".into()), content: text("own words") };
        match self {
            Self::Block => Ok(PostDecision::Block(text("withheld"), vec![own])),
            Self::Value => Ok(PostDecision::Accept(Accept::Value(object! { "b": 2 }), vec![own])),
            Self::Fail => Err(ToolError::plain("the judge is ill")),
        }
    }
}

#[tokio::test]
async fn the_reminder_stands_in_front_and_everything_else_stays() {
    for judge in [Judge::Block, Judge::Value] {
        let blocks = matches!(judge, Judge::Block);
        let mut scene = Scene::new(r#"{"thresholds": [2]}"#);
        scene.kept.push(scene.tools.on_post_execute(None, Arc::new(judge)));
        let agent = scene.agent();
        scene.call(&agent, "probe", object! { "a": 1 }).await;
        let result = scene.call(&agent, "probe", object! { "a": 1 }).await;
        let from: Vec<_> =
            result.contexts.iter().map(|context| (&*context.plugin, context.form.as_deref())).collect();
        assert_eq!(from, [(PLUGIN, Some("notice")), ("judge", Some("note"))]);
        match &result.outcome {
            Outcome::Failed(_) => assert!(blocks && plain_text(&result.content).contains("withheld")),
            Outcome::Succeeded { value, .. } => assert_eq!((value, blocks), (&object! { "b": 2 }, false)),
        }
    }
}

#[tokio::test]
async fn a_call_counts_also_where_a_listener_behind_fails() {
    let mut scene = Scene::new(r#"{"thresholds": [2]}"#);
    let agent = scene.agent();
    let ill = scene.tools.on_post_execute(None, Arc::new(Judge::Fail));
    scene.call(&agent, "probe", object! {}).await;
    drop(ill);
    let result = scene.call(&agent, "probe", object! {}).await;
    assert_eq!(result.contexts.len(), 1);
    scene.kept = dsh_lifecycle::Registrations::new();
}
