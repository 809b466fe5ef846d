//! Random tools with schemas of the subset, and names and descriptions that do their worst.

use dsh_json::{Json, Object};
use dsh_json_schema::Schema;
use dsh_tool_sdk::ToolDecl;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A few tools of different names. All that is declared is in the Unicode of every supported Python.
pub(crate) fn tools() -> impl Strategy<Value = Vec<ToolDecl>> {
    vec(tool(), 0..6).prop_map(|mut tools| {
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        tools.dedup_by(|one, other| one.name == other.name);
        tools
    })
}

fn tool() -> impl Strategy<Value = ToolDecl> {
    (text(), text(), proptest::option::weighted(0.9, schema()), proptest::option::weighted(0.9, schema()))
        .prop_map(|(name, description, parameters, output)| ToolDecl {
            name: name.into(),
            description: description.into(),
            parameters: parameters.and_then(|schema| Schema::new(&schema).ok()),
            output: output.and_then(|schema| Schema::new(&schema).ok()),
        })
}

fn schema() -> impl Strategy<Value = Json> {
    let node = scalar().prop_recursive(5, 32, 5, |inner| {
        let object = (vec((text(), inner.clone()), 0..5), vec(any::<Index>(), 0..3), any::<Option<bool>>());
        prop_oneof![
            inner.clone().prop_map(|items| typed("array", [("items", items)])),
            vec(inner, 2..4).prop_map(|branches| Object::from_iter([("oneOf", Json::from(branches))]).into()),
            object.prop_map(|(properties, required, open)| object_of(properties, &required, open)),
        ]
    });
    (node, text()).prop_map(|(node, description)| {
        let mut node = node.as_object().cloned().unwrap_or_default();
        node.insert("description", description);
        node.into()
    })
}

fn scalar() -> impl Strategy<Value = Json> {
    let plain = ["string", "number", "integer", "boolean", "null", "array", "object"];
    let numbers = [i64::MIN, -1, 0, 9_007_199_254_740_993, i64::MAX];
    prop_oneof![
        Just(Object::new().into()),
        select(plain.to_vec()).prop_map(|name| typed(name, [])),
        vec(text(), 1..4).prop_map(|list| {
            typed("string", [("enum", list.into_iter().map(Json::from).collect::<Json>())])
        }),
        select(numbers.to_vec()).prop_map(|literal| typed("integer", [("const", literal.into())])),
        any::<f64>().prop_filter_map("lossless", |double| {
            Json::try_from(double).ok().map(|literal| typed("number", [("const", literal)]))
        }),
        any::<bool>().prop_map(|literal| typed("boolean", [("const", literal.into())])),
    ]
}

fn object_of(properties: Vec<(String, Json)>, required: &[Index], open: Option<bool>) -> Json {
    let properties: Object = properties.into_iter().collect();
    let names: Vec<Json> = properties.keys().map(Json::from).collect();
    let required: Json = if names.is_empty() {
        Json::from(Vec::<Json>::new())
    } else {
        required.iter().map(|index| index.get(&names).clone()).collect()
    };
    let mut node = Object::from_iter([("type", Json::from("object")), ("required", required)]);
    node.insert("properties", properties);
    if let Some(open) = open {
        node.insert("additionalProperties", open);
    }
    node.into()
}

fn typed<const N: usize>(name: &str, rest: [(&'static str, Json); N]) -> Json {
    let mut node = Object::from_iter([("type", Json::from(name))]);
    node.extend(rest);
    node.into()
}

/// Names, and what breaks out of names and comments, put together.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b",
        "A",
        "_",
        "__",
        "1",
        "x2",
        "class",
        "from",
        "import",
        "None",
        "match",
        "self",
        "list",
        "str",
        "tools",
        "constructor",
        "__proto__",
        "$",
        "-",
        ".",
        " ",
        "é",
        "路径",
        "ﬁ",
        "ａ",
        "ß",
        "e\u{301}",
        "가",
        "\u{11a8}",
        "😀",
        "𐐨",
        "\u{200b}",
        "\u{200c}",
        "\u{202e}",
        "\u{2066}",
        "\u{2028}",
        "\u{feff}",
        "\u{85}",
        "\0",
        "\u{1b}",
        "\u{7f}",
        "\r",
        "\n",
        "\t",
        "\"",
        "\"\"\"",
        "'",
        "\\",
        "*/",
        "/*",
        "//",
        "#",
        "```",
        "|",
        "&",
        "type: ",
        "@ts-ignore",
        "${",
        "}",
        ">",
        "<",
    ];
    vec(select(pieces.to_vec()), 0..5).prop_map(|pieces| pieces.concat())
}
