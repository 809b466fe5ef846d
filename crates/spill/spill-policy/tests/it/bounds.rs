//! What is bounded of a model's own calls, and what is not (spec 08 §4.2).

use std::sync::Arc;

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_lifecycle::Slot;
use dsh_llm::text;
use dsh_spill::{SaveText, SpillOwner, SpillSource};
use dsh_spill_policy::{SpillConfig, SpillPolicy};
use dsh_tools_core::{
    AnyTool, Bound, BoxFuture, CallInput, Content, Execution, RunContext, ToolError, ToolResult, Tools,
};

use crate::scene::{Gives, Scene, block, image, only_text, tool};
use crate::shelf::Does;

/// More than any cap here.
fn long() -> String {
    "line\n".repeat(400)
}

#[tokio::test]
async fn without_a_cap_nothing_is_registered_and_nothing_bounded() {
    for config in ["{}", r#"{"saveMs": 3}"#] {
        let mut scene = Scene::with(config, Does::Keep);
        assert!(scene.tools.bound().get().is_none());
        assert_eq!(scene.says(&long()).await, long());
        assert_eq!((*scene.shelf.asked.lock(), scene.warned().as_str()), (0, ""));
    }
}

#[tokio::test]
async fn a_large_text_is_stored_whole_and_shown_in_part() {
    let mut scene = Scene::capped(400);
    let shown = scene.says(&long()).await;
    assert!(shown.len() <= 400 && shown.starts_with("line\nline\n"), "{shown}");
    assert!(
        shown.contains(" of 2000 bytes are not shown") && shown.contains("at mem:c1. Ask for it."),
        "{shown}"
    );
    let saved = SaveText {
        owner: SpillOwner { session_id: "s".into() },
        source: SpillSource { tool_name: "t".into(), call_id: "c1".into(), label: "result".into() },
        suggested_name: "t.txt".into(),
        content: long().into(),
    };
    assert_eq!((scene.shelf.take(), scene.warned().as_str()), (vec![saved], ""));
}

#[tokio::test]
async fn text_up_to_the_cap_is_left_alone() {
    let mut scene = Scene::capped(6);
    for content in [
        text("é€b"),
        text(""),
        [block("ab"), block(""), block("cdef")].into(),
        [image("1"), block("abcdef")].into(),
        [image("1")].into(),
        [].into(),
    ] {
        let result = scene.gives(Arc::clone(&content)).await;
        assert!(Arc::ptr_eq(&result.content, &content), "{content:?}");
    }
    let result = scene.gives([block("abc"), block("defg")].into()).await;
    assert_eq!(result.content.len(), 2, "it is too large, and no notice fits");
    assert!(scene.warned().contains("`maxInlineBytes` allows 6"));
    assert_eq!(scene.shelf.take(), []);
}

#[tokio::test]
async fn no_cap_is_too_small_to_be_kept() {
    for (cap, length) in [(0, 1), (0, 5_000_000), (1, 2), (50, 51), (50, 5_000_000)] {
        let mut scene = Scene::capped(cap);
        let whole = "x".repeat(length);
        assert_eq!(scene.says(&whole).await, whole, "{cap}");
        let warned = scene.warned();
        assert!(warned.trim_start().starts_with("WARN a large result stays whole"), "{warned}");
        for part in [r#"tool="t""#, r#"call="c1""#, r#"label="result""#, &format!("allows {cap}")] {
            assert!(warned.contains(part), "{part}: {warned}");
        }
        assert_eq!(scene.shelf.take(), [], "nothing is stored that nobody is told of");
    }
}

#[tokio::test]
async fn blocks_of_text_count_together_and_others_stay_in_order() {
    let mut scene = Scene::capped(200);
    let content: Content =
        [image("1"), block("first "), image("2"), block(&"second\n".repeat(60)), image("3")].into();
    let result = scene.gives(content).await;
    let [one, shown, two, three] = &*result.content else { panic!("{:?}", result.content) };
    assert_eq!([one, two, three], [&image("1"), &image("2"), &image("3")]);
    let shown = shown.as_text().unwrap();
    assert!(shown.len() <= 200 && shown.starts_with("first second\n"), "{shown}");
    let saved = scene.shelf.take();
    assert_eq!(*saved[0].content, format!("first {}", "second\n".repeat(60)));
    let only = scene.gives([block(&"a".repeat(150)), block(&"b".repeat(150))].into()).await;
    assert!(only_text(&only.content).starts_with("aaa"));
}

#[tokio::test]
async fn a_tool_that_pages_is_left_alone_whatever_it_is_called() {
    let mut scene = Scene::capped(200);
    scene.tool(tool("view", Gives::Content(text(long()))).paging());
    scene.tool(tool("read", Gives::Content(text(long()))));
    scene.tool(tool("cat", Gives::Failure(long())).paging());
    assert_eq!(only_text(&scene.call("view").await.content), long());
    assert_eq!((scene.warned().as_str(), scene.shelf.take().len()), ("", 0));
    assert!(only_text(&scene.call("read").await.content).len() <= 200, "a name is no declaration");
    assert!(only_text(&scene.call("cat").await.content).len() <= 200, "a failure is no page");
}

#[tokio::test]
async fn a_failure_stays_one_and_keeps_its_message_at_the_head() {
    let mut scene = Scene::capped(300);
    scene.tool(tool("t", Gives::Failure(format!("no such thing\n{}", long()))));
    let result = scene.call("t").await;
    let error = result.error().unwrap();
    assert_eq!((error.code(), error.message.len()), (Some("ODD"), 14 + long().len()));
    let shown = only_text(&result.content);
    assert!(shown.starts_with("Error: no such thing\n") && shown.len() <= 300, "{shown}");
    assert_eq!(scene.shelf.take().len(), 1);
}

/// Calls `t` as a part of its own call, and gives the size of what that would have said.
struct Within(Tools);

impl AnyTool for Within {
    fn execute<'a>(&'a self, _: &'a Json, cx: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            let (agent, parent) = (cx.execution().agent.clone(), Some(cx.execution().token));
            let input = CallInput { agent, parent, ..CallInput::new("c1:1", "t", object! {}) };
            let inner = only_text(&self.0.execute(input).await.content);
            Ok(object! { "bytes": inner.len() })
        })
    }

    fn render(&self, _: &Json, value: &Json) -> Result<Content, ToolError> {
        Ok(text(value.to_text()))
    }
}

#[tokio::test]
async fn a_call_within_a_call_is_left_alone() {
    let mut scene = Scene::capped(200);
    scene.tool(tool("t", Gives::Content(text(long()))));
    scene.tool(tool("outer", Within(scene.tools.clone())));
    assert_eq!(only_text(&scene.call("outer").await.content), r#"{"bytes":2000}"#);
    assert_eq!((scene.warned().as_str(), scene.shelf.take().len()), ("", 0));
}

#[tokio::test]
async fn a_call_without_a_session_stays_whole_and_no_store_is_asked() {
    let mut scene = Scene::capped(200);
    scene.tool(tool("t", Gives::Content(text(long()))));
    let result = scene.tools.execute(CallInput { agent: None, ..scene.input("t") }).await;
    assert_eq!((result.is_error(), only_text(&result.content)), (false, long()));
    assert!(scene.warned().contains("reason=the call belongs to no session"));
    assert_eq!(*scene.shelf.asked.lock(), 0);
}

#[tokio::test]
async fn it_goes_with_its_mount() {
    let mut scene = Scene::capped(200);
    assert!(scene.says(&long()).await.len() <= 200);
    scene.policy = None;
    assert!(scene.tools.bound().get().is_none());
    assert_eq!(scene.says(&long()).await, long());
    assert_eq!((scene.shelf.take().len(), *scene.shelf.asked.lock()), (1, 1));
}

struct Another;

#[async_trait]
impl Bound for Another {
    async fn bound(&self, _: &Arc<Execution>, _: &ToolResult) -> Option<Content> {
        None
    }
}

#[test]
fn only_one_bounds_the_results_of_a_registry() {
    let tools = Tools::new();
    let another = tools.bound().provide(Arc::new(Another)).unwrap();
    let config = SpillConfig { max_inline_bytes: Some(9), ..SpillConfig::default() };
    let policy = || SpillPolicy::new(tools.clone(), Slot::empty(), config.clone()).register();
    let version = tools.version();
    assert!(policy().is_err());
    assert_eq!(tools.version(), version, "the other half is not registered, either");
    drop(another);
    assert_eq!(policy().unwrap().len(), 2);
}

/// What a screen is drawn from has a bound of its own, whatever the text is.
#[tokio::test]
async fn meta_that_is_too_large_is_left_out_and_told_to_the_operator() {
    let size = r#"{"for":"the screen"}"#.len() as u64;
    for (most, kept) in [(size, true), (size - 1, false), (0, false)] {
        let config = format!(r#"{{"maxInlineBytes": 1000, "maxMetaBytes": {most}}}"#);
        let mut scene = Scene::with(&config, Does::Keep);
        let result = scene.gives(text("short")).await;
        assert_eq!((result.meta.is_some(), result.is_error()), (kept, false), "{most}");
        assert_eq!(scene.warned().contains("`maxMetaBytes`"), !kept);
    }
}
