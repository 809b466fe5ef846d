//! From one preset to another, of a log or of a living agent.

use std::sync::Arc;

use dsh_agent::{Agent, InboxError};
use dsh_llm::{Message, Role, Source, text};
use dsh_sandbox_policy::{SandboxMode, set_session_mode, standing_rule};
use dsh_session::{AppendError, Session};

use crate::knobs::{Knob, Knobs};
use crate::{Changes, Current, PresetChosen, Presets, UnknownPreset};

/// The name that messages about the sandbox mode have as their source.
pub const PLUGIN: &str = "permission-presets";

/// Why not all was recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Somebody else changes this session now. Nothing was recorded.
    #[error("the permissions of this session are being changed already; try again")]
    Busy,
    /// The log did not take an event. What it took before holds; doing the same again completes it.
    #[error(
        "the permissions could not be recorded in full: {0}; what was recorded holds, choose again to complete it"
    )]
    Log(#[from] AppendError),
}

/// Why a preset was not set.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// There is none of this name. Nothing was recorded.
    #[error(transparent)]
    Unknown(#[from] UnknownPreset),
    /// Not all of it was recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
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
        let record = |knob, target: Knobs| match knob {
            Knob::Sandbox => set_session_mode(session, target.sandbox, None).map(drop),
            Knob::Approval => self.inner.approvals.set_session_policy(session, target.approval, None),
        };
        self.choose(session, name, record)
    }

    /// The same for a living agent, who is told before its next step of each knob that changed. It holds from the next
    /// call on; under `never` questions that are open are rejected.
    pub fn switch(&self, agent: &Agent, name: &str) -> Result<Changes, SwitchError> {
        let mut untold = None;
        let record = |knob, target: Knobs| {
            let told = match knob {
                Knob::Sandbox => self.switch_sandbox(agent, target.sandbox)?,
                Knob::Approval => match self.inner.approvals.switch(agent, target.approval) {
                    Ok(_) => Ok(()),
                    Err(dsh_user_approval::SwitchError::Untold(error)) => Err(error),
                    Err(dsh_user_approval::SwitchError::Log(error)) => return Err(error),
                },
            };
            untold = untold.take().or(told.err());
            Ok(())
        };
        let changes = self.choose(agent.session(), name, record)?;
        untold.map_or(Ok(changes), |error| Err(error.into()))
    }

    /// Records the choice and, through `record`, what differs from it.
    fn choose(
        &self,
        session: &Session,
        name: &str,
        mut record: impl FnMut(Knob, Knobs) -> Result<(), AppendError>,
    ) -> Result<Changes, SetError> {
        let (name, preset) = self.inner.table.entry(name)?;
        let target = Knobs::from(preset);
        let turn = self.inner.turn_of(session);
        // Whoever waited here for an observer of the session would wait forever.
        let Some(_turn) = turn.try_lock() else { return Err(RecordError::Busy.into()) };
        let mut changes = Changes::default();
        if self.current(session) != Current::Named(Arc::clone(name)) {
            record_choice(session, name).map_err(RecordError::from)?;
            changes.preset = true;
        }
        let before = self.inner.knobs(session);
        for knob in before.order_towards(target) {
            let changed = match knob {
                Knob::Sandbox => &mut changes.sandbox,
                Knob::Approval => &mut changes.approval,
            };
            *changed = match knob {
                Knob::Sandbox => before.sandbox != target.sandbox,
                Knob::Approval => before.approval != target.approval,
            };
            if *changed {
                record(knob, target).map_err(RecordError::from)?;
            }
        }
        Ok(changes)
    }

    fn switch_sandbox(
        &self,
        agent: &Agent,
        mode: SandboxMode,
    ) -> Result<Result<(), InboxError>, AppendError> {
        let session = agent.session();
        let before = self.inner.knobs(session).sandbox;
        let seq = set_session_mode(session, mode, None)?.seq;
        let rule = standing_rule(&self.inner.policy.policy(Some(session.id())).with_mode(mode));
        let message = Message {
            // One event, one message.
            id: format!("{PLUGIN}:{seq}").into(),
            role: Role::User,
            content: text(format!("The user changed the sandbox mode from {before} to {mode}. {rule}")),
            source: Source::plugin_form(PLUGIN, "notice"),
        };
        Ok(agent.inbox().inject(message))
    }
}

pub(crate) fn record_choice(session: &Session, name: &Arc<str>) -> Result<(), AppendError> {
    session.append(&PresetChosen { preset: Arc::clone(name) }).map(drop)
}
