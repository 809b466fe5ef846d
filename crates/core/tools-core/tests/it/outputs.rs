//! What becomes of a value (spec 01 §6.5), of typed tools (spec 04 §4), and the last word of a tool (§6.7).

use std::borrow::Cow;

use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Cancel, Cause};
use dsh_tools_core::{
    Accept, Answer, AnyTool, Arguments, Attempt, CallInput, CallView, Content, Definition, Kind, Layer, Next,
    PostDecision, PreDecision, ResultView, RunContext, StoredResult, Tool, ToolError, codes, text,
};
use futures_util::future::BoxFuture;

use crate::kit::{Probe, Stage, call, context, stopped, told, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Args {
    mode: Mode,
    #[serde(default)]
    at: Option<Point>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Good,
    Lossy,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its shape counts")]
struct Point {
    x: u32,
}

/// Returns a number, which is none in the mode `lossy`.
struct Typed;

impl Tool for Typed {
    const NAME: &'static str = "typed";
    type Args = Args;
    type Output = f64;

    fn description(&self) -> Cow<'_, str> {
        "Typed.".into()
    }

    async fn run(&self, args: Args, _: &RunContext) -> Result<f64, ToolError> {
        let _ = args.at;
        Ok(match args.mode {
            Mode::Good => 1.5,
            Mode::Lossy => f64::NAN,
        })
    }

    fn parallel(&self, _: &Args) -> bool {
        true
    }

    fn present_call(&self, _: &Args) -> Option<CallView> {
        let (raw_input, content, locations) = (None, None, vec![]);
        Some(CallView::Generic { title: "Typed".into(), kind: Kind::Other, raw_input, content, locations })
    }

    fn present_result(&self, _: &Args, _: &StoredResult<'_>) -> Option<ResultView> {
        Some(ResultView::Generic { title: None, content: None })
    }
}

fn with(arguments: Json) -> CallInput {
    CallInput::new("c", "typed", arguments)
}

#[tokio::test]
async fn arguments_are_checked_in_depth_before_the_body() {
    let mut stage = Stage::new();
    stage.register(Definition::typed(Typed).unwrap());
    let good = stage.call(with(object! { "mode": "good" })).await;
    assert_eq!((told(&good), &good.meta), ("ok 1.5".to_owned(), &None));
    for (arguments, place) in [
        (object! { "mode": "bad" }, "mode"),
        (object! { "mode": "good", "at": object! {} }, "at.x"),
        (object! { "mode": "good", "at": object! { "x": "1" } }, "at.x"),
    ] {
        let told = told(&*stage.call(with(arguments)).await);
        assert!(told.starts_with("INVALID_ARGS ") && told.contains(place), "{told}");
    }
}

#[test]
fn arguments_that_do_not_fit_show_nothing_and_run_alone() {
    let definition = Definition::typed(Typed).unwrap();
    let content = text("");
    let stored = StoredResult { content: &content, is_error: false, meta: None };
    for (arguments, fit) in
        [(object! { "mode": "good" }, true), (object! { "mode": 1 }, false), (Json::Null, false)]
    {
        assert_eq!(definition.present_call(&arguments).is_some(), fit, "{arguments}");
        assert_eq!(definition.present_result(&arguments, &stored).is_some(), fit, "{arguments}");
        assert_eq!(definition.parallel(&arguments), fit, "{arguments}");
    }
}

#[tokio::test]
async fn an_output_that_json_can_not_hold_is_invalid() {
    let mut stage = Stage::new();
    stage.register(Definition::typed(Typed).unwrap());
    let result = stage.call(with(object! { "mode": "lossy" })).await;
    assert_eq!(result.error().and_then(ToolError::code), Some(codes::INVALID_TOOL_OUTPUT));
    assert_eq!(result.value(), None);
}

/// A tool whose facts for the screen can't be made.
struct NoMeta;

impl AnyTool for NoMeta {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async { Ok("v".into()) })
    }

    fn render(&self, _: &Json, value: &Json) -> Result<Content, ToolError> {
        Ok(text(value.to_text()))
    }

    fn meta(&self, _: &Json, _: &Json) -> Result<Option<Json>, ToolError> {
        Err(ToolError::plain("on purpose"))
    }
}

fn schema(kind: &str) -> Schema {
    Schema::new(&object! { "type": kind }).unwrap()
}

#[tokio::test]
async fn facts_that_can_not_be_made_are_invalid_output_and_a_misfit_is_named() {
    let mut stage = Stage::new();
    stage.register(Definition::raw("no_meta", "", schema("object"), schema("string"), NoMeta).unwrap());
    stage.register(tool("misfit", Probe::returning(5)));
    for (name, words) in [("no_meta", "meta"), ("misfit", "value: must be a string")] {
        let result = stage.call(call(name)).await;
        let error = result.error().unwrap();
        assert_eq!((error.code(), result.value()), (Some(codes::INVALID_TOOL_OUTPUT), None));
        assert!(error.message.contains(name) && error.message.contains(words), "{}", error.message);
    }
}

/// Answers with what the first call came to.
struct Kept(parking_lot::Mutex<Option<Answer>>);

#[async_trait::async_trait]
impl Layer<Attempt, Answer> for Kept {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        let kept = self.0.lock().take();
        if let Some(answer) = kept {
            return Ok(answer);
        }
        *self.0.lock() = Some(next.run(cx).await?);
        Ok(Answer::failed(ToolError::plain("kept")))
    }
}

#[tokio::test]
async fn a_kept_value_must_fit_the_tool_that_it_is_used_for() {
    let mut stage = Stage::with_tool();
    let number = Definition::raw("n", "", schema("object"), schema("number"), Probe::returning(1)).unwrap();
    stage.register(number);
    stage.around(Kept(parking_lot::Mutex::new(None)));
    assert!(stage.call(call("t")).await.is_error());
    let result = stage.call(call("n")).await;
    assert_eq!(result.error().and_then(ToolError::code), Some(codes::INVALID_TOOL_OUTPUT));
    assert_eq!(stage.noted(), ["body"], "the second body did not run");
}

#[tokio::test]
async fn another_value_keeps_the_messages_of_the_first() {
    let mut stage = Stage::new();
    let probe = Probe::new(|_, cx| {
        cx.defer_context(context("rider"));
        Box::pin(async { Ok("v".into()) })
    });
    stage.register(tool("t", probe));
    stage.post(|_| Ok(PostDecision::Accept(Accept::Value("other".into()), vec![context("more")])));
    assert_eq!(told(&*stage.call(call("t")).await), "ok \"other\" + rider, more");
}

/// A tool that puts its own words over whatever a call came to, and answers as it is told.
fn last_word(body: Probe) -> Stage {
    let mut stage = Stage::new();
    stage.register(tool(
        "t",
        Probe { finalize: |result| Some(text(format!("last: {}", told(result)))), ..body },
    ));
    stage.observe();
    stage
}

#[tokio::test]
async fn a_tool_has_the_last_word_once_however_its_call_ends() {
    let check = async |stage: Stage, input: CallInput, content: &str| {
        let result = stage.call(input).await;
        assert_eq!(dsh_llm::plain_text(&result.content), content);
        assert_eq!(stage.noted().len(), 1);
    };
    let good = || last_word(Probe::returning("v"));
    check(good(), call("t"), "last: ok \"v\"").await;
    let failing = Probe::new(|_, _| Box::pin(async { Err(ToolError::plain("broke")) }));
    check(last_word(failing), call("t"), "last: - Error: broke").await;

    let cancel = Cancel::new();
    cancel.cancel(Cause::User);
    let aborted = "last: ABORTED_BEFORE_DISPATCH Error: tool call aborted before dispatch";
    check(good(), stopped("t", &cancel), aborted).await;

    let malformed = Arguments::parse("{", &dsh_json::Limits::default());
    let result = good().call(CallInput::new("c", "t", malformed)).await;
    assert!(dsh_llm::plain_text(&result.content).starts_with("last: INVALID_ARGS "));

    // A listener fails after the tool is gone: the call keeps the tool that it began with.
    let mut stage = Stage::new();
    let own = Probe { finalize: |_| Some(text("last")), ..Probe::returning("v") };
    let registered = parking_lot::Mutex::new(Some(stage.tools.register(None, tool("t", own)).unwrap()));
    stage.pre(move |_| {
        drop(registered.lock().take());
        panic!("on purpose")
    });
    let result = stage.call(call("t")).await;
    assert_eq!(told(&result), "PANICKED last");
}

#[tokio::test]
async fn a_tool_without_a_last_word_keeps_the_content() {
    let mut stage = Stage::with_tool();
    stage.pre(|_| Some(PreDecision::Allow));
    assert_eq!(told(&*stage.call(call("t")).await), "ok \"value\"");
}
