//! The recorded vectors of the kind `scheduler`. One function from input to output, one comparison, and the rules by
//! which our decisions change recorded outcomes.

use dsh_json::{Json, Object, object};

use crate::batch::{Batch, run};
use crate::reference::{self, Decisions, OURS, THEIRS};

/// From a vector's input to our output.
fn scheduler(input: &Json) -> Json {
    run(&Batch::of(input)).output
}

/// A decision of ours that changes recorded outcomes. It takes a vector when the original's outcome is the recorded one
/// and this decision alone changes it; expected is then what the reference makes of all our decisions.
struct Rule {
    name: &'static str,
    reason: &'static str,
    alone: Decisions,
}

const RULES: [Rule; 2] = [
    Rule {
        name: "finished is finished",
        reason: "a body that ended before the abort keeps its result, however late it is committed (design §4.5)",
        alone: Decisions { finished_is_finished: true, ..THEIRS },
    },
    Rule {
        name: "malformed is settled",
        reason: "malformed arguments are INVALID_ARGS at once, without pre-execute or the tool (design §4.5)",
        alone: Decisions { malformed_is_settled: true, ..THEIRS },
    },
];

/// What a vector must give, and the rule that says so when that is not what was recorded.
fn expected(input: &Json, recorded: &Json) -> (Json, Option<&'static Rule>) {
    let batch = Batch::of(input);
    let explained = agrees(&reference::output(&batch, THEIRS), recorded);
    let rule =
        RULES.iter().find(|rule| explained && !agrees(&reference::output(&batch, rule.alone), recorded));
    match rule {
        Some(rule) => (reference::output(&batch, OURS), Some(rule)),
        None => (recorded.clone(), None),
    }
}

/// Whether an output is the expected one: its numbers, its log rows and its body rows, each of the two in order. An
/// expected failure without a code asserts none.
pub(crate) fn agrees(got: &Json, expected: &Json) -> bool {
    let numbers = ["concluded", "max_overlap", "finished_at"];
    numbers.iter().all(|name| got.get(name) == expected.get(name))
        && [true, false].into_iter().all(|log| {
            let (got, expected) = (rows(got, log), rows(expected, log));
            got.len() == expected.len()
                && got.iter().zip(expected).all(|(got, expected)| same_row(got, expected))
        })
}

fn rows(output: &Json, log: bool) -> Vec<&Json> {
    let rows = output.get("trace").and_then(Json::as_array).unwrap().iter();
    let is_log = |row: &Json| row.get("ev").and_then(Json::as_str).unwrap().starts_with("tool/");
    rows.filter(|row| is_log(row) == log).collect()
}

fn same_row(got: &Json, expected: &Json) -> bool {
    let silent = expected.get("code").is_none() && expected.get("isError") == Some(&Json::Bool(true));
    if !silent {
        return got == expected;
    }
    let row = got.as_object().unwrap().iter().filter(|(name, _)| &***name != "code");
    Json::from(row.map(|(name, value)| (name.clone(), value.clone())).collect::<Object>()) == *expected
}

/// Each recorded vector: its id, its input, its output.
fn recorded() -> Vec<[Json; 3]> {
    let path = format!("{}/../../../fixtures/vectors/scheduler.json", env!("CARGO_MANIFEST_DIR"));
    let file = Json::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(file.get("kind").and_then(Json::as_str), Some("scheduler"));
    let vectors = file.get("vectors").and_then(Json::as_array).unwrap();
    assert!(!vectors.is_empty());
    let field = |vector: &Json, name: &str| vector.get(name).cloned().expect("a vector has its three fields");
    vectors.iter().map(|vector| ["id", "input", "output"].map(|name| field(vector, name))).collect()
}

#[test]
fn every_recorded_vector_is_reproduced_or_explained() {
    for [id, input, output] in recorded() {
        let (expected, rule) = expected(&input, &output);
        let why = rule.map_or("recorded", |rule| rule.reason);
        let got = scheduler(&input);
        assert!(agrees(&got, &expected), "{id} {input}\n     got {got}\nexpected {expected}\n({why})");
    }
}

#[test]
fn the_reference_explains_every_recorded_vector() {
    for [id, input, output] in recorded() {
        let got = reference::output(&Batch::of(&input), THEIRS);
        assert!(agrees(&got, &output), "{id} {input}\n     got {got}\nexpected {output}");
    }
}

/// The rule that takes a batch whose recorded outcome is the original's, and our outcome.
fn ruled(input: &str) -> (&'static str, Json) {
    let input = Json::parse(input).unwrap();
    let recorded = reference::output(&Batch::of(&input), THEIRS);
    let (expected, rule) = expected(&input, &recorded);
    let got = scheduler(&input);
    assert!(agrees(&got, &expected), "{input}\n     got {got}\nexpected {expected}");
    (rule.map_or("none", |rule| rule.name), got)
}

fn result_codes(output: &Json) -> Vec<&str> {
    let results = rows(output, true).into_iter().filter(|row| row.get("isError").is_some());
    results.map(|row| row.get("code").and_then(Json::as_str).unwrap_or("-")).collect()
}

#[test]
fn a_rule_takes_what_its_decision_changes() {
    let behind_the_head =
        r#"{"max_parallel":10,"abort_at":5,"calls":[{"tool":"p","ms":9},{"tool":"p","ms":1}]}"#;
    let (rule, got) = ruled(behind_the_head);
    assert_eq!((rule, result_codes(&got)), ("finished is finished", vec!["ABORTED", "-"]));

    let in_post = r#"{"max_parallel":1,"abort_at":5,"post_ms":{"0":9},"calls":[{"tool":"x","ms":1}]}"#;
    let (rule, got) = ruled(in_post);
    assert_eq!((rule, result_codes(&got)), ("finished is finished", vec!["-"]));

    let nobody = r#"{"max_parallel":1,"calls":[{"tool":"nosuch","ms":1,"raw_arguments":"{"}]}"#;
    let (rule, got) = ruled(nobody);
    assert_eq!((rule, result_codes(&got)), ("malformed is settled", vec!["INVALID_ARGS"]));

    let slow_pre = r#"{"max_parallel":1,"pre_ms":{"0":7},"calls":[{"tool":"x","ms":1,"raw_arguments":"{"}]}"#;
    let (rule, got) = ruled(slow_pre);
    assert_eq!((rule, got.get("finished_at")), ("malformed is settled", Some(&Json::from(0))));

    let plain = r#"{"max_parallel":2,"calls":[{"tool":"p","ms":1},{"tool":"x","ms":1}]}"#;
    assert_eq!(ruled(plain).0, "none");
}

#[test]
fn a_different_outcome_is_noticed() {
    let input = Json::parse(r#"{"max_parallel":1,"calls":[{"tool":"nosuch","ms":1}]}"#).unwrap();
    let got = scheduler(&input);
    let result = |error: bool, code: &str| {
        let call = object! { "t": 0, "ev": "tool/call", "call": 0 };
        let mut result = Object::new();
        result.insert("t", 0);
        result.insert("ev", "tool/result");
        result.insert("call", 0);
        result.insert("isError", error);
        if !code.is_empty() {
            result.insert("code", code);
        }
        object! {
            "concluded": false, "max_overlap": 0, "finished_at": 0,
            "trace": Json::from(vec![call, Json::from(result)]),
        }
    };
    assert!(agrees(&got, &result(true, "UNKNOWN_TOOL")));
    assert!(agrees(&got, &result(true, "")));
    assert!(!agrees(&got, &result(true, "INVALID_ARGS")));
    assert!(!agrees(&got, &result(false, "")));
}
