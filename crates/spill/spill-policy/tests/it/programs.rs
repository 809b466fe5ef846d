//! Programs whose calls give much, over stores that take their time (spec 08 §4.3, §5.33–39).

use std::pin::pin;
use std::sync::Arc;

use dsh_json::{Json, object};
use dsh_llm::{plain_text, text};
use dsh_session::Payload;
use dsh_tools_core::{
    AnyTool, BoxFuture, Content, DispatchSettled, DispatchStarted, RUN_CODE, RunContext, ToolError,
    ToolResult,
};
use tokio::task::yield_now;

use crate::engine::{Played, threads, value};
use crate::scene::{Scene, only_text, tool};
use crate::shelf::Does;

/// Its value is long, and so is what a model would read of it.
struct Much;

impl AnyTool for Much {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async { Ok(object! { "lines": long() }) })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text(long()))
    }
}

fn long() -> String {
    "line\n".repeat(400)
}

const PATIENT: &str = r#"{"maxInlineBytes": 300, "saveMs": 3600000}"#;

#[tokio::test]
async fn a_program_has_the_whole_and_the_log_a_part() {
    let mut scene = Scene::with(PATIENT, Does::Keep);
    scene.tool(tool("much", Much).paging());
    scene.runs_programs(threads(), 10);
    let program = scene.program("return (await tools.much({})).lines.length;");
    let result = scene.tools.execute(program).await;
    assert_eq!(value(&result), &Json::from(2_000));
    let [record] = &scene.records()[..] else { panic!("one call") };
    let kept = only_text(&record.content);
    assert!(kept.len() <= 300 && kept.contains("mem:c1:code:1"), "{kept}");
    let [saved] = &scene.shelf.take()[..] else { panic!("one text") };
    assert_eq!((&*saved.source.label, &*saved.source.call_id), ("dispatch", "c1:code:1"));
    assert_eq!((&*saved.owner.session_id, &*saved.content), ("s", &*long()));
}

#[tokio::test]
async fn a_program_that_fails_with_much_output_is_a_result_like_any_other() {
    let mut scene = Scene::with(PATIENT, Does::Keep);
    scene.runs_programs(threads(), 10);
    let program = "for (let i = 0; i < 200; i++) console.log('line ' + i); throw new Error('no');";
    let result = scene.tools.execute(scene.program(program)).await;
    assert_eq!(result.error().unwrap().code(), Some("CODE_RUN_FAILED"));
    let shown = plain_text(&result.content);
    assert!(shown.len() <= 300 && shown.starts_with("Error: code run failed (exception): "), "{shown}");
    let [saved] = &scene.shelf.take()[..] else { panic!("one text") };
    let source = &saved.source;
    assert_eq!((&*source.tool_name, &*source.call_id, &*source.label), (RUN_CODE, "c1", "result"));
    assert!(saved.content.contains("line 0\nline 1\n") && saved.content.contains("line 199"));
    assert!(scene.agent.session().events().is_empty(), "it adds nothing to the log by itself");
}

#[tokio::test]
async fn a_record_that_can_t_be_stored_changes_nothing_for_the_program() {
    let mut scene = Scene::with(PATIENT, Does::Refuse);
    scene.tool(tool("much", Much));
    scene.runs_programs(threads(), 10);
    let program = scene.program("return (await tools.much({})).lines.length;");
    let result = scene.tools.execute(program).await;
    assert_eq!(value(&result), &Json::from(2_000));
    assert_eq!(only_text(&scene.records()[0].content), long());
    assert!(scene.warned().contains("the disk is full"));
}

/// Polls a run along with others until this is so.
async fn until(run: &mut (impl Future<Output = Arc<ToolResult>> + Unpin), so: impl Fn() -> bool) {
    for _ in 0..10_000 {
        if so() {
            return;
        }
        tokio::select! {
            biased;
            result = &mut *run => panic!("it is over: {result:?}"),
            () = yield_now() => {}
        }
    }
    panic!("it never came to be so");
}

/// Polls a run for a while in which nothing else happens.
async fn on(run: &mut (impl Future<Output = Arc<ToolResult>> + Unpin)) {
    let turns = std::cell::Cell::new(0);
    until(run, || turns.replace(turns.get() + 1) == 200).await;
}

#[tokio::test]
async fn a_store_that_takes_its_time_holds_up_the_end_of_a_run_and_nothing_else() {
    let mut scene = Scene::with(PATIENT, Does::Wait);
    scene.tool(tool("much", Much));
    let played = Arc::new(Played::default());
    scene.runs_programs(Arc::clone(&played) as _, 10);
    let mut run = pin!(scene.tools.execute(scene.program("much\nmuch")));
    until(&mut run, || played.0.lock().last().is_some_and(|note| note == "over")).await;
    on(&mut run).await;
    let gave = format!("much gave {}", object! { "lines": long() }.to_text());
    assert_eq!(*played.0.lock(), [gave.clone(), gave, "over".to_owned()]);
    assert_eq!(scene.logged(), ["start 1", "start 2"]);
    scene.shelf.gate.add_permits(1);
    until(&mut run, || scene.logged().len() == 3).await;
    on(&mut run).await;
    scene.shelf.gate.add_permits(1);
    let result = run.await;
    assert!(!result.is_error());
    assert_eq!(scene.logged(), ["start 1", "start 2", "end 1", "end 2"]);
    assert!(scene.records().iter().all(|record| only_text(&record.content).len() <= 300));
}

#[tokio::test]
async fn calls_wait_when_too_many_texts_do() {
    let mut scene = Scene::with(PATIENT, Does::Wait);
    scene.tool(tool("much", Much));
    let played = Arc::new(Played::default());
    scene.runs_programs(Arc::clone(&played) as _, 1);
    let mut run = pin!(scene.tools.execute(scene.program("much\nmuch\nmuch")));
    until(&mut run, || played.0.lock().len() == 2).await;
    on(&mut run).await;
    assert_eq!(scene.logged(), ["start 1", "start 2"]);
    scene.shelf.gate.add_permits(1);
    until(&mut run, || scene.logged().contains(&"start 3".to_owned())).await;
    scene.shelf.gate.add_permits(2);
    run.await;
    let logged = scene.logged();
    assert_eq!(logged.iter().filter(|line| line.starts_with("end")).count(), 3, "{logged:?}");
    let kinds = [DispatchStarted::TYPE, DispatchSettled::TYPE];
    assert!(scene.agent.session().events().iter().all(|event| kinds.contains(&&*event.kind)));
}
