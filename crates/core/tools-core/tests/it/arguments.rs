//! From text to arguments.

use dsh_json::{Json, Limits, object};
use dsh_tools_core::{Arguments, CallInput, ToolError};

use crate::kit::{Probe, Stage, told, tool};

/// `value` or `CODE`.
fn parsed(text: &str) -> String {
    match Arguments::parse(text, &Limits { max_depth: 100, max_bytes: 1_000 }) {
        Arguments::Value { value, .. } => value.to_text(),
        Arguments::Malformed(bad) => {
            assert_eq!(&**bad.text(), text);
            bad.error().code().unwrap_or("-").to_owned()
        }
    }
}

#[test]
fn text_becomes_a_value_or_a_coded_refusal() {
    let deep = "[".repeat(101);
    let long = format!("\"{}\"", "x".repeat(1_000));
    let rows = [
        ("", "{}"),
        ("{}", "{}"),
        ("null", "null"),
        ("[1,\"a\"]", "[1,\"a\"]"),
        (" ", "INVALID_ARGS"),
        ("{\"a\":", "INVALID_ARGS"),
        ("{a:1}", "INVALID_ARGS"),
        ("{} {}", "INVALID_ARGS"),
        ("-0", "JSON_NUMBER"),
        ("1e400", "JSON_NUMBER"),
        ("18446744073709551616", "JSON_NUMBER"),
        ("\"\\ud800\"", "JSON_STRING"),
        (&*deep, "JSON_TOO_DEEP"),
        (&*long, "JSON_TOO_LONG"),
    ];
    for (text, expected) in rows {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn a_refusal_says_where_and_what_to_do() {
    let Arguments::Malformed(bad) = Arguments::parse("{\"path\": \"a\",\n \"n\": }", &Limits::default())
    else {
        panic!("accepted")
    };
    let message = &bad.error().message;
    assert!(
        message.contains("line 2") && message.contains("did not run") && message.contains("again"),
        "{message}"
    );
}

#[tokio::test]
async fn a_repeated_key_keeps_its_last_value_and_is_reported() {
    let mut stage = Stage::new();
    stage.register(tool(
        "t",
        Probe::new(|arguments, _| {
            let value = arguments.get("a").cloned().unwrap_or(Json::Null);
            Box::pin(async move { Ok(value) })
        }),
    ));
    let arguments = Arguments::parse("{\"a\":\"first\",\"a\":\"last\"}", &Limits::default());
    let result = stage.call(CallInput::new("c", "t", arguments)).await;
    let told = told(&result);
    assert!(told.starts_with("ok \"last\"\nNote: ") && told.contains("`$.a`"), "{told}");
}

#[tokio::test]
async fn a_typed_tool_reports_every_violation_and_is_not_entered() {
    use std::borrow::Cow;
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Args {
        path: String,
        limit: Option<u32>,
    }
    struct Typed;
    impl dsh_tools_core::Tool for Typed {
        const NAME: &'static str = "typed";
        type Args = Args;
        type Output = String;
        fn description(&self) -> Cow<'_, str> {
            "Typed.".into()
        }
        async fn run(&self, args: Args, _: &dsh_tools_core::RunContext) -> Result<String, ToolError> {
            Ok(format!("{} {:?}", args.path, args.limit))
        }
    }
    let mut stage = Stage::new();
    stage.register(dsh_tools_core::Definition::typed(Typed).unwrap());
    let run = async |arguments: Json| told(&*stage.call(CallInput::new("c", "typed", arguments)).await);
    assert_eq!(run(object! { "path": "a", "extra": true }).await, "ok \"a None\"");
    assert_eq!(run(object! { "path": "a", "limit": 3 }).await, "ok \"a Some(3)\"");
    let wrong = run(object! { "limit": "three" }).await;
    assert!(
        wrong.starts_with("INVALID_ARGS ") && wrong.contains("path") && wrong.contains("limit"),
        "{wrong}"
    );
    // The schema has no ranges; the type has.
    let range = run(object! { "path": "a", "limit": -1 }).await;
    assert!(range.starts_with("INVALID_ARGS ") && range.contains("limit"), "{range}");
    let scalar = run(Json::Null).await;
    assert!(scalar.starts_with("INVALID_ARGS ") && scalar.contains("arguments"), "{scalar}");
}
