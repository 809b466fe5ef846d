//! Hostile seeds that are too long to be written by hand.

use dsh_tool_sdk::Language;

use crate::Seed;

/// Half the levels that a text may have.
const DEEP: usize = 5_000;
/// The levels that a text may have.
const DEEPEST: usize = 10_000;

/// Those of a target; none for most.
pub(crate) fn seeds(target: &str) -> Vec<Seed> {
    let rows = match target {
        "json" => texts(),
        "schema" | "import" => [schemas(), texts()].concat(),
        "validation" => judged(),
        "wire" => messages(),
        "erase" => programs(),
        "session_log" => logs(),
        _ if target.starts_with("sdk_") => tools(),
        _ => Vec::new(),
    };
    rows.into_iter()
        .map(|(name, text)| Seed { name: format!("hostile-{name}"), bytes: text.into_bytes() })
        .collect()
}

type Rows = Vec<(&'static str, String)>;

fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    [&open.repeat(levels), inner, &close.repeat(levels)].concat()
}

fn texts() -> Rows {
    let unclosed = ["[".repeat(DEEP), r#"{"a":"#.repeat(DEEP)];
    let [arrays, objects] = unclosed;
    vec![
        ("deep-arrays", nested("[", "", "]", DEEP)),
        ("deep-objects", nested(r#"{"a":"#, "1", "}", DEEP)),
        ("deepest-arrays", nested("[", "", "]", DEEPEST)),
        ("too-deep-arrays", nested("[", "", "]", DEEPEST + 1)),
        ("unclosed-arrays", arrays),
        ("unclosed-objects", objects),
        ("long-number", format!("[1, {}]", "9".repeat(5_000))),
        ("long-fraction", format!("0.{}e-300", "7".repeat(5_000))),
        ("many-duplicates", format!("{{{}\"a\":0}}", r#""a":1,"#.repeat(100))),
        ("many-surrogates", format!("\"{}\"", r"\ud83d".repeat(500))),
        ("long-key", format!(r#"{{"{}":-0}}"#, r"\u0000".repeat(500))),
    ]
}

fn schemas() -> Rows {
    let definitions: Vec<String> = (0..24)
        .map(|n| {
            let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, n + 1);
            format!(r#""d{n}":{{"allOf":[{next},{next}],"properties":{{"p{n}":{next}}}}}"#)
        })
        .collect();
    let names: Vec<String> =
        (0..400).map(|n| format!(r#""n{n}":{{"type":["string","null"],"minLength":{n}}}"#)).collect();
    let choices: Vec<String> =
        (0..60).map(|n| format!(r#"{{"properties":{{"kind":{{"const":"k{n}"}},"v":{{}}}}}}"#)).collect();
    vec![
        ("deep-properties", deep_object(1_000)),
        ("deep-items", nested(r#"{"type":"array","items":"#, "{}", "}", 900)),
        ("deep-unions", nested(r#"{"oneOf":[{"type":"null"},"#, "{}", "]}", 900)),
        ("deep-not", nested(r#"{"not":"#, "{}", "}", 2_000)),
        (
            "doubling-references",
            format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d24":{{"type":"object"}}}}}}"##, definitions.join(",")),
        ),
        ("circle", r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}"##.to_owned()),
        ("itself", r##"{"properties":{"next":{"$ref":"#"},"all":{"type":"array","items":{"$ref":"#"}}}}"##.to_owned()),
        ("many-properties", format!(r#"{{"type":"object","properties":{{{}}}}}"#, names.join(","))),
        ("many-alternatives", format!(r#"{{"anyOf":[{}]}}"#, choices.join(","))),
        ("many-required", format!(r#"{{"type":"object","properties":{{"a":{{}}}},"required":[{}"a"]}}"#, r#""a","#.repeat(1_000))),
        ("long-description", format!(r#"{{"type":"string","description":"{}"}}"#, "*/ ``` ".repeat(2_000))),
        ("heavy-pattern", r#"{"type":"string","pattern":"^(a+)+(?=b){500}$","format":"regex"}"#.to_owned()),
    ]
}

fn deep_object(levels: usize) -> String {
    nested(r#"{"type":"object","properties":{"next":"#, r#"{"type":"string"}"#, "}}", levels)
}

fn judged() -> Rows {
    let value = nested(r#"{"next":"#, r#""end""#, "}", 500);
    let wrong = nested(r#"{"next":"#, "0", "}", 500);
    let branches = r#"{"type":"array","items":{"type":"string","enum":["a"]}},"#.repeat(100);
    vec![
        ("deep", format!("[{},{value},{wrong}]", deep_object(500))),
        ("deep-unions", format!("[{},null,0]", nested(r#"{"oneOf":[{"type":"null"},"#, "{}", "]}", 500))),
        ("wide-union", format!(r#"[{{"oneOf":[{branches}{{}}]}},[{}1],["a"]]"#, r#""a","#.repeat(100))),
        (
            "many-wrong",
            format!(r#"[{{"type":"array","items":{{"type":"string"}}}},[{}0]]"#, "0,".repeat(500)),
        ),
    ]
}

fn messages() -> Rows {
    let value = nested("[", "", "]", DEEP);
    vec![
        ("deep-value", format!(r#"{{"frame":"done","value":{value}}}"#)),
        ("deepest-value", format!(r#"{{"frame":"reply","id":1,"value":{}}}"#, nested("[", "", "]", DEEPEST))),
        ("too-deep-value", format!(r#"{{"frame":"done","value":{}}}"#, nested("[", "", "]", DEEPEST + 1))),
        (
            "deep-arguments",
            format!(r#"{{"frame":"call","id":1,"namespace":"tools","name":"read","args":{value}}}"#),
        ),
    ]
}

fn programs() -> Rows {
    vec![
        ("deep-parentheses", format!("const x = {};", nested("(", "1", ")", 1_000))),
        ("deep-blocks", nested("{", "", "}", 1_000)),
        ("unclosed-blocks", "{".repeat(DEEP)),
        ("deep-types", format!("type A = {};", nested("Array<", "1", ">", 1_000))),
        ("unclosed-types", format!("let a: {}", "Array<".repeat(1_000))),
        ("deep-templates", nested("`${", "1", "}`", 300)),
        ("many-assertions", format!("const x = 1{};", " as any".repeat(1_000))),
        ("many-marks", format!("const x = y{};", "!".repeat(1_000))),
        ("many-operators", format!("const x = 1{};", " + 1".repeat(2_000))),
        ("long-text", format!("const größe: string = '{}'; // 😀", "ä".repeat(4_000))),
    ]
}

fn logs() -> Rows {
    let header = r#"{"type":"session","version":1,"id":"s","createdAt":0}"#;
    let deep = nested("[", "", "]", DEEP);
    let turns: Vec<String> = (0..50)
        .map(|n| format!(r#"{{"type":"turn/start","seq":{n},"time":{n},"data":{{"turn":{}}}}}"#, n + 1))
        .collect();
    let steps: Vec<String> = (0..150)
        .map(|n| format!(r#"{{"type":"step/end","seq":{n},"time":0,"data":{{"turn":1,"step":1}}}}"#))
        .collect();
    vec![
        (
            "deep-payload",
            format!(
                "{header}\n{{\"type\":\"x\",\"seq\":0,\"time\":0,\"data\":{{\"a\":{deep}}},\"ignorable\":true}}\n"
            ),
        ),
        ("open-turns", format!("{header}\n{}\n", turns.join("\n"))),
        ("zeros", format!("{header}\n{}", "\0".repeat(4_096))),
        ("zeros-alone", "\0".repeat(4_096)),
        ("many-problems", format!("{header}\n{}\n", steps.join("\n"))),
    ]
}

fn tools() -> Rows {
    let tool = |schema: &str| {
        format!(r#"[{{"name":"t","description":"D","parameters":{schema},"output":{schema}}}]"#)
    };
    let many: Vec<String> = (0..200)
        .map(|n| format!(r#"{{"name":"tool-{n}","output":{{"type":"object","properties":{{"{n}":{{}}}}}}}}"#))
        .collect();
    let rows = schemas().into_iter().map(|(name, schema)| (name, tool(&schema)));
    let mut rows: Rows = rows.collect();
    rows.push(("many-tools", format!("[{}]", many.join(","))));
    rows.push(("long-name", format!(r#"[{{"name":"{}"}}]"#, r"\u0000é*/".repeat(300))));
    // For each language the other's.
    rows.extend(
        Language::ALL
            .map(|language| (language.name(), tool(&format!(r#"{{"description":"{}"}}"#, language.name())))),
    );
    rows
}
