//! Vectors of our own: each rule takes what it is for, and nothing is taken that no decision explains.

use super::KIND;
use crate::trial::{check, tried};

fn arguments(text: &str) -> String {
    let text = dsh_json::Json::from(text).to_text();
    format!(r#"{{"kind": "canonical_arguments", "arguments_text": {text}}}"#)
}

fn canonical(text: &str) -> String {
    let text = dsh_json::Json::from(text).to_text();
    format!(r#"{{"canonical": {text}}}"#)
}

const NOWHERE: &str = r#"{"canonical": null}"#;

#[test]
fn arguments_have_one_form() {
    for (text, form) in [
        (r#"{"b": 1.0, "a": [1e3, {"d": 0.10, "c": null}]}"#, r#"{"a":[1000,{"c":null,"d":0.1}],"b":1}"#),
        (r#"{"\ufb33": 1, "\ud83d\ude00": 2, "z": 3}"#, "{\"z\":3,\"😀\":2,\"\u{fb33}\":1}"),
        (r#"{"a": 1, "a": 2}"#, r#"{"a":2}"#),
        ("", "{}"),
        (r#""text""#, r#""text""#),
    ] {
        check(&[(&KIND, &arguments(text), &canonical(form), None)]);
    }
}

#[test]
fn each_decision_about_arguments_takes_what_it_is_about() {
    let unread = Some("unreadable arguments count");
    for text in
        ["{\"n\":-0}", "{\"n\":1e400}", "[123456789012345678901]", "{", " ", "[\"\\ud83d\"]", "\u{feff}{}"]
    {
        check(&[(&KIND, &arguments(text), NOWHERE, unread)]);
        let itself = canonical(&dsh_json::Json::from(text).to_text());
        check(&[(&KIND, &arguments(text), &itself, None)]);
    }
    check(&[
        (&KIND, &arguments("[123456789012345678901]"), &canonical("[123456789012345680000]"), unread),
        (
            &KIND,
            &arguments("[9007199254740993]"),
            &canonical("[9007199254740992]"),
            Some("integers are compared exactly"),
        ),
        (
            &KIND,
            &arguments(r#"{"a": {"__proto__": 1}}"#),
            &canonical(r#"{"a":{}}"#),
            Some("`__proto__` is a key"),
        ),
        (
            &KIND,
            &arguments(r#"{"10": 1, "9": 2, "-": 3}"#),
            &canonical(r#"{"9":2,"10":1,"-":3}"#),
            Some("keys are sorted as texts"),
        ),
        // Two at once: the first one takes it.
        (
            &KIND,
            &arguments(r#"{"10": 9007199254740993, "9": 2}"#),
            &canonical(r#"{"9":2,"10":9007199254740992}"#),
            Some("integers are compared exactly"),
        ),
    ]);
    let deep = format!("{}{}", "[".repeat(10_001), "]".repeat(10_001));
    check(&[(&KIND, &arguments(&deep), &canonical(&deep), unread)]);
}

fn sequence(config: &str, calls: &str) -> String {
    format!(r#"{{"kind": "sequence", "config": {config}, "calls": [{calls}]}}"#)
}

fn times(call: &str, times: usize) -> String {
    vec![call; times].join(",")
}

#[test]
fn reminders_come_at_thresholds() {
    let probe = r#"{"tool": "probe", "args": {"q": 1}}"#;
    let gentle = |at: usize| format!(r#"{{"position": {at}, "form": "gentle"}}"#);
    let rows = [
        (times(probe, 3), gentle(2)),
        (format!(r#"{},{{"user_message": true}},{}"#, times(probe, 2), times(probe, 3)), gentle(5)),
        (format!(r#"{},{{"user_message": "plugin"}},{probe}"#, times(probe, 2)), gentle(3)),
        (format!(r#"{},{{"user_message": true, "agent": null}},{probe}"#, times(probe, 2)), gentle(3)),
        (times(r#"{"tool": "nobody", "args_text": "{"}"#, 3), gentle(2)),
        (times(r#"{"tool": "probe", "agent": null}"#, 5), String::new()),
        (times(probe, 5), format!(r#"{},{{"position": 4, "form": "detailed"}}"#, gentle(2))),
    ];
    for (calls, reminders) in rows {
        let output = format!(r#"{{"reminders": [{reminders}]}}"#);
        check(&[(&KIND, &sequence("{}", &calls), &output, None)]);
    }
    for config in [r#"{"thresholds": [1]}"#, r#"{"thresholds": [2, 2]}"#, r#"{"argumentsPreviewChars": 0}"#] {
        check(&[(&KIND, &sequence(config, ""), r#"{"config_error": true}"#, None)]);
    }
}

#[test]
fn each_decision_about_sequences_takes_what_it_is_about() {
    let gentle = r#"{"reminders": [{"position": 2, "form": "gentle"}]}"#;
    let none = r#"{"reminders": []}"#;
    let call =
        |text: &str| format!(r#"{{"tool": "probe", "args_text": {}}}"#, dsh_json::Json::from(text).to_text());
    let unread = Some("unreadable arguments count");
    check(&[
        (&KIND, &sequence("{}", &times(&call(r#"{"n":-0}"#), 3)), none, unread),
        (&KIND, &sequence("{}", &times(&call("{"), 3)), none, unread),
        (&KIND, &sequence("{}", &times(&call("{"), 3)), gentle, None),
        (
            &KIND,
            &sequence(
                "{}",
                &[call("[9007199254740992]"), call("[9007199254740993]"), call("[9007199254740992]")]
                    .join(","),
            ),
            gentle,
            Some("integers are compared exactly"),
        ),
        (
            &KIND,
            &sequence("{}", &[call(r#"{"__proto__":1}"#), call("{}"), call(r#"{"__proto__":2}"#)].join(",")),
            gentle,
            Some("`__proto__` is a key"),
        ),
        (&KIND, &sequence("{}", &times(&call(r#"{"9":1,"10":2}"#), 3)), gentle, None),
    ]);
}

#[test]
fn an_outcome_that_no_decision_explains_fails() {
    for (input, output) in [
        (arguments(r#"{"a":1}"#), NOWHERE.to_owned()),
        (arguments(r#"{"b":1,"a":2}"#), canonical(r#"{"b":1,"a":2}"#)),
        (arguments("[9007199254740993]"), canonical("[9007199254740994]")),
        (sequence("{}", &times(r#"{"tool": "probe"}"#, 3)), r#"{"reminders": []}"#.to_owned()),
        (sequence("{}", ""), r#"{"config_error": true}"#.to_owned()),
        (sequence("{}", &times(r#"{"tool": "probe", "args_text": "{\"n\":-0}"}"#, 2)), NOWHERE.to_owned()),
    ] {
        assert!(!tried(&KIND, &input, &output).passes, "{input}");
    }
}

#[test]
fn a_malformed_vector_says_what_is_wrong() {
    for (input, expected) in [
        ("{}", "the vector has no `kind`"),
        (r#"{"kind": "x"}"#, "`kind` is {\"kind\":\"x\"}, not one that is known"),
        (r#"{"kind": "sequence"}"#, "the vector has no `calls`"),
        (r#"{"kind": "sequence", "calls": [{}]}"#, "the vector has no `tool`"),
    ] {
        let tried = tried(&KIND, input, "{}");
        assert!(!tried.passes && tried.said.starts_with(expected), "{input}: {}", tried.said);
    }
}
