//! From one preset to another, of a log or of a living agent.

use std::sync::Arc;

use dsh_agent::{Agent, InboxError};
use dsh_session::{AppendError, Session};
use dsh_session_permissions::{Change, ChangeError, Turned};

use crate::{Current, Preset, PresetChosen, Presets, UnknownPreset};

/// What was recorded, and so what has changed or is said for the first time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// The choice.
    pub preset: bool,
    /// The sandbox mode.
    pub sandbox: bool,
    /// The approval policy.
    pub approval: bool,
}

impl Changes {
    /// Whether nothing was recorded.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// Why a preset was not set.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// There is none of this name. Nothing was recorded.
    #[error(transparent)]
    Unknown(#[from] UnknownPreset),
    /// Not all of it was recorded.
    #[error(transparent)]
    Record(#[from] ChangeError),
}

/// Why an agent was not switched.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// The preset was not set, or in part.
    #[error(transparent)]
    Set(#[from] SetError),
    /// It is switched in full, and the agent could not be told.
    #[error("the preset is switched, but the agent could not be told: {0}")]
    Untold(#[from] InboxError),
}

impl Presets {
    /// Sets the preset of a session: records the choice unless the session has this preset already, then each knob whose
    /// value differs, in the order of the crate's documentation. The same again records nothing; after a drift only what
    /// drifted is repaired.
    ///
    /// For a session that no agent works in now; see [`switch`](Self::switch). From an observer of the session that is being
    /// told of an event it is refused, as every append is.
    pub fn set(&self, session: &Session, name: &str) -> Result<Changes, SetError> {
        let (name, preset) = self.inner.table.entry(name)?;
        let choose = |change: &Change<'_>| self.choose(session, name, preset, change);
        let (changes, _) = self.inner.permissions.change(session, choose)?;
        Ok(changes)
    }

    /// The same for a living agent, who is told before its next step of each knob that changed. It holds from the next
    /// call on; under `never` questions that are open are rejected.
    pub fn switch(&self, agent: &Agent, name: &str) -> Result<Changes, SwitchError> {
        let (name, preset) = self.inner.table.entry(name).map_err(SetError::from)?;
        let choose = |change: &Change<'_>| self.choose(agent.session(), name, preset, change);
        let (changes, untold) =
            self.inner.permissions.change_living(agent, choose).map_err(SetError::from)?;
        untold.map_or(Ok(changes), |error| Err(error.into()))
    }

    fn choose(
        &self,
        session: &Session,
        name: &Arc<str>,
        preset: &Preset,
        change: &Change<'_>,
    ) -> Result<(Changes, Option<InboxError>), AppendError> {
        let chosen = self.current(session) != Current::Named(Arc::clone(name));
        if chosen {
            session.append(&PresetChosen { preset: Arc::clone(name) })?;
        }
        let Turned { sandbox, approval, untold } = change.set(preset.permissions())?;
        Ok((Changes { preset: chosen, sandbox, approval }, untold))
    }
}
