//! What waits: how it is changed, what the log and observers are told of it, and what a new process finds.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use dsh_agent::{Agent, InboxError, InboxLimits, InboxSpliced, Notice, Splice, SpliceOutcome, Target};
use dsh_llm::{Message, Role, Source, text};
use dsh_session::{AppendError, Event, Payload, Session, SessionObserver, UserMessage};
use parking_lot::Mutex;

use crate::kit::{Stage, header, message, spec};

#[test]
fn messages_wait_in_two_lists_and_every_change_is_logged_first() {
    let stage = Stage::new();
    let inbox = stage.agent.inbox();
    inbox.followup(message("p1")).unwrap();
    inbox.followup(message("p2")).unwrap();
    inbox.steer(message("s1")).unwrap();
    inbox.inject(message("i1")).unwrap();
    assert_eq!(stage.waits(), "[s1 i1] [p1 p2]");
    let expected = ["NextTurn@0 +p1", "NextTurn@1 +p2", "NextStep@0 +s1", "NextStep@1 +i1"];
    assert_eq!(stage.log(), expected);
    assert_eq!(stage.told(), ["inserted p1", "inserted p2", "inserted s1", "inserted i1"]);
}

#[test]
fn a_change_is_stored_in_the_shape_of_the_original() {
    let stage = Stage::new();
    stage.agent.inbox().followup(message("p1")).unwrap();
    stage.agent.inbox().retract("p1").unwrap();
    let data: Vec<_> = stage.agent.session().events().iter().map(|event| event.data.to_text()).collect();
    insta::assert_snapshot!(data.join("\n"), @r#"
    {"target":"next-turn","start":0,"inserted":[{"id":"p1","role":"user","content":[{"type":"text","text":"p1"}],"source":{"kind":"user"}}]}
    {"target":"next-turn","start":0,"removedCount":1,"inserted":[],"outcome":"canceled"}
    "#);
    for event in stage.agent.session().events() {
        let read: InboxSpliced = event.read::<InboxSpliced>().unwrap().unwrap();
        assert_eq!(Payload::to_json(&read).unwrap(), event.data);
    }
}

#[test]
fn what_is_taken_out_by_a_turn_has_no_outcome() {
    let stage = Stage::new();
    let inbox = stage.agent.inbox();
    for id in ["p1", "p2"] {
        inbox.queue(message(id)).unwrap();
    }
    for id in ["s1", "s2", "s3"] {
        inbox.inject(message(id)).unwrap();
    }
    let later = inbox.proposal(false);
    assert_eq!(later.iter().map(|message| &*message.id).collect::<Vec<_>>(), ["s1", "s2", "s3"]);
    let first = inbox.proposal(true);
    assert_eq!(first.iter().map(|message| &*message.id).collect::<Vec<_>>(), ["s1", "s2", "s3", "p1"]);

    // One of them goes meanwhile, so that two runs of neighbours are left.
    inbox.retract("s2").unwrap();
    inbox.inject(message("s4")).unwrap();
    stage.told();
    inbox.claim(7, &first).unwrap();
    assert_eq!(stage.log()[7..], ["NextStep@0 -2", "NextTurn@0 -1"]);
    assert_eq!(stage.told(), ["claimed 7 s1", "claimed 7 s3", "claimed 7 p1"]);
    assert_eq!(stage.waits(), "[s4] [p2]");
}

#[test]
fn a_message_can_be_retracted_or_replaced_until_it_is_claimed() {
    let stage = Stage::new();
    let inbox = stage.agent.inbox();
    for id in ["p1", "p2", "p3"] {
        inbox.followup(message(id)).unwrap();
    }
    stage.told();
    assert_eq!(*inbox.retract("p1").unwrap().unwrap(), message("p1"));
    assert_eq!(*inbox.replace("p2", message("q2")).unwrap().unwrap(), message("p2"));
    assert_eq!(inbox.retract("p1").unwrap(), None);
    assert_eq!(inbox.replace("p1", message("q1")).unwrap(), None);
    assert_eq!(stage.log()[3..], ["NextTurn@0 -1 canceled", "NextTurn@0 -1 canceled +q2"]);
    assert_eq!(stage.told(), ["discarded p1", "discarded p2", "inserted q2"]);
    assert_eq!(stage.waits(), "[] [q2 p3]");
}

#[test]
fn coordinates_are_those_of_an_array() {
    let rows: [(i64, u64, &[&str], &str, &str); 9] = [
        (0, 1, &[], "NextTurn@0 -1 canceled", "b c"),
        (-1, 1, &[], "NextTurn@2 -1 canceled", "a b"),
        (-2, 9, &[], "NextTurn@1 -2 canceled", "a"),
        (-9, 1, &["x"], "NextTurn@0 -1 canceled +x", "x b c"),
        (i64::MIN, 0, &["x"], "NextTurn@0 +x", "x a b c"),
        (9, 9, &["x"], "NextTurn@3 +x", "a b c x"),
        (1, u64::MAX, &["x", "y"], "NextTurn@1 -2 canceled +x +y", "a x y"),
        (1, 1, &["b"], "NextTurn@1 -1 canceled +b", "a b c"),
        (1, 0, &["x"], "NextTurn@1 +x", "a x b c"),
    ];
    for (start, remove, insert, logged, left) in rows {
        let stage = Stage::new();
        let inbox = stage.agent.inbox();
        for id in ["a", "b", "c"] {
            inbox.queue(message(id)).unwrap();
        }
        let insert = insert.iter().map(|id| message(id)).collect();
        inbox.splice(Splice { target: Target::NextTurn, start, remove, insert }).unwrap();
        assert_eq!(stage.log()[3..], [logged]);
        assert_eq!(stage.waits(), format!("[] [{left}]"));
    }
}

#[test]
fn a_change_that_changes_nothing_is_not_logged() {
    let stage = Stage::new();
    let inbox = stage.agent.inbox();
    inbox.queue(message("a")).unwrap();
    for (start, remove) in [(0, 0), (1, 5), (9, 1)] {
        let splice = Splice { target: Target::NextTurn, start, remove, insert: vec![] };
        assert!(inbox.splice(splice).unwrap().is_empty());
    }
    inbox.claim(1, &[]).unwrap();
    assert_eq!(stage.log(), ["NextTurn@0 +a"]);
}

#[test]
fn an_id_waits_once_in_both_lists() {
    let stage = Stage::new();
    let inbox = stage.agent.inbox();
    inbox.queue(message("a")).unwrap();
    inbox.queue(message("b")).unwrap();
    let twice =
        Splice { target: Target::NextStep, start: 0, remove: 0, insert: vec![message("x"), message("x")] };
    let refusals = [
        inbox.inject(message("a")).unwrap_err(),
        inbox.replace("b", message("a")).unwrap_err(),
        inbox.splice(twice).unwrap_err(),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, InboxError::Duplicate { .. }), "{refusal}");
    }
    assert_eq!(stage.log().len(), 2);
    inbox.retract("a").unwrap();
    inbox.inject(message("a")).unwrap();
    assert_eq!(stage.waits(), "[a] [b]");
}

#[test]
fn only_what_a_log_takes_as_a_user_s_message_can_wait() {
    let stage = Stage::new();
    let tool = Source::Tool { call_id: "c".into() };
    let nameless = Message { id: "".into(), ..message("x") };
    let assistant = Message { role: Role::Assistant, ..message("x") };
    for bad in [nameless, assistant, Message { source: tool, ..message("x") }] {
        let refusal = stage.agent.inbox().followup(bad).unwrap_err();
        assert!(matches!(refusal, InboxError::Log(AppendError::Refused(_))), "{refusal}");
    }
    assert_eq!((stage.waits(), stage.log().len()), ("[] []".to_owned(), 0));
}

#[test]
fn a_full_inbox_names_its_limit() {
    let two = InboxLimits { messages: NonZeroUsize::new(2).unwrap(), ..InboxLimits::default() };
    let stage = Stage::with(two);
    let inbox = stage.agent.inbox();
    inbox.queue(message("a")).unwrap();
    inbox.inject(message("b")).unwrap();
    let refusal = inbox.followup(message("c")).unwrap_err();
    insta::assert_snapshot!(refusal, @"2 messages wait already (`maxInboxMessages`); let the agent take some first, or retract one");
    inbox.replace("a", message("c")).unwrap();
    inbox.retract("b").unwrap();
    inbox.inject(message("d")).unwrap();
    assert_eq!(stage.waits(), "[d] [c]");

    let small = InboxLimits { bytes: NonZeroUsize::new(200).unwrap(), ..InboxLimits::default() };
    let stage = Stage::with(small);
    let inbox = stage.agent.inbox();
    inbox.queue(message("a")).unwrap();
    let long = Message { content: text("x".repeat(120)), ..message("b") };
    let refusal = inbox.queue(long.clone()).unwrap_err();
    insta::assert_snapshot!(refusal, @"the messages that wait would have more than 200 bytes together (`maxInboxBytes`); send a shorter one, or let the agent take some first");
    assert!(matches!(inbox.replace("a", long).unwrap_err(), InboxError::TooLarge { limit: 200 }));
    inbox.replace("a", message("b")).unwrap();
    assert_eq!(stage.waits(), "[] [b]");
}

#[test]
fn what_the_log_does_not_take_has_not_happened() {
    let stage = Stage::new();
    let inbox = stage.agent.inbox();
    inbox.followup(message("a")).unwrap();
    stage.told();
    stage.store.is_full(true);
    let error = inbox.followup(message("b")).unwrap_err();
    assert!(matches!(error, InboxError::Log(AppendError::Sink(_))), "{error}");
    assert!(inbox.retract("a").is_err() && inbox.claim(1, &inbox.proposal(true)).is_err());
    assert_eq!((stage.waits(), stage.told()), ("[] [a]".to_owned(), vec![]));
    stage.store.is_full(false);
    inbox.followup(message("b")).unwrap();
    assert_eq!(stage.waits(), "[] [a b]");
}

/// Sends when it is told of a change, and notes what it sees and what comes of it.
struct Echo {
    agent: Agent,
    seen: Mutex<Vec<(usize, bool)>>,
}

impl SessionObserver for Echo {
    fn appended(&self, event: &Arc<Event>) {
        if *event.kind == *InboxSpliced::TYPE {
            let inbox = self.agent.inbox();
            let waiting = inbox.messages(Target::NextTurn).len();
            let refused =
                matches!(inbox.followup(message("echo")), Err(InboxError::Log(AppendError::Reentrant)));
            self.seen.lock().push((waiting, refused));
        }
    }
}

#[test]
fn an_observer_of_the_log_sees_the_old_lists_and_what_it_sends_is_refused() {
    let stage = Stage::new();
    let echo = Arc::new(Echo { agent: stage.agent.clone(), seen: Mutex::default() });
    stage.agent.session().observe(Arc::clone(&echo) as _).keep();
    stage.agent.inbox().followup(message("a")).unwrap();
    stage.agent.inbox().followup(message("b")).unwrap();
    assert_eq!(*echo.seen.lock(), [(0, true), (1, true)]);
    assert_eq!(stage.waits(), "[] [a b]");
}

#[test]
fn an_observer_of_the_agent_sees_the_new_lists_and_may_send() {
    let stage = Stage::new();
    let echo = |agent: &Agent, notice: &Notice<'_>| {
        if let Notice::Inserted { target: Target::NextTurn, message: sent } = notice {
            assert!(agent.inbox().holds(&sent.id));
            agent.inbox().inject(message(&format!("re:{}", sent.id))).unwrap();
        }
    };
    stage.agent.hooks().observe(None, Arc::new(echo)).keep();
    stage.agent.inbox().followup(message("a")).unwrap();
    assert_eq!(stage.waits(), "[re:a] [a]");
}

#[test]
fn a_new_process_finds_what_waited() {
    let stage = Stage::new();
    let inbox = stage.agent.inbox();
    for id in ["p1", "p2"] {
        inbox.followup(message(id)).unwrap();
        inbox.inject(message(&id.replace('p', "s"))).unwrap();
    }
    inbox.retract("p1").unwrap();
    inbox.claim(1, &inbox.proposal(false)[..1]).unwrap();
    let resumed = stage.resumed();
    assert_eq!((resumed.waits(), stage.waits()), ("[s2] [p2]".to_owned(), "[s2] [p2]".to_owned()));
    assert_eq!(
        resumed.agent.inbox().messages(Target::NextTurn),
        stage.agent.inbox().messages(Target::NextTurn)
    );
    resumed.agent.inbox().retract("p2").unwrap();
    assert_eq!(resumed.waits(), "[s2] []");
}

#[test]
fn a_fork_does_not_inherit_what_waited() {
    let stage = Stage::new();
    stage.agent.inbox().followup(message("parent's")).unwrap();
    let events: Vec<_> = stage.agent.session().events().iter().map(|event| (**event).clone()).collect();
    let fork = header().forked_from("parent", events.len() as u64).unwrap();
    let session = Session::resume(spec(fork.clone(), None), events).unwrap();
    let child = Stage::of(session, Arc::default(), InboxLimits::default());
    assert_eq!(child.waits(), "[] []");
    child.agent.inbox().followup(message("its own")).unwrap();
    let events: Vec<_> = child.agent.session().events().iter().map(|event| (**event).clone()).collect();
    let session = Session::resume(spec(fork, None), events).unwrap();
    assert_eq!(Stage::of(session, Arc::default(), InboxLimits::default()).waits(), "[] [its own]");
}

#[test]
fn a_foreign_log_is_cut_to_what_makes_sense() {
    let stage = Stage::new();
    let session = stage.agent.session();
    let odd = InboxSpliced {
        target: Target::NextTurn,
        start: 9,
        removed_count: 9,
        inserted: vec![message("a")],
        outcome: Some(SpliceOutcome::Canceled),
    };
    session.append(&odd).unwrap();
    assert_eq!(stage.resumed().waits(), "[] [a]");
    session.append(&UserMessage(message("m"))).unwrap();
    assert_eq!(stage.resumed().waits(), "[] [a]");
}

#[test]
fn what_is_said_leaves_with_its_own_event_and_what_is_left_out_is_claimed() {
    let stage = Stage::new();
    let inbox = stage.agent.inbox();
    for id in ["a", "b", "c"] {
        inbox.inject(message(id)).unwrap();
    }
    inbox.queue(message("p")).unwrap();
    let proposed = inbox.proposal(true);
    inbox.retract("b").unwrap();
    stage.told();
    let said = ["a", "b", "p", "of a hook"].map(message).into();
    inbox.deliver(1, &proposed, said).unwrap();
    assert_eq!(stage.told(), ["claimed 1 a", "claimed 1 p", "claimed 1 c"]);
    let events = stage.agent.session().events();
    let said: Vec<_> = events.iter().filter_map(|event| event.read::<UserMessage>()).collect();
    let said: Vec<_> = said.iter().map(|said| said.as_ref().unwrap().0.id.to_string()).collect();
    assert_eq!(said, ["a", "p", "of a hook"], "what was retracted is not said");
    assert_eq!((stage.waits(), stage.resumed().waits()), ("[] []".to_owned(), "[] []".to_owned()));
}

#[test]
fn what_the_log_does_not_take_is_not_said_and_waits_on() {
    let stage = Stage::new();
    let inbox = stage.agent.inbox();
    for id in ["a", "b", "c"] {
        inbox.inject(message(id)).unwrap();
    }
    let proposed = inbox.proposal(true);
    let said = vec![message("a"), Message { id: "".into(), ..message("bad") }, message("c")];
    let refused = inbox.deliver(1, &proposed, said);
    assert!(matches!(refused, Err(InboxError::Log(_))), "{refused:?}");
    assert_eq!((&*stage.waits(), &*stage.resumed().waits()), ("[b c] []", "[b c] []"));
}

/// Sends to the agent when the session tells it of what was said.
struct Sends(Agent, Mutex<Vec<InboxError>>);

impl SessionObserver for Sends {
    fn appended(&self, event: &Arc<Event>) {
        if event.read::<UserMessage>().is_some() {
            self.1.lock().extend(self.0.inbox().inject(message("echo")).err());
        }
    }
}

#[test]
fn an_observer_of_the_session_is_refused_and_does_not_wait_for_who_is_changing_the_inbox() {
    let stage = Stage::new();
    let agent = &stage.agent;
    let observer = Arc::new(Sends(agent.clone(), Mutex::default()));
    agent.session().observe(Arc::<Sends>::clone(&observer)).keep();
    let (changing, is_changing) = channel();
    let (appended, has_appended) = channel();
    let has_appended = Mutex::new(has_appended);
    let in_time = Arc::new(Mutex::new(false));
    let was_in_time = Arc::clone(&in_time);
    // Told within a change of the inbox, which it holds up until the other thread is through.
    let waits = move |_: &Agent, _: &Notice<'_>| {
        changing.send(()).unwrap();
        *was_in_time.lock() = has_appended.lock().recv_timeout(Duration::from_secs(10)).is_ok();
    };
    agent.hooks().observe(None, Arc::new(waits)).keep();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            is_changing.recv().unwrap();
            agent.session().append(&UserMessage(message("said"))).unwrap();
            appended.send(()).unwrap();
        });
        agent.inbox().inject(message("a")).unwrap();
    });
    assert!(*in_time.lock());
    assert!(matches!(&**observer.1.lock(), [InboxError::Log(AppendError::Reentrant)]));
    assert_eq!(stage.waits(), "[a] []");
}
