//! Messages as frames: exactly one text for each, and nothing else is a message.

use std::sync::Arc;
use std::time::Duration;

use dsh_code_runtime::wire::{Call, FromEngine, Job, ToEngine};
use dsh_code_runtime::{ErrorClass, Failure, FailureKind, Limits, Namespace, Used};
use dsh_json::{Array, Json, Object, array, object};
use proptest::prelude::*;

#[test]
fn an_engines_messages_are_these_texts() {
    for (message, text) in [
        (
            FromEngine::Call(Call {
                id: 1,
                namespace: "tools".into(),
                name: "a b".into(),
                args: array![Json::Null],
            }),
            r#"{"frame":"call","id":1,"namespace":"tools","name":"a b","args":[null]}"#,
        ),
        (FromEngine::Log { text: "é\n".into() }, r#"{"frame":"log","text":"é\n"}"#),
        (FromEngine::Done { result: Ok(None), used: None }, r#"{"frame":"done"}"#),
        (FromEngine::Done { result: Ok(Some(Json::Null)), used: None }, r#"{"frame":"done","value":null}"#),
        (
            FromEngine::Done { result: Ok(None), used: Some(used((1, 2, 3))) },
            r#"{"frame":"done","used":{"busyMs":1,"peakMemoryBytes":2,"replies":3}}"#,
        ),
        (
            FromEngine::Done { result: Err(Failure::new(FailureKind::InvalidOutput, "no")), used: None },
            r#"{"frame":"done","error":{"kind":"invalid-output","message":"no"}}"#,
        ),
    ] {
        assert_eq!(message.encode(), text);
        assert_eq!(FromEngine::decode(text), Some(message));
    }
}

#[test]
fn a_hosts_messages_are_these_texts() {
    let class = ErrorClass { name: "E".into(), member_name_property: "m".into() };
    let namespaces = vec![
        Namespace {
            global: "tools".into(),
            functions: vec!["a".into(), "__proto__".into()],
            error_class: Some(class),
        },
        Namespace { global: "plain".into(), functions: vec![], error_class: None },
    ];
    let job = Job { program: "return 1".into(), namespaces, limits: Limits::default() };
    for (message, text) in [
        (
            ToEngine::Run(job),
            r#"{"frame":"run","program":"return 1","namespaces":[{"global":"tools","functions":["a","__proto__"],"errorClass":{"name":"E","memberNameProperty":"m"}},{"global":"plain","functions":[]}],"limits":{"maxWallMs":300000,"maxComputeMs":60000,"maxMemoryBytes":67108864,"maxOutputBytes":67108864,"maxSubCalls":10000,"maxInFlightBytes":67108864}}"#,
        ),
        (
            ToEngine::Reply { id: u64::MAX, answer: Ok(Json::Null) },
            r#"{"frame":"reply","id":18446744073709551615,"value":null}"#,
        ),
        (ToEngine::Reply { id: 2, answer: Err(String::new()) }, r#"{"frame":"reply","id":2,"message":""}"#),
        (ToEngine::Cancel, r#"{"frame":"cancel"}"#),
    ] {
        assert_eq!(message.encode(), text);
        assert_eq!(ToEngine::decode(text), Some(message));
    }
}

#[test]
fn what_is_not_exactly_a_message_of_an_engine_is_none() {
    for text in [
        "",
        "null",
        "7",
        "[]",
        r#""done""#,
        "{}",
        r#"{"frame":null}"#,
        r#"{"frame":7}"#,
        r#"{"frame":"Done"}"#,
        r#"{"frame":"cancel"}"#,
        r#"{"frame":"reply","id":1,"value":1}"#,
        r#"{"frame":"done"} {"frame":"done"}"#,
        r#"{"frame":"done""#,
        r#"{"frame":"log"}"#,
        r#"{"frame":"log","text":1}"#,
        r#"{"frame":"log","text":["a"]}"#,
        r#"{"frame":"log","text":"a","level":"warn"}"#,
        r#"{"frame":"call","namespace":"t","name":"n","args":1}"#,
        r#"{"frame":"call","id":1,"name":"n","args":1}"#,
        r#"{"frame":"call","id":1,"namespace":"t","args":1}"#,
        r#"{"frame":"call","id":1,"namespace":"t","name":"n"}"#,
        r#"{"frame":"call","id":"1","namespace":"t","name":"n","args":1}"#,
        r#"{"frame":"call","id":null,"namespace":"t","name":"n","args":1}"#,
        r#"{"frame":"call","id":-1,"namespace":"t","name":"n","args":1}"#,
        r#"{"frame":"call","id":1.5,"namespace":"t","name":"n","args":1}"#,
        r#"{"frame":"call","id":18446744073709551616,"namespace":"t","name":"n","args":1}"#,
        r#"{"frame":"call","id":1,"namespace":["t"],"name":"n","args":1}"#,
        r#"{"frame":"call","id":1,"namespace":"t","name":null,"args":1}"#,
        r#"{"frame":"call","id":1,"namespace":"t","name":"n","args":NaN}"#,
        r#"{"frame":"call","id":1,"namespace":"t","name":"n","args":-0}"#,
        r#"{"frame":"call","id":-0,"namespace":"t","name":"n","args":1}"#,
        r#"{"frame":"call","id":1,"namespace":"t","name":"n","args":undefined}"#,
        r#"{"frame":"call","id":1,"namespace":"t","name":"n","args":1,"more":1}"#,
        r#"{"frame":"done","result":1}"#,
        r#"{"frame":"done","value":Infinity}"#,
        r#"{"frame":"done","value":-0}"#,
        r#"{"frame":"done","value":{"a":[1,-0.0]}}"#,
        r#"{"frame":"done","value":[1,,2]}"#,
        r#"{"frame":"done","error":null}"#,
        r#"{"frame":"done","error":"exception"}"#,
        r#"{"frame":"done","error":{"kind":"exception"}}"#,
        r#"{"frame":"done","error":{"message":"x"}}"#,
        r#"{"frame":"done","error":{"kind":"exception","message":1}}"#,
        r#"{"frame":"done","error":{"kind":"Exception","message":"x"}}"#,
        r#"{"frame":"done","error":{"kind":"toString","message":"x"}}"#,
        r#"{"frame":"done","error":{"kind":"exception","message":"x","stack":"y"}}"#,
        r#"{"frame":"done","error":{"kind":"abort","message":"x"}}"#,
        r#"{"frame":"done","error":{"kind":"check","message":"x"}}"#,
        r#"{"frame":"done","error":{"kind":"unavailable","message":"x"}}"#,
        r#"{"frame":"done","value":1,"error":{"kind":"abort","message":"x"}}"#,
        r#"{"frame":"done","used":null}"#,
        r#"{"frame":"done","used":{}}"#,
        r#"{"frame":"done","used":{"busyMs":1}}"#,
        r#"{"frame":"done","used":{"busyMs":1,"peakMemoryBytes":1}}"#,
        r#"{"frame":"done","used":{"busyMs":1,"peakMemoryBytes":-1,"replies":1}}"#,
        r#"{"frame":"done","used":{"busyMs":1.5,"peakMemoryBytes":1,"replies":1}}"#,
        r#"{"frame":"done","used":{"busyMs":1,"peakMemoryBytes":1,"replies":1,"calls":1}}"#,
    ] {
        assert_eq!(FromEngine::decode(text), None, "{text}");
    }
}

#[test]
fn what_is_not_exactly_a_message_of_a_host_is_none() {
    let limits = r#"{"maxWallMs":1,"maxComputeMs":1,"maxMemoryBytes":1,"maxOutputBytes":1,"maxSubCalls":1,"maxInFlightBytes":1}"#;
    let run = |namespaces: &str, limits: &str| {
        format!(r#"{{"frame":"run","program":"","namespaces":{namespaces},"limits":{limits}}}"#)
    };
    assert!(ToEngine::decode(&run("[]", limits)).is_some());
    for text in [
        r#"{"frame":"done"}"#.to_owned(),
        r#"{"frame":"cancel","now":true}"#.to_owned(),
        r#"{"frame":"reply","id":1}"#.to_owned(),
        r#"{"frame":"reply","value":1}"#.to_owned(),
        r#"{"frame":"reply","id":1,"value":1,"message":"x"}"#.to_owned(),
        r#"{"frame":"reply","id":1,"message":1}"#.to_owned(),
        r#"{"frame":"reply","id":-1,"value":1}"#.to_owned(),
        run("{}", limits),
        run("[7]", limits),
        run(r#"[{"global":"t"}]"#, limits),
        run(r#"[{"functions":[]}]"#, limits),
        run(r#"[{"global":"t","functions":[1]}]"#, limits),
        run(r#"[{"global":"t","functions":[],"errorClass":null}]"#, limits),
        run(r#"[{"global":"t","functions":[],"errorClass":{"name":"E"}}]"#, limits),
        run(r#"[{"global":"t","functions":[],"more":1}]"#, limits),
        run("[]", "{}"),
        run("[]", &limits.replace("maxWallMs", "maxWall")),
        run("[]", &limits.replace(r#""maxSubCalls":1"#, r#""maxSubCalls":-1"#)),
        run("[]", &limits.replace('}', r#","more":1}"#)),
    ] {
        assert_eq!(ToEngine::decode(&text), None, "{text}");
    }
}

#[test]
fn an_end_with_a_value_and_an_error_is_the_error() {
    let text = r#"{"frame":"done","value":1,"error":{"kind":"exception","message":"x"}}"#;
    assert_eq!(
        FromEngine::decode(text),
        Some(FromEngine::Done { result: Err(Failure::new(FailureKind::Exception, "x")), used: None })
    );
}

#[test]
fn values_are_as_deep_as_programs_may_have_them_and_no_deeper() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let frame = |levels| format!(r#"{{"frame":"done","value":{}}}"#, nested(levels));
    let message = FromEngine::decode(&frame(10_000)).unwrap();
    assert_eq!(message.encode(), frame(10_000));
    assert_eq!(FromEngine::decode(&frame(10_001)), None);
    assert_eq!(FromEngine::decode(&frame(1_000_000)), None);
}

#[test]
fn the_limits_of_a_job_arrive_whole() {
    let limits = Limits {
        max_wall: Duration::from_millis(1),
        max_compute: Duration::from_millis(2),
        max_memory_bytes: 3,
        max_output_bytes: 4,
        max_sub_calls: 5,
        max_in_flight_bytes: 6,
    };
    let job = ToEngine::Run(Job { program: "".into(), namespaces: vec![], limits });
    assert_eq!(ToEngine::decode(&job.encode()), Some(job));
}

proptest! {
    #[test]
    fn an_engines_messages_come_back(message in from_engine()) {
        prop_assert_eq!(FromEngine::decode(&message.encode()), Some(message));
    }

    #[test]
    fn a_hosts_messages_come_back(message in to_engine()) {
        prop_assert_eq!(ToEngine::decode(&message.encode()), Some(message));
    }

    /// What is taken is exactly what is written for it: a cut frame, or one with a byte changed, is another message or none.
    #[test]
    fn damaged_frames_are_another_message_or_none(message in from_engine(), at in any::<prop::sample::Index>(), byte in 0x20_u8..0x7f) {
        let text = message.encode();
        let at = (0..=at.index(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        prop_assert_eq!(FromEngine::decode(&text[..at]), None);
        let rest: String = text[at..].chars().skip(1).collect();
        let changed = format!("{}{}{rest}", &text[..at], char::from(byte));
        if let Some(other) = FromEngine::decode(&changed) {
            prop_assert_eq!(FromEngine::decode(&other.encode()), Some(other));
        }
    }
}

fn from_engine() -> impl Strategy<Value = FromEngine> {
    let kind = prop::sample::select(vec![
        FailureKind::Syntax,
        FailureKind::Exception,
        FailureKind::Stalled,
        FailureKind::Timeout,
        FailureKind::MemoryLimit,
        FailureKind::OutputLimit,
        FailureKind::CallLimit,
        FailureKind::InvalidOutput,
        FailureKind::WorkerExit,
    ]);
    let end = prop_oneof![
        prop::option::of(value()).prop_map(Ok),
        (kind, text()).prop_map(|(kind, message)| Err(Failure::new(kind, message))),
    ];
    prop_oneof![
        (any::<u64>(), text(), text(), value()).prop_map(|(id, namespace, name, args)| {
            FromEngine::Call(Call { id, namespace: namespace.into(), name: name.into(), args })
        }),
        text().prop_map(|text| FromEngine::Log { text }),
        (end, prop::option::of(any::<(u64, u64, u64)>()))
            .prop_map(|(result, claim)| FromEngine::Done { result, used: claim.map(used) }),
    ]
}

fn used((busy_ms, peak_memory, replies): (u64, u64, u64)) -> Used {
    Used { busy: Duration::from_millis(busy_ms), peak_memory, replies }
}

fn to_engine() -> impl Strategy<Value = ToEngine> {
    let class = (text(), text())
        .prop_map(|(name, member)| ErrorClass { name: name.into(), member_name_property: member.into() });
    let namespace = (text(), prop::collection::vec(text(), 0..4), prop::option::of(class)).prop_map(
        |(global, functions, error_class)| Namespace {
            global: global.into(),
            functions: functions.into_iter().map(Into::into).collect(),
            error_class,
        },
    );
    prop_oneof![
        (text(), prop::collection::vec(namespace, 0..3)).prop_map(|(program, namespaces)| {
            ToEngine::Run(Job { program: program.into(), namespaces, limits: Limits::default() })
        }),
        (any::<u64>(), value()).prop_map(|(id, value)| ToEngine::Reply { id, answer: Ok(value) }),
        (any::<u64>(), text()).prop_map(|(id, message)| ToEngine::Reply { id, answer: Err(message) }),
        Just(ToEngine::Cancel),
    ]
}

fn text() -> impl Strategy<Value = String> {
    "(?s).{0,8}"
}

fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        (-1e9..1e9).prop_map(|number: f64| Json::try_from(number).unwrap_or_default()),
        text().prop_map(Json::from),
        Just(object! { "frame": "done" }),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| Json::from(Array::from(items))),
            prop::collection::vec((text(), inner), 0..3).prop_map(|pairs| {
                Json::from(
                    pairs.into_iter().map(|(key, value)| (Arc::<str>::from(key), value)).collect::<Object>(),
                )
            }),
        ]
    })
}
