//! What a session's log says before its first turn.

use std::sync::Arc;

use dsh_agent::{Agent, Hooks, Notice};
use dsh_lifecycle::Registrations;
use dsh_sandbox_policy::set_session_mode;
use dsh_session::{EndSeed, Payload, Session, TurnStart};
use dsh_user_approval::{PolicyChanged, PolicySource};

use crate::knobs::{Knob, Knobs};
use crate::switching::record_choice;
use crate::{Changes, Presets, RecordError};

/// What the log says of the choice and of each knob, by the seq of the last event.
struct Said {
    preset: Option<(u64, Arc<str>)>,
    sandbox: Option<u64>,
    approval: Option<u64>,
}

impl Presets {
    /// Pins sessions before their first turn, and switches those that go on to the [choice](Self::with_choice) of the
    /// operator, if there is one. What fails is reported as a warning. Sessions that have started before are the caller's to
    /// [pin](Self::pin). Dropping what it returns ends that.
    #[must_use = "dropping it ends the pinning"]
    pub fn register(&self, hooks: &Hooks) -> Registrations {
        let presets = self.clone();
        let begins = move |agent: &Agent, notice: &Notice<'_>| {
            if matches!(notice, Notice::SessionStarted(_)) {
                presets.session_started(agent);
            }
        };
        hooks.observe(None, Arc::new(begins)).into()
    }

    /// Lets a session's log say what holds for it (spec 10 §C.3), and tells what was recorded:
    ///
    /// - a new session, without an event of the three kinds and of no earlier life: the default, or the choice of the
    ///   operator, in full;
    /// - any other: what a switch that was cut short left out; then the preset, if it has none and its knobs fit one, and
    ///   each knob of which nothing is said, as it holds now.
    ///
    /// The same again records nothing.
    pub fn pin(&self, session: &Session) -> Result<Changes, RecordError> {
        let turn = self.inner.turn_of(session);
        let Some(_turn) = turn.try_lock() else { return Err(RecordError::Busy) };
        let said = self.said(session);
        let holds = self.inner.knobs(session);
        let (name, target) = if said.begins(session) {
            let name = self.choice.as_ref().unwrap_or_else(|| self.default_preset());
            (Some(name), self.inner.table.get(name).map_or(holds, Knobs::from))
        } else {
            let target = self.intended(session, &said, holds);
            let fits = || self.inner.table.fitting(target, None);
            (if said.preset.is_none() { fits() } else { None }, target)
        };
        let mut changes = Changes::default();
        if let Some(name) = name {
            record_choice(session, name)?;
            changes.preset = true;
        }
        for knob in holds.order_towards(target) {
            match knob {
                Knob::Sandbox if said.sandbox.is_none() || holds.sandbox != target.sandbox => {
                    set_session_mode(session, target.sandbox, None)?;
                    changes.sandbox = true;
                }
                Knob::Approval if said.approval.is_none() || holds.approval != target.approval => {
                    self.inner.approvals.set_session_policy(session, target.approval, None)?;
                    changes.approval = true;
                }
                Knob::Sandbox | Knob::Approval => {}
            }
        }
        Ok(changes)
    }

    fn session_started(&self, agent: &Agent) {
        let session = agent.session();
        let begins = self.said(session).begins(session);
        let delegated = self.is_delegated(session);
        if let Err(error) = self.pin(session) {
            tracing::warn!(%error, session = &**session.id(), "the permissions of a session could not be pinned");
        }
        let Some(choice) = self.choice.as_ref().filter(|_| !begins && !delegated) else { return };
        if let Err(error) = self.switch(agent, choice) {
            tracing::warn!(%error, session = &**session.id(), preset = &**choice, "a session was not switched");
        }
    }

    fn said(&self, session: &Session) -> Said {
        Said {
            preset: self.inner.chosen.last(session).map(|(seq, chosen)| (seq, chosen.preset)),
            sandbox: self.inner.modes.last(session).map(|(seq, _)| seq),
            approval: self.inner.approvals.policy_seq(session),
        }
    }

    /// What shall hold for a session that goes on: what holds, and what is left of a switch that was cut short.
    fn intended(&self, session: &Session, said: &Said, holds: Knobs) -> Knobs {
        let Some((chosen_at, name)) = &said.preset else { return holds };
        let Some(preset) = self.inner.table.get(name) else { return holds };
        let later = session.events_from(chosen_at.saturating_add(1));
        if later.iter().any(|event| *event.kind == *TurnStart::TYPE) {
            return holds;
        }
        let left_out = |knob: Option<u64>| knob.is_none_or(|seq| seq < *chosen_at);
        Knobs {
            sandbox: if left_out(said.sandbox) { preset.sandbox } else { holds.sandbox },
            approval: if left_out(said.approval) { preset.approval } else { holds.approval },
        }
    }

    /// Whether the policy of a session comes from one that it works for.
    fn is_delegated(&self, session: &Session) -> bool {
        let event = self.inner.approvals.policy_seq(session).and_then(|seq| session.event(seq));
        let changed = event.and_then(|event| event.read::<PolicyChanged>());
        changed.is_some_and(|changed| {
            changed.is_ok_and(|changed| changed.source == Some(PolicySource::Delegation))
        })
    }
}

impl Said {
    /// Whether the session is new: nothing is said, and it had no earlier life, not even an empty one.
    fn begins(&self, session: &Session) -> bool {
        self.preset.is_none()
            && self.sandbox.is_none()
            && self.approval.is_none()
            && session.events().iter().all(|event| *event.kind != *EndSeed::TYPE)
    }
}
