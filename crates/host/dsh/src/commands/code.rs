//! `dsh code`: one program against the visible tools, no model needed.

use std::path::Path;
use std::sync::Arc;

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
    let print = |answer: &Answer, session: &Session| print(answer, session, global);
    made(global, &interrupts, harness, CODE, (RUN_CODE, arguments.to_text()), print).await
}

fn print(answer: &Answer, session: &Session, global: &Global) -> Result<(), Failure> {
    // A seed makes runs equal, so what no two runs have in common stays out.
    let receipt = receipt(answer, global.seed.is_none());
    if global.json {
        return Ok(output::line(&to_json(answer, session, receipt).to_text())?);
    }
    output::line(&plain_text(&answer.content))?;
    if let Some(receipt) = &receipt {
        output::note("used", &used(receipt));
    }
    Ok(())
}

fn to_json(answer: &Answer, session: &Session, receipt: Option<Object>) -> Json {
    let mut shown = Object::new();
    shown.insert("isError", answer.is_error);
    let result = answer.published.as_deref();
    if answer.is_error {
        let message = answer.message();
        let failed = FailedRun::read(&message);
        let value = result.and_then(|result| result.error()?.value.as_ref());
        let printed =
            || failed.and_then(|failed| failed.output).map_or_else(|| array![], |output| array![output]);
        shown.insert("logs", value.and_then(|value| value.get("logs")).cloned().unwrap_or_else(printed));
        shown.insert("error", error(answer, &message, failed));
    } else if let Some(value) = result.and_then(|result| result.value()) {
        for key in ["logs", "result"] {
            if let Some(part) = value.get(key) {
                shown.insert(key, part.clone());
            }
        }
    }
    let settled = session.events().into_iter().filter_map(|event| event.read::<DispatchSettled>()?.ok());
    let call = |call: DispatchSettled| object! { "id": call.sub_call_id, "name": call.name, "isError": call.is_error };
    shown.insert("subCalls", settled.map(call).collect::<Vec<Json>>());
    if let Some(receipt) = receipt {
        shown.insert("receipt", receipt);
    }
    let warnings = answer.logged.meta.as_ref().and_then(|account| account.get("warnings")).cloned();
    shown.insert("warnings", warnings.unwrap_or_else(|| array![]));
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

/// What the program used, if it ran; with what was measured, or without.
fn receipt(answer: &Answer, measured: bool) -> Option<Object> {
    let receipt = answer.logged.meta.as_ref()?.get("receipt")?.as_object()?;
    let kept = receipt.iter().filter(|(key, _)| measured || !MEASURES.contains(&&***key));
    Some(kept.map(|(key, value)| (Arc::clone(key), value.clone())).collect())
}

const MEASURES: [&str; 5] = ["wallMs", "askedMs", "waitingMs", "busyMs", "peakMemoryBytes"];

/// A receipt for people: `3 calls, 12 ms (busy 4 ms), 2.1 MB`.
fn used(receipt: &Object) -> String {
    let number = |key: &str| receipt.get(key).and_then(Json::as_u64);
    let calls = number("calls").unwrap_or_default();
    let mut told = vec![format!("{calls} call{}", if calls == 1 { "" } else { "s" })];
    if let Some(wall) = number("wallMs") {
        let busy = number("busyMs").map(|busy| format!("busy {busy} ms"));
        let asked =
            number("askedMs").filter(|asked| *asked > 0).map(|asked| format!("{asked} ms for answers"));
        let parts: Vec<_> = busy.into_iter().chain(asked).collect();
        let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        told.push(format!("{wall} ms{parts}"));
    }
    if let Some(bytes) = number("peakMemoryBytes") {
        told.push(format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000));
    }
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_one_line() {
        let check = |receipt: Json, line: &str| assert_eq!(used(receipt.as_object().unwrap()), line);
        let (wall, busy, peak) = (12, 4, 2_190_000);
        check(
            object! { "calls": 3, "wallMs": wall, "askedMs": 0, "busyMs": busy, "peakMemoryBytes": peak },
            "3 calls, 12 ms (busy 4 ms), 2.1 MB",
        );
        check(
            object! { "calls": 1, "wallMs": 5_020, "askedMs": 5_000, "busyMs": busy },
            "1 call, 5020 ms (busy 4 ms, 5000 ms for answers)",
        );
        check(
            object! { "calls": 0, "wallMs": wall, "askedMs": 0, "peakMemoryBytes": 90_000 },
            "0 calls, 12 ms, 0.0 MB",
        );
        check(object! { "calls": 2 }, "2 calls");
    }
}
