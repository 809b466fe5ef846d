//! Bounding is the last stage: whatever listeners and finalisers made of a result is bounded (spec 08 §4.2, §6.3).

use std::sync::Arc;

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_llm::text;
use dsh_tools_core::{
    Accept, AnyTool, Arguments, BoxFuture, CallInput, Content, Context, JsonLimits, Layer, Next, Outcome,
    Post, PostDecision, RunContext, ToolError, ToolResult,
};

use crate::scene::{Gives, Scene, only_text, tool};

fn long(word: &str) -> String {
    format!("{word}\n").repeat(200)
}

enum Judge {
    Content,
    Block,
    Value,
    Beside,
}

#[async_trait]
impl Layer<Post, PostDecision> for Judge {
    async fn call(&self, _: &Post, _: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        let beside = Context { plugin: "judge".into(), form: None, content: text(long("beside")) };
        Ok(match self {
            Self::Content => PostDecision::Accept(Accept::Content(text(long("rewritten"))), vec![beside]),
            Self::Block => PostDecision::Block(text(long("withheld")), vec![beside]),
            Self::Value => {
                PostDecision::Accept(Accept::Value(object! { "say": long("rendered") }), vec![beside])
            }
            Self::Beside => PostDecision::Accept(Accept::Keep, vec![beside]),
        })
    }
}

/// Says what its value says, and finalises what it is told to.
struct Echo {
    last_word: Option<&'static str>,
}

impl AnyTool for Echo {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async { Ok(object! { "say": long("own") }) })
    }

    fn render(&self, _: &Json, value: &Json) -> Result<Content, ToolError> {
        Ok(text(value.get("say").and_then(Json::as_str).unwrap_or_default()))
    }

    fn finalize_content(&self, _: &Json, _: &ToolResult) -> Option<Content> {
        self.last_word.map(|word| text(long(word)))
    }
}

#[tokio::test]
async fn what_a_listener_decides_is_bounded_in_any_order() {
    for (judge, head) in [
        (Judge::Content, "rewritten\n"),
        (Judge::Block, "withheld\n"),
        (Judge::Value, "rendered\n"),
        (Judge::Beside, "own\n"),
    ] {
        let (fails, replaces) = (matches!(judge, Judge::Block), matches!(judge, Judge::Value));
        let mut scene = Scene::capped(300);
        // After the policy, and so inside any that would listen with it.
        scene.kept.push(scene.tools.on_post_execute(None, Arc::new(judge)));
        scene.tool(tool("t", Echo { last_word: None }));
        let result = scene.call("t").await;
        let shown = only_text(&result.content);
        assert!(shown.len() <= 300 && shown.starts_with(head), "{shown}");
        assert!(scene.shelf.take()[0].content.starts_with(&head.repeat(200)));
        assert_eq!(result.contexts.len(), 1, "{head}");
        assert_eq!(&*result.contexts[0].plugin, "judge");
        assert_eq!(only_text(&result.contexts[0].content), long("beside"), "messages are not its business");
        match &result.outcome {
            Outcome::Failed(error) => assert!(fails && error.code() == Some("BLOCKED")),
            Outcome::Succeeded { value, .. } => {
                let said = if replaces { "rendered" } else { "own" };
                assert_eq!((value, fails), (&object! { "say": long(said) }, false));
            }
        }
    }
}

#[tokio::test]
async fn a_tool_s_last_word_is_bounded_and_stored_as_it_is() {
    let mut scene = Scene::capped(300);
    scene.tool(tool("t", Echo { last_word: Some("projected") }));
    let shown = only_text(&scene.call("t").await.content);
    assert!(shown.len() <= 300 && shown.starts_with("projected\n"), "{shown}");
    assert_eq!(*scene.shelf.take()[0].content, long("projected"));
}

#[tokio::test]
async fn a_note_about_keys_is_a_part_of_what_is_bounded() {
    let mut scene = Scene::capped(300);
    scene.tool(tool("t", Gives::Content(text("x".repeat(299)))));
    let arguments = Arguments::parse(r#"{"a": 1, "a": 2}"#, &JsonLimits::default());
    let result = scene.tools.execute(CallInput { arguments, ..scene.input("t") }).await;
    let size: usize = result.content.iter().filter_map(|block| block.as_text()).map(str::len).sum();
    assert!(size <= 300, "{size}");
    assert!(scene.shelf.take()[0].content.len() > 300);
}

#[tokio::test]
async fn malformed_arguments_with_a_long_text_are_bounded_too() {
    let mut scene = Scene::capped(300);
    scene.tool(tool("t", Gives::Failure(long("unused"))));
    let arguments = Arguments::parse("{", &JsonLimits::default());
    scene.kept.push(scene.tools.on_post_execute(None, Arc::new(Judge::Content)));
    let result = scene.tools.execute(CallInput { arguments, ..scene.input("t") }).await;
    assert_eq!(result.error().unwrap().code(), Some("INVALID_ARGS"));
    assert!(only_text(&result.content).len() <= 300);
}
