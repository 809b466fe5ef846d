//! Who runs turns, and who wants to: begun by a wake, one at a time, handed on without a pause.

use std::sync::Arc;

use dsh_agent::{Agent, Notice, Queued, Status, TurnError};
use dsh_lifecycle::{Cancel, Cause};
use dsh_session::{TurnEnd, TurnEndReason, TurnStart, UserMessage};
use futures_util::FutureExt;

use crate::kit::{Stage, message};

fn turns(agent: &Agent) -> usize {
    agent.session().events().iter().filter(|event| event.read::<TurnStart>().is_some()).count()
}

fn end(agent: &Agent, turn: u32) -> TurnEndReason {
    agent.session().append(&TurnEnd { turn, reason: TurnEndReason::Completed }).unwrap();
    TurnEndReason::Completed
}

#[tokio::test]
async fn a_wake_begins_a_turn_before_the_sender_goes_on() {
    let stage = Stage::new();
    let (agent, stop) = (&stage.agent, Cancel::new());
    let driving = agent.attach(&stop).unwrap();
    assert_eq!((agent.status(), turns(agent)), (Status::Idle, 0));
    agent.inbox().inject(message("i")).unwrap();
    assert_eq!(turns(agent), 0, "an injected message wakes nobody");

    agent.inbox().steer(message("s")).unwrap();
    assert_eq!((agent.status(), turns(agent)), (Status::Running, 1));
    assert_eq!(stage.told(), ["inserted i", "inserted s", "running"]);
    let (running, turn) = driving.begun().await.unwrap();
    assert_eq!(turn, 1);
    agent.inbox().claim(1, &agent.inbox().proposal(true)).unwrap();
    assert!(running.next(Some(&end(agent, 1))).is_none());
    assert_eq!(
        (agent.status(), stage.told()),
        (Status::Idle, vec!["claimed 1 i".into(), "claimed 1 s".into(), "idle".into()])
    );
}

#[tokio::test]
async fn what_woke_the_agent_before_there_was_a_driver_starts_it() {
    let stage = Stage::new();
    let (agent, stop) = (&stage.agent, Cancel::new());
    agent.inbox().followup(message("a")).unwrap();
    assert_eq!((agent.status(), turns(agent)), (Status::Idle, 0));
    let driving = agent.attach(&stop).unwrap();
    assert_eq!(driving.begun().await.unwrap().1, 1);

    // What an earlier process left waits until somebody wakes the agent.
    let resumed = stage.resumed();
    let driving = resumed.agent.attach(&stop).unwrap();
    assert_eq!((resumed.waits(), turns(&resumed.agent)), ("[] [a]".to_owned(), 1));
    resumed.agent.wake();
    assert_eq!(driving.begun().await.unwrap().1, 2);
}

#[test]
fn a_message_that_was_retracted_starts_nobody() {
    let stage = Stage::new();
    stage.agent.inbox().followup(message("a")).unwrap();
    stage.agent.inbox().retract("a").unwrap();
    let driving = stage.agent.attach(&Cancel::new()).unwrap();
    assert_eq!(turns(&stage.agent), 0);
    drop(driving);

    stage.agent.inbox().followup(message("a")).unwrap();
    stage.agent.inbox().replace("a", message("b")).unwrap();
    let _driving = stage.agent.attach(&Cancel::new()).unwrap();
    assert_eq!(turns(&stage.agent), 1, "a replacement inherits the wake");
}

#[test]
fn one_runs_and_one_drives_at_a_time() {
    let stage = Stage::new();
    let (agent, cancel) = (&stage.agent, Cancel::new());
    let running = agent.occupy(&cancel).unwrap();
    assert!(matches!(agent.occupy(&cancel), Err(TurnError::Busy)));
    drop(running);
    let driving = agent.attach(&cancel).unwrap();
    assert!(matches!(agent.attach(&cancel), Err(TurnError::Busy)));
    agent.inbox().followup(message("a")).unwrap();
    assert!(matches!(agent.occupy(&cancel), Err(TurnError::Busy)));
    drop(driving);
    assert_eq!((agent.status(), stage.waits()), (Status::Idle, "[] [a]".to_owned()));
    drop(agent.occupy(&cancel).unwrap());
}

#[tokio::test]
async fn who_is_wanted_while_a_guest_runs_follows_without_a_pause() {
    let stage = Stage::new();
    let agent = &stage.agent;
    let driving = agent.attach(&Cancel::new()).unwrap();
    let guest = agent.occupy(&Cancel::new()).unwrap();
    agent.inbox().followup(message("a")).unwrap();
    assert_eq!(turns(agent), 0);
    drop(guest);
    assert_eq!((agent.status(), turns(agent)), (Status::Running, 1));
    assert_eq!(stage.told(), ["running", "inserted a"]);
    assert!(driving.begun().now_or_never().unwrap().is_some());
    assert_eq!(stage.told(), ["idle"], "the right was dropped at once");
}

#[tokio::test]
async fn a_driver_that_is_stopped_begins_nothing_more() {
    let stage = Stage::new();
    let (agent, stop) = (&stage.agent, Cancel::new());
    let driving = agent.attach(&stop).unwrap();
    let (waiting, ()) = tokio::join!(driving.begun(), async { stop.cancel(Cause::Disposed) });
    assert!(waiting.is_none());
    agent.inbox().followup(message("a")).unwrap();
    assert_eq!((turns(agent), stage.waits()), (0, "[] [a]".to_owned()));
    drop(driving);
    let next = agent.attach(&Cancel::new()).unwrap();
    assert!(next.begun().await.is_some());
}

#[test]
fn a_turn_that_can_not_be_begun_is_told_and_leaves_the_agent_idle() {
    struct Fills(Arc<crate::kit::Store>);
    impl dsh_session::SessionObserver for Fills {
        fn appended(&self, _: &Arc<dsh_session::Event>) {
            self.0.is_full(true);
        }
    }
    let stage = Stage::new();
    let agent = &stage.agent;
    agent.session().observe(Arc::new(Fills(Arc::clone(&stage.store)))).keep();
    let _driving = agent.attach(&Cancel::new()).unwrap();
    agent.inbox().followup(message("a")).unwrap();
    assert_eq!((agent.status(), stage.waits()), (Status::Idle, "[] [a]".to_owned()));
    let failure = "failed to begin a turn: the session log can't be written: disk full";
    assert_eq!(stage.told(), ["inserted a", "running", failure, "idle"]);
}

#[test]
fn an_idle_agent_is_not_cancelled() {
    let stage = Stage::new();
    let agent = &stage.agent;
    agent.inbox().followup(message("a")).unwrap();
    agent.cancel(Cause::User, Queued::Discard);
    assert_eq!(stage.waits(), "[] [a]");
    let running = agent.occupy(&Cancel::new()).unwrap();
    assert!(!running.cancel().is_cancelled(), "it was not armed");
}

#[test]
fn a_cancellation_discards_what_waits_or_keeps_it() {
    for (queued, left, log) in [
        (Queued::Keep, "[s] [a b]", &[][..]),
        (Queued::Discard, "[] []", &["NextStep@0 -1 canceled", "NextTurn@0 -2 canceled"][..]),
    ] {
        let stage = Stage::new();
        let agent = &stage.agent;
        let running = agent.occupy(&Cancel::new()).unwrap();
        for id in ["a", "b"] {
            agent.inbox().followup(message(id)).unwrap();
        }
        agent.inbox().steer(message("s")).unwrap();
        agent.cancel(Cause::User, queued);
        agent.cancel(Cause::Parent, Queued::Keep);
        assert_eq!(running.cancel().cause(), Some(Cause::User));
        assert_eq!((&*stage.waits(), stage.log()[3..].join("; ")), (left, log.join("; ")));
    }
}

#[test]
fn a_cancellation_from_an_observer_of_the_log_discards_before_the_turn_is_over() {
    struct Cancels(Agent);
    impl dsh_session::SessionObserver for Cancels {
        fn appended(&self, event: &Arc<dsh_session::Event>) {
            if event.read::<TurnStart>().is_some() {
                self.0.cancel(Cause::User, Queued::Discard);
            }
        }
    }
    let stage = Stage::new();
    let agent = &stage.agent;
    agent.session().observe(Arc::new(Cancels(agent.clone()))).keep();
    agent.inbox().followup(message("a")).unwrap();
    let running = agent.occupy(&Cancel::new()).unwrap();
    let turn = running.open_turn().unwrap();
    assert!(agent.inbox().proposal(true).is_empty(), "no step is given it");
    assert_eq!(stage.waits(), "[] [a]", "the log still has it");
    assert!(running.next(Some(&end(agent, turn))).is_none());
    assert_eq!(stage.waits(), "[] []");
    assert_eq!(stage.told(), ["inserted a", "running", "discarded a", "idle"]);
}

/// Cancels the agent whenever a person says something.
struct Nervous(Agent);

impl dsh_session::SessionObserver for Nervous {
    fn appended(&self, event: &Arc<dsh_session::Event>) {
        if event.read::<UserMessage>().is_some() {
            self.0.cancel(Cause::User, Queued::Discard);
        }
    }
}

#[tokio::test]
async fn a_turn_that_a_dropped_driver_never_took_is_begun_again_for_the_next() {
    let stage = Stage::new();
    let (agent, stop) = (&stage.agent, Cancel::new());
    let driving = agent.attach(&stop).unwrap();
    agent.inbox().followup(message("a")).unwrap();
    drop(driving);
    assert_eq!((agent.status(), stage.waits()), (Status::Idle, "[] [a]".to_owned()));
    let driving = agent.attach(&stop).unwrap();
    assert_eq!(driving.begun().now_or_never().unwrap().unwrap().1, 2);
}

#[test]
fn many_threads_may_send_and_cancel_and_the_log_says_what_memory_holds() {
    let stage = Stage::new();
    let agent = &stage.agent;
    agent.session().observe(Arc::new(Nervous(agent.clone()))).keep();
    let running = agent.occupy(&Cancel::new()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..100 {
                    let id = format!("{thread}.{number}");
                    match number % 4 {
                        0 => agent.inbox().followup(message(&id)).unwrap(),
                        1 => agent.inbox().steer(message(&id)).unwrap(),
                        2 => drop(agent.inbox().retract(&format!("{thread}.{}", number - 2)).unwrap()),
                        _ => drop(agent.session().append(&UserMessage(message(&id))).unwrap()),
                    }
                }
            });
        }
    });
    drop(running);
    assert_eq!((agent.status(), stage.resumed().waits()), (Status::Idle, stage.waits()));
}

#[tokio::test]
async fn idleness_can_be_waited_for() {
    let stage = Stage::new();
    let agent = &stage.agent;
    agent.when_idle().await;
    let guest = agent.occupy(&Cancel::new()).unwrap();
    assert!(agent.when_idle().now_or_never().is_none());
    tokio::join!(agent.when_idle(), async { drop(guest) });
}

#[test]
fn the_session_is_announced_once_with_its_source() {
    let stage = Stage::new();
    let greet = |agent: &Agent, notice: &Notice<'_>| {
        if let Notice::SessionStarted(source) = notice {
            agent.inbox().inject(message(&format!("{source:?}"))).unwrap();
        }
    };
    stage.agent.hooks().observe(None, Arc::new(greet)).keep();
    stage.agent.announce();
    stage.agent.announce();
    assert_eq!(
        (stage.waits(), stage.told()),
        ("[Startup] []".to_owned(), vec!["startup".into(), "inserted Startup".into()])
    );
    let resumed = stage.resumed();
    resumed.agent.announce();
    assert_eq!(resumed.told(), ["resume"]);
}
