//! `dsh presets`: what can be chosen with `--preset`.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use dsh_harness::{Harness, Presets};
use dsh_json::{Json, Object};
use dsh_permission_presets::CUSTOM;
use dsh_session::{Session, SessionSpec};
use dsh_session_jsonl::read;

use crate::cards::sheet::escaped;
use crate::cli::Global;
use crate::exit::{Exit, Failure, usage};
use crate::output;
use crate::setup::Needs;

/// Lists the presets, in their order. The log of `--session` is read and not changed.
pub(crate) fn presets(global: &Global) -> Result<(), Failure> {
    let harness = global.harness(Needs::Tools)?;
    let presets = harness.host().presets.get();
    let presets = presets.ok_or_else(|| usage(anyhow!("the plugin `permission-presets` is not mounted")))?;
    let current = global.session.as_ref().map(|file| current(&harness, &presets, file)).transpose()?;
    if global.json {
        return Ok(output::line(&to_json(&presets, current.as_deref())?.to_text())?);
    }
    Ok(output::text(&escaped(&describe(&presets, current.as_deref())?))?)
}

/// The preset of a stored session.
fn current(harness: &Harness, presets: &Presets, file: &Path) -> Result<Arc<str>, Failure> {
    let contents = read(file)?;
    let Some(header) = contents.header else {
        return Err(Failure::new(Exit::Log, anyhow!("{} holds no session", file.display())));
    };
    let clock = Arc::clone(&harness.host().environment.clock);
    let spec = SessionSpec { header, vocabulary: Arc::new(harness.host().vocabulary()), clock, sink: None };
    let session = Session::resume(spec, contents.events)
        .map_err(|error| Failure::new(Exit::Log, anyhow!("{}: {error}", file.display())))?;
    Ok(presets.current(&session).as_str().into())
}

fn to_json(presets: &Presets, current: Option<&str>) -> Result<Json, Failure> {
    let mut listed = Vec::new();
    for name in presets.names() {
        let preset = presets.resolve(name).map_err(usage)?;
        let option = presets.option_of(name).map_err(usage)?;
        let mut shown = Object::new();
        shown.insert("name", Arc::clone(name));
        shown.insert("label", option.name);
        shown.insert("sandbox", preset.sandbox.as_str());
        shown.insert("approval", preset.approval.as_str());
        if let Some(description) = option.description {
            shown.insert("description", description);
        }
        listed.push(Json::from(shown));
    }
    let mut shown = Object::new();
    shown.insert("default", Arc::clone(presets.default_preset()));
    if let Some(current) = current {
        shown.insert("current", current);
    }
    shown.insert("presets", listed);
    Ok(shown.into())
}

fn describe(presets: &Presets, current: Option<&str>) -> Result<String, Failure> {
    let mut lines = Vec::new();
    for name in presets.names() {
        let preset = presets.resolve(name).map_err(usage)?;
        let option = presets.option_of(name).map_err(usage)?;
        let marks =
            [(**name == **presets.default_preset(), "default"), (current == Some(&**name), "this session")];
        let marks: Vec<_> = marks.iter().filter_map(|(holds, mark)| holds.then_some(*mark)).collect();
        let marks = if marks.is_empty() { String::new() } else { format!("  ({})", marks.join(", ")) };
        lines.push(format!("{name}{marks}"));
        let description = option.description.map(|line| format!(": {line}")).unwrap_or_default();
        lines.push(format!("    sandbox {}, approval {}{description}", preset.sandbox, preset.approval));
    }
    if current == Some(CUSTOM) {
        lines.push("custom  (this session)".to_owned());
        lines.push("    its sandbox mode and approval policy were set by themselves".to_owned());
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}
