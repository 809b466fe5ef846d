//! Prints the declarations of a harness with a thousand tools, and calls of each, the same each time: a JSON array of
//! `{name, language, declarations, calls}`.
//!
//! `cargo xtask sdk-check` gives them to the compilers and type checkers of both languages. Each call that has to be
//! refused says so.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "../tests/it/many_tools/made.rs"]
mod made;

use std::error::Error;
use std::fmt::Write as _;

use dsh_code_mode::declarations;
use dsh_harness::{ConfigText, Environment, Harness};
use dsh_json::{Json, object};
use dsh_tool_sdk::{Language, Limits};

fn main() -> Result<(), Box<dyn Error>> {
    let tools = made::tools();
    let no_config = ConfigText { file: "".into(), text: String::new() };
    let environment = Environment::of_process()?;
    let builder = Harness::builder(environment).config(no_config).row(made::plugin("made", tools.clone()));
    let harness = builder.build()?;
    let view = harness.host().tools.view(None);
    let mut sections = Vec::new();
    for language in Language::ALL {
        let sdk = declarations(&view, language, &Limits::default())?;
        let mut calls = head(language).to_owned();
        for tool in &tools {
            let binding = sdk.bindings().iter().find(|binding| *binding.name == *tool.name);
            let call = &binding.ok_or("each tool is bound")?.call;
            // What Python reaches by subscript only is declared in a comment.
            if language == Language::TypeScript || !call.contains('[') {
                write_calls(language, call, tool, &mut calls)?;
            }
        }
        let declarations = sdk.declarations();
        sections.push(object! { "name": "thousand", "language": language.name(), "declarations": declarations, "calls": calls });
    }
    println!("{}", Json::from(sections));
    Ok(())
}

fn head(language: Language) -> &'static str {
    match language {
        Language::TypeScript => "",
        Language::Python => "async def program() -> None:\n",
    }
}

/// A call that has to be accepted, and those that have to be refused.
fn write_calls(
    language: Language,
    call: &str,
    tool: &made::Made,
    out: &mut String,
) -> Result<(), std::fmt::Error> {
    let [for_typescript, for_python] = &tool.bad;
    match language {
        Language::TypeScript => {
            writeln!(out, "await {call}({});", typescript(&tool.good))?;
            for bad in for_typescript {
                writeln!(out, "// @ts-expect-error\nawait {call}({});", typescript(bad))?;
            }
        }
        Language::Python => {
            writeln!(out, "    await {call}({})", python(&tool.good))?;
            for bad in for_python {
                writeln!(out, "    await {call}({})  # type: ignore", python(bad))?;
            }
        }
    }
    Ok(())
}

fn typescript(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("[{}]", joined(items.iter().map(typescript))),
        Json::Object(object) => {
            // `__proto__` without brackets would set the prototype.
            let member = |(name, value)| format!("[{}]: {}", Json::from(name).to_text(), typescript(value));
            format!("{{ {} }}", joined(object.iter().map(member)))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.to_text(),
    }
}

fn python(value: &Json) -> String {
    match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Array(items) => format!("[{}]", joined(items.iter().map(python))),
        Json::Object(object) => {
            let member = |(name, value)| format!("{}: {}", Json::from(name).to_text(), python(value));
            format!("{{{}}}", joined(object.iter().map(member)))
        }
        Json::Number(_) | Json::String(_) => value.to_text(),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}
