//! One matrix over both ways to a tool: called by the model, and called by a program. Each row is a policy, and both calls
//! have to meet the same stages in the same order and come to the same end (spec 06 §4.3, 01 §4).

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_tools_core::{
    Accept, Answer, Approval, ApprovalRequest, Approver, Attempt, Bound, CallInput, Content, Execution,
    Guard, Layer, Mask, Next, Observer, Outcome, Post, PostDecision, PreDecision, Presentation, RUN_CODE,
    ToolError, ToolResult, plain_text, text,
};
use parking_lot::Mutex;

use crate::stage::Stage;

/// Notes each stage that a call of a tool passes, and answers there as the row says.
struct Policy {
    notes: Mutex<Vec<String>>,
    row: Row,
}

/// What one policy answers; `None` lets the call pass.
#[derive(Clone, Copy, Default)]
struct Row {
    name: &'static str,
    pre: Option<fn() -> Result<PreDecision, ToolError>>,
    answer: Option<Approval>,
    guard: Option<&'static str>,
    around: Option<fn() -> Answer>,
    post: Option<fn() -> PostDecision>,
    bound: Option<&'static str>,
    /// What is called, if not `echo`.
    tool: Option<&'static str>,
    hidden: bool,
}

impl Policy {
    fn note(&self, stage: &str, call: &Execution) -> bool {
        let is_ours = &*call.name != RUN_CODE;
        if is_ours {
            self.notes.lock().push(format!("{stage} {}", call.name));
        }
        is_ours
    }
}

#[async_trait]
impl Layer<Execution, PreDecision> for Policy {
    async fn call(
        &self,
        call: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        match self.row.pre {
            Some(decide) if self.note("pre-execute", call) => decide(),
            Some(_) => next.run(call).await,
            None => {
                self.note("pre-execute", call);
                next.run(call).await
            }
        }
    }
}

#[async_trait]
impl Approver for Policy {
    async fn ask(&self, request: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
        self.note("approval", request.execution);
        Ok(self.row.answer.unwrap_or(Approval::Unavailable))
    }
}

impl Guard for Policy {
    fn check(&self, call: &Execution) -> Option<String> {
        if self.note("guard", call) { self.row.guard.map(str::to_owned) } else { None }
    }
}

#[async_trait]
impl Layer<Attempt, Answer> for Policy {
    async fn call(&self, attempt: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        match self.row.around {
            Some(answer) if self.note("execute", attempt.execution()) => Ok(answer()),
            Some(_) => next.run(attempt).await,
            None => {
                self.note("execute", attempt.execution());
                next.run(attempt).await
            }
        }
    }
}

#[async_trait]
impl Layer<Post, PostDecision> for Policy {
    async fn call(&self, post: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        match self.row.post {
            Some(decide) if self.note("post-execute", &post.execution) => Ok(decide()),
            Some(_) => next.run(post).await,
            None => {
                self.note("post-execute", &post.execution);
                next.run(post).await
            }
        }
    }
}

#[async_trait]
impl Bound for Policy {
    async fn bound(&self, call: &Arc<Execution>, _: &ToolResult) -> Option<Content> {
        if self.note("bound", call) { self.row.bound.map(text) } else { None }
    }
}

impl Observer for Policy {
    fn result(&self, call: &Arc<Execution>, result: &Arc<ToolResult>) {
        let said = plain_text(&result.content);
        self.note(&format!("result `{said}` of"), call);
    }
}

/// What a way to the tool came to: the stages, the bodies that ran, and the value or the message.
type Passed = (Vec<String>, Vec<String>, Result<Json, String>);

async fn passed(row: Row, nested: bool) -> Passed {
    let mut stage = Stage::new();
    let policy = Arc::new(Policy { notes: Mutex::default(), row });
    let of = || Arc::clone(&policy);
    stage.keep(|stage| stage.tools.present_as(Some(stage.agent.scope()), Presentation::Both).unwrap());
    stage.keep(|stage| stage.tools.on_pre_execute(None, of()));
    stage.keep(|stage| stage.tools.guard(None, of()));
    stage.keep(|stage| stage.tools.on_execute(None, of()));
    stage.keep(|stage| stage.tools.on_post_execute(None, of()));
    stage.keep(|stage| stage.tools.on_result(None, of()));
    stage.keep(|stage| stage.tools.bound().provide(of()).unwrap());
    if row.answer.is_some() {
        stage.keep(|stage| stage.tools.approver().provide(of()).unwrap());
    }
    if row.hidden {
        let mask = Mask { deny: ["echo".into()].into(), ..Mask::default() };
        stage.keep(|stage| stage.tools.restrict(stage.agent.scope(), mask).unwrap());
    }
    let tool = row.tool.unwrap_or("echo");
    let end = if nested {
        let program = format!(
            "try {{ return {{ ok: await tools['{tool}']({{ label: 'x' }}) }}; }} catch (e) {{ return {{ message: e.message }}; }}"
        );
        let result = stage.run(&program).await;
        let value = result.value().and_then(|value| value.get("result")).cloned().unwrap();
        match (value.get("ok"), value.get("message").and_then(Json::as_str)) {
            (Some(value), None) => Ok(value.clone()),
            (_, message) => Err(message.unwrap().to_owned()),
        }
    } else {
        let agent = Some(stage.agent.clone());
        let input = CallInput { agent, ..CallInput::new("n1", tool, object! { "label": "x" }) };
        match &stage.tools.execute(input).await.outcome {
            Outcome::Succeeded { value, .. } => Ok(value.clone()),
            Outcome::Failed(error) => Err(error.message.clone()),
        }
    };
    let notes = std::mem::take(&mut *policy.notes.lock());
    (notes, stage.noted(), end)
}

fn rows() -> Vec<Row> {
    let of = |name| Row { name, ..Row::default() };
    let ask: fn() -> Result<PreDecision, ToolError> = || Ok(PreDecision::Ask(Some("it looks odd".into())));
    vec![
        of("nobody objects"),
        Row { pre: Some(|| Ok(PreDecision::Deny("not now".into()))), ..of("pre-execute denies") },
        Row { pre: Some(|| Err(ToolError::plain("the policy is broken"))), ..of("pre-execute fails") },
        Row { pre: Some(|| panic!("on purpose")), ..of("pre-execute panics") },
        Row { pre: Some(ask), ..of("pre-execute asks and nobody is there") },
        Row { pre: Some(ask), answer: Some(Approval::AllowedOnce), ..of("a person allows") },
        Row { pre: Some(ask), answer: Some(Approval::Rejected), ..of("a person rejects") },
        Row { pre: Some(ask), answer: Some(Approval::Cancelled), ..of("the question is withdrawn") },
        Row { pre: Some(ask), answer: Some(Approval::Unavailable), ..of("nobody answers") },
        Row {
            pre: Some(ask),
            answer: Some(Approval::AllowedOnce),
            guard: Some("never this"),
            ..of("a person allows and a guard denies")
        },
        Row { guard: Some("never this"), ..of("a guard denies") },
        Row {
            around: Some(|| Answer::Value { value: object! { "instead": true }, contexts: Vec::new() }),
            ..of("a wrapper gives another value")
        },
        Row { around: Some(|| Answer::failed(ToolError::plain("too slow"))), ..of("a wrapper fails it") },
        Row {
            post: Some(|| PostDecision::Accept(Accept::Value(object! { "label": "less" }), Vec::new())),
            ..of("post-execute replaces the value")
        },
        Row {
            post: Some(|| PostDecision::Accept(Accept::Content(text("less")), Vec::new())),
            ..of("post-execute replaces the text")
        },
        Row { post: Some(|| PostDecision::Block(text("not that"), Vec::new())), ..of("post-execute blocks") },
        Row { post: Some(|| panic!("on purpose")), ..of("post-execute panics") },
        Row { bound: Some("…"), ..of("the bound shortens") },
        Row { tool: Some("fail"), ..of("the tool fails") },
        Row { tool: Some("fail"), bound: Some("…"), ..of("the tool fails and the bound shortens") },
        Row { tool: Some("change"), ..of("the tool runs alone") },
    ]
}

#[tokio::test]
async fn a_program_s_call_meets_what_a_direct_call_meets() {
    let mut table = String::new();
    for row in rows() {
        let (native, nested) = (passed(row, false).await, passed(row, true).await);
        assert_eq!(native, nested, "{}", row.name);
        let (notes, bodies, end) = native;
        let end = end.map_or_else(|message| format!("error: {message}"), |value| value.to_text());
        writeln!(table, "{}\n  {}\n  bodies: {}\n  {end}", row.name, notes.join(" · "), bodies.join(" "))
            .unwrap();
    }
    insta::assert_snapshot!(table);
}

#[tokio::test]
async fn what_a_scope_may_not_see_neither_way_reaches() {
    let hidden = Row { name: "hidden", hidden: true, ..Row::default() };
    for nested in [false, true] {
        let (_, bodies, end) = passed(hidden, nested).await;
        assert_eq!(bodies, [""; 0], "nested: {nested}");
        // A direct call finds no tool; a program finds no function of that name.
        let expected = if nested { "not a function" } else { "there is no tool `echo`" };
        assert!(end.as_ref().is_err_and(|message| message.contains(expected)), "{end:?}");
    }
}
