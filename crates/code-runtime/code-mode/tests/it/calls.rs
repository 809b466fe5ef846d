//! A program's calls: the one path, the one lane, one record each (spec 06 §3–5).

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_code_mode::CodeModeConfig;
use dsh_json::{Json, object};
use dsh_tools_core::{Dispatch, DispatchSettled, Execution, Layer, Next, PreDecision, ToolError, text};

use crate::stage::Stage;

#[tokio::test]
async fn values_go_to_the_program_and_only_what_it_prints_or_returns_goes_back() {
    let stage = Stage::new();
    let told = stage
        .told("const a = await tools.echo({ n: 1 }); console.log('got', a.n); return { sum: a.n + 1 };")
        .await;
    assert_eq!(told, "got 1\n{\n  \"sum\": 2\n}");
    assert_eq!(stage.logged(), ["start 1", "settle 1"]);
    let settled: DispatchSettled =
        stage.agent.session().events().iter().find_map(|event| event.read()).unwrap().unwrap();
    assert_eq!(
        settled,
        DispatchSettled {
            root_call_id: "c1".into(),
            parent_call_id: "c1".into(),
            sub_call_id: "c1:code:1".into(),
            name: "echo".into(),
            arguments: object! { "n": 1 },
            is_error: false,
            content: text("rendered {\"n\":1}"),
        }
    );
    assert!(stage.agent.session().messages().is_empty(), "models never see them");
}

#[tokio::test]
async fn safe_calls_overlap_and_an_exclusive_one_is_a_barrier() {
    let stage = Stage::new();
    let program = "
        const call = (tool, label) => tools[tool]({ label });
        await Promise.all([call('meet', 'a'), call('meet', 'b'), call('change', 'x'), call('slow', 'c')]);";
    stage.run(program).await;
    let noted = stage.noted();
    // Each waits for the other, so they overlap.
    assert_eq!(noted[..2], ["> a", "> b"]);
    assert_eq!(noted[4..], ["> x", "< x", "> c", "< c"], "it runs alone");
    let logged = stage.logged();
    let starts: Vec<_> = logged.iter().filter(|line| line.starts_with("start")).collect();
    assert_eq!(starts, ["start 1", "start 2", "start 3", "start 4"]);
    assert_eq!(logged.len(), 8);
}

#[tokio::test]
async fn no_more_run_at_once_than_the_cap() {
    let two = NonZeroUsize::new(2).unwrap();
    let stage = Stage::with(CodeModeConfig { max_parallel_sub_calls: two, ..CodeModeConfig::default() });
    stage.run("await Promise.all([1, 2, 3, 4, 5].map((n) => tools.slow({ label: String(n) })));").await;
    let (mut running, mut most) = (0_usize, 0_usize);
    for note in stage.noted() {
        if note.starts_with('>') {
            running += 1;
        } else {
            running -= 1;
        }
        most = most.max(running);
    }
    assert!(most <= 2, "{most} at once");
}

#[tokio::test]
async fn answers_come_in_the_order_of_the_calls() {
    let mut stage = Stage::new();
    let gate = Arc::clone(&stage.gate);
    // The first finishes after the second.
    stage.tool("first", true, move |_, _| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            gate.acquire().await.unwrap().forget();
            Ok("first".into())
        })
    });
    let gate = Arc::clone(&stage.gate);
    stage.tool("second", true, move |_, _| {
        gate.add_permits(1);
        Box::pin(async { Ok("second".into()) })
    });
    let program = "
        const seen = [];
        await Promise.all([tools.first({}).then((v) => seen.push(v)), tools.second({}).then((v) => seen.push(v))]);
        return seen.join(' ');";
    assert_eq!(stage.told(program).await, "first second");
}

#[tokio::test]
async fn a_failed_call_is_an_error_that_names_its_tool() {
    let stage = Stage::new();
    let program = "
        try { await tools.fail({}); } catch (e) {
            return [e instanceof ToolCallError, e instanceof Error, e.name, e.toolName, e.message].join(' | ');
        }";
    assert_eq!(stage.told(program).await, "true | true | ToolCallError | fail | no such thing; try another");
    assert_eq!(stage.logged(), ["start 1", "fail 1"]);
}

struct Denies;

#[async_trait]
impl Layer<Execution, PreDecision> for Denies {
    async fn call(
        &self,
        call: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        if &*call.name == "change" {
            return Ok(PreDecision::Deny("changes are not for today".into()));
        }
        next.run(call).await
    }
}

#[tokio::test]
async fn policies_hear_of_a_program_s_calls_and_their_denials_reach_it() {
    let mut stage = Stage::new();
    stage.keep(|stage| stage.tools.on_pre_execute(None, Arc::new(Denies)));
    let told = stage.told("try { await tools.change({}); } catch (e) { return e.message; }").await;
    assert_eq!(told, "changes are not for today");
    assert!(stage.noted().is_empty());
    assert_eq!(stage.logged(), ["start 1", "fail 1"]);
}

#[tokio::test]
async fn what_is_not_visible_is_not_there_and_what_goes_away_is_unknown() {
    let stage = Stage::new();
    let told = stage
        .told("return [typeof tools.run_code, typeof tools.missing, typeof tools.echo].join(' ');")
        .await;
    assert_eq!(told, "undefined undefined function");
}

#[tokio::test]
async fn arguments_that_are_not_json_are_refused_with_their_path_and_nothing_is_dispatched() {
    let stage = Stage::new();
    let program = "
        const bad = [undefined, { a: 1n << 70n }, { a: [NaN] }, { f() {} }, { d: new Date(0) }];
        const told = [];
        for (const value of bad) {
            try { await tools.echo(value); told.push('accepted'); } catch (e) { told.push(e.message); }
        }
        return told.join('\\n');";
    let told = stage.told(program).await;
    assert!(!told.contains("accepted"), "{told}");
    assert!(stage.logged().is_empty() && stage.noted().is_empty());
}

#[tokio::test]
async fn without_an_agent_everything_works_and_nothing_is_logged() {
    let stage = Stage::new();
    let input =
        dsh_tools_core::CallInput { agent: None, ..stage.input("return (await tools.echo({ a: 1 })).a;") };
    let result = stage.tools.execute(input).await;
    assert_eq!(dsh_llm::plain_text(&result.content), "1");
    assert!(stage.agent.session().is_empty());
}

struct Short;

#[async_trait]
impl Layer<Dispatch, dsh_llm::Content> for Short {
    async fn call(
        &self,
        dispatch: &Dispatch,
        next: Next<'_, Dispatch, dsh_llm::Content>,
    ) -> Result<dsh_llm::Content, ToolError> {
        let whole = dsh_llm::plain_text(&next.run(dispatch).await?);
        match &*dispatch.name {
            "change" => panic!("on purpose"),
            _ => Ok(text(whole.chars().take(8).collect::<String>())),
        }
    }
}

#[tokio::test]
async fn a_listener_decides_what_is_kept_and_its_failure_keeps_everything() {
    let mut stage = Stage::new();
    stage.keep(|stage| stage.tools.on_dispatch_log(None, Arc::new(Short)));
    let told = stage.told("return [await tools.echo({ a: 1 }), await tools.change({ a: 2 })].length;").await;
    assert_eq!(told, "2");
    let kept: Vec<String> = (stage.agent.session().events().iter())
        .filter_map(|event| event.read::<DispatchSettled>())
        .map(|settled| dsh_llm::plain_text(&settled.unwrap().content))
        .collect();
    assert_eq!(kept, ["rendered", "rendered {\"a\":2}"]);
}

#[tokio::test]
async fn deep_arguments_arrive_and_are_logged_whole() {
    let stage = Stage::new();
    let program = "
        let deep = 1;
        for (let i = 0; i < 5000; i++) deep = [deep];
        const back = await tools.echo({ deep });
        let levels = 0;
        for (let at = back.deep; Array.isArray(at); at = at[0]) levels++;
        return levels;";
    assert_eq!(stage.told(program).await, "5000");
    let started: dsh_tools_core::DispatchStarted =
        stage.agent.session().events().iter().find_map(|event| event.read()).unwrap().unwrap();
    let mut at: &Json = started.arguments.get("deep").unwrap();
    let mut levels = 0;
    while let Json::Array(items) = at {
        at = items.iter().next().unwrap();
        levels += 1;
    }
    assert_eq!(levels, 5_000);
}

#[tokio::test]
async fn a_tool_that_went_away_after_the_program_began_is_unknown() {
    let mut stage = Stage::new();
    let any = dsh_json_schema::Schema::new(&object! {}).unwrap();
    let object = dsh_json_schema::Schema::new(&object! { "type": "object" }).unwrap();
    let doomed =
        dsh_tools_core::Definition::raw("doomed", "Goes.", object, any, crate::stage::Nothing).unwrap();
    let registered = parking_lot::Mutex::new(Some(stage.tools.register(None, doomed).unwrap()));
    stage.tool("remove", false, move |_, _| {
        drop(registered.lock().take());
        Box::pin(async { Ok("removed".into()) })
    });
    let told = stage
        .told("await tools.remove({}); try { await tools.doomed({}); } catch (e) { return e.message; }")
        .await;
    assert!(told.starts_with("there is no tool `doomed`"), "{told}");
    assert_eq!(stage.logged(), ["start 1", "settle 1", "start 2", "fail 2"]);
}

#[tokio::test]
async fn names_that_mean_something_to_the_language_are_names_of_tools() {
    let mut stage = Stage::new();
    for name in ["__proto__", "constructor", "then", "toString"] {
        stage.tool(name, true, move |_, _| Box::pin(async move { Ok(name.into()) }));
    }
    let program = "
        const names = ['__proto__', 'constructor', 'toString'];
        const got = [];
        for (const name of names) got.push(await tools[name](Object.assign(Object.create(null), { a: 1 })));
        return got.join(' ');";
    assert_eq!(stage.told(program).await, "__proto__ constructor toString");
}

#[tokio::test]
async fn masks_say_what_a_program_can_call() {
    let stage = Stage::new();
    let scope = stage.agent.scope().clone();
    let program = "return ['echo', 'change'].map((name) => typeof tools[name]).join(' ');";
    let only = dsh_tools_core::Mask { allow: Some(["echo".into()].into()), ..Default::default() };
    let mask = stage.tools.restrict(&scope, only).unwrap();
    assert_eq!(stage.told(program).await, "function undefined");
    drop(mask);
    let never = dsh_tools_core::Mask { deny: ["echo".into()].into(), ..Default::default() };
    let _mask = stage.tools.restrict(&scope, never).unwrap();
    assert_eq!(stage.told(program).await, "undefined function");
}

#[tokio::test]
async fn exclusive_calls_run_one_after_another_however_they_are_made() {
    let stage = Stage::new();
    stage.run("await Promise.all(['a', 'b', 'c'].map((label) => tools.change({ label })));").await;
    assert_eq!(stage.noted(), ["> a", "< a", "> b", "< b", "> c", "< c"]);
}
