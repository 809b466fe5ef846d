//! The tool that does nothing.

use std::borrow::Cow;
use std::error::Error;

use dsh_json_schema::Schema;
use dsh_tools_core::{
    AnyTool, Content, Definition, Json, Registrations, RunContext, Tool, ToolError, Tools, object, text,
};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes nothing, returns `{"ok": true}`, shows `ok`, and may overlap.
pub struct Noop;

/// No arguments.
#[derive(Deserialize, JsonSchema)]
pub struct Nothing {}

/// The closed object of one required boolean.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Done {
    ok: bool,
}

impl Tool for Noop {
    const NAME: &'static str = "noop";
    type Args = Nothing;
    type Output = Done;

    fn description(&self) -> Cow<'_, str> {
        "Does nothing.".into()
    }

    async fn run(&self, _: Nothing, _: &RunContext) -> Result<Done, ToolError> {
        Ok(Done { ok: true })
    }

    fn render(&self, _: &Nothing, _: &Done) -> Result<Content, ToolError> {
        Ok(text("ok"))
    }

    fn parallel(&self, _: &Nothing) -> bool {
        true
    }
}

/// The same with a name that is not known when it is compiled.
struct Named;

impl AnyTool for Named {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async { Ok(object! { "ok": true }) })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("ok"))
    }
}

/// Registers `count` more tools beside the one that is called.
pub fn others(tools: &Tools, count: usize) -> Result<Registrations, Box<dyn Error>> {
    let parameters = Schema::params().build()?;
    let output = Schema::object().closed().required("ok", Schema::boolean()).build()?;
    let mut registered = Registrations::new();
    for number in 0..count {
        let name = format!("other_{number}");
        let tool = Definition::raw(name, "Does nothing.", parameters.clone(), output.clone(), Named)?;
        registered.push(tools.register(None, tool)?);
    }
    Ok(registered)
}
