//! Time spent waiting for a person does not count (spec 12 §3: `maxWallMs`). The engine is played, so that the clock can stand
//! still.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_code_runtime::wire::{Call, FromEngine, Link, ToEngine};
use dsh_code_runtime::{CodeRuntime, Failure, Host, Isolation, Limits, Misuse, Request, Terms, drive};
use dsh_json::{Json, object};
use dsh_lifecycle::Cancel;
use dsh_tools_core::{
    Approval, ApprovalRequest, Approver, Execution, Layer, Next, PreDecision, ToolError, ToolResult,
    plain_text,
};

use crate::stage::Stage;

/// A runtime whose programs are the names of tools: lines are called one after the other, the words of a line at once.
struct Played(Limits);

struct Engine {
    lines: VecDeque<Vec<FromEngine>>,
    owed: usize,
}

impl Link for Engine {
    fn send(&mut self, message: ToEngine) {
        if let ToEngine::Reply { .. } = message {
            self.owed -= 1;
        }
    }

    fn backlog(&self) -> usize {
        0
    }

    async fn receive(&mut self) -> Result<FromEngine, Failure> {
        loop {
            match self.lines.front_mut() {
                Some(line) if !line.is_empty() => {
                    self.owed += 1;
                    return Ok(line.remove(0));
                }
                _ if self.owed > 0 => return pending().await,
                Some(_) => drop(self.lines.pop_front()),
                None => return Ok(FromEngine::Done { result: Ok(None), used: None }),
            }
        }
    }
}

#[async_trait]
impl CodeRuntime for Played {
    fn language(&self) -> &'static str {
        "typescript"
    }

    fn isolation(&self) -> Isolation {
        Isolation::Thread
    }

    async fn run(&self, request: Request, host: &dyn Host) -> Result<dsh_code_runtime::Outcome, Misuse> {
        let mut ids = 1..;
        let mut call = |name: &str| {
            let (id, args) = (ids.next().unwrap(), object! {});
            FromEngine::Call(Call { id, namespace: "tools".into(), name: name.into(), args })
        };
        let lines = request.program.lines();
        let lines = lines.map(|line| line.split_whitespace().map(&mut call).collect()).collect();
        let terms = Terms { request: &request, host, limits: &self.0, closing: &Cancel::new() };
        Ok(drive(&mut Engine { lines, owed: 0 }, &terms).await)
    }

    async fn close(&self) {}
}

/// Calls of the tools whose names begin so are asked about.
struct Ask;

#[async_trait]
impl Layer<Execution, PreDecision> for Ask {
    async fn call(
        &self,
        call: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        if call.name.starts_with("asked") { Ok(PreDecision::Ask(None)) } else { next.run(call).await }
    }
}

/// Answers after this long, unless the question is withdrawn.
struct After(Duration, Approval);

#[async_trait]
impl Approver for After {
    async fn ask(&self, request: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
        Ok(tokio::select! {
            () = tokio::time::sleep(self.0) => self.1,
            () = request.execution.cancel.cancelled() => Approval::Cancelled,
        })
    }
}

/// Runs a program within 1 s, with a person who answers after 5 s. There are `asked` and `asked_parallel`, which are quick,
/// and `lasting`, whose body takes 5 s.
async fn run(answer: Approval, program: &str) -> Arc<ToolResult> {
    let limits = Limits { max_wall: Duration::from_secs(1), ..Limits::default() };
    let mut stage = Stage::over(Arc::new(Played(limits)));
    stage.tool("asked", false, |_, _| Box::pin(async { Ok(Json::Null) }));
    stage.tool("asked_parallel", true, |_, _| Box::pin(async { Ok(Json::Null) }));
    let during = |time| {
        move |_, cx: &dsh_tools_core::RunContext| -> dsh_tools_core::BoxFuture<'static, _> {
            let cancel = cx.cancel().clone();
            Box::pin(async move {
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_millis(time)) => Ok(Json::Null),
                    () = cancel.cancelled() => Err(ToolError::aborted()),
                }
            })
        }
    };
    stage.tool("lasting", true, during(5_000));
    stage.tool("brief", true, during(400));
    stage.keep(|stage| stage.tools.on_pre_execute(None, Arc::new(Ask)));
    stage.keep(|stage| {
        stage.tools.approver().provide(Arc::new(After(Duration::from_secs(5), answer))).unwrap()
    });
    stage.run(program).await
}

async fn check(answer: Approval, program: &str, told: &str, times: (u64, u64)) {
    let result = run(answer, program).await;
    let text = plain_text(&result.content);
    assert!(text.starts_with(told), "{program}: {text}");
    let receipt = result.meta.as_ref().unwrap().get("receipt").unwrap();
    let ms = |key| receipt.get(key).and_then(Json::as_u64).unwrap();
    assert_eq!((ms("wallMs"), ms("askedMs")), times, "{program}: {receipt}");
}

const DONE: &str = "(run_code completed with no output)";
const LATE: &str =
    "Error: code run failed (timeout): the program ran for 1000 ms, 1000 ms are allowed (maxWallMs)";

#[tokio::test(start_paused = true)]
async fn a_person_may_take_longer_than_a_program_and_a_tool_may_not() {
    check(Approval::AllowedOnce, "asked", DONE, (5_000, 5_000)).await;
    check(Approval::Rejected, "asked", DONE, (5_000, 5_000)).await;
    check(Approval::AllowedOnce, "lasting", LATE, (1_000, 0)).await;
}

#[tokio::test(start_paused = true)]
async fn the_time_of_questions_one_after_the_other_adds_up_and_at_once_it_counts_once() {
    check(Approval::AllowedOnce, "brief\nasked\nbrief\nasked", DONE, (10_800, 10_000)).await;
    check(Approval::AllowedOnce, "asked_parallel asked_parallel asked_parallel\nbrief", DONE, (5_400, 5_000))
        .await;
    // Were it counted for each question, there would be time for this.
    let late = "asked_parallel asked_parallel\nlasting";
    check(Approval::AllowedOnce, late, LATE, (6_000, 5_000)).await;
}

#[tokio::test(start_paused = true)]
async fn what_runs_while_a_person_is_asked_has_that_time_too() {
    check(Approval::AllowedOnce, "lasting asked_parallel", DONE, (5_000, 5_000)).await;
}
