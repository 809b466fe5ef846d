//! What a session's log says before its first turn.

use std::sync::Arc;

use dsh_agent::{Agent, Hooks, Notice};
use dsh_approval_policy::PolicySource;
use dsh_lifecycle::Registrations;
use dsh_session::{EndSeed, Payload, Session, TurnStart};
use dsh_session_permissions::{ChangeError, Permissions, Said, Turned};

use crate::{Changes, Preset, PresetChosen, Presets};

/// A session as it is found.
struct Found {
    /// The last choice in its log, and the seq of its event.
    chosen: Option<(u64, PresetChosen)>,
    said: Said,
    holds: Permissions,
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
    pub fn pin(&self, session: &Session) -> Result<Changes, ChangeError> {
        self.inner.permissions.change(session, |change| {
            let found = self.find(session);
            let (name, target) = if found.begins(session) {
                let name = self.choice.as_ref().unwrap_or_else(|| self.default_preset());
                (Some(name), self.inner.table.get(name).map_or(found.holds, Preset::permissions))
            } else {
                let target = self.intended(session, &found);
                (self.inner.table.fitting(target, None).filter(|_| found.chosen.is_none()), target)
            };
            if let Some(name) = name {
                session.append(&PresetChosen { preset: Arc::clone(name) })?;
            }
            let Turned { sandbox, approval, .. } = change.say(target)?;
            Ok(Changes { preset: name.is_some(), sandbox, approval })
        })
    }

    fn session_started(&self, agent: &Agent) {
        let session = agent.session();
        let found = self.find(session);
        if let Err(error) = self.pin(session) {
            tracing::warn!(%error, session = &**session.id(), "the permissions of a session could not be pinned");
        }
        let Some(choice) = &self.choice else { return };
        // The policy of one that works for another comes from there.
        let source = found.said.approval.and_then(|(_, changed)| changed.source);
        if found.begins(session) || source == Some(PolicySource::Delegation) {
            return;
        }
        if let Err(error) = self.switch(agent, choice) {
            tracing::warn!(%error, session = &**session.id(), preset = &**choice, "a session was not switched");
        }
    }

    fn find(&self, session: &Session) -> Found {
        let permissions = &self.inner.permissions;
        let (said, holds) = (permissions.said(session), permissions.of(session));
        Found { chosen: self.inner.chosen.last(session), said, holds }
    }

    /// What shall hold for a session that goes on: what holds, and what is left of a switch that was cut short.
    fn intended(&self, session: &Session, Found { chosen, said, holds }: &Found) -> Permissions {
        let Some((chosen_at, chosen)) = chosen else { return *holds };
        let Some(preset) = self.inner.table.get(&chosen.preset) else { return *holds };
        let later = session.events_from(chosen_at.saturating_add(1));
        if later.iter().any(|event| *event.kind == *TurnStart::TYPE) {
            return *holds;
        }
        let mode_said = said.sandbox.as_ref().is_some_and(|(seq, _)| seq > chosen_at);
        let policy_said = said.approval.is_some_and(|(seq, _)| seq > *chosen_at);
        Permissions {
            sandbox: if mode_said { holds.sandbox } else { preset.sandbox },
            approval: if policy_said { holds.approval } else { preset.approval },
        }
    }
}

impl Found {
    /// Whether the session is new: nothing is said, and it had no earlier life, not even an empty one.
    fn begins(&self, session: &Session) -> bool {
        let silent = self.chosen.is_none() && self.said.sandbox.is_none() && self.said.approval.is_none();
        silent && session.events().iter().all(|event| *event.kind != *EndSeed::TYPE)
    }
}
