//! Deep and wide schemas, on a small stack (spec 05 §7, checklist 28).

use std::sync::Arc;
use std::thread;

use dsh_json::{Json, Object, array, object};
use dsh_tool_sdk::Language;

use crate::tools::{Python, TypeScript, closed, declarations, gives, nested};

type Wrap = Box<dyn Fn(&Json) -> Json>;

/// Renders on a thread with 2 MB.
fn text_of(language: Language, schema: &Json) -> String {
    let tool = gives(schema);
    let worker = move || declarations(language, &[tool]);
    let handle = thread::Builder::new().stack_size(2 << 20).spawn(worker).unwrap();
    handle.join().unwrap()
}

fn object_of(name: &'static str) -> impl Fn(&Json) -> Json {
    move |inner| closed([(name, inner.clone())], [name])
}

fn list(inner: &Json) -> Json {
    object! { "type": "array", "items": inner.clone() }
}

fn union(inner: &Json) -> Json {
    object! { "oneOf": array![object! { "type": "null" }, inner.clone()] }
}

#[test]
fn depth_costs_no_stack_and_linear_text() {
    let leaf = object! { "type": "string" };
    let rows: [(usize, Wrap); 4] = [
        (4_900, Box::new(object_of("next"))),
        (9_900, Box::new(list)),
        (4_900, Box::new(union)),
        (2_400, Box::new(|inner| union(&object_of("next")(&list(inner))))),
    ];
    for language in Language::ALL {
        for (depth, wrap) in &rows {
            let length = |depth| text_of(language, &nested(depth, &leaf, wrap)).len();
            let (half, whole) = (length(depth / 2), length(*depth));
            assert!(10 * whole < 21 * half, "{language} {depth}: {half}, {whole}");
        }
    }
}

#[test]
fn deep_unions_are_flat_and_deep_lists_are_whole_in_typescript() {
    let leaf = object! { "type": "string" };
    let text = text_of(TypeScript, &nested(4_900, &leaf, union));
    assert!(text.contains(&format!("  t: {}string;\n", "null | ".repeat(4_900))));
    let text = text_of(TypeScript, &nested(9_900, &leaf, list));
    assert!(text.contains(&format!("  t: string{};\n", "[]".repeat(9_900))));
    let choice = object! { "type": "string", "enum": array!["a", "b"] };
    let text = text_of(TypeScript, &nested(9_900, &choice, list));
    assert!(text.contains(&format!("  t: {}\"a\" | \"b\"{};\n", "(".repeat(9_900), ")[]".repeat(9_900))));
}

#[test]
fn the_names_of_deep_classes_stay_short() {
    let text = text_of(Python, &nested(4_000, &object! { "type": "string" }, object_of("next")));
    let names = text.lines().filter_map(|line| line.strip_suffix("(TypedDict):"));
    assert_eq!(names.clone().count(), 4_000);
    assert!(names.map(str::len).max() <= Some("class ".len() + 140));
}

#[test]
fn ten_thousand_properties_are_one_object() {
    let names: Vec<Arc<str>> = (0..10_000).map(|n| format!("property_{n}").into()).collect();
    let leaf = closed([("v", object! { "type": "null" })], []);
    let properties: Object = names.iter().map(|name| (Arc::clone(name), leaf.clone())).collect();
    let required: Vec<Json> = names.iter().step_by(2).map(Json::from).collect();
    let reversed: Vec<Json> = required.iter().rev().cloned().collect();
    let schema = |required: &[Json]| {
        let required = required.to_vec();
        object! { "type": "object", "properties": properties.clone(), "required": required }
    };
    let typescript = text_of(TypeScript, &schema(&required));
    assert_eq!(typescript.matches("    property_").count(), 10_000);
    assert_eq!(typescript.matches("?: {\n      v?: null;").count(), 5_000);
    assert_eq!(typescript, text_of(TypeScript, &schema(&reversed)));
    let schema = schema(&required);
    let python = text_of(Python, &schema);
    assert_eq!(python.matches("(TypedDict):").count(), 10_001);
    assert_eq!(python.matches("    property_").count(), 10_000);
}

#[test]
fn names_that_collide_cost_no_search() {
    let leaf = closed([], []);
    let properties: Object = (1..=2_000).map(|n| ("_".repeat(n), leaf.clone())).collect();
    let schema = object! { "type": "object", "properties": properties };
    let text = declarations(Python, &[gives(&schema)]);
    assert!(text.contains("class TOutputTool2000(TypedDict):"));
}
