//! Random values, schemas of the subset, and foreign schemas.

use dsh_json::{Json, Object, object};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Few names and few literals, so that schemas and values meet.
pub(crate) fn name() -> impl Strategy<Value = &'static str> {
    select(&["a", "b", "c", "", "0", "a.b", "toString"][..])
}

pub(crate) fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-2_i64..3).prop_map(Json::from),
        select(&[0.5, 1.0, 1e21, -3.25][..]).prop_map(|number| Json::try_from(number).unwrap()),
        select(&["", "x", "1"][..]).prop_map(Json::from),
    ]
}

pub(crate) fn object_of(entries: Vec<(&'static str, Json)>) -> Json {
    entries.into_iter().collect::<Object>().into()
}

pub(crate) fn value() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::from),
            vec((name(), inner), 0..4).prop_map(object_of),
        ]
    })
}

pub(crate) fn typed(name: &str, rest: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    let mut node = Object::new();
    node.insert("type", name);
    node.extend(rest);
    node.into()
}

fn scalar_schema() -> impl Strategy<Value = Json> {
    let plain =
        select(&["string", "number", "integer", "boolean", "null"][..]).prop_map(|name| typed(name, []));
    let numbers = vec(-2_i64..3, 1..16)
        .prop_map(|list| typed("number", [("enum", list.into_iter().map(Json::from).collect::<Json>())]));
    let strings = vec(select(&["", "x", "y"][..]), 1..16)
        .prop_map(|list| typed("string", [("enum", list.into_iter().map(Json::from).collect::<Json>())]));
    let constant = (-2_i64..3).prop_map(|literal| typed("integer", [("const", literal.into())]));
    prop_oneof![Just(Object::new().into()), plain, numbers, strings, constant]
}

pub(crate) fn schema() -> impl Strategy<Value = Json> {
    scalar_schema().prop_recursive(3, 24, 4, |inner| {
        let object = (vec((name(), inner.clone()), 0..5), vec(any::<Index>(), 0..4), any::<Option<bool>>());
        prop_oneof![
            Just(typed("array", [])),
            inner.clone().prop_map(|items| typed("array", [("items", items)])),
            object.prop_map(|(properties, required, additional)| {
                let properties: Object = properties.into_iter().collect();
                let names: Vec<Json> = properties.keys().map(Json::from).collect();
                let required =
                    required.iter().filter(|_| !names.is_empty()).map(|index| index.get(&names).clone());
                let mut rest =
                    vec![("required", required.collect::<Json>()), ("properties", properties.into())];
                rest.extend(additional.map(|open| ("additionalProperties", open.into())));
                typed("object", rest)
            }),
            vec(inner, 2..4).prop_map(|branches| {
                let mut node = Object::new();
                node.insert("oneOf", branches);
                node.into()
            }),
        ]
    })
}

/// A foreign schema with definitions that it refers to, some of them in circles.
pub(crate) fn foreign() -> impl Strategy<Value = Json> {
    (node(), vec(node(), 3)).prop_map(|(root, definitions)| {
        let names = ["p", "q", "r"].map(str::to_owned);
        let definitions: Object = names.into_iter().zip(definitions).collect();
        let mut root = root.as_object().cloned().unwrap_or_default();
        root.insert("$defs", definitions);
        root.into()
    })
}

fn node() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        4 => vec(bound(), 0..3).prop_map(object_of),
        2 => (kinds(), vec(bound(), 0..2)).prop_map(|(kinds, rest)| {
            object_of(std::iter::once(("type", kinds)).chain(rest).collect())
        }),
        1 => vec(value(), 1..4).prop_map(|list| object_of(vec![("enum", list.into())])),
        1 => value().prop_map(|value| object_of(vec![("const", value)])),
        1 => any::<bool>().prop_map(Json::from),
        1 => select(&["#/$defs/p", "#/$defs/q", "#/$defs/r", "#/$defs/none"][..])
            .prop_map(|target| object_of(vec![("$ref", target.into())])),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let list = |from, to| vec(inner.clone(), from..to).prop_map(Json::from);
        let map = vec((name(), inner.clone()), 0..4).prop_map(object_of);
        let names = vec(name(), 0..3).prop_map(Json::from);
        let object = (map, names, prop_oneof![any::<bool>().prop_map(Json::from), inner.clone()]).prop_map(
            |(properties, required, additional)| {
                vec![("properties", properties), ("required", required), ("additionalProperties", additional)]
            },
        );
        let array = prop_oneof![
            inner.clone().prop_map(|items| vec![("items", items)]),
            (list(1, 3), inner.clone()).prop_map(|(tuple, rest)| vec![("prefixItems", tuple), ("items", rest)]),
            list(1, 3).prop_map(|tuple| vec![("prefixItems", tuple)]),
            inner.clone().prop_map(|item| vec![("contains", item)]),
        ];
        let combined = prop_oneof![
            list(1, 4).prop_map(|list| vec![("anyOf", list)]),
            list(1, 4).prop_map(|list| vec![("oneOf", list)]),
            list(1, 3).prop_map(|list| vec![("allOf", list)]),
            inner.clone().prop_map(|node| vec![("not", node)]),
            (inner.clone(), inner.clone()).prop_map(|(test, then)| vec![("if", test), ("then", then)]),
            inner.clone().prop_map(|node| vec![("patternProperties", object! { "^a": node })]),
            inner.clone().prop_map(|node| vec![("propertyNames", node)]),
            Just(vec![("unevaluatedProperties", false.into())]),
        ];
        let parts = vec(prop_oneof![3 => object, 2 => array, 3 => combined, 2 => typed_part(), 1 => bound().prop_map(|one| vec![one])], 1..4);
        parts.prop_map(|parts| parts.into_iter().flatten().collect::<Object>().into())
    })
}

fn typed_part() -> impl Strategy<Value = Vec<(&'static str, Json)>> {
    kinds().prop_map(|kinds| vec![("type", kinds)])
}

fn kinds() -> impl Strategy<Value = Json> {
    let one = || select(&["object", "array", "string", "number", "integer", "boolean", "null"][..]);
    prop_oneof![
        3 => one().prop_map(Json::from),
        1 => vec(one(), 2..4).prop_map(|mut kinds| {
            kinds.sort_unstable();
            kinds.dedup();
            Json::from(kinds)
        }),
    ]
}

fn bound() -> impl Strategy<Value = (&'static str, Json)> {
    prop_oneof![
        (select(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"][..]), -2_i64..3)
            .prop_map(|(key, bound)| (key, bound.into())),
        (
            select(&["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"][..]),
            0_i64..3
        )
            .prop_map(|(key, bound)| (key, bound.into())),
        any::<bool>().prop_map(|flag| ("uniqueItems", flag.into())),
        Just(("multipleOf", 2.into())),
        select(&["^x", "[a-c]$", "1"][..]).prop_map(|pattern| ("pattern", pattern.into())),
        Just(("dependentRequired", object! { "a": Json::from(vec![Json::from("b")]) })),
    ]
}
