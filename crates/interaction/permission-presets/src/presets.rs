//! The service.

use std::sync::Arc;

use dsh_session::{Latest, Session};
use dsh_session_permissions::SessionPermissions;

use crate::table::Table;
use crate::{CUSTOM, Preset, PresetChosen, PresetsConfig, PresetsError, UnknownPreset};

/// The presets of a program, and what each session has. Clones are the same service. What it does is in the crate's
/// documentation.
#[derive(Debug, Clone)]
pub struct Presets {
    pub(crate) inner: Arc<Inner>,
    /// What the operator asked for.
    pub(crate) choice: Option<Arc<str>>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) table: Table,
    pub(crate) permissions: SessionPermissions,
    pub(crate) chosen: Latest<PresetChosen>,
}

/// What a session has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Current {
    /// This preset.
    Named(Arc<str>),
    /// Knobs that no preset has.
    Custom,
}

impl Presets {
    /// A service over the two knobs of sessions.
    pub fn new(config: PresetsConfig, permissions: SessionPermissions) -> Result<Self, PresetsError> {
        let table = Table::of(config, permissions.defaults())?;
        let inner = Inner { table, permissions, chosen: Latest::default() };
        Ok(Self { inner: Arc::new(inner), choice: None })
    }

    /// The same service under a choice of the operator's: sessions that begin are [pinned](Self::pin) to it instead of the
    /// default, and those that go on are switched to it by [`register`](Self::register)'s listener. A session that works
    /// for another, and whose policy comes from there, keeps what it has.
    pub fn with_choice(self, name: &str) -> Result<Self, UnknownPreset> {
        let choice = Some(Arc::clone(self.inner.table.entry(name)?.0));
        Ok(Self { choice, ..self })
    }

    /// The names of all presets, in the order of the table.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.inner.table.entries().map(|(name, _)| name)
    }

    /// A preset by its name. `custom` is none.
    pub fn resolve(&self, name: &str) -> Result<&Preset, UnknownPreset> {
        self.inner.table.entry(name).map(|(_, preset)| preset)
    }

    /// The preset of new sessions, where the operator chose no other.
    pub fn default_preset(&self) -> &Arc<str> {
        self.inner.table.default()
    }

    /// What a session has: the chosen preset while its knobs hold, else the first with the session's knobs (spec 10 §C.2).
    pub fn current(&self, session: &Session) -> Current {
        let chosen = self.inner.chosen.last(session).map(|(_, chosen)| chosen.preset);
        match self.inner.table.fitting(self.inner.permissions.of(session), chosen.as_deref()) {
            Some(name) => Current::Named(Arc::clone(name)),
            None => Current::Custom,
        }
    }
}

impl Current {
    /// The name: of the preset, or `custom`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Custom => CUSTOM,
        }
    }
}
