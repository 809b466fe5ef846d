//! The presets by name, looked at once.

use std::sync::Arc;

use dsh_session_permissions::Permissions;
use indexmap::IndexMap;

use crate::config::built_in;
use crate::{Preset, PresetsConfig};

/// What a session is shown as whose knobs fit no preset. No preset has this name.
pub const CUSTOM: &str = "custom";

/// A name that no preset has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no preset `{name}`; there are: {}", .known.join(", "))]
pub struct UnknownPreset {
    /// The name.
    pub name: Arc<str>,
    /// The names that there are, in the order of the table.
    pub known: Vec<Arc<str>>,
}

/// Why a configuration is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PresetsError {
    /// A preset without a name.
    #[error("`presets` has an entry with an empty name")]
    Unnamed,
    /// A preset of the name that sessions without a preset are shown as.
    #[error(
        "`presets` has an entry `custom`, which is what a session without a preset is called; name it otherwise"
    )]
    Custom,
    /// A default that is not there.
    #[error("`defaultPreset` is none: {0}")]
    UnknownDefault(#[from] UnknownPreset),
    /// There is no default, and none can be derived.
    #[error(
        "no preset has the sandbox mode {} and the approval policy {}, which hold where nothing is chosen; set \
         `defaultPreset`, or add a preset with these two", .0.sandbox, .0.approval
    )]
    NoDefault(Permissions),
}

/// All presets in their order, and the one of new sessions.
#[derive(Debug)]
pub(crate) struct Table {
    presets: IndexMap<Arc<str>, Preset>,
    default: Arc<str>,
}

impl Table {
    /// `composed`: what holds for a session whose log says nothing.
    pub(crate) fn of(config: PresetsConfig, composed: Permissions) -> Result<Self, PresetsError> {
        let mut presets: IndexMap<Arc<str>, Preset> =
            built_in().into_iter().map(|(name, preset)| (name.into(), preset)).collect();
        for (name, preset) in config.presets {
            if name.trim().is_empty() {
                return Err(PresetsError::Unnamed);
            }
            if &*name == CUSTOM {
                return Err(PresetsError::Custom);
            }
            presets.insert(name, preset);
        }
        let mut table = Self { presets, default: CUSTOM.into() };
        let default = match &config.default_preset {
            Some(name) => table.entry(name)?.0,
            None => table.fitting(composed, None).ok_or(PresetsError::NoDefault(composed))?,
        };
        table.default = Arc::clone(default);
        Ok(table)
    }

    pub(crate) fn default(&self) -> &Arc<str> {
        &self.default
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Arc<str>, &Preset)> {
        self.presets.iter()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Preset> {
        self.presets.get(name)
    }

    pub(crate) fn entry(&self, name: &str) -> Result<(&Arc<str>, &Preset), UnknownPreset> {
        self.presets
            .get_key_value(name)
            .ok_or_else(|| UnknownPreset { name: name.into(), known: self.presets.keys().cloned().collect() })
    }

    /// The preset that fits these knobs: the chosen one, or else the first. `None`: they are nobody's.
    pub(crate) fn fitting(&self, knobs: Permissions, chosen: Option<&str>) -> Option<&Arc<str>> {
        let fits = |(_, preset): &(&Arc<str>, &Preset)| preset.permissions() == knobs;
        let chosen = chosen.and_then(|name| self.presets.get_key_value(name)).filter(fits);
        chosen.or_else(|| self.presets.iter().find(fits)).map(|(name, _)| name)
    }
}
