//! The account of a run: what became of its calls, what it used, and what of that the model reads (spec 06 §2.3–2.5, §6.6).

use dsh_json::{Json, array};
use dsh_lifecycle::{Cancel, Cause};
use dsh_tools_core::{DispatchSettled, Outcome, PostDecision, ToolResult, codes, plain_text, text};

use crate::stage::Stage;

fn account(result: &ToolResult) -> &Json {
    result.meta.as_ref().unwrap()
}

fn at<'a>(json: &'a Json, path: &[&str]) -> &'a Json {
    path.iter().fold(json, |json, key| json.get(key).unwrap_or_else(|| panic!("no {key} in {json}")))
}

#[tokio::test]
async fn the_value_is_logs_and_result_and_everything_else_is_meta() {
    let stage = Stage::new();
    let result = stage
        .run("console.log('a'); const { n } = await tools.echo({ n: 1 }); tools.held({}); return n;")
        .await;
    let Outcome::Succeeded { value, .. } = &result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!(value, &dsh_json::object! { "logs": array!["a"], "result": 1 });
    let keys: Vec<_> = account(&result).as_object().unwrap().keys().map(|key| &**key).collect();
    assert_eq!(keys, ["receipt", "calls", "warnings"]);
    let keys: Vec<_> =
        at(account(&result), &["receipt"]).as_object().unwrap().keys().map(|key| &**key).collect();
    assert_eq!(
        keys.join(" "),
        "calls succeeded failed stopped late notStarted wallMs askedMs waitingMs busyMs peakMemoryBytes argumentBytes \
         resultBytes outputBytes"
    );
    let receipt = at(account(&result), &["receipt"]);
    assert_eq!((receipt.get("calls"), receipt.get("succeeded")), (Some(&2.into()), Some(&1.into())));
    assert!(at(receipt, &["peakMemoryBytes"]).as_u64().unwrap() > 10_000);
    // `["a"]` and `1`.
    assert_eq!(receipt.get("outputBytes"), Some(&6.into()));
}

#[tokio::test]
async fn the_calls_of_a_silent_program_are_named_and_found_in_the_log() {
    let stage = Stage::new();
    let told = stage
        .told(
            "await tools.echo({}); await tools.echo({}); await tools.change({});
            for (const label of ['a', 'b']) await tools.fail({ label }).catch(() => {});",
        )
        .await;
    insta::assert_snapshot!(told, @r"
    (run_code completed with no output)
    3 calls succeeded: echo ×2, change
    2 calls failed: fail (c1:code:4), fail (c1:code:5)
    ");
    let events = stage.agent.session().events();
    let mut settled = events.iter().filter_map(|event| event.read::<DispatchSettled>()?.ok());
    let found = settled.find(|call| &*call.sub_call_id == "c1:code:5").unwrap();
    assert_eq!((found.is_error, &*plain_text(&found.content)), (true, "Error: no such thing; try another"));
}

#[tokio::test]
async fn a_program_that_speaks_is_not_spoken_for() {
    let stage = Stage::new();
    for (program, told) in [
        ("await tools.echo({}); return null;", "null"),
        ("await tools.echo({}); return 0;", "0"),
        ("await tools.echo({}); console.log('x');", "x"),
        ("", "(run_code completed with no output)"),
    ] {
        assert_eq!(stage.told(program).await, told, "{program}");
    }
}

#[tokio::test]
async fn a_program_that_fails_in_silence_tells_what_it_did_before() {
    let stage = Stage::new();
    let result = stage.run("await tools.change({}); await tools.fail({});").await;
    let told = plain_text(&result.content);
    let (first, notes) = told.split_once("\n1 call succeeded").unwrap();
    assert!(first.starts_with("Error: code run failed (exception): "), "{told}");
    assert_eq!(notes, ": change\n1 call failed: fail (c1:code:2)");
    // The error is what went wrong, and no more.
    assert!(!result.error().unwrap().message.contains("succeeded"));
    assert_eq!(result.error().unwrap().value, Some(dsh_json::object! { "logs": array![] }));
    assert_eq!(at(account(&result), &["error", "kind"]), &"exception".into());
    assert_eq!(at(account(&result), &["receipt", "failed"]), &1.into());

    let result = stage.run("console.log('a'); console.log('b\\nc'); await tools.fail({});").await;
    assert!(plain_text(&result.content).ends_with("\nCaptured output:\na\nb\nc"));
    assert_eq!(result.error().unwrap().value, Some(dsh_json::object! { "logs": array!["a", "b\nc"] }));
}

#[tokio::test]
async fn a_failure_is_told_from_calls_that_were_left() {
    let stage = Stage::new();
    let told = stage.told("console.log('a'); tools.held({}); throw new Error('no');").await;
    let (before, warning) = told.split_once("\nwarning: ").unwrap();
    assert!(before.ends_with("\nCaptured output:\na"), "{told}");
    // It may have started or not.
    assert!(
        warning.ends_with(": tools.held (call 1). Await every call whose effect or result you need."),
        "{warning}"
    );
}

#[tokio::test]
async fn a_call_that_waited_for_its_turn_is_said_not_to_have_started() {
    let stage = Stage::new();
    let program =
        "tools.held({}); tools.change({ label: 'never' }); await tools.echo({}).catch(() => {}); return 1;";
    let cancel = Cancel::new();
    let stop = async {
        while !stage.notes.lock().contains(&"> held".to_owned()) {
            tokio::task::yield_now().await;
        }
        cancel.cancel(Cause::User);
    };
    let (result, ()) = tokio::join!(stage.run_until(program, &cancel), stop);
    let ends: Vec<_> = at(account(&result), &["calls"]).as_array().unwrap().iter().collect();
    let end = |at: usize| ends[at].get("end").and_then(Json::as_str).unwrap();
    assert_eq!((end(0), end(1)), ("stopped", "not-started"));
    assert_eq!(at(ends[1], &["id"]), &"c1:code:2".into());
    assert_eq!(stage.noted(), ["> held", "< held"]);
    let warning = at(account(&result), &["warnings"]).as_array().unwrap().get(1).unwrap().as_str().unwrap();
    assert!(warning.contains("never started: tools.change (call 2)"), "{warning}");
    // An interrupted call has the words that every interrupted call has.
    assert_eq!(result.error().unwrap().code(), Some(codes::ABORTED));
    assert_eq!(at(account(&result), &["error", "kind"]), &"abort".into());
    assert_eq!(plain_text(&result.content), "Error: tool call aborted");
}

#[tokio::test]
async fn a_program_that_never_ran_has_its_kind_and_no_receipt() {
    let stage = Stage::new();
    for (program, kind) in [("const x = ;", "syntax"), ("await tools.nothing_such({});", "check")] {
        let result = stage.run(program).await;
        assert_eq!(account(&result), &dsh_json::object! { "error": dsh_json::object! { "kind": kind } });
    }
}

#[tokio::test]
async fn what_a_policy_withholds_is_withheld_whole() {
    struct Withhold;
    #[async_trait::async_trait]
    impl dsh_tools_core::Layer<dsh_tools_core::Post, PostDecision> for Withhold {
        async fn call(
            &self,
            post: &dsh_tools_core::Post,
            next: dsh_tools_core::Next<'_, dsh_tools_core::Post, PostDecision>,
        ) -> Result<PostDecision, dsh_tools_core::ToolError> {
            if post.execution.parent.is_some() {
                return next.run(post).await;
            }
            Ok(PostDecision::Block(text("not for you"), vec![]))
        }
    }
    let mut stage = Stage::new();
    stage.keep(|stage| stage.tools.on_post_execute(None, std::sync::Arc::new(Withhold)));
    let result = stage.run("await tools.echo({});").await;
    assert_eq!((&*plain_text(&result.content), &result.meta), ("not for you", &None));
}

/// Spec 06 §8.8: the value itself may be a promise, which is awaited; one inside of it is an error with its path.
#[tokio::test]
async fn a_promise_is_awaited_as_the_value_and_refused_inside_of_it() {
    let stage = Stage::new();
    assert_eq!(stage.told("return tools.echo({ a: 1 });").await, "{\n  \"a\": 1\n}");
    for (program, path) in [
        ("return { all: [1, tools.echo({})] };", "$.all[1]"),
        ("return [(async () => 1)()];", "$[0]"),
        ("return { then: 1, late: new Promise(() => {}) };", "$.late"),
    ] {
        let told = stage.told(program).await;
        let begins = "Error: code run failed (invalid-output): ";
        assert!(
            told.starts_with(begins) && told.contains(&format!("{path} is a promise: await it")),
            "{told}"
        );
    }
}

/// What no two runs have in common is left out on demand, and never is in what a model reads.
#[tokio::test]
async fn equal_runs_have_equal_accounts_without_measures() {
    let account = async || {
        let stage = Stage::unmeasured();
        let result = stage.run("await tools.echo({}); await tools.fail({}).catch(() => {}); return 1;").await;
        account(&result).to_text()
    };
    let (one, two) = (account().await, account().await);
    assert_eq!(one, two);
    assert!(!one.contains("Ms") && !one.contains("peakMemory"), "{one}");
}
