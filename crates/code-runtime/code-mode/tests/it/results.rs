//! What a program comes to (spec 06 §2, spec 12 §5).

use dsh_code_mode::{CodeMode, CodeModeConfig};
use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::Slot;
use dsh_system_prompt::SystemPrompt;
use dsh_tool_sdk::Language;
use dsh_tools_core::{
    CallInput, CallView, Definition, Kind, Outcome, Presentation, RUN_CODE, ToolError, Tools,
};

use crate::stage::{Nothing, Stage};

fn code(error: &ToolError) -> Option<&str> {
    error.code()
}

#[tokio::test]
async fn the_value_has_what_was_printed_and_returned() {
    let stage = Stage::new();
    let rows = [
        ("console.log('a'); return null;", object! { "logs": dsh_json::array!["a"], "result": Json::Null }),
        ("return;", object! { "logs": dsh_json::array![] }),
        ("", object! { "logs": dsh_json::array![] }),
    ];
    for (program, expected) in rows {
        let result = stage.run(program).await;
        let Outcome::Succeeded { value, .. } = &result.outcome else { panic!("{:?}", result.outcome) };
        assert_eq!(value, &expected, "{program}");
    }
    assert_eq!(stage.told("").await, "(run_code completed with no output)");
}

#[tokio::test]
async fn a_program_that_fails_says_how_and_keeps_what_it_printed() {
    let stage = Stage::new();
    let result = stage.run("console.log('so far');\nthrow new Error('boom');").await;
    let error = result.error().unwrap();
    assert_eq!(code(error), Some("CODE_RUN_FAILED"));
    let told = dsh_llm::plain_text(&result.content);
    assert!(told.starts_with("Error: code run failed (exception): "), "{told}");
    assert!(told.contains("boom") && told.ends_with("\nCaptured output:\nso far"), "{told}");
}

#[tokio::test]
async fn each_way_to_fail_has_its_kind() {
    let stage = Stage::new();
    let rows = [
        ("const x = ;", "syntax"),
        ("enum A { B }", "syntax"),
        ("await tools.nothing_such({});", "check"),
        ("await new Promise(() => {});", "stalled"),
        ("return 1n << 70n;", "invalid-output"),
        ("return () => 1;", "invalid-output"),
        ("throw 1;", "exception"),
    ];
    for (program, kind) in rows {
        let told = stage.told(program).await;
        assert!(told.starts_with(&format!("Error: code run failed ({kind}): ")), "{program}: {told}");
    }
}

/// Spec 06 §14.17, spec 12 §5.
#[tokio::test]
async fn a_call_that_can_not_work_keeps_the_program_from_running() {
    let mut stage = Stage::new();
    let parameters = Schema::params().required("path", Schema::string()).build().unwrap();
    let any = Schema::new(&object! {}).unwrap();
    let definition = Definition::raw("read", "Reads.", parameters, any, Nothing).unwrap();
    stage.keep(|stage| stage.tools.register(None, definition).unwrap());
    let rows = [
        (
            "await tools.chnge({});",
            "line 2, column 13: there is no `tools.chnge`; did you mean `tools.change`?",
        ),
        ("await tools.run_code({});", "there is no `tools.run_code`"),
        ("await tools.read({});", "the argument does not fit `tools.read`: path: is required but missing"),
    ];
    for (call, what) in rows {
        let program = format!("console.log(await tools.change({{}}));\n{call}");
        let result = stage.run(&program).await;
        assert_eq!(code(result.error().unwrap()), Some("CODE_RUN_FAILED"));
        let told = dsh_llm::plain_text(&result.content);
        assert!(told.starts_with("Error: code run failed (check): nothing has run, "), "{told}");
        assert!(told.contains(what) && !told.contains("Captured output"), "{told}");
        assert_eq!((stage.noted(), stage.logged()), (vec![], vec![]));
    }
    // What the program expects, and what the check can't know, is the program's to find.
    for program in [
        "try { await tools.chnge({}); } catch { return 'caught'; }",
        "const none = {}; try { await tools.read(none); } catch {} return 'caught';",
    ] {
        assert_eq!(stage.told(program).await, "caught");
    }
}

#[tokio::test]
async fn a_description_says_something() {
    let stage = Stage::new();
    let arguments = object! { "code": "return 1;", "description": " " };
    let result = stage.tools.execute(CallInput::new("c", RUN_CODE, arguments)).await;
    assert!(dsh_llm::plain_text(&result.content).starts_with("Error: invalid `description`"));
}

#[tokio::test]
async fn without_a_runtime_it_says_so() {
    let (tools, prompt) = (Tools::new(), SystemPrompt::default());
    let code_mode =
        CodeMode::new(tools.clone(), Slot::empty(), Language::TypeScript, CodeModeConfig::default());
    let _mounted = code_mode.register(&prompt).unwrap();
    let _shown = tools.present_as(None, Presentation::Both).unwrap();
    let arguments = object! { "code": "return 1;", "description": "x" };
    let result = tools.execute(CallInput::new("c", RUN_CODE, arguments)).await;
    assert_eq!(
        dsh_llm::plain_text(&result.content),
        "Error: code run failed (unavailable): no code runtime is mounted; mount one, or present the tools as `native`"
    );
}

#[test]
fn the_card_shows_the_program_under_its_description() {
    let stage = Stage::new();
    let definition = stage.tools.definition(None, RUN_CODE).unwrap();
    let arguments = object! { "code": "return 1;", "description": "Counts things" };
    let card = definition.present_call(&arguments).unwrap();
    let CallView::Generic { title, kind, raw_input, .. } = card else { panic!("{card:?}") };
    assert_eq!((&*title, kind, raw_input), ("Counts things", Kind::Execute, Some("return 1;".into())));
}

#[tokio::test]
async fn a_rejection_that_nobody_handles_fails_the_program() {
    let stage = Stage::new();
    let told = stage.told("tools.fail({}); await tools.echo({}); return 'done';").await;
    assert!(told.starts_with("Error: code run failed (exception): "), "{told}");
    assert!(told.contains("no such thing; try another"), "{told}");
}

#[tokio::test]
async fn a_program_may_sleep_and_prints_with_five_functions() {
    let stage = Stage::new();
    let told = stage
        .told("await new Promise((go) => setTimeout(go, 1)); return Object.keys(console).sort().join(' ');")
        .await;
    assert_eq!(told, "debug error info log warn");
    assert!(stage.told("console.table([]);").await.contains("console.table"));
}

#[tokio::test]
async fn a_program_that_closes_the_function_around_it_is_none() {
    let stage = Stage::new();
    for program in ["} {", "}); (function () {", "return 1; } async function f() {", "*/ } /*"] {
        let told = stage.told(program).await;
        assert!(told.starts_with("Error: code run failed (syntax): "), "{program}: {told}");
    }
}
