//! `dsh plugins`: what is configured and mounted.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use dsh_harness::Harness;
use dsh_json::{Json, Object, object};

use crate::cards::sheet::escaped;
use crate::cli::Global;
use crate::exit::Failure;
use crate::output;
use crate::setup::Needs;

/// Shows the configuration in force, and the plugins in the order of their calls.
pub(crate) fn plugins(global: &Global) -> Result<(), Failure> {
    let harness = global.harness(Needs::Model)?;
    if global.json {
        return Ok(output::line(&to_json(&harness).to_text())?);
    }
    Ok(output::text(&escaped(&describe(&harness)))?)
}

fn to_json(harness: &Harness) -> Json {
    let policy = harness.host().policy.current();
    let mut shown = Object::new();
    if let Some(file) = harness.config_file() {
        shown.insert("configFile", text(file));
    }
    shown.insert("mode", harness.mode().as_str());
    shown.insert("root", text(&policy.workspace_root));
    if let Some(preset) = preset(harness) {
        shown.insert("preset", preset);
    }
    shown.insert("sandbox", policy.mode.to_string());
    shown.insert("rules", rules(harness).into_iter().map(Json::from).collect::<Vec<Json>>());
    shown.insert("readRoots", policy.read_roots.iter().map(|root| text(root).into()).collect::<Vec<Json>>());
    if let Some(model) = harness.host().model.get() {
        shown.insert("model", object! { "provider": model.provider(), "model": model.model() });
    }
    let plugin = |plugin: &dsh_harness::MountedPlugin| {
        object! {
            "name": plugin.name(),
            "summary": plugin.summary(),
            "registrations": u64::try_from(plugin.registrations()).unwrap_or(u64::MAX),
        }
    };
    shown.insert("plugins", harness.plugins().iter().map(plugin).collect::<Vec<Json>>());
    shown.into()
}

fn describe(harness: &Harness) -> String {
    let policy = harness.host().policy.current();
    let config = harness.config_file().map_or_else(|| "none, built-in defaults".to_owned(), text);
    let model = harness.host().model.get();
    let model =
        model.map_or_else(|| "none".to_owned(), |model| format!("{} ({})", model.provider(), model.model()));
    let mut out = String::new();
    let mut row = |name: &str, value: &str| {
        // Writing to a string can't fail.
        let _ = writeln!(out, "{name:<14} {value}");
    };
    row("configuration", &config);
    row("mode", harness.mode().as_str());
    row("model", &model);
    row("root", &text(&policy.workspace_root));
    if let Some(preset) = preset(harness) {
        row("preset", &preset);
    }
    row("sandbox", &policy.mode.to_string());
    for (at, rule) in rules(harness).iter().enumerate() {
        row(if at == 0 { "rules" } else { "" }, rule);
    }
    for (at, root) in policy.read_roots.iter().enumerate() {
        row(if at == 0 { "read roots" } else { "" }, &text(root));
    }
    for (at, plugin) in harness.plugins().iter().enumerate() {
        row(if at == 0 { "plugins" } else { "" }, &format!("{:<18} {}", plugin.name(), plugin.summary()));
    }
    out
}

/// What new sessions have.
fn preset(harness: &Harness) -> Option<Arc<str>> {
    let host = harness.host();
    let presets = host.presets.get()?;
    Some(host.preset_choice.clone().unwrap_or_else(|| Arc::clone(presets.default_preset())))
}

/// The rules by names of tools: `deny bash*`.
fn rules(harness: &Harness) -> Vec<String> {
    let Some(rules) = harness.host().rules.get() else { return Vec::new() };
    let lists = [("deny", &rules.deny), ("ask", &rules.ask), ("allow", &rules.allow)];
    let named =
        lists.iter().flat_map(|(verdict, names)| names.iter().map(move |name| format!("{verdict} {name}")));
    named.chain([format!("otherwise {}", rules.otherwise)]).collect()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
