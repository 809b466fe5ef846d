//! What we render, in the form of the vectors.

use dsh_json::{Json, array, object};
use dsh_json_schema::Schema;
use dsh_tool_sdk::{Language, Limits, SdkError, ToolDecl, render, type_text};

use super::asked::Asked;
use crate::Fault;
use crate::fault::required_text;
use crate::schema::exposed;

/// Our output for one kind.
pub(super) fn said(kind: &str, asked: &Asked) -> Result<Json, Fault> {
    let (ts, py) = (Language::TypeScript, Language::Python);
    match asked {
        Asked::Type(schema) => {
            let schema = Schema::new(&exposed(schema)).ok();
            let text = |language, level| {
                type_text(language, schema.as_ref(), level, &Limits::default())
                    .map_err(|error| refused(&error))
            };
            Ok(match kind {
                "ts-render" => object! { "ts": text(ts, 0)?, "ts_indent_1": text(ts, 1)? },
                "py-render" => object! { "py": text(py, 0)? },
                _ => object! { "ts": text(ts, 0)?, "py": text(py, 0)? },
            })
        }
        Asked::Tools(tools) => {
            let tools =
                tools.as_array().unwrap_or_default().iter().map(tool).collect::<Result<Vec<_>, _>>()?;
            let sdk =
                |language| render(language, &tools, &Limits::default()).map_err(|error| refused(&error));
            Ok(match kind {
                "ts-render" => typescript_parts(sdk(ts)?.declarations()),
                "py-render" => python_parts(sdk(py)?.declarations()),
                _ => object! { "ts": from_fence(sdk(ts)?.section()), "py": from_fence(sdk(py)?.section()) },
            })
        }
    }
}

/// Equal to the byte, but for the words of the note on open objects, which are our own.
pub(super) fn agrees(got: &Json, expected: &Json) -> bool {
    match (got, expected) {
        (Json::String(got), Json::String(expected)) => {
            let (got, expected) = (got.split('\n'), expected.split('\n'));
            let same = |(got, expected): (&str, &str)| {
                got == expected || got == OPEN_NOTE && expected.starts_with("    # ")
            };
            got.clone().count() == expected.clone().count() && got.zip(expected).all(same)
        }
        (Json::Object(got), Json::Object(expected)) => {
            let mut members = got.iter().zip(expected.iter());
            got.len() == expected.len()
                && members.all(|((one, got), (other, expected))| one == other && agrees(got, expected))
        }
        _ => got == expected,
    }
}

/// What a Python class says of an object that takes other keys.
const OPEN_NOTE: &str = "    # Any other key is accepted, too.";

fn tool(given: &Json) -> Result<ToolDecl, Fault> {
    let schema = |name| given.get(name).and_then(|schema| Schema::new(&exposed(schema)).ok());
    Ok(ToolDecl {
        name: required_text(given, "name")?.into(),
        description: required_text(given, "description")?.into(),
        parameters: schema("parameters"),
        output: schema("output"),
    })
}

fn refused(error: &SdkError) -> Fault {
    Fault::Refused(error.code())
}

fn from_fence(section: &str) -> &str {
    section.find("\n```").and_then(|at| section.get(at + 1..)).unwrap_or_default()
}

/// No line is empty but those between the parts.
fn typescript_parts(declarations: &str) -> Json {
    let mut parts = declarations.split("\n\n").skip(1);
    object! { "args_map": parts.next().unwrap_or_default(), "output_map": parts.next().unwrap_or_default() }
}

fn python_parts(declarations: &str) -> Json {
    let parts: Vec<&str> = declarations.split("\n\n").collect();
    let [imports, _, classes @ .., protocol, _] = parts.as_slice() else { return array![] };
    let imports = imports.trim_start_matches("from typing import ").split(", ").map(Json::from);
    object! { "typing_imports": imports.collect::<Json>(), "classes": classes.join("\n\n"), "protocol": *protocol }
}
