//! `dsh repair`: makes an interrupted or damaged log sound again.

use std::path::Path;

use dsh_json::{Json, Object, object};
use dsh_session::Event;
use dsh_session_jsonl::{RepairReport, SetAside, Tail};

use crate::cards::sheet::escaped;
use crate::cli::Global;
use crate::exit::Failure;
use crate::output;
use crate::setup::Needs;

/// Repairs the file and says what was done.
pub(crate) fn repair(global: &Global, file: &Path) -> Result<(), Failure> {
    let harness = global.harness(Needs::Tools)?;
    let report = dsh_session_jsonl::repair(file, &harness.host().vocabulary())?;
    if global.json {
        return Ok(output::line(&to_json(&report).to_text())?);
    }
    Ok(output::text(&escaped(&describe(&report)))?)
}

fn to_json(report: &RepairReport) -> Json {
    let mut done = Object::new();
    done.insert("wasSound", report.was_sound());
    done.insert("tail", tail(report.tail));
    if let Some(SetAside { path, offset, bytes }) = &report.set_aside {
        let path = path.display().to_string();
        done.insert("setAside", object! { "path": path, "offset": *offset, "bytes": *bytes });
    }
    if let Tail::Damaged { line, later_valid, .. } = report.tail {
        done.insert("damage", object! { "line": line, "laterValid": later_valid });
    }
    if let Some(seed) = report.shorter_seed {
        done.insert("seedLength", seed);
    }
    done.insert("closed", report.closed.iter().map(Event::to_json).collect::<Vec<Json>>());
    done.insert("events", report.events);
    done.into()
}

fn describe(report: &RepairReport) -> String {
    let mut lines = Vec::new();
    if let Some(SetAside { path, offset, bytes }) = &report.set_aside {
        let (tail, path) = (tail(report.tail), path.display());
        lines.push(format!("took off the {tail} end: {bytes} bytes from byte {offset} on, kept in {path}"));
    }
    if let Tail::Damaged { later_valid, .. } = report.tail {
        lines.push(format!("{later_valid} good lines are in what was taken off, and no longer in the log"));
    }
    if let Some(seed) = report.shorter_seed {
        lines.push(format!("of the session that it was forked from, {seed} events are left"));
    }
    if !report.closed.is_empty() {
        let kinds: Vec<&str> = report.closed.iter().map(|event| &*event.kind).collect();
        lines.push(format!("closed what was open: {}", kinds.join(", ")));
    }
    let word = if report.was_sound() { "nothing to repair" } else { "repaired" };
    lines.push(format!("{word}: {} events\n", report.events));
    lines.join("\n")
}

fn tail(tail: Tail) -> &'static str {
    match tail {
        Tail::Clean => "clean",
        Tail::Torn { .. } => "torn",
        Tail::Damaged { .. } => "damaged",
    }
}
