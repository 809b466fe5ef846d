//! The check against the validator, for schemas and arguments of every sort; and against hostile programs.

use std::fmt::Write as _;

use dsh_code_runtime::BindingSchemas;
use dsh_json::{Json, Object, array, object};
use dsh_json_schema::Schema;
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::check;

struct One(Schema);

impl BindingSchemas for One {
    fn namespace(&self) -> &'static str {
        "tools"
    }

    fn parameters(&self, name: &str) -> Option<&Schema> {
        (name == "a").then_some(&self.0)
    }

    fn names(&self) -> Vec<&str> {
        vec!["a"]
    }
}

/// Few names and few literals, so that schemas and values meet; some that paths can't tell apart.
fn name() -> impl Strategy<Value = &'static str> {
    select(&["a", "b", "", "a.b", "arguments", "a[0]", "$x"][..])
}

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-2_i64..3).prop_map(Json::from),
        select(&[0.5, 1e21, -3.25][..]).prop_map(|number| Json::try_from(number).unwrap()),
        select(&["", "x", "'\n\\"][..]).prop_map(Json::from),
    ]
}

fn object_of(entries: Vec<(&'static str, Json)>) -> Json {
    entries.into_iter().collect::<Object>().into()
}

fn argument() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::from),
            vec((name(), inner), 0..4).prop_map(object_of),
        ]
    })
}

fn scalar_schema() -> impl Strategy<Value = Json> {
    let typed = select(&["string", "number", "integer", "boolean", "null"][..]);
    prop_oneof![
        Just(object! {}),
        typed.prop_map(|name| object! { "type": name }),
        vec(-2_i64..3, 1..3).prop_map(|list| object! { "type": "number", "enum": Json::from_iter(list) }),
        Just(object! { "type": "string", "const": "x" }),
    ]
}

fn schema() -> impl Strategy<Value = Json> {
    scalar_schema().prop_recursive(3, 24, 4, |inner| {
        let members = (vec((name(), inner.clone()), 0..5), vec(any::<Index>(), 0..4), any::<bool>());
        prop_oneof![
            inner.clone().prop_map(|items| object! { "type": "array", "items": items }),
            members.prop_map(|(properties, required, open)| {
                let properties: Object = properties.into_iter().collect();
                let names: Vec<Json> = properties.keys().map(Json::from).collect();
                let required = required.iter().filter(|_| !names.is_empty());
                object! {
                    "type": "object",
                    "required": required.map(|index| index.get(&names).clone()).collect::<Json>(),
                    "properties": properties.clone(),
                    "additionalProperties": open,
                }
            }),
            vec(inner, 2..4).prop_map(|branches| object! { "oneOf": Json::from(branches) }),
        ]
    })
}

/// A value that may fit, made after the schema.
fn likely(schema: &Json, choose: &mut impl FnMut(usize) -> usize) -> Json {
    if let Some(branches) = schema.get("oneOf").and_then(Json::as_array) {
        return likely(&branches[choose(branches.len())], choose);
    }
    if let Some(list) = schema.get("enum").and_then(Json::as_array) {
        return list[choose(list.len())].clone();
    }
    match schema.get("type").and_then(Json::as_str) {
        None => [Json::Null, 1.into(), "x".into(), object! { "a": 1 }][choose(4)].clone(),
        Some("string") => "x".into(),
        Some("number" | "integer") => 1.into(),
        Some("boolean") => true.into(),
        Some("array") => (0..choose(3)).map(|_| likely(schema.get("items").unwrap(), choose)).collect(),
        Some("object") => {
            let required = schema.get("required").and_then(Json::as_array).unwrap();
            let properties = schema.get("properties").and_then(Json::as_object).unwrap();
            let kept = properties
                .iter()
                .filter(|(name, _)| required.contains(&Json::from(&***name)) || choose(2) == 1);
            kept.map(|(name, schema)| (name.clone(), schema.clone()))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|(name, schema)| (name, likely(&schema, choose)))
                .collect::<Object>()
                .into()
        }
        Some(_) => Json::Null,
    }
}

/// Writes a value as a program would; `hide` says of each part, and of each object, whether something stands for it.
fn written(value: &Json, out: &mut String, hide: &mut impl FnMut() -> bool) {
    if hide() {
        return out.push_str(["x", "f()", "`${x}`", "(y as any)", "x + 1"][out.len() % 5]);
    }
    match value {
        Json::Array(items) => {
            out.push('[');
            let kept = if hide() { out.len() % (items.len() + 1) } else { items.len() };
            for item in items.iter().take(kept) {
                written(item, out, hide);
                out.push(',');
            }
            if kept < items.len() || hide() {
                // It may have brought the rest, or nothing.
                out.push_str("...x");
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            let spread = hide();
            let place = out.len() % (members.len() + 1);
            for (n, (key, member)) in members.iter().enumerate() {
                if spread && n == place {
                    out.push_str(["...x,", "[x]: 1,"][out.len() % 2]);
                }
                if spread && hide() {
                    // The spread brings it.
                    continue;
                }
                let plain = key.chars().all(|c| c.is_ascii_alphabetic() || c == '$') && !key.is_empty();
                let _ = if plain {
                    write!(out, "{key}:")
                } else {
                    write!(out, "{}:", Json::from(&**key).to_text())
                };
                written(member, out, hide);
                out.push(',');
            }
            if spread && place == members.len() {
                out.push_str("...x");
            }
            out.push('}');
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => out.push_str(&value.to_text()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// What is written out whole is judged as the validator judges it, without exception.
    #[test]
    fn whole_arguments_are_judged_as_at_the_call(schema in schema(), argument in argument()) {
        let schema = Schema::new(&schema).unwrap();
        let mut program = "tools.a(".to_owned();
        written(&argument, &mut program, &mut || false);
        program.push(')');
        let checked = check(&program, &[&One(schema.clone())]);
        prop_assert_eq!(checked.is_ok(), schema.is_valid(&argument), "{}: {:?}", program, checked);
        if let Err(failure) = checked {
            let first = schema.violations(&argument, "").iter().next().unwrap().to_string();
            prop_assert!(failure.message.contains(&first), "{}: {}", first, failure.message);
        }
    }

    /// Where something else than what is written could make the argument fit, nothing is said.
    #[test]
    fn what_could_fit_is_not_spoken_of(schema in schema(), choices in vec(any::<Index>(), 40), hidden in vec(weighted(0.3), 40)) {
        let mut choices = choices.into_iter().cycle();
        let argument = likely(&schema, &mut |among| choices.next().unwrap().index(among));
        let schema = Schema::new(&schema).unwrap();
        if !schema.is_valid(&argument) {
            // Of a union more than one branch fits.
            return Ok(());
        }
        let mut program = "tools.a(".to_owned();
        let mut hidden = hidden.into_iter().cycle();
        written(&argument, &mut program, &mut || hidden.next().unwrap());
        program.push(')');
        let checked = check(&program, &[&One(schema)]);
        prop_assert!(checked.is_ok(), "{}: {:?}", program, checked);
    }
}

/// As in erasing: whatever recurses has a token for each level, so it has the stack it needs, or the program is refused.
#[test]
fn no_nesting_overflows_the_stack() {
    let nestings = [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{a:", "1", "}"),
        ("{'a':[", "1", "]}"),
        ("{...", "x", "}"),
        ("-", "1", ""),
        ("- -", "1n", ""),
        ("", "1", "!"),
        ("", "1", " as any"),
        ("tools.a(", "1", ")"),
        ("tools.b({a:", "1", "})"),
        ("tools[", "1", "]({})"),
        ("tools.a[", "1", "]"),
        ("", "tools", ".a"),
        ("", "tools.a({})", ".catch(x)"),
        ("", "tools.a({})", "()"),
        ("x=>", "1", ""),
        ("x+", "tools.a(1)", ""),
        ("'a' in ", "tools", ""),
        ("`${", "1", "}`"),
        ("x?", "1", ":tools.b()"),
        ("async()=>{try{", "", "}catch{}}"),
        ("function(){return ", "1", "}"),
        ("class{a=", "1", "}"),
    ];
    let any = One(Schema::new(&object! {}).unwrap());
    let strict = One(Schema::new(&object! { "type": "object", "required": array!["a"], "properties": object! { "a": object! { "type": "string" } } }).unwrap());
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || {
            for (open, inner, close) in nestings {
                let nested = |times: usize| format!("{}{inner}{}", open.repeat(times), close.repeat(times));
                for times in [100, 1_000] {
                    let _ = check(&format!("x = {}", nested(times)), &[&any]);
                    let _ = check(&format!("tools.a({})", nested(times)), &[&any]);
                    let _ = check(&format!("tools.a({})", nested(times)), &[&strict]);
                }
                let _ = check(&format!("tools.a({{ a: {}, b: x }})", nested(10_000)), &[&strict]);
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

/// For shapes that could take the square of it: then this would take minutes.
#[test]
fn long_programs_take_time_in_proportion() {
    let names: Vec<String> = (0..1_000).map(|n| format!("n{n}")).collect();
    let properties: Object = names.iter().map(|name| (name.as_str(), object! { "type": "string" })).collect();
    let wide = object! { "type": "object", "properties": properties, "required": Json::from_iter(names), "additionalProperties": false };
    let wide = One(Schema::new(&wide).unwrap());
    for part in
        ["tools.a({});", "tools.b();", "tools.a({ n1: x, ...y, n2: 3 });", "tools.x;", "'q' in tools;"]
    {
        let program = part.repeat((1 << 20) / part.len());
        let _ = check(&program, &[&wide]);
    }
    let mut object = "tools.a({".to_owned();
    for n in 0..40_000 {
        let _ = write!(object, "m{n}: x, n{}: 5,", n % 1_000);
    }
    let _ = check(&format!("{object}}})"), &[&wide]);
    let _ = check(&format!("{object}...x}})"), &[&wide]);
    let _ = check(&format!("tools.a({{ n1: [{}] }})", "x,".repeat(200_000)), &[&wide]);
}
