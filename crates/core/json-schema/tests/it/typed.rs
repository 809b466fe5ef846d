//! Rust types as schemas.

use std::collections::BTreeMap;
use std::sync::Arc;

use dsh_json::{Json, Object, array, object};
use dsh_json_schema::{LowerError, Schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The schema of a property of that type that has to be there.
fn property<T: JsonSchema>() -> Json {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Holder<T> {
        it: T,
    }
    let schema = Schema::for_input::<Holder<T>>().expect("it can be described");
    schema.json().get("properties").and_then(|map| map.get("it")).cloned().expect("it is there")
}

fn check<T: JsonSchema>(expected: Json) {
    assert_eq!(property::<T>().to_text(), expected.to_text());
}

fn strings() -> Json {
    object! { "type": "string" }
}

#[derive(JsonSchema, Serialize, Deserialize, Default)]
struct Point {
    x: i64,
    y: Option<f32>,
}

#[test]
fn scalars_lose_their_formats() {
    check::<String>(strings());
    check::<Arc<str>>(strings());
    check::<Box<str>>(strings());
    check::<std::path::PathBuf>(strings());
    check::<char>(strings());
    check::<u8>(object! { "type": "integer" });
    check::<f64>(object! { "type": "number" });
    check::<bool>(object! { "type": "boolean" });
    check::<()>(object! { "type": "null" });
}

#[test]
fn anything_is_any_json() {
    check::<Json>(object! {});
    check::<serde_json::Value>(object! {});
    check::<Option<Json>>(object! {});
    check::<Object>(object! { "type": "object" });
}

#[test]
fn containers_keep_their_elements() {
    check::<Vec<String>>(object! { "type": "array", "items": strings() });
    check::<[u8; 3]>(object! { "type": "array", "items": object! { "type": "integer" } });
    check::<(String, String)>(object! { "type": "array", "items": strings() });
    check::<(String, i32)>(object! { "type": "array" });
    check::<BTreeMap<String, u8>>(object! { "type": "object", "additionalProperties": true });
    check::<BTreeMap<u32, String>>(object! { "type": "object", "additionalProperties": true });
    let point = object! {
        "type": "object",
        "properties": object! { "x": object! { "type": "integer" }, "y": object! { "type": "number" } },
        "required": array!["x"],
    };
    check::<Point>(point.clone());
    check::<Box<Point>>(point.clone());
    check::<Vec<Point>>(object! { "type": "array", "items": point });
}

#[test]
fn options_inside_are_nullable() {
    let nullable = object! { "oneOf": array![strings(), object! { "type": "null" }] };
    check::<Option<String>>(strings());
    check::<Vec<Option<String>>>(object! { "type": "array", "items": nullable.clone() });

    #[derive(JsonSchema, Serialize)]
    struct Found {
        /// Where.
        line: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    }
    let schema = Schema::for_output::<Found>().unwrap();
    let expected = object! {
        "type": "object",
        "properties": object! {
            "line": object! { "oneOf": array![strings(), object! { "type": "null" }], "description": "Where." },
            "note": strings(),
        },
        "required": array!["line"],
    };
    assert_eq!(schema.json().to_text(), expected.to_text());
    for (line, note) in [(None, None), (Some("1".to_owned()), Some("n".to_owned()))] {
        assert!(schema.is_valid(&Json::from_serialize(&Found { line, note }).unwrap()));
    }
}

#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Level {
    Low,
    VeryHigh,
}

/// How far to go.
#[derive(JsonSchema, Serialize, Deserialize)]
enum Reach {
    /// This file.
    File,
    All,
}

#[test]
fn enums_without_data_are_string_enums() {
    check::<Level>(object! { "type": "string", "enum": array!["low", "very-high"] });
    check::<Option<Level>>(object! { "type": "string", "enum": array!["low", "very-high"] });
    let reach = object! {
        "type": "string",
        "description": "How far to go.\n- `File`: This file.",
        "enum": array!["All", "File"],
    };
    check::<Reach>(reach.clone());
    check::<Option<Reach>>(reach);
    check::<Vec<Option<Level>>>(object! {
        "type": "array",
        "items": object! { "oneOf": array![
            object! { "type": "string", "enum": array!["low", "very-high"] },
            object! { "type": "null" },
        ] },
    });
}

#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "type")]
enum Shape {
    Dot,
    /// Round.
    Circle {
        r: f64,
    },
}

#[test]
fn tagged_enums_are_unions() {
    let tag = |name: &str| object! { "type": "string", "const": name };
    let number = object! { "type": "number" };
    let branches = array![
        object! { "type": "object", "properties": object! { "type": tag("Dot") }, "required": array!["type"] },
        object! {
            "type": "object",
            "description": "Round.",
            "properties": object! { "type": tag("Circle"), "r": number.clone() },
            "required": array!["type", "r"],
        },
    ];
    check::<Shape>(object! { "oneOf": branches.clone() });
    check::<Option<Shape>>(object! { "oneOf": branches });

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum External {
        Dot,
        Circle(f64),
    }
    check::<External>(object! { "oneOf": array![
        object! { "type": "string", "enum": array!["Dot"] },
        object! {
            "type": "object",
            "additionalProperties": false,
            "properties": object! { "Circle": number },
            "required": array!["Circle"],
        },
    ] });
}

#[test]
fn untagged_enums_need_disjoint_variants() {
    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Query {
        Text(String),
        Many(Vec<String>),
        Whole(i64),
        Part(f64),
    }
    check::<Query>(object! { "oneOf": array![
        strings(),
        object! { "type": "array", "items": strings() },
        object! { "type": "number" },
    ] });

    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Either {
        Text(String),
        Left { a: i32 },
        Right { b: i32 },
    }
    let error = Schema::for_output::<Vec<Either>>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "schema.items: variants 2 and 3 can fit the same value; tag the enum (`#[serde(tag = \"type\")]`) \
         or make the variants differ"
    );

    #[derive(JsonSchema)]
    #[serde(untagged, deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Strict {
        Left { a: i32 },
        Right { b: i32 },
    }
    let schema = Schema::for_output::<Strict>().unwrap();
    assert!(schema.is_valid(&object! { "b": 1 }));
    assert!(!schema.is_valid(&object! { "a": 1, "b": 1 }));
}

/// Reads a file.
#[derive(JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct ReadArgs {
    /// The file.
    file_path: String,
    /// First line, from 1.
    #[schemars(range(min = 1))]
    offset: Option<u32>,
    #[serde(default = "ten")]
    limit: u64,
    #[serde(default)]
    near: Option<Point>,
    #[serde(default)]
    origin: Point,
    #[schemars(title = "T", example = &"x")]
    label: String,
    #[schemars(extend("x-order" = 1))]
    flag: bool,
}

fn ten() -> u64 {
    10
}

#[test]
fn input_structs_are_objects_in_the_order_of_their_fields() {
    let schema = Schema::for_input::<ReadArgs>().unwrap();
    let point = |rest: Json| {
        let mut node = object! {
            "type": "object",
            "properties": object! { "x": object! { "type": "integer" }, "y": object! { "type": "number" } },
            "required": array!["x"],
        };
        if !rest.is_null() {
            let entries = node.as_object().unwrap().iter().map(|(key, value)| (key.clone(), value.clone()));
            let mut entries: Vec<_> = entries.collect();
            entries.insert(1, ("default".into(), rest));
            node = entries.into_iter().collect::<Object>().into();
        }
        node
    };
    let expected = object! {
        "type": "object",
        "description": "Reads a file.",
        "additionalProperties": false,
        "properties": object! {
            "filePath": object! { "type": "string", "description": "The file." },
            "offset": object! { "type": "integer", "description": "First line, from 1." },
            "limit": object! { "type": "integer", "default": 10 },
            "near": point(Json::Null),
            "origin": point(object! { "x": 0, "y": Json::Null }),
            "label": object! { "type": "string", "title": "T", "examples": array!["x"] },
            "flag": object! { "type": "boolean" },
        },
        "required": array!["filePath", "label", "flag"],
    };
    assert_eq!(schema.json().to_text(), expected.to_text());
}

#[test]
fn what_is_dropped_is_recorded() {
    let schema = Schema::for_input::<ReadArgs>().unwrap();
    let drops: Vec<String> = schema
        .drops()
        .iter()
        .map(|drop| format!("{}.{}={}", drop.path(), drop.keyword(), drop.value()))
        .collect();
    assert_eq!(
        drops,
        [
            "schema.properties.offset.format=\"uint32\"",
            "schema.properties.offset.minimum=1",
            "schema.properties.limit.format=\"uint64\"",
            "schema.properties.limit.minimum=0",
            "schema.properties.near.properties.x.format=\"int64\"",
            "schema.properties.near.properties.y.format=\"float\"",
            "schema.properties.origin.properties.x.format=\"int64\"",
            "schema.properties.origin.properties.y.format=\"float\"",
            "schema.properties.flag.x-order=1",
        ]
    );
    assert_eq!(Schema::string().build().unwrap().drops(), []);
}

#[test]
fn no_arguments_are_an_empty_object() {
    #[derive(JsonSchema, Deserialize)]
    struct Nothing {}
    assert_eq!(Schema::for_input::<Nothing>().unwrap().json().to_text(), r#"{"type":"object"}"#);

    #[derive(JsonSchema, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Closed {}
    let closed = Schema::for_input::<Closed>().unwrap();
    assert_eq!(closed.json().to_text(), r#"{"type":"object","additionalProperties":false}"#);
}

#[test]
fn outputs_take_any_root() {
    assert_eq!(Schema::for_output::<String>().unwrap().json().to_text(), r#"{"type":"string"}"#);
    assert_eq!(Schema::for_output::<Json>().unwrap().json().to_text(), "{}");
    assert_eq!(Schema::for_output::<()>().unwrap().json().to_text(), r#"{"type":"null"}"#);
}

#[test]
fn arguments_that_are_no_object_are_refused() {
    let error = Schema::for_input::<Vec<String>>().unwrap_err();
    assert!(matches!(error, LowerError::RootNotObject { .. }));
    assert_eq!(
        error.to_string(),
        "schema: `Array_of_string` is not an object; use a struct with named fields (empty for no arguments)"
    );
    assert!(matches!(Schema::for_input::<Shape>(), Err(LowerError::RootNotObject { .. })));
}

#[test]
fn recursive_types_are_refused_with_the_place() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Tree {
        children: Vec<Tree>,
    }
    assert_eq!(
        Schema::for_input::<Tree>().unwrap_err().to_string(),
        "schema.properties.children.items: recursive types can't be described; \
         give the recursive field `#[schemars(with = \"dsh_json::Json\")]`"
    );

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Cut {
        #[schemars(with = "Vec<Json>")]
        children: Vec<Cut>,
    }
    check::<Cut>(object! {
        "type": "object",
        "properties": object! { "children": object! { "type": "array", "items": object! {} } },
        "required": array!["children"],
    });
}

#[test]
fn flattened_structs_are_one_object() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Outer {
        a: String,
        #[serde(flatten)]
        point: Point,
    }
    check::<Outer>(object! {
        "type": "object",
        "properties": object! {
            "a": strings(),
            "x": object! { "type": "integer" },
            "y": object! { "type": "number" },
        },
        "required": array!["a", "x"],
    });

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct WithEnum {
        a: String,
        #[serde(flatten)]
        shape: Shape,
    }
    let error = Schema::for_input::<WithEnum>().unwrap_err().to_string();
    assert_eq!(
        error,
        "schema: an enum flattened into a struct can't be described; give the flattened enum a field of its own"
    );
}

#[test]
fn adjacently_tagged_enums_are_unions_with_their_comments() {
    /// What happened.
    ///
    /// Told once.
    #[derive(JsonSchema)]
    #[serde(tag = "t", content = "c")]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Event {
        /// Nothing more.
        Ended,
        Failed {
            /// Why.
            reason: String,
        },
    }
    let tag = |name: &str| object! { "type": "string", "const": name };
    let reason = object! { "type": "string", "description": "Why." };
    let failed = object! {
        "type": "object",
        "properties": object! { "reason": reason },
        "required": array!["reason"],
    };
    check::<Event>(object! {
        "oneOf": array![
            object! {
                "type": "object",
                "description": "Nothing more.",
                "properties": object! { "t": tag("Ended") },
                "required": array!["t"],
            },
            object! {
                "type": "object",
                "properties": object! { "t": tag("Failed"), "c": failed },
                "required": array!["t", "c"],
            },
        ],
        "description": "What happened.\n\nTold once.",
    });
}

#[test]
fn transparent_and_generic_types_are_what_they_hold() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Name(String);
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Pair<T> {
        left: T,
        right: Option<T>,
    }
    check::<Name>(strings());
    check::<Option<Option<Name>>>(strings());
    check::<Pair<Name>>(object! {
        "type": "object",
        "properties": object! { "left": strings(), "right": strings() },
        "required": array!["left"],
    });
    // Keys from an enum are known.
    check::<BTreeMap<Key, Name>>(object! {
        "type": "object",
        "additionalProperties": false,
        "properties": object! { "A": strings(), "B": strings() },
    });
}

#[derive(JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[expect(dead_code, reason = "only its schema is used")]
enum Key {
    A,
    B,
}

#[test]
fn what_can_not_be_described_is_refused_where_it_stands() {
    #[derive(JsonSchema)]
    enum Never {}
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Holder {
        inner: Vec<Never>,
    }
    assert_eq!(
        Schema::for_input::<Holder>().unwrap_err().to_string(),
        "schema.properties.inner.items: a type without values can't be described; \
         remove the field, or skip it with `#[serde(skip)]`"
    );

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct First {
        second: Option<Second>,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Second {
        Back(Box<First>),
        Stop,
    }
    let error = Schema::for_output::<First>().unwrap_err();
    let LowerError::Recursive { path } = &error else { panic!("{error}") };
    assert_eq!(path, "schema.properties.second.oneOf[0].oneOf[1].properties.Back");
}
