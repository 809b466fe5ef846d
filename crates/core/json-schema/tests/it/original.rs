//! The foreign schema itself as a judge: what it says, and where it stops.

use std::thread;

use dsh_json::{Json, Object, array, object};
use dsh_json_schema::{ImportLimits, Imported, Schema, ViolationKind};

fn import(foreign: &str) -> Imported {
    Schema::import(&Json::parse(foreign).unwrap(), &ImportLimits::default()).unwrap()
}

/// What is said about a value that the imported schema takes, and the original does not.
fn check(foreign: &str, value: &str, expected: &str) {
    let imported = import(foreign);
    let value = Json::parse(value).unwrap();
    assert!(imported.schema().is_valid(&value), "{foreign} {}", imported.schema().json());
    assert!(!imported.is_valid(&value), "{foreign}");
    let found = imported.violations(&value, "");
    assert_eq!(found.to_string(), expected, "{foreign}");
    assert!(found.iter().all(|violation| violation.to_string().chars().count() < 500));
}

#[test]
fn bounds_are_said_with_what_was_found() {
    check(r#"{"type":"integer","minimum":1}"#, "0", "arguments: must be at least 1; found the number 0");
    check(r#"{"type":"number","maximum":1.5}"#, "2", "arguments: must be at most 1.5; found the number 2");
    check(
        r#"{"type":"number","exclusiveMinimum":1}"#,
        "1",
        "arguments: must be more than 1; found the number 1",
    );
    check(
        r#"{"type":"number","exclusiveMaximum":1}"#,
        "1",
        "arguments: must be less than 1; found the number 1",
    );
    check(
        r#"{"type":"number","multipleOf":5}"#,
        "7",
        "arguments: must be a multiple of 5; found the number 7",
    );
    check(
        r#"{"type":"string","minLength":3}"#,
        r#""ab""#,
        r#"arguments: must have at least 3 characters; found 2 in "ab""#,
    );
    check(
        r#"{"type":"string","maxLength":1}"#,
        r#""ab""#,
        r#"arguments: must have at most 1 character; found 2 in "ab""#,
    );
    check(
        r#"{"type":"string","pattern":"^a+$"}"#,
        r#""b""#,
        r#"arguments: must match the pattern `^a+$`; found the string "b""#,
    );
    check(r#"{"type":"array","minItems":2}"#, "[1]", "arguments: must have at least 2 items; found 1");
    check(r#"{"type":"array","maxItems":1}"#, "[1,2]", "arguments: must have at most 1 item; found 2");
    check(
        r#"{"type":"array","uniqueItems":true}"#,
        "[1,1]",
        "arguments: must not have the same item twice; remove one",
    );
    check(
        r#"{"type":"object","minProperties":1}"#,
        "{}",
        "arguments: must have at least 1 property; found 0",
    );
    check(
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"string","format":"date"}"#,
        r#""tomorrow""#,
        r#"arguments: must have the format date; found the string "tomorrow""#,
    );
}

#[test]
fn places_are_ours() {
    let foreign = r#"{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","additionalProperties":{"type":"integer"},"dependentRequired":{"a":["b"]}}}}}"#;
    check(
        foreign,
        r#"{"list":[{},{"a":1,"x":"y"}]}"#,
        r#"list[1].b: is required but missing; add it; list[1].x: must be of type integer; found the string "y""#,
    );
    let value = Json::parse(r#"{"list":[{"a":"1"}]}"#).unwrap();
    let found = import(foreign).violations(&value, "value");
    let listed: Vec<_> = found.iter().map(|found| (found.kind(), found.path(), found.arg())).collect();
    assert_eq!(
        listed,
        [
            (ViolationKind::MissingRequired, "value.list[0].b", None),
            (ViolationKind::WrongType, "value.list[0].a", None),
        ]
    );
    let found = import(r#"{"type":"integer","minimum":1}"#).violations(&0.into(), "value");
    let first = found.iter().next().unwrap();
    assert_eq!(
        (first.kind(), first.path(), first.arg()),
        (ViolationKind::UnmetKeyword, "value", Some("minimum"))
    );
}

#[test]
fn combinations_say_what_is_close() {
    check(
        r#"{"type":"object","anyOf":[{"properties":{"a":{"minimum":5}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b","c"]}]}"#,
        r#"{"a":1}"#,
        "arguments: matches none of the 2 allowed forms; the closest is form 1, where `a` must be at least 5; found the number 1",
    );
    check(
        r#"{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}"#,
        "{}",
        r#"arguments: matches none of the 2 allowed forms; the closest is form 1, where it lacks "a""#,
    );
    check(
        r#"{"oneOf":[{"type":"string","pattern":"a"},{"type":"string","pattern":"b"}]}"#,
        r#""ab""#,
        "arguments: matches 2 of the 2 allowed forms but must match exactly one",
    );
    check(
        r#"{"type":"string","not":{"const":"x"}}"#,
        r#""x""#,
        r#"arguments: must not fit {"const":"x"}; found the string "x""#,
    );
    check(
        r#"{"type":"object","propertyNames":{"maxLength":1}}"#,
        r#"{"ab":1}"#,
        r#"arguments: has a property with a name that does not fit: it must have at most 1 character; found 2 in "ab""#,
    );
    check(
        r#"{"type":"object","if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]}}"#,
        r#"{"a":1}"#,
        "b: is required but missing; add it",
    );
    check(
        r#"{"type":"array","contains":{"const":1}}"#,
        "[2]",
        "arguments: must have an item that the description asks for",
    );
    check(
        r#"{"const":{"a":[1]}}"#,
        r#"{"a":[2]}"#,
        r#"arguments: must be exactly {"a":[1]}; found an object with a"#,
    );
    check(
        r#"{"type":"object","patternProperties":{"^a":false}}"#,
        r#"{"ab":1}"#,
        "ab: is not allowed here; remove it",
    );
}

#[test]
fn other_spellings_are_enforced() {
    // OpenAPI 3.0.
    let nullable = import(r#"{"type":"string","nullable":true,"minLength":1}"#);
    assert!(
        nullable.is_valid(&Json::Null) && nullable.is_valid(&"x".into()) && !nullable.is_valid(&"".into())
    );
    let exclusive = import(r#"{"type":"number","minimum":0,"exclusiveMinimum":true}"#);
    assert!(exclusive.is_valid(&1.into()) && !exclusive.is_valid(&0.into()));
    // Draft 7 without saying so, draft 4 saying so, and a dialect that nobody knows.
    let tuple =
        import(r#"{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}"#);
    assert!(
        tuple.is_valid(&array!["a", 1])
            && !tuple.is_valid(&array![1, "a"])
            && !tuple.is_valid(&array!["a", 1, 1])
    );
    let four = import(
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"number","maximum":1,"exclusiveMaximum":true}"#,
    );
    assert!(four.is_valid(&0.into()) && !four.is_valid(&1.into()));
    let unknown = import(r#"{"$schema":"https://example.test/mine","type":"integer","minimum":1}"#);
    assert!(!unknown.is_valid(&0.into()), "{:?}", unknown.unchecked());
    // A reference out of the document asks for nothing, and the rest stays enforced.
    let dangling = import(
        r#"{"type":"object","properties":{"a":{"$ref":"http://e.test/x"},"b":{"type":"integer","minimum":1}}}"#,
    );
    assert_eq!(dangling.unchecked(), None);
    assert!(
        dangling.is_valid(&object! { "a": 1, "b": 1 }) && !dangling.is_valid(&object! { "a": 1, "b": 0 })
    );
    // Recursion is cut for the model only.
    let tree = import(
        r##"{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/T"}},"required":["v"]}}}"##,
    );
    let good = object! { "v": 1, "next": object! { "v": 2, "next": object! { "v": 3 } } };
    let bad = object! { "v": 1, "next": object! { "v": 2, "next": object! { "v": "3" } } };
    assert!(tree.is_valid(&good) && tree.schema().is_valid(&bad) && !tree.is_valid(&bad));
    assert_eq!(
        tree.violations(&bad, "").to_string(),
        r#"next.next.v: must be of type integer; found the string "3""#
    );
}

#[test]
fn a_pattern_that_can_not_be_read_is_said() {
    let imported = import(r#"{"type":"string","pattern":"("}"#);
    assert!(imported.original().is_none());
    assert_eq!(imported.unchecked(), Some(r#""(" is not a "regex""#));
}

#[test]
fn lists_are_capped() {
    let imported = import(r#"{"type":"array","items":{"type":"integer","minimum":1}}"#);
    let value: Json = std::iter::repeat_n(0, 1_000).collect();
    let found = imported.violations(&value, "");
    assert_eq!((found.len(), found.truncated()), (32, 968));
    let found = imported.violations_up_to(&value, "", 3);
    assert_eq!((found.len(), found.truncated()), (3, 997));
}

#[test]
fn deep_values_and_circles_do_not_overflow_a_small_stack() {
    let test = || {
        let list = import(
            r##"{"allOf":[{"$ref":"#/$defs/L"}],"minLength":0,"$defs":{"L":{"type":"array","items":{"$ref":"#"},"minItems":1}}}"##,
        );
        assert_eq!(list.unchecked(), None);
        let nested = |levels: usize, leaf: Json| (0..levels).fold(leaf, |inner, _| array![inner]);
        assert!(!list.is_valid(&nested(100, array![])));
        assert!(!list.violations(&nested(100, array![]), "").is_empty());
        for levels in [129, 5_000, 9_999] {
            let found = list.violations(&nested(levels, array![]), "");
            assert_eq!(
                found.to_string(),
                "arguments: is nested deeper than 128 levels; send a flatter value"
            );
        }
        // A hundred levels of the schema look at each of a hundred levels of the value.
        let inner = object! { "type": "array", "items": object! { "$ref": "#" }, "maxItems": 1 };
        let thick = (0..100).fold(inner, |inner, _| object! { "allOf": array![inner] });
        let thick = Schema::import(&thick, &ImportLimits::default()).unwrap();
        assert_eq!(thick.unchecked(), None);
        assert!(thick.is_valid(&nested(100, array![])));
        assert!(!thick.is_valid(&nested(100, array![array![], array![]])));
        assert!(!thick.violations(&nested(2, array![array![], array![]]), "").is_empty());
        for circle in [
            r##"{"$ref":"#","minLength":1}"##,
            r##"{"allOf":[{"$ref":"#"}],"minLength":1}"##,
            r##"{"anyOf":[{"$ref":"#/$defs/a"}],"minLength":1,"$defs":{"a":{"not":{"$ref":"#/$defs/a"}}}}"##,
        ] {
            let imported = import(circle);
            imported.is_valid(&"x".into());
            imported.violations(&"".into(), "");
        }
    };
    let stack = 2 * 1024 * 1024;
    thread::Builder::new().stack_size(stack).spawn(test).expect("a thread").join().expect("it ends well");
}

#[test]
fn schemas_made_to_be_slow_are_judged_in_bounded_time() {
    // Each level asks twice about the next one.
    let twice = import(
        r##"{"$ref":"#/$defs/d","$defs":{"d":{"allOf":[
            {"properties":{"a":{"$ref":"#/$defs/d"}}},{"properties":{"a":{"$ref":"#/$defs/d"}}}
        ],"not":{"required":["z"]}}}}"##,
    );
    assert_eq!(twice.unchecked(), None);
    let nested = |leaf: Json| (0..100).fold(leaf, |inner, _| object! { "a": inner });
    assert!(twice.is_valid(&nested(object! {})));
    let bad = nested(object! { "z": 1 });
    assert!(!twice.is_valid(&bad));
    assert_eq!(
        twice.violations(&bad, "").to_string(),
        "arguments: does not fit the tool's own schema; read the description again"
    );
    // Many checks of each of many values.
    let parts: Json = (0..10_000).map(|_| object! { "items": object! { "minimum": 0 } }).collect();
    let parts: Object = [("allOf", parts)].into_iter().collect();
    let wide = Schema::import(&parts.into(), &ImportLimits::default()).unwrap();
    let value: Json = (0..100_000).map(Json::from).collect();
    assert_eq!(wide.unchecked(), None);
    assert_eq!(
        wide.violations(&value, "").to_string(),
        "arguments: takes more than 100000000 steps to check against its schema; send a smaller value"
    );
}
