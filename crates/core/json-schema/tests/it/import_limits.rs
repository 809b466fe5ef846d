//! Foreign schemas that are too deep, too large or made to explode: imported as far as the limits go, in linear time.

use std::thread;

use dsh_json::{Json, Object, array, object};
use dsh_json_schema::{Fate, ImportLimits, Imported, Schema};

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let stack = 2 * 1024 * 1024;
    thread::Builder::new().stack_size(stack).spawn(test).expect("a thread").join().expect("it ends well");
}

fn nested(levels: usize, leaf: Json, wrap: impl Fn(Json) -> Json) -> Json {
    (0..levels).fold(leaf, |inner, _| wrap(inner))
}

fn import(foreign: &Json) -> Imported {
    Schema::import(foreign, &ImportLimits::default()).unwrap()
}

/// Whether a row says so of that limit.
fn says(imported: &Imported, keyword: &str, note: &str) -> bool {
    let rows = imported.report().entries();
    rows.iter().any(|entry| entry.keyword() == keyword && entry.note().contains(note))
}

#[test]
fn deep_schemas_are_cut_at_the_limit() {
    on_a_small_stack(|| {
        let wraps: [fn(Json) -> Json; 7] = [
            |inner| object! { "type": "object", "properties": object! { "a": inner }, "minProperties": 1 },
            |inner| object! { "type": "array", "items": inner, "minItems": 1 },
            |inner| object! { "anyOf": array![inner, object! { "type": "null" }] },
            |inner| object! { "allOf": array![inner] },
            |inner| object! { "not": inner },
            |inner| object! { "type": "object", "additionalProperties": inner },
            |inner| object! { "prefixItems": array![inner], "items": false },
        ];
        for wrap in wraps {
            let foreign = nested(5_000, object! { "type": "string", "minLength": 1 }, wrap);
            let imported = import(&foreign);
            assert!(imported.schema().json().depth() < 64 * 3, "{}", imported.schema().json().depth());
            if foreign.get("not").is_none() {
                assert!(says(&imported, "(depth)", "deeper than 64 levels"), "{}", imported.report());
            }
            assert_eq!(imported.unchecked(), Some("it is nested deeper than 128 levels"));
            // Whatever was cut takes anything.
            assert!(!imported.report().is_exact());
        }
    });
}

#[test]
fn deep_schemas_of_the_subset_and_deep_annotations_pass() {
    on_a_small_stack(|| {
        let foreign =
            nested(5_000, object! { "type": "string" }, |inner| object! { "type": "array", "items": inner });
        let imported = import(&foreign);
        assert!(imported.report().is_exact());
        let deep = nested(9_000, Json::Null, |inner| array![inner]);
        let foreign =
            object! { "type": "string", "minLength": 1, "default": deep.clone(), "enum": array![deep] };
        let imported = import(&foreign);
        assert!(says(&imported, "default", "longer than 8192 characters"), "{}", imported.report());
    });
}

#[test]
fn chains_of_definitions_are_cut_wherever_they_begin() {
    on_a_small_stack(|| {
        let definitions: Object = (0..5_000)
            .map(|at| {
                let next = object! { "$ref": format!("#/$defs/d{}", at + 1) };
                (format!("d{at}"), object! { "type": "object", "properties": object! { "n": next } })
            })
            .collect();
        // From the end to the beginning, so that each chain runs into one that is known, or is too long before.
        for (step, keyword) in [(20, "$ref"), (40, "(depth)")] {
            let starts: Object = (0..5_000)
                .rev()
                .step_by(step)
                .map(|at| (format!("p{at}"), object! { "$ref": format!("#/$defs/d{at}") }))
                .collect();
            let foreign = object! { "type": "object", "properties": starts, "$defs": definitions.clone() };
            let imported = import(&foreign);
            assert!(imported.schema().json().depth() < 64 * 3, "{}", imported.schema().json().depth());
            assert!(says(&imported, keyword, "deeper than 64 levels"), "{}", imported.report());
            assert!(imported.unchecked().is_some());
        }
    });
}

/// Definitions `d0` to `d29`, each of which uses the next one twice.
fn fan(wrap: impl Fn(Json, Json) -> Json) -> Json {
    let mut definitions: Object = (0..30)
        .map(|at| {
            let next = || object! { "$ref": format!("#/$defs/d{}", at + 1) };
            (format!("d{at}"), wrap(next(), next()))
        })
        .collect();
    definitions
        .insert("d30", object! { "type": "object", "properties": object! { "x": object! { "minimum": 1 } } });
    let mut root = object! { "$ref": "#/$defs/d0" }.as_object().cloned().unwrap();
    root.insert("$defs", definitions);
    root.into()
}

#[test]
fn bombs_of_references_stay_small() {
    let pair = |left, right| object! { "type": "object", "properties": object! { "a": left, "b": right } };
    let imported = import(&fan(pair));
    let text = imported.schema().json().to_text();
    assert!(text.len() > 10_000 && text.len() < 1024 * 1024, "{}", text.len());
    assert!(says(&imported, "(size)", "do not fit into 1048576 bytes"), "{}", imported.report());
    assert_eq!(imported.unchecked(), Some("it has more than 50000 nodes with its references written out"));
    let described = |left, right| {
        let with = |node: Json| {
            let mut node = node.as_object().cloned().unwrap();
            node.insert("description", "D");
            node
        };
        object! { "type": "object", "properties": object! { "a": with(left), "b": with(right) } }
    };
    assert!(import(&fan(described)).schema().json().to_text().len() < 1024 * 1024);
    for wrap in [
        |left, right| object! { "allOf": array![left, right] },
        |left, right| object! { "anyOf": array![left, object! { "type": "object", "properties": object! { "a": right } }] },
        |left, right| object! { "oneOf": array![object! { "type": "array", "items": left }, object! { "type": "array", "items": right, "minItems": 1 }] },
        |left, right| object! { "type": "array", "prefixItems": array![left, right], "items": false },
        |left: Json, _| object! { "if": left.clone(), "then": left.clone(), "not": left },
    ] {
        let imported = import(&fan(wrap));
        assert!(imported.schema().json().to_text().len() < 2 * 1024 * 1024);
    }
}

#[test]
fn definitions_that_all_use_each_other_are_written_once() {
    let definitions: Object = (0..60)
        .map(|at| {
            let all: Object =
                (0..60).map(|to| (format!("p{to}"), object! { "$ref": format!("#/$defs/d{to}") })).collect();
            (format!("d{at}"), object! { "type": "object", "properties": all })
        })
        .collect();
    let imported = import(&object! { "$ref": "#/$defs/d0", "$defs": definitions });
    assert!(imported.schema().json().to_text().len() < 2 * 1024 * 1024);
    assert!(imported.report().truncated() > 0);
}

#[test]
fn products_of_alternatives_are_joined() {
    let choice = |at: usize| {
        let branch = |tag: &str| {
            let tagged: Object = [(format!("t{at}"), object! { "const": tag })].into_iter().collect();
            object! { "type": "object", "properties": tagged, "required": array![format!("t{at}")] }
        };
        object! { "oneOf": array![branch("a"), branch("b")] }
    };
    let imported = import(&object! { "allOf": (0..30).map(choice).collect::<Json>() });
    assert!(says(&imported, "allOf", "merged in part"), "{}", imported.report());
    assert!(imported.schema().json().to_text().len() < 100_000);
    let whole: Object = (0..30).map(|at| (format!("t{at}"), "a")).collect();
    assert!(imported.is_valid(&whole.into()));
    let part: Object = (0..29).map(|at| (format!("t{at}"), "a")).collect();
    assert!(!imported.is_valid(&part.into()));

    // Ten thousand alternatives, or parts, are looked at once each.
    for key in ["anyOf", "oneOf", "allOf"] {
        let branch = |at: usize| {
            let one: Object = [(format!("p{at}"), object! { "type": "string" })].into_iter().collect();
            object! { "type": "object", "properties": one, "minProperties": 0 }
        };
        let many: Json = (0..10_000).map(branch).collect();
        let foreign: Object = [(key, many)].into_iter().collect();
        let imported = import(&foreign.into());
        let properties =
            imported.schema().json().get("properties").and_then(Json::as_object).map(Object::len);
        assert_eq!(properties, Some(10_000), "{key}");
    }
}

#[test]
fn shared_parts_are_read_within_the_limit() {
    let foreign = nested(40, object! { "type": "string", "minLength": 1 }, |inner| {
        object! { "type": "object", "properties": object! { "a": inner.clone(), "b": inner } }
    });
    let imported = import(&foreign);
    assert!(says(&imported, "(size)", "more than 100000 nodes") || imported.report().truncated() > 0);
    assert!(imported.schema().json().to_text().len() < 2 * 1024 * 1024);
}

#[test]
fn large_schemas_keep_what_fits() {
    let properties: Object = (0..10_000)
        .map(|at| (format!("property_{at}"), object! { "type": "integer", "minimum": 1 }))
        .collect();
    let imported = import(&object! { "type": "object", "properties": properties });
    let kept = imported.schema().json().get("properties").and_then(Json::as_object).unwrap();
    assert_eq!(kept.len(), 10_000);
    assert!(kept.values().all(|node| node.get("type").is_some()));
    assert_eq!((imported.report().entries().len(), imported.report().truncated()), (256, 10_000 - 256));
    assert_eq!(imported.report().count(Fate::Described), 10_000);
    assert!(imported.report().to_string().ends_with("; 9744 more are not listed"));

    let text = "x".repeat(1024 * 1024);
    let imported = import(
        &object! { "type": "string", "description": text.clone(), "title": text.clone(), "default": text },
    );
    assert_eq!(imported.schema().json().to_text().len(), 8_228);
    assert!(says(&imported, "description", "cut after 8192 characters"));
    assert!(says(&imported, "title", "longer than 8192 characters"));
    assert!(says(&imported, "default", "longer than 8192 characters"));

    let members: Json = (0..100_000).map(Json::from).collect();
    let imported = import(&object! { "enum": members, "type": "integer", "minLength": 0 });
    assert_eq!(imported.schema().json().to_text(), r#"{"type":"integer"}"#);
    assert!(says(&imported, "enum", "has 100000 members, more than 2000"));
    assert!(!imported.is_valid(&100_000.into()) && imported.is_valid(&99_999.into()));
}

#[test]
fn limits_are_the_callers() {
    let foreign = object! {
        "type": "object",
        "properties": object! {
            "a": object! { "type": "string", "description": "long", "maxLength": 1 },
            "b": object! { "enum": array![1, 2, 3] },
        },
    };
    let limits = ImportLimits { text: 3, literals: 2, entries: 2, ..ImportLimits::default() };
    let imported = Schema::import(&foreign, &limits).unwrap();
    assert_eq!(
        imported.schema().json().to_text(),
        r#"{"type":"object","properties":{"a":{"type":"string","description":"lo… At most 1 character."},"b":{}}}"#
    );
    assert_eq!(imported.report().entries().len(), 2);
    let limits = ImportLimits { nodes: 2, ..ImportLimits::default() };
    let imported = Schema::import(&foreign, &limits).unwrap();
    assert!(says(&imported, "(size)", "more than 2 nodes"));
    let limits = ImportLimits { bytes: 100, ..ImportLimits::default() };
    let imported = Schema::import(&foreign, &limits).unwrap();
    assert_eq!(imported.schema().json().to_text(), r#"{"type":"object","properties":{"a":{},"b":{}}}"#);
}

#[test]
fn any_name_is_a_name() {
    let long = "n".repeat(300);
    let names = [
        "__proto__",
        "constructor",
        "toString",
        "class",
        "import",
        "",
        " ",
        "a.b",
        "日本語",
        "0",
        "😀",
        &long,
    ];
    let properties: Object =
        names.iter().map(|name| (*name, object! { "type": "string", "minLength": 1 })).collect();
    let required: Json = names.iter().map(|name| Json::from(*name)).collect();
    let imported = import(
        &object! { "type": "object", "properties": properties, "required": required, "additionalProperties": false },
    );
    let kept: Vec<&str> = imported
        .schema()
        .json()
        .get("properties")
        .and_then(Json::as_object)
        .unwrap()
        .keys()
        .map(|name| &**name)
        .collect();
    assert_eq!(kept, names);
    let value: Object = names.iter().map(|name| (*name, "x")).collect();
    assert!(imported.is_valid(&value.clone().into()));
    let mut bad = value;
    bad.insert("__proto__", "");
    let found = imported.violations(&bad.into(), "");
    assert_eq!(found.to_string(), "__proto__: must have at least 1 character; found 0 in \"\"");
}

/// What stands behind a long description is a rule, and the whole is no longer than a second import takes.
#[test]
fn a_long_description_gives_way_to_rules() {
    let most = ImportLimits::default().text;
    for length in [0, 10, most - 20, most - 1, most, most + 1, 3 * most] {
        let said = "é".repeat(length);
        let foreign = object! {
            "type": "object",
            "properties": object! { "a": object! { "type": "string", "format": "uuid", "description": said } },
        };
        let imported = Schema::import(&foreign, &ImportLimits::default()).unwrap();
        let product = imported.schema().json();
        let told =
            product.get("properties").and_then(|all| all.get("a")?.get("description")?.as_str()).unwrap();
        assert!(told.ends_with("Format uuid.") && told.chars().count() <= most, "{length}: {}", told.len());
        let again = Schema::import(product, &ImportLimits::default()).unwrap();
        assert!(again.report().is_exact() && again.schema() == imported.schema(), "{length}");
    }
    // Rules alone may be too long, too.
    let many = (0..400).map(|n| (format!("x-rule-{n}"), Json::from("y".repeat(100))));
    let foreign: Json = many.chain([("type".to_owned(), Json::from("string"))]).collect::<Object>().into();
    let imported = Schema::import(&foreign, &ImportLimits::default()).unwrap();
    let again = Schema::import(imported.schema().json(), &ImportLimits::default()).unwrap();
    assert!(again.report().is_exact() && again.schema() == imported.schema());
}
