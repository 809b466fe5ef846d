//! Logs that take a part of a switch only, and switches that meet.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_approval_policy::ApprovalPolicy;
use dsh_permission_presets::{Presets, SetError, SwitchError};
use dsh_sandbox_policy::SandboxMode;
use dsh_session::{Event, Session, SessionObserver, Sink, SinkError};
use dsh_session_permissions::ChangeError;
use parking_lot::Mutex;

use crate::scene::{Store, agent, knobs, log, presets, session, session_in};

const MORE: &str = r#"{"presets": {
    "quiet": {"sandbox": "read-only", "approval": "never"},
    "careless": {"sandbox": "danger-full-access", "approval": "ask"}
}}"#;

type Knobs = (Option<SandboxMode>, Option<ApprovalPolicy>);

fn wider(this: Knobs, that: Knobs) -> bool {
    let asks = |knobs: Knobs| knobs.1 == Some(ApprovalPolicy::Ask);
    this.0 > that.0 || (asks(this) && !asks(that))
}

/// Every switch between two presets, with a log that refuses one event or all from one on.
fn with_every_refusal(mut check: impl FnMut(&Presets, &Session, &str, &str, Box<dyn Fn() + Send + Sync>)) {
    let presets = presets(MORE);
    for (old, new) in presets.names().flat_map(|old| presets.names().map(move |new| (old, new))) {
        for (refused, for_good) in (0..8).flat_map(|refused| [(refused, true), (refused, false)]) {
            // Refuses once it is armed, by the number of the write since then.
            let armed = Arc::new(Mutex::new(None::<usize>));
            let counts = Arc::clone(&armed);
            let store = Store::refusing(move |_| {
                let mut armed = counts.lock();
                let Some(writes) = armed.as_mut() else { return false };
                *writes += 1;
                if for_good { *writes > refused } else { *writes == refused + 1 }
            });
            let session = session_in(store);
            presets.pin(&session).unwrap();
            presets.set(&session, old).unwrap();
            check(&presets, &session, old, new, Box::new(move || *armed.lock() = Some(0)));
        }
    }
}

#[test]
fn a_session_is_never_wider_than_it_was_and_wider_than_it_was_to_be() {
    let (mut failed, mut went) = (0, 0);
    with_every_refusal(|presets, session, old, new, arm| {
        let (before, target) = (knobs(session), presets.resolve(new).unwrap());
        let target = (Some(target.sandbox), Some(target.approval));
        arm();
        let set = presets.set(session, new);
        let now = knobs(session);
        assert!(!(wider(now, before) && wider(now, target)), "{old} → {new}: {:?}", log(session));
        match set {
            Ok(_) => {
                went += 1;
                assert_eq!(now, target);
            }
            Err(SetError::Record(ChangeError::Log(_))) => failed += 1,
            Err(other) => panic!("{other}"),
        }
    });
    assert!(failed > 50 && went > 50, "{failed} {went}");
}

#[test]
fn a_living_agent_is_switched_in_full_or_not_wider_and_a_lost_message_stops_nothing() {
    let (mut failed, mut untold) = (0, 0);
    with_every_refusal(|presets, session, old, new, arm| {
        let agent = agent(session.clone(), presets);
        let (before, target) = (knobs(session), presets.resolve(new).unwrap());
        let target = (Some(target.sandbox), Some(target.approval));
        arm();
        let switched = presets.switch(&agent, new);
        let now = knobs(session);
        assert!(!(wider(now, before) && wider(now, target)), "{old} → {new}: {:?}", log(session));
        match switched {
            Ok(_) => assert_eq!(now, target),
            Err(SwitchError::Untold(_)) => {
                untold += 1;
                assert_eq!(now, target);
                assert_eq!(presets.current(session).as_str(), new);
            }
            Err(SwitchError::Set(SetError::Record(ChangeError::Log(_)))) => failed += 1,
            Err(other) => panic!("{other}"),
        }
    });
    assert!(failed > 50 && untold > 10, "{failed} {untold}");
}

#[test]
fn choosing_again_completes_it() {
    with_every_refusal(|presets, session, _, new, arm| {
        arm();
        let _ = presets.set(session, new);
        // The store that refused for good is refusing still; the others take it.
        if presets.set(session, new).is_ok() {
            let target = presets.resolve(new).unwrap();
            assert_eq!(knobs(session), (Some(target.sandbox), Some(target.approval)));
            assert_eq!(presets.current(session).as_str(), new);
        }
    });
}

#[test]
fn a_session_whose_log_takes_nothing_is_not_pinned_and_starts_all_the_same() {
    let presets = presets("{}").with_choice("workspace-write").unwrap();
    let agent = agent(session_in(Store::refusing(|_| true)), &presets);
    agent.announce();
    assert!(agent.session().is_empty());
    assert!(matches!(presets.pin(agent.session()), Err(ChangeError::Log(_))));
}

/// Switches the session, from another thread, while an event is stored.
struct Meets(Presets, Mutex<Option<Session>>, Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Sink for Meets {
    fn write(&self, _: &Event) -> Result<(), SinkError> {
        let Some(session) = self.1.lock().clone() else { return Ok(()) };
        let presets = self.0.clone();
        let met = std::thread::spawn(move || {
            let set = presets.set(&session, "danger-full-access").unwrap_err();
            format!("{set}; {}", presets.pin(&session).unwrap_err())
        });
        self.2.lock().push(met.join().unwrap());
        Ok(())
    }

    async fn flush(&self) -> Result<(), SinkError> {
        Ok(())
    }
}

#[test]
fn of_two_switches_that_meet_the_second_is_refused_and_waits_for_nobody() {
    let (presets, met) = (presets("{}"), Arc::default());
    let sink = Arc::new(Meets(presets.clone(), Mutex::default(), Arc::clone(&met)));
    let session = session_in(Arc::clone(&sink) as _);
    *sink.1.lock() = Some(session.clone());
    presets.set(&session, "workspace-write").unwrap();
    *sink.1.lock() = None;
    let busy = "the permissions of this session are being changed already; try again";
    assert_eq!(*met.lock(), vec![format!("{busy}; {busy}"); 2]);
    assert_eq!(presets.current(&session).as_str(), "workspace-write");
    assert!(presets.set(&session, "read-only").is_ok());
}

/// An observer of the log that switches when it is told.
struct Meddles(Presets, Session, Mutex<Vec<String>>);

impl SessionObserver for Meddles {
    fn appended(&self, _: &Arc<Event>) {
        self.2.lock().push(self.0.set(&self.1, "danger-full-access").unwrap_err().to_string());
    }
}

#[test]
fn an_observer_of_the_log_that_switches_is_refused_and_nothing_hangs() {
    let (presets, session) = (presets("{}"), session());
    let meddles = Arc::new(Meddles(presets.clone(), session.clone(), Mutex::default()));
    let held = session.observe(Arc::clone(&meddles) as _);
    presets.set(&session, "workspace-write").unwrap();
    session.append(&dsh_session::TurnStart { turn: 1 }).unwrap();
    drop(held);
    assert_eq!(meddles.2.lock().len(), 3);
    assert_eq!(presets.current(&session).as_str(), "workspace-write");
}
