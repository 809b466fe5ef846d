//! Presets as people choose them.

use std::sync::Arc;

use dsh_session::Session;
use serde::Serialize;

use crate::{CUSTOM, Current, Preset, Presets, UnknownPreset};

/// A preset as people choose it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PresetOption {
    /// Its key.
    pub value: Arc<str>,
    /// Its label; the key where it has none.
    pub name: Arc<str>,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
}

/// What can be chosen in a session, and what it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Options {
    /// All presets in the order of the table, and `custom` behind them while the session has it.
    pub options: Vec<PresetOption>,
    /// What the session has.
    pub current_value: Arc<str>,
}

impl Presets {
    /// A preset as people choose it; also `custom`, which they see only.
    pub fn option_of(&self, name: &str) -> Result<PresetOption, UnknownPreset> {
        if name == CUSTOM {
            return Ok(custom());
        }
        self.inner.table.entry(name).map(|(name, preset)| option(name, preset))
    }

    /// What can be chosen in a session, and what it has.
    pub fn options(&self, session: &Session) -> Options {
        let mut options: Vec<_> =
            self.inner.table.entries().map(|(name, preset)| option(name, preset)).collect();
        let current_value = match self.current(session) {
            Current::Named(name) => name,
            Current::Custom => {
                options.push(custom());
                CUSTOM.into()
            }
        };
        Options { options, current_value }
    }
}

fn option(key: &Arc<str>, preset: &Preset) -> PresetOption {
    let label = preset.name.as_ref().filter(|name| !name.trim().is_empty());
    PresetOption {
        value: Arc::clone(key),
        name: Arc::clone(label.unwrap_or(key)),
        description: preset.description.clone(),
    }
}

fn custom() -> PresetOption {
    PresetOption {
        value: CUSTOM.into(),
        name: "Custom".into(),
        description: Some("The sandbox mode and the approval policy were set by themselves.".into()),
    }
}
