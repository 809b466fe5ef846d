//! Policies around a program's calls (spec 06 §4.3–4.5).

use std::sync::Arc;

use async_trait::async_trait;
use dsh_json::object;
use dsh_llm::{Content, ContentBlock, plain_text};
use dsh_tools_core::{
    Accept, DispatchSettled, Execution, Layer, Next, Outcome, Post, PostDecision, PreDecision, ToolError,
    text,
};
use parking_lot::Mutex;

use crate::stage::Stage;

/// Notes its way in and out of an ordered stage, with others given a chance in between.
struct Slow(&'static str, Arc<Mutex<Vec<String>>>);

impl Slow {
    async fn pass(&self, call: &Execution) {
        let label =
            call.arguments.get("label").and_then(dsh_json::Json::as_str).unwrap_or("program").to_owned();
        self.1.lock().push(format!("{} {label} in", self.0));
        for _ in 0..8 {
            tokio::task::yield_now().await;
        }
        self.1.lock().push(format!("{} {label} out", self.0));
    }
}

#[async_trait]
impl Layer<Execution, PreDecision> for Slow {
    async fn call(
        &self,
        call: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        self.pass(call).await;
        next.run(call).await
    }
}

#[async_trait]
impl Layer<Post, PostDecision> for Slow {
    async fn call(&self, post: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        self.pass(&post.execution).await;
        next.run(post).await
    }
}

#[tokio::test]
async fn ordered_stages_never_overlap_and_keep_the_order_of_the_calls() {
    let mut stage = Stage::new();
    let notes: Arc<Mutex<Vec<String>>> = Arc::default();
    let (pre, post) = (Slow("pre", Arc::clone(&notes)), Slow("post", Arc::clone(&notes)));
    stage.keep(|stage| stage.tools.on_pre_execute(None, Arc::new(pre)));
    stage.keep(|stage| stage.tools.on_post_execute(None, Arc::new(post)));
    stage
        .run("await Promise.all(['a', 'b', 'c'].map((label) => tools[label === 'b' ? 'slow' : 'echo']({ label })));")
        .await;
    let noted = notes.lock().clone();
    let inner: Vec<_> = noted.iter().filter(|note| !note.contains("program")).cloned().collect();
    for pair in inner.chunks(2) {
        assert_eq!(pair[0].replace(" in", ""), pair[1].replace(" out", ""), "{inner:?}");
    }
    for stage in ["pre", "post"] {
        let order: Vec<_> =
            inner.iter().filter(|note| note.starts_with(stage) && note.ends_with("in")).collect();
        assert_eq!(order, [&format!("{stage} a in"), &format!("{stage} b in"), &format!("{stage} c in")]);
    }
}

/// Answers in the place of the stage, for one tool.
struct For<F>(&'static str, F);

#[async_trait]
impl<F: Fn() -> Result<PreDecision, ToolError> + Send + Sync> Layer<Execution, PreDecision> for For<F> {
    async fn call(
        &self,
        call: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        if *call.name == *self.0 { (self.1)() } else { next.run(call).await }
    }
}

#[async_trait]
impl<F: Fn() -> PostDecision + Send + Sync> Layer<Post, PostDecision> for For<F> {
    async fn call(&self, post: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        if *post.execution.name == *self.0 { Ok((self.1)()) } else { next.run(post).await }
    }
}

#[tokio::test]
async fn a_listener_that_fails_is_the_program_s_error_and_no_body_runs() {
    let mut stage = Stage::new();
    let fails = || Err(ToolError::plain("the policy is broken"));
    stage.keep(|stage| stage.tools.on_pre_execute(None, Arc::new(For("echo", fails))));
    let told = stage.told("try { await tools.echo({}); } catch (e) { return e.message; }").await;
    assert_eq!(told, "the policy is broken");
    assert!(stage.noted().is_empty());
    assert_eq!(stage.logged(), ["start 1", "fail 1"]);
}

#[tokio::test]
async fn a_policy_changes_what_is_kept_and_not_the_value() {
    let mut stage = Stage::new();
    let preview = || PostDecision::Accept(Accept::Content(text("a preview")), Vec::new());
    stage.keep(|stage| stage.tools.on_post_execute(None, Arc::new(For("echo", preview))));
    assert_eq!(stage.told("return (await tools.echo({ a: 1 })).a;").await, "1");
    let settled: DispatchSettled =
        stage.agent.session().events().iter().find_map(|event| event.read()).unwrap().unwrap();
    assert_eq!(plain_text(&settled.content), "a preview");
}

#[tokio::test]
async fn a_success_that_a_policy_withheld_does_not_conclude_the_turn() {
    let mut stage = Stage::new();
    stage.tool("tell", true, |_, cx| {
        cx.conclude_turn();
        Box::pin(async { Ok("told".into()) })
    });
    let withholds = || PostDecision::Block(text("not that"), Vec::new());
    stage.keep(|stage| stage.tools.on_post_execute(None, Arc::new(For("tell", withholds))));
    let result = stage.run("try { await tools.tell({}); } catch (e) { return e.message; }").await;
    assert!(matches!(result.outcome, Outcome::Succeeded { concludes: false, .. }));
    assert!(plain_text(&result.content).contains("not that"));
}

/// A content with a picture in it.
fn picture() -> Content {
    let image = ContentBlock::Image { attachment: object! { "attachmentId": "a" } };
    Arc::from([ContentBlock::Text { text: "a picture".into() }, image])
}

#[tokio::test]
async fn a_picture_goes_on_to_the_model_once_and_not_with_a_failure() {
    let decisions: [(fn() -> PostDecision, usize); 3] = [
        (|| PostDecision::Accept(Accept::Content(picture()), Vec::new()), 1),
        (|| PostDecision::Accept(Accept::Content(text("words")), Vec::new()), 0),
        (|| PostDecision::Block(picture(), Vec::new()), 0),
    ];
    for (decision, expected) in decisions {
        let mut stage = Stage::new();
        stage.keep(|stage| stage.tools.on_post_execute(None, Arc::new(For("echo", decision))));
        let result = stage.run("try { await tools.echo({}); } catch {} return 1;").await;
        let pictures: Vec<_> =
            result.contexts.iter().filter(|context| &*context.plugin == "tools-code-mode").collect();
        assert_eq!(pictures.len(), expected);
        assert!(pictures.iter().all(|context| context.content == picture()));
    }
}
