//! The mode of one session: in its log, the last event counts (spec 10 §B.1).

use std::sync::Arc;

use dsh_session::{AppendError, Event, Latest, Payload, Session};
use serde::{Deserialize, Serialize};

use crate::SandboxMode;

/// The event `sandbox/mode`: from here on, this mode holds for the session. Models never see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModeChanged {
    /// The mode.
    pub mode: SandboxMode,
    /// Who or what changed it, where that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Arc<str>>,
}

impl Payload for ModeChanged {
    const TYPE: &'static str = "sandbox/mode";
}

/// Switches the mode of a session, by appending exactly one [`ModeChanged`], also when it is the mode already. It holds
/// from the next call on, and again when the session is resumed.
///
/// Fails when the log takes no event; the mode is then as before.
pub fn set_session_mode(
    session: &Session,
    mode: SandboxMode,
    source: Option<Arc<str>>,
) -> Result<Arc<Event>, AppendError> {
    session.append(&ModeChanged { mode, source })
}

/// The modes of the sessions that it follows: asking costs a lookup, whatever the log's length.
#[derive(Debug, Default)]
pub struct SessionModes(Latest<ModeChanged>);

impl SessionModes {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows a session from now on, what is in its log already included.
    pub fn follow(&self, session: &Session) {
        self.0.follow(session);
    }

    /// The mode that a followed session has of its own; `None` when its log says nothing.
    pub fn of(&self, session: &str) -> Option<SandboxMode> {
        self.0.of(session).map(|changed| changed.mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_json::object;
    use dsh_lifecycle::SteppingClock;
    use dsh_session::{Header, SessionSpec, TurnStart, Vocabulary};

    fn spec(id: &str) -> SessionSpec {
        SessionSpec {
            header: Header::new(id, 0).unwrap(),
            vocabulary: Arc::new(Vocabulary::core().with::<ModeChanged>().unwrap()),
            clock: Arc::new(SteppingClock::starting_at(0)),
            sink: None,
        }
    }

    #[test]
    fn the_last_event_counts_and_other_events_change_nothing() {
        let (modes, session) = (SessionModes::new(), Session::create(spec("a")));
        modes.follow(&session);
        assert_eq!(modes.of("a"), None);
        for mode in [SandboxMode::DangerFullAccess, SandboxMode::ReadOnly, SandboxMode::ReadOnly] {
            let before = session.len();
            set_session_mode(&session, mode, None).unwrap();
            assert_eq!((modes.of("a"), session.len()), (Some(mode), before + 1));
        }
        session.append(&TurnStart { turn: 1 }).unwrap();
        assert_eq!(modes.of("a"), Some(SandboxMode::ReadOnly));
    }

    #[test]
    fn a_resumed_session_has_the_mode_of_its_log_and_sessions_know_nothing_of_each_other() {
        let first = Session::create(spec("a"));
        set_session_mode(&first, SandboxMode::WorkspaceWrite, Some("preset".into())).unwrap();
        let events = first.events().iter().map(|event| Event::clone(event)).collect();
        let modes = SessionModes::new();
        let (resumed, other) = (Session::resume(spec("a"), events).unwrap(), Session::create(spec("b")));
        modes.follow(&resumed);
        modes.follow(&other);
        assert_eq!(
            (modes.of("a"), modes.of("b"), modes.of("c")),
            (Some(SandboxMode::WorkspaceWrite), None, None)
        );
    }

    #[test]
    fn a_session_that_is_gone_is_forgotten() {
        let (modes, session) = (SessionModes::new(), Session::create(spec("a")));
        modes.follow(&session);
        set_session_mode(&session, SandboxMode::ReadOnly, None).unwrap();
        drop(session);
        assert_eq!(modes.of("a"), None);
    }

    #[test]
    fn an_unknown_mode_is_refused_live_and_on_reload() {
        let vocabulary = Vocabulary::core().with::<ModeChanged>().unwrap();
        let stored = |mode: &str| {
            let session = Session::create(spec("a"));
            let event = set_session_mode(&session, SandboxMode::ReadOnly, None).unwrap();
            Event { data: object! { "mode": mode }, ..Event::clone(&event) }
        };
        for mode in SandboxMode::ALL {
            assert!(vocabulary.check(&stored(mode.as_str())).is_ok());
        }
        let refused = vocabulary.check(&stored("read-mostly")).unwrap_err();
        assert!(refused.to_string().contains("sandbox/mode"), "{refused}");
        assert!(Session::resume(spec("a"), vec![stored("read-mostly")]).is_err());
    }
}
