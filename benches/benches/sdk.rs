//! What does it cost to tell a model about its tools as declarations?
//!
//! Rows: 10, 100 and 1,000 tools of about 5.7 KB of schema each, rendered in each language; and 1,000 tools of a registry,
//! asked about again. The original, which renders each time, takes 1.3, 16.7 and 163 ms in TypeScript, 1.5, 17.5 and 180 ms
//! in Python.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput};
use dsh_benches::criterion;
use dsh_code_mode::SdkSection;
use dsh_json::{Json, Object, array, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::Registrations;
use dsh_scope::Scope;
use dsh_tool_sdk::{Language, Limits, ToolDecl, render};
use dsh_tools_core::{
    AnyTool, BoxFuture, Content, Definition, Presentation, RunContext, ToolError, Tools, text,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = criterion().configure_from_args();
    let mut random = Random(12_345);
    for count in [10, 100, 1_000] {
        let tools = (0..count).map(|number| tool(number, &mut random)).collect::<Result<Vec<_>, _>>()?;
        rendered(&mut criterion, count, &tools)?;
        if count == 1_000 {
            unchanged(&mut criterion, &tools)?;
        }
    }
    criterion.final_summary();
    Ok(())
}

fn rendered(criterion: &mut Criterion, count: u64, tools: &[ToolDecl]) -> Result<(), Box<dyn Error>> {
    let mut group = criterion.benchmark_group("sdk");
    group.throughput(Throughput::Elements(count));
    for language in Language::ALL {
        let limits = Limits::default();
        let bytes = render(language, tools, &limits)?.section().len();
        group.bench_function(format!("{language}, {count} tools, {bytes} bytes"), |bencher| {
            bencher.iter(|| render(language, black_box(tools), &limits));
        });
    }
    group.finish();
    Ok(())
}

/// A scope's section, again: the tools are those of the last time.
fn unchanged(criterion: &mut Criterion, declared: &[ToolDecl]) -> Result<(), Box<dyn Error>> {
    let (tools, scope) = (Tools::new(), Scope::root());
    let mut registered = Registrations::new();
    registered.push(tools.present_as(None, Presentation::Code)?);
    for tool in declared {
        registered.push(tools.register(None, definition(tool)?)?);
    }
    let mut group = criterion.benchmark_group("sdk_unchanged");
    for language in Language::ALL {
        let section = SdkSection::new(tools.clone(), language, Limits::default());
        let bytes = section.text(Some(&scope))?.len();
        group.bench_function(format!("{language}, {} tools, {bytes} bytes", declared.len()), |bencher| {
            bencher.iter(|| section.text(black_box(Some(&scope))));
        });
    }
    group.finish();
    Ok(())
}

/// A tool that is never called.
struct Told;

impl AnyTool for Told {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async { Ok(Json::Null) })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("nothing"))
    }
}

fn definition(tool: &ToolDecl) -> Result<Definition, Box<dyn Error>> {
    let (parameters, output) =
        tool.parameters.clone().zip(tool.output.clone()).ok_or("a tool has two schemas")?;
    Ok(Definition::raw(Arc::clone(&tool.name), Arc::clone(&tool.description), parameters, output, Told)?)
}

const WORDS: [&str; 20] = [
    "path", "query", "limit", "offset", "filter", "owner", "branch", "label", "state", "cursor", "format",
    "depth", "mode", "target", "region", "account", "window", "title", "body", "status",
];

/// The generator of the recorded workloads: the same numbers in the same order give the same tools.
struct Random(u32);

impl Random {
    fn below(&mut self, count: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7fff_ffff;
        (self.0 >> 8) % count
    }

    fn word(&mut self) -> &'static str {
        let index = usize::try_from(self.below(20)).unwrap_or_default();
        WORDS.get(index).copied().unwrap_or_default()
    }
}

fn tool(number: u64, random: &mut Random) -> Result<ToolDecl, Box<dyn Error>> {
    let parameters = object_of(2, 4, 5, None, random);
    let name = format!("svc{}_{}_{}_{number}", number % 17, random.word(), random.word());
    let what = about(random.word());
    let description = format!("Tool number {number}: {what} Returns the matching {} records.", random.word());
    let output = object_of(2, 3, 4, Some(()), random);
    Ok(ToolDecl {
        name: name.into(),
        description: description.into(),
        parameters: Some(Schema::new(&parameters)?),
        output: Some(Schema::new(&output)?),
    })
}

/// An object of at least so many properties and fewer than `more` beyond.
fn object_of(depth: u32, least: usize, more: u32, openness: Option<()>, random: &mut Random) -> Json {
    let extra = if more > 0 { random.below(more) } else { 0 };
    let count = least + usize::try_from(extra).unwrap_or_default();
    let (mut properties, mut required) = (Object::new(), Vec::new());
    while properties.len() < count {
        let mut key = random.word().to_owned();
        if random.below(3) == 0 {
            key = format!("{key}_{}", random.word());
        }
        if properties.contains_key(&key) {
            continue;
        }
        let mut node = node(depth, random);
        node.insert("description", about(&key));
        if random.below(2) != 0 {
            required.push(Json::from(&key));
        }
        properties.insert(key, node);
    }
    let mut object = Object::from_iter([("type", Json::from("object")), ("properties", properties.into())]);
    if !required.is_empty() {
        object.insert("required", required);
    }
    let closed = random.below(2) != 0;
    if openness.is_some() {
        object.insert("additionalProperties", !closed);
    }
    object.into()
}

fn node(depth: u32, random: &mut Random) -> Object {
    let kind = random.below(10);
    let node = match kind {
        _ if depth == 0 => scalar(random),
        0..5 => scalar(random),
        5..7 => object! { "type": "array", "items": node(depth - 1, random) },
        7..9 => object_of(depth - 1, 2, 4, Some(()), random),
        _ => {
            let record = object_of(depth - 1, 2, 0, Some(()), random);
            object! { "oneOf": array![object! { "type": "string" }, record, object! { "type": "null" }] }
        }
    };
    node.as_object().cloned().unwrap_or_default()
}

fn scalar(random: &mut Random) -> Json {
    match random.below(6) {
        0 => object! { "type": "string" },
        1 => object! { "type": "integer" },
        2 => object! { "type": "number" },
        3 => object! { "type": "boolean" },
        4 => {
            let count = usize::try_from(2 + random.below(3)).unwrap_or_default();
            let members = ["open", "closed", "all", "draft"].into_iter().take(count).map(Json::from);
            object! { "type": "string", "enum": members.collect::<Json>() }
        }
        _ => object! { "type": "string", "const": "v1" },
    }
}

fn about(key: &str) -> String {
    format!("The {key} to use. Accepts any value documented for {key}; see the service manual for details.")
}
