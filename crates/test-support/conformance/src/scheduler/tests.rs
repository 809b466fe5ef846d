use super::*;
use dsh_json::{Object, object};

/// The rule that takes a batch whose recorded outcome is the original's, and our outcome.
fn ruled(input: &str) -> (&'static str, Json) {
    let batch = Batch::of(&Json::parse(input).unwrap()).unwrap();
    let vector = Vector {
        kind: KIND.name.to_owned(),
        input: Json::parse(input).unwrap(),
        output: simulation::output(&batch, THEIRS),
        input_text: input.to_owned(),
        refused: None,
    };
    let taken = KIND.rules.iter().find_map(|rule| Some((rule.name, (rule.expected)(&vector).unwrap()?)));
    let (name, expected) = taken.unwrap_or(("none", vector.output.clone()));
    let got = (KIND.run)(&vector).unwrap();
    assert!(agrees(&got, &expected), "{input}\n     got {got}\nexpected {expected}");
    (name, got)
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

    let not_lossless = r#"{"calls":[{"tool":"p","ms":3,"raw_arguments":"{\"i\":12345678901234567890123}"},
        {"tool":"p","ms":3,"raw_arguments":"{\"i\":1,\"x\":\"\\ud800\"}"},{"tool":"p","raw_arguments":"{\"i\":-0}"}]}"#;
    let (rule, got) = ruled(not_lossless);
    assert_eq!((rule, result_codes(&got)), ("arguments are lossless", vec!["INVALID_ARGS"; 3]));

    let plain = r#"{"max_parallel":2,"calls":[{"tool":"p","ms":1},{"tool":"x","ms":1}]}"#;
    assert_eq!(ruled(plain).0, "none");
}

#[test]
fn optional_fields_and_other_spellings_are_read() {
    let rows = [
        // Nothing but what must be there; another unknown tool; nothing to do.
        (r#"{"calls":[{"tool":"p"},{"tool":"other"}]}"#, vec!["-", "UNKNOWN_TOOL"]),
        (r#"{"calls":[],"abort_at":null}"#, vec![]),
        // Safe by raw arguments; failing by any truth; a delay in a list; an abort at the very start.
        (
            r#"{"calls":[{"tool":"arg","ms":5,"raw_arguments":"{\"i\":0,\"safe\":true}"},
                         {"tool":"arg","ms":5,"safe":true,"throws":1,"raw_arguments":null}],"note":"x"}"#,
            vec!["-", "-"],
        ),
        (
            r#"{"calls":[{"tool":"p","ms":3,"throws":""},{"tool":"bad","ms":3}],"pre_ms":[2,null]}"#,
            vec!["-", "-"],
        ),
        (r#"{"calls":[{"tool":"p","ms":3,"cooperative":true}],"abort_at":0}"#, vec!["-"]),
        (
            r#"{"calls":[{"tool":"p","ms":3,"raw_arguments":"[1]"},{"tool":"x","raw_arguments":""}]}"#,
            vec!["INVALID_ARGS", "INVALID_ARGS"],
        ),
    ];
    for (input, codes) in rows {
        let (rule, got) = ruled(input);
        assert_eq!((rule, result_codes(&got)), ("none", codes), "{input}\n{got}");
    }
}

#[test]
fn a_malformed_vector_says_what_is_wrong() {
    let rows = [
        ("{}", "the vector has no `calls`"),
        (r#"{"calls":1}"#, "`calls` is 1, not a list"),
        (r#"{"calls":[{"ms":1}]}"#, "the vector has no `tool`"),
        (r#"{"calls":[{"tool":"p","ms":-1}]}"#, "`ms` is -1, not a whole number"),
        (r#"{"calls":[{"tool":"p"}],"pre_ms":{"0":"x"}}"#, "`pre_ms` is \"x\", not milliseconds"),
    ];
    for (input, expected) in rows {
        let fault = Batch::of(&Json::parse(input).unwrap()).unwrap_err();
        assert_eq!(fault.to_string(), expected);
    }
    let none_at_once = Batch::of(&Json::parse(r#"{"calls":[],"max_parallel":0}"#).unwrap()).unwrap();
    assert!(run(&none_at_once).is_err());
}

#[test]
fn a_different_outcome_is_noticed() {
    let batch =
        Batch::of(&Json::parse(r#"{"max_parallel":1,"calls":[{"tool":"nosuch"}]}"#).unwrap()).unwrap();
    let got = run(&batch).unwrap().output;
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
    assert!(!agrees(&got, &object! { "concluded": false, "max_overlap": 0, "finished_at": 0 }));
}

#[test]
fn the_simulation_explains_every_recorded_vector() {
    let path = format!("{}/../../../fixtures/vectors/scheduler.json", env!("CARGO_MANIFEST_DIR"));
    let crate::file::Content::Vectors(_, vectors) = crate::file::read(path.as_ref()).unwrap() else {
        panic!("not a vector file");
    };
    for (id, vector) in vectors {
        let vector = vector.unwrap();
        let got = simulation::output(&Batch::of(&vector.input).unwrap(), THEIRS);
        assert!(agrees(&got, &vector.output), "{id}\n     got {got}\nexpected {}", vector.output);
    }
}
