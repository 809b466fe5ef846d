//! The service.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};

use dsh_sandbox_policy::{ModeChanged, PolicySource};
use dsh_session::{Latest, Session};
use dsh_user_approval::Approvals;
use parking_lot::Mutex;
use serde::Serialize;

use crate::knobs::Knobs;
use crate::table::Table;
use crate::{CUSTOM, Preset, PresetChosen, PresetsConfig, PresetsError, UnknownPreset};

/// The presets of a program, and what each session has. Clones are the same service. What it does is in the crate's
/// documentation.
#[derive(Clone)]
pub struct Presets {
    pub(crate) inner: Arc<Inner>,
    /// What the operator asked for.
    pub(crate) choice: Option<Arc<str>>,
}

pub(crate) struct Inner {
    pub(crate) table: Table,
    pub(crate) approvals: Approvals,
    pub(crate) policy: Arc<dyn PolicySource>,
    pub(crate) chosen: Latest<PresetChosen>,
    pub(crate) modes: Latest<ModeChanged>,
    /// Sessions that are being changed, by their ids.
    under_way: Mutex<BTreeMap<Arc<str>, Weak<Mutex<()>>>>,
}

/// What a session has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Current {
    /// This preset.
    Named(Arc<str>),
    /// Knobs that no preset has.
    Custom,
}

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
    /// A service over the two knobs: `approvals` knows the policy, `policy` the mode of sessions whose log says nothing.
    pub fn new(
        config: PresetsConfig,
        approvals: Approvals,
        policy: Arc<dyn PolicySource>,
    ) -> Result<Self, PresetsError> {
        let composed = Knobs { sandbox: policy.policy(None).mode, approval: approvals.default_policy() };
        let inner = Inner {
            table: Table::of(config, composed)?,
            approvals,
            policy,
            chosen: Latest::default(),
            modes: Latest::default(),
            under_way: Mutex::default(),
        };
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
        match self.inner.table.fitting(self.inner.knobs(session), chosen.as_deref()) {
            Some(name) => Current::Named(Arc::clone(name)),
            None => Current::Custom,
        }
    }

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

impl Inner {
    /// What holds for a session.
    pub(crate) fn knobs(&self, session: &Session) -> Knobs {
        let said = self.modes.last(session).map(|(_, changed)| changed.mode);
        Knobs {
            sandbox: said.unwrap_or_else(|| self.policy.policy(Some(session.id())).mode),
            approval: self.approvals.policy(session),
        }
    }

    /// Who holds its lock may change the session.
    pub(crate) fn turn_of(&self, session: &Session) -> Arc<Mutex<()>> {
        let mut under_way = self.under_way.lock();
        under_way.retain(|_, turn| turn.strong_count() > 0);
        if let Some(turn) = under_way.get(session.id()).and_then(Weak::upgrade) {
            return turn;
        }
        let turn = Arc::default();
        under_way.insert(Arc::clone(session.id()), Arc::downgrade(&turn));
        turn
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

impl fmt::Display for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Presets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Presets")
            .field("table", &self.inner.table)
            .field("choice", &self.choice)
            .finish_non_exhaustive()
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
