//! `dsh code`: one program against the visible tools, no model needed.

use std::path::Path;

use dsh_code_mode::FailedRun;
use dsh_json::{Json, Object, array, object};
use dsh_llm::plain_text;
use dsh_session::Session;
use dsh_tools_core::{DispatchSettled, RUN_CODE};

use super::call::{Answer, Origin, made};
use crate::cli::Global;
use crate::exit::Failure;
use crate::interrupt::Interrupts;
use crate::setup::Needs;
use crate::{input, output};

const CODE: Origin =
    Origin { name: "code", note: "This program was run with `dsh code`, not written by a model." };

/// Runs the program and prints what it printed and returned.
pub(crate) async fn code(global: &Global, file: &Path) -> Result<(), Failure> {
    let interrupts = Interrupts::listen()?;
    let harness = global.harness(Needs::Programs)?;
    let stdin = file.as_os_str() == "-";
    let program = if stdin { interrupts.unless(input::stdin()).await? } else { input::program(file)? };
    let name = if stdin { "standard input".into() } else { file.to_string_lossy() };
    let arguments = object! { "code": program, "description": format!("Runs {name}") };
    made(global, &interrupts, harness, CODE, (RUN_CODE, arguments.to_text()), print).await
}

fn print(answer: &Answer, session: &Session, json: bool) -> Result<(), Failure> {
    let text = if json { to_json(answer, session).to_text() } else { plain_text(&answer.content) };
    Ok(output::line(&text)?)
}

fn to_json(answer: &Answer, session: &Session) -> Json {
    let mut shown = Object::new();
    shown.insert("isError", answer.is_error);
    if answer.is_error {
        let message = answer.message();
        let failed = FailedRun::read(&message);
        let logs = failed.and_then(|failed| failed.output).map_or_else(|| array![], |output| array![output]);
        shown.insert("logs", logs);
        shown.insert("error", error(answer, &message, failed));
    } else if let Some(value) = answer.published.as_ref().and_then(|result| result.value()) {
        for key in ["logs", "result", "warning"] {
            if let Some(part) = value.get(key) {
                shown.insert(key, part.clone());
            }
        }
    }
    let settled = session.events().into_iter().filter_map(|event| event.read::<DispatchSettled>()?.ok());
    let call = |call: DispatchSettled| object! { "id": call.sub_call_id, "name": call.name, "isError": call.is_error };
    shown.insert("subCalls", settled.map(call).collect::<Vec<Json>>());
    shown.into()
}

fn error(answer: &Answer, message: &str, failed: Option<FailedRun<'_>>) -> Json {
    let mut error = Object::new();
    if let Some(info) = answer.published.as_ref().and_then(|result| result.error()?.info.clone()) {
        error.insert("name", &*info.name);
        error.insert("code", &*info.code);
    }
    if let Some(failed) = failed {
        error.insert("kind", failed.kind.name());
    }
    error.insert("message", failed.map_or(message, |failed| failed.message));
    error.into()
}
