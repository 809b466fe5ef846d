//! The declarations of tools (spec 05): the same tools give the same bytes, within bounds, and no name, description or
//! literal gets out of its place.

use std::collections::HashSet;
use std::sync::Arc;

use dsh_json::Json;
use dsh_json_schema::{ImportLimits, Schema};
use dsh_tool_sdk::{Language, Limits, Place, Sdk, SdkError, ToolDecl, render, type_text};

use crate::{Met, python, typescript};

/// Bytes of declarations for each byte of names, descriptions and schemas; a line of a deep type is indented by 64.
const FACTOR: usize = 100;
/// What is there without any tool.
const FRAME: usize = 4 << 10;

/// The bytes are a list of tools, or an object with one as `tools`: `{name, description?, parameters?, output?}`.
pub(crate) fn sdk(language: Language, bytes: &[u8]) -> Met {
    let Some(json) = str::from_utf8(bytes).ok().and_then(|text| Json::parse(text).ok()) else {
        return Met::Refused;
    };
    let listed = json.as_array().or_else(|| json.get("tools")?.as_array());
    let tools: Vec<ToolDecl> = listed.unwrap_or_default().iter().filter_map(tool).collect();
    let names: HashSet<&str> = tools.iter().map(|tool| &*tool.name).collect();
    let limits = Limits::default();
    match render(language, &tools, &limits) {
        Ok(sdk) => {
            assert_eq!(names.len(), tools.len());
            within_bounds(&sdk, &tools);
            same_again(&sdk, &tools);
            well_formed(&sdk, &tools);
        }
        Err(SdkError::DuplicateTool { name }) => {
            assert!(names.contains(&*name) && names.len() < tools.len());
            return Met::Refused;
        }
        Err(error) => panic!("tools of {} bytes: {error}", bytes.len()),
    }
    under_small_limits(language, &tools);
    Met::taken(!tools.is_empty())
}

fn tool(json: &Json) -> Option<ToolDecl> {
    Some(ToolDecl {
        name: json.get("name")?.as_str()?.into(),
        description: json.get("description").and_then(Json::as_str).unwrap_or_default().into(),
        parameters: json
            .get("parameters")
            .or_else(|| json.get("inputSchema"))
            .and_then(|json| schema(json, true)),
        output: json.get("output").or_else(|| json.get("outputSchema")).and_then(|json| schema(json, false)),
    })
}

/// As a registry would have it: of the subset, or lowered into it (design §4.13).
fn schema(json: &Json, params: bool) -> Option<Schema> {
    let import = if params { Schema::import_params } else { Schema::import };
    let imported = || import(json, &ImportLimits::default()).ok().map(|imported| imported.schema().clone());
    Schema::new(json).ok().or_else(imported)
}

fn schemas(tools: &[ToolDecl]) -> impl Iterator<Item = &Schema> {
    tools.iter().flat_map(|tool| tool.parameters.iter().chain(&tool.output))
}

fn within_bounds(sdk: &Sdk, tools: &[ToolDecl]) {
    let texts: usize = tools.iter().map(|tool| tool.name.len() + tool.description.len()).sum();
    let types: usize = schemas(tools).map(|schema| schema.json().to_text().len()).sum();
    let most = FRAME + FACTOR * (texts + types + tools.len());
    let made = sdk.section().len();
    assert!(made <= most, "{made} bytes from {texts} of texts and {types} of schemas");
    assert!(made < FRAME + Limits::default().declarations_bytes);
}

fn same_again(sdk: &Sdk, tools: &[ToolDecl]) {
    let mut turned = tools.to_vec();
    turned.reverse();
    for tools in [tools, &turned] {
        let again = render(sdk.language(), tools, &Limits::default());
        assert!(again.as_ref().is_ok_and(|again| again == sdk), "{again:?}\n{sdk:?}");
    }
}

fn well_formed(sdk: &Sdk, tools: &[ToolDecl]) {
    let (language, text) = (sdk.language(), sdk.declarations());
    assert!(sdk.section().contains(text));
    let mut named: Vec<&Arc<str>> = tools.iter().map(|tool| &tool.name).collect();
    let mut bound: Vec<&Arc<str>> = sdk.bindings().iter().map(|binding| &binding.name).collect();
    named.sort();
    bound.sort();
    assert_eq!(named, bound);
    // The section is a block of code in a prompt, and ends where it ends.
    let fences = sdk.section().lines().filter(|line| line.trim_start().starts_with("```"));
    assert_eq!(fences.count(), 2, "{text}");
    match language {
        Language::TypeScript => typescript::declares(text, sdk.bindings(), deepest(tools)),
        Language::Python => python::declares(text, sdk.bindings()),
    }
}

fn deepest(tools: &[ToolDecl]) -> usize {
    schemas(tools).map(|schema| schema.json().depth()).max().unwrap_or_default()
}

fn under_small_limits(language: Language, tools: &[ToolDecl]) {
    let limits = Limits { description_chars: 8, declarations_bytes: 1_500 };
    match render(language, tools, &limits) {
        Ok(sdk) => assert!(sdk.declarations().len() <= limits.declarations_bytes, "{}", sdk.declarations()),
        Err(SdkError::TooLarge { limit, place }) => {
            assert_eq!(limit, limits.declarations_bytes);
            if let Place::Tool(name) = &place {
                assert!(tools.iter().any(|tool| tool.name == *name), "{place}");
            }
        }
        Err(error) => panic!("{error}"),
    }
    for schema in schemas(tools).take(4) {
        match type_text(language, Some(schema), 1, &limits) {
            Ok(text) => assert!(text.len() <= limits.declarations_bytes, "{text}"),
            Err(error) => assert_eq!(error.code(), "SDK_TOO_LARGE", "{error}"),
        }
    }
}
