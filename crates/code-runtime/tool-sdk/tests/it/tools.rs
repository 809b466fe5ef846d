//! Tools for tests: read from files, or made of a few words.

use dsh_json::{Json, Object, object};
use dsh_json_schema::Schema;
use dsh_tool_sdk::{Language, Limits, Sdk, ToolDecl, render};

pub(crate) use Language::{Python, TypeScript};

/// The tools of one JSON text: `[{name, description?, parameters?, output?}]`.
pub(crate) fn tools(text: &str) -> Vec<ToolDecl> {
    let given = Json::parse(text).unwrap();
    let tools = given.get("tools").unwrap_or(&given).as_array().unwrap();
    tools.iter().map(declared).collect()
}

/// A tool whose arguments have this schema, with any output.
pub(crate) fn takes(name: &str, parameters: &Json) -> ToolDecl {
    let parameters = Some(Schema::new(parameters).unwrap());
    ToolDecl { name: name.into(), description: "".into(), parameters, output: Schema::any().build().ok() }
}

/// The tool `t` whose output has this schema, without arguments.
pub(crate) fn gives(output: &Json) -> ToolDecl {
    let output = Some(Schema::new(output).unwrap());
    ToolDecl { name: "t".into(), description: "".into(), parameters: Schema::params().build().ok(), output }
}

pub(crate) fn rendered(language: Language, tools: &[ToolDecl]) -> Sdk {
    render(language, tools, &Limits::default()).unwrap()
}

pub(crate) fn declarations(language: Language, tools: &[ToolDecl]) -> String {
    rendered(language, tools).declarations().to_owned()
}

fn declared(tool: &Json) -> ToolDecl {
    let text = |name| tool.get(name).and_then(Json::as_str).unwrap_or_default();
    let schema = |name| tool.get(name).and_then(|schema| Schema::new(schema).ok());
    ToolDecl {
        name: text("name").into(),
        description: text("description").into(),
        parameters: schema("parameters"),
        output: schema("output"),
    }
}

/// A closed object.
pub(crate) fn closed<const P: usize, const R: usize>(
    properties: [(&'static str, Json); P],
    required: [&'static str; R],
) -> Json {
    let properties = Object::from_iter(properties);
    let required = required.into_iter().map(Json::from).collect::<Json>();
    object! { "type": "object", "additionalProperties": false, "properties": properties, "required": required }
}

/// A tool without arguments and with any output.
pub(crate) fn described(name: &str, description: &str) -> ToolDecl {
    ToolDecl { description: description.into(), ..takes(name, &object! { "type": "object" }) }
}

/// `inner`, wrapped that many times.
pub(crate) fn nested(count: usize, inner: &Json, wrap: impl Fn(&Json) -> Json) -> Json {
    (0..count).fold(inner.clone(), |schema, _| wrap(&schema))
}
