//! What every stage sees of one call, and whose word counts.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::{Cancel, Cause};
use dsh_tools_core::{
    Answer, Attempt, CallToken, Execution, Guard, Layer, Next, Observer, Post, PostDecision, PreDecision,
    ToolError, ToolResult, codes,
};
use parking_lot::Mutex;

use crate::kit::{Probe, Stage, call, stopped, told, tool};

/// Listens in every stage, and notes whose call it is and which result was published.
#[derive(Default)]
struct Everywhere {
    tokens: Mutex<Vec<CallToken>>,
    published: Mutex<Vec<Arc<ToolResult>>>,
}

#[async_trait]
impl Layer<Execution, PreDecision> for Everywhere {
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        self.tokens.lock().push(cx.token);
        next.run(cx).await
    }
}

#[async_trait]
impl Layer<Attempt, Answer> for Everywhere {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        self.tokens.lock().push(cx.execution().token);
        next.run(&cx.child()).await
    }
}

#[async_trait]
impl Layer<Post, PostDecision> for Everywhere {
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        self.tokens.lock().push(cx.execution.token);
        next.run(cx).await
    }
}

impl Guard for Everywhere {
    fn check(&self, call: &Execution) -> Option<String> {
        self.tokens.lock().push(call.token);
        None
    }
}

impl Observer for Everywhere {
    fn result(&self, call: &Arc<Execution>, result: &Arc<ToolResult>) {
        self.tokens.lock().push(call.token);
        self.published.lock().push(Arc::clone(result));
    }
}

#[tokio::test]
async fn a_call_has_one_token_in_all_stages_and_its_result_is_the_published_one() {
    let mut stage = Stage::new();
    let everywhere = Arc::new(Everywhere::default());
    let inside = Arc::clone(&everywhere);
    let probe = Probe::new(move |_, cx| {
        inside.tokens.lock().push(cx.execution().token);
        Box::pin(async { Ok("v".into()) })
    });
    stage.register(tool("t", probe));
    let listening = [
        stage.tools.on_pre_execute(None, Arc::<Everywhere>::clone(&everywhere)),
        stage.tools.guard(None, Arc::<Everywhere>::clone(&everywhere)),
        stage.tools.on_execute(None, Arc::<Everywhere>::clone(&everywhere)),
        stage.tools.on_post_execute(None, Arc::<Everywhere>::clone(&everywhere)),
        stage.tools.on_result(None, Arc::<Everywhere>::clone(&everywhere)),
    ];
    let mut seen = Vec::new();
    for _ in 0..2 {
        let result = stage.call(call("t")).await;
        let published = std::mem::take(&mut *everywhere.published.lock());
        assert!(published.len() == 1 && Arc::ptr_eq(&published[0], &result));
        let tokens = std::mem::take(&mut *everywhere.tokens.lock());
        assert!(tokens.len() == 6 && tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
        seen.push(tokens[0]);
    }
    assert_ne!(seen[0], seen[1]);
    drop(listening);
}

/// Stops the caller, if it has one, and fails.
struct Fails(Option<Cancel>);

impl Fails {
    fn error(&self) -> ToolError {
        if let Some(cancel) = &self.0 {
            cancel.cancel(Cause::User);
        }
        ToolError::new("PolicyError", "P_FAILED", "no luck")
    }
}

#[async_trait]
impl Layer<Execution, PreDecision> for Fails {
    async fn call(
        &self,
        _: &Execution,
        _: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        Err(self.error())
    }
}

#[async_trait]
impl Layer<Attempt, Answer> for Fails {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        next.run(cx).await?;
        Err(self.error())
    }
}

#[async_trait]
impl Layer<Post, PostDecision> for Fails {
    async fn call(&self, _: &Post, _: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        Err(self.error())
    }
}

/// What a call comes to when a listener of this stage fails, and what ran.
async fn failing(stage_of: &str, stops: bool) -> (String, Vec<String>) {
    let cancel = Cancel::new();
    let mut stage = Stage::with_tool();
    let fails = Arc::new(Fails(stops.then(|| cancel.clone())));
    let failing = match stage_of {
        "pre" => stage.tools.on_pre_execute(None, fails),
        "around" => stage.tools.on_execute(None, fails),
        _ => stage.tools.on_post_execute(None, fails),
    };
    stage.keep(failing);
    if stage_of != "post" {
        stage.post(|_| Ok(PostDecision::KEEP));
    }
    stage.observe();
    let result = stage.call(stopped("t", &cancel)).await;
    (told(&result), stage.noted())
}

#[tokio::test]
async fn a_listeners_error_keeps_its_code_and_wins_over_an_abort() {
    const TOLD: &str = "P_FAILED Error: no luck";
    for stops in [false, true] {
        for (stage_of, ran) in [("pre", &[][..]), ("around", &["body"]), ("post", &["body"])] {
            let (told, noted) = failing(stage_of, stops).await;
            assert_eq!(told, TOLD, "{stage_of}");
            assert_eq!(noted, [ran, &[&format!("result {TOLD}")]].concat(), "{stage_of}");
        }
    }
}

#[tokio::test]
async fn a_panic_of_any_kind_has_words() {
    let mut stage = Stage::new();
    stage.register(tool("text", Probe::new(|_, _| panic!("in words"))));
    stage.register(tool("made", Probe::new(|_, _| panic!("in {} words", 3))));
    stage.register(tool("other", Probe::new(|_, _| std::panic::panic_any(7))));
    for (name, words) in [("text", "in words"), ("made", "in 3 words"), ("other", "without words")] {
        let result = stage.call(call(name)).await;
        let error = result.error().unwrap();
        assert_eq!(error.code(), Some(codes::PANICKED));
        assert!(error.message.contains(words), "{}", error.message);
    }
}

#[tokio::test]
async fn post_execute_sees_the_callers_own_cancellation() {
    struct Deadline;
    #[async_trait]
    impl Layer<Attempt, Answer> for Deadline {
        async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            let inner = cx.child();
            let answer = next.run(&inner).await;
            inner.cancel().cancel(Cause::Deadline);
            answer
        }
    }
    let cancel = Cancel::new();
    let callers = cancel.clone();
    let mut stage = Stage::with_tool();
    stage.around(Deadline);
    stage.post(move |post| {
        assert!(!post.execution.cancel.is_cancelled());
        callers.cancel(Cause::User);
        assert_eq!(post.execution.cancel.cause(), Some(Cause::User));
        Ok(PostDecision::KEEP)
    });
    assert_eq!(told(&*stage.call(stopped("t", &cancel)).await), "ok \"value\"");
}
