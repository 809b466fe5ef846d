//! Arguments for every recorded tool, made from its own schema: what the schema takes is taken, what it refuses is
//! refused, and what is narrower is in the report.
//!
//! The judge is the `jsonschema` crate over the schema as it was recorded.

mod chance;
mod instances;
mod mutations;
mod narrowings;

use std::collections::{BTreeMap, BTreeSet};

use dsh_json::Json;
use dsh_json_schema::{ImportLimits, Imported, Schema};
use serde_json::Value;

use crate::foreign::lists;
use chance::Chance;
use instances::{Fill, Instances};
use mutations::{Mutation, Sort, Words, mutations};
use narrowings::narrowings;

/// Different values of each tool, where its schema has as many.
const INSTANCES: usize = 24;
/// Changes of them.
const MUTATIONS: usize = 120;

/// Schemas with what the recorded ones lack, by name. Arguments are objects.
const OWN: [(&str, &str); 7] = [
    (
        "strings",
        r#"{"type":"object","required":["id","day"],"properties":{
            "id":{"type":"string","pattern":"^[A-Za-z0-9_.-]+$","minLength":2,"maxLength":40},
            "day":{"type":"string","format":"date"},
            "tags":{"type":"array","items":{"type":"string","minLength":1},"uniqueItems":true,"minItems":1,"maxItems":3}
        },"$schema":"http://json-schema.org/draft-07/schema#"}"#,
    ),
    (
        "numbers",
        r#"{"type":"object","required":["step","share"],"properties":{
            "step":{"type":"integer","multipleOf":5,"minimum":-10,"maximum":10},
            "share":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},
            "either":{"type":["integer","null"],"minimum":3}
        },"additionalProperties":false,"minProperties":2}"#,
    ),
    (
        "merged",
        r##"{"allOf":[{"$ref":"#/$defs/named"},{"type":"object","required":["size"],"properties":{"size":{"type":"integer","minimum":1}}}],
            "properties":{"name":{"maxLength":12}},"maxProperties":4,
            "$defs":{"named":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}"##,
    ),
    (
        "nested",
        r##"{"type":"object","required":["tree"],"properties":{"tree":{"$ref":"#/$defs/tree"}},
            "$defs":{"tree":{"type":"object","required":["value"],"additionalProperties":false,"properties":{
                "value":{"type":"integer"},"children":{"type":"array","items":{"$ref":"#/$defs/tree"},"maxItems":3}}}}}"##,
    ),
    (
        "maps",
        r#"{"type":"object","required":["headers","point"],"properties":{
            "headers":{"type":"object","propertyNames":{"pattern":"^[a-z]"},"additionalProperties":{"type":"string"},"minProperties":1},
            "point":{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}],"items":false,"minItems":2}}}"#,
    ),
    (
        "or nothing",
        r#"{"type":["object","null"],"required":["a"],"properties":{"a":{"type":"integer","minimum":1}}}"#,
    ),
    (
        "read otherwise",
        r#"{"type":"object","properties":{"filter":{"properties":{"field":{"type":"string"}},"required":["field"]},
            "target":{"anyOf":[
                {"type":"object","required":["path"],"properties":{"path":{"type":"string"}}},
                {"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}]}}}"#,
    ),
];

/// A tool, and its judges.
struct Tool {
    name: String,
    schema: Value,
    oracle: jsonschema::Validator,
    imported: Imported,
}

/// What came of the values of all tools.
#[derive(Default)]
struct Tally {
    instances: usize,
    /// Tools with fewer than [`INSTANCES`] instances.
    few_instances: Vec<String>,
    /// Tools with fewer than a hundred changes.
    few_mutations: Vec<String>,
    /// Changes that the schema refuses, by their sort.
    refused: BTreeMap<Sort, usize>,
    /// Those of them that the imported schema alone would take.
    caught: usize,
    /// Changes that the schema takes, and so do we.
    taken: usize,
    /// Those that it takes and we don't, by the narrowing that says so.
    narrowed: BTreeMap<String, usize>,
}

/// What an import loosens for the model lets no wrong call through, and what it narrows is reported (spec 04 §12).
#[test]
fn arguments_of_recorded_tools_are_judged_as_their_own_schemas_do() {
    let tally = Tally::of(&recorded());
    // No value of these has many neighbours.
    let bare = [
        "chrome-devtools/list_pages",
        "desktop-commander/get_config",
        "desktop-commander/list_searches",
        "desktop-commander/list_sessions",
        "desktop-commander/list_processes",
        "desktop-commander/get_usage_stats",
        "desktop-commander/give_feedback_to_desktop_commander",
        "playwright/browser_close",
        "playwright/browser_navigate_back",
    ];
    assert_eq!(tally.few_instances, bare);
    assert_eq!(tally.few_mutations, bare);
    assert!(tally.instances > 4_800, "{}", tally.instances);
    let at_least = [
        (Sort::Missing, 1_500),
        (Sort::Unknown, 1_000),
        (Sort::Borrowed, 1_500),
        (Sort::Type, 5_000),
        (Sort::Text, 350),
        (Sort::Number, 70),
        (Sort::Length, 40),
    ];
    for (sort, count) in at_least {
        assert!(tally.refused.get(&sort).is_some_and(|refused| *refused > count), "{:?}", tally.refused);
    }
    assert!(tally.caught > 150, "{}", tally.caught);
    assert!(tally.taken > 10_000, "{}", tally.taken);
    let narrowed: Vec<&String> = tally.narrowed.keys().collect();
    assert_eq!(
        narrowed,
        [
            "notion/API-create-a-comment schema.properties.rich_text.items anyOf",
            "notion/API-create-a-data-source schema.properties.title.items anyOf",
            "notion/API-patch-block-children schema.properties.children.items anyOf",
            "notion/API-post-page schema.$defs.parentRequest oneOf",
            "notion/API-query-data-source schema.properties.sorts.items anyOf",
            "notion/API-update-a-data-source schema.properties.description.items anyOf",
            "notion/API-update-a-data-source schema.properties.title.items anyOf",
        ]
    );
}

/// The same for keywords that no recorded schema has, and for each way of reading a schema more narrowly.
#[test]
fn arguments_of_other_keywords_are_judged_as_their_schemas_do() {
    let tools: Vec<Tool> = OWN
        .into_iter()
        .map(|(name, schema)| Tool::new(name.to_owned(), &Json::parse(schema).unwrap()))
        .collect();
    let tally = Tally::of(&tools);
    assert_eq!((&*tally.few_instances, &*tally.few_mutations), (&[][..], &[][..]));
    assert!(tally.caught > 100, "{}", tally.caught);
    let narrowed: Vec<&String> = tally.narrowed.keys().collect();
    assert_eq!(
        narrowed,
        [
            "or nothing schema type",
            "read otherwise schema.properties.filter type",
            "read otherwise schema.properties.target anyOf"
        ]
    );
}

fn recorded() -> Vec<Tool> {
    let mut tools = Vec::new();
    for (server, list) in lists() {
        for tool in list.get("tools").and_then(Json::as_array).unwrap() {
            let name = tool.get("name").and_then(Json::as_str).unwrap();
            tools.push(Tool::new(format!("{server}/{name}"), tool.get("inputSchema").unwrap()));
        }
    }
    tools
}

impl Tally {
    fn of(tools: &[Tool]) -> Self {
        let mut tally = Self::default();
        for tool in tools {
            let values = instances(tool);
            let changed =
                mutations(&values, &Words::of(&tool.schema), MUTATIONS, &mut Chance::of(&tool.name));
            if values.len() < INSTANCES {
                tally.few_instances.push(tool.name.clone());
            }
            if changed.len() < 100 {
                tally.few_mutations.push(tool.name.clone());
            }
            tally.instances += values.len();
            for value in &values {
                tool.takes(value);
            }
            for mutation in &changed {
                tool.judge(mutation, &mut tally);
            }
        }
        tally
    }
}

/// Different values that a tool's schema takes: the smallest, the largest, and some between.
fn instances(tool: &Tool) -> Vec<Value> {
    let mut made = Instances::new(&tool.schema, Chance::of(&tool.name));
    let (mut values, mut seen) = (Vec::new(), BTreeSet::new());
    for turn in 0..INSTANCES * 20 {
        let fill = match turn {
            0..5 => Fill::Nothing,
            5..10 => Fill::Everything,
            _ => Fill::Something,
        };
        // Arguments are an object, whatever else their schema takes.
        let Some(value) = made.next(fill).filter(Value::is_object) else { continue };
        if seen.insert(value.to_string()) {
            assert!(
                tool.oracle.is_valid(&value),
                "{}: {value} {:?}",
                tool.name,
                tool.oracle.validate(&value)
            );
            values.push(value);
        }
        if values.len() == INSTANCES {
            break;
        }
    }
    assert!(!values.is_empty(), "{}", tool.name);
    values
}

impl Tool {
    fn new(name: String, schema: &Json) -> Self {
        let imported = Schema::import_params(schema, &ImportLimits::default()).unwrap();
        assert_eq!(imported.unchecked(), None, "{name}");
        let schema = serde_json::to_value(schema).unwrap();
        let oracle = jsonschema::validator_for(&schema).unwrap();
        Self { name, schema, oracle, imported }
    }

    fn takes(&self, value: &Value) {
        let ours = ours(value);
        assert!(
            self.imported.is_valid(&ours),
            "{}: {value}: {}",
            self.name,
            self.imported.violations(&ours, "")
        );
        assert!(self.imported.violations(&ours, "").is_empty());
    }

    /// Compares both judges over a changed value.
    fn judge(&self, Mutation { value, place, sort }: &Mutation, tally: &mut Tally) {
        let ours = ours(value);
        let (expected, found) = (self.oracle.is_valid(value), self.imported.is_valid(&ours));
        let violations = self.imported.violations(&ours, "");
        let context = || format!("{}: {sort:?} at {place:?} of {value}: {violations}", self.name);
        assert_eq!(found, violations.is_empty(), "{}", context());
        assert!(expected || !found, "what the schema refuses is taken: {}", context());
        match (expected, found) {
            (false, _) => {
                *tally.refused.entry(*sort).or_default() += 1;
                tally.caught += usize::from(self.imported.schema().is_valid(&ours));
            }
            (true, true) => tally.taken += 1,
            (true, false) => {
                let said = narrowings(self.imported.report(), &self.schema, value, place);
                assert!(!said.is_empty(), "no narrowing is reported: {}", context());
                for entry in said {
                    *tally.narrowed.entry(format!("{} {entry}", self.name)).or_default() += 1;
                }
            }
        }
    }
}

/// The value as it comes from a model.
fn ours(value: &Value) -> Json {
    Json::parse(&value.to_string()).unwrap()
}
