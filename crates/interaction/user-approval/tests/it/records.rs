//! What the log has to take, and what happens when it does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_lifecycle::Cancel;
use dsh_scope::Scope;
use dsh_session::{Event, Payload, Session, SessionObserver, Sink, SinkError, verify};
use dsh_tools_core::Approval;
use dsh_user_approval::{ApprovalDecided, ApprovalError, Request};

use crate::scene::{Does, Full, Person, Scene, Shelf, agent, approvals, begin, end, log, spec, vocabulary};

#[tokio::test]
async fn outside_of_a_turn_nothing_is_asked_and_nothing_recorded() {
    let scene = Scene::new();
    let person = Person::who(Does::Says(Approval::AllowedOnce));
    let _here = scene.approvals.answer_with(None, Arc::clone(&person) as _);
    let idle = agent(Scope::root(), Session::create(spec("idle", None)));
    assert!(matches!(scene.ask_as(&idle).await, Err(ApprovalError::OutsideTurn)));
    assert!(idle.session().is_empty());

    end(scene.agent.session());
    let before = scene.agent.session().len();
    assert!(matches!(scene.ask().await, Err(ApprovalError::OutsideTurn)));
    assert_eq!((scene.agent.session().len(), person.asked()), (before, 0));
}

#[tokio::test]
async fn a_log_that_takes_no_question_asks_nobody() {
    let scene = Scene::with(Some(Arc::new(Shelf(AtomicUsize::new(0)))));
    let person = Person::who(Does::Says(Approval::AllowedOnce));
    let _here = scene.approvals.answer_with(None, Arc::clone(&person) as _);
    let error = scene.ask().await.unwrap_err();
    assert!(matches!(&error, ApprovalError::Log(_)) && error.to_string().contains("no room"), "{error}");
    assert_eq!(person.asked(), 0);
}

#[tokio::test]
async fn a_yes_that_can_not_be_recorded_is_none() {
    let scene = Scene::with(Some(Arc::new(Shelf(AtomicUsize::new(1)))));
    let _here = scene.approvals.answer_with(None, Person::who(Does::Says(Approval::AllowedOnce)));
    assert!(matches!(scene.ask().await, Err(ApprovalError::Log(_))));
    assert_eq!(scene.log().lines().count(), 1);
}

/// The disk has no room for the answer, and then it has.
struct Hiccup(AtomicUsize);

#[async_trait]
impl Sink for Hiccup {
    fn write(&self, event: &Event) -> Result<(), SinkError> {
        let fails = *event.kind == *ApprovalDecided::TYPE && self.0.fetch_add(1, Ordering::Relaxed) == 0;
        if fails { Err(SinkError::new(Full)) } else { Ok(()) }
    }

    async fn flush(&self) -> Result<(), SinkError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_yes_that_can_not_be_recorded_leaves_no_question_open() {
    let scene = Scene::with(Some(Arc::new(Hiccup(AtomicUsize::new(0)))));
    let _here = scene.approvals.answer_with(None, Person::who(Does::Says(Approval::AllowedOnce)));
    assert!(matches!(scene.ask().await, Err(ApprovalError::Log(_))));
    insta::assert_snapshot!(scene.log(), @r#"
    approval/asked {"id":"q1","toolName":"bash"}
    approval/decided {"id":"q1","outcome":"unavailable","cause":"its answer could not be recorded"}
    "#);
}

struct Broken;

impl SessionObserver for Broken {
    fn appended(&self, _: &Arc<Event>) {
        panic!("on purpose");
    }
}

#[tokio::test]
async fn observers_that_break_change_nothing() {
    let scene = Scene::new();
    let _observing = scene.agent.session().observe(Arc::new(Broken));
    let _here = scene.approvals.answer_with(None, Person::who(Does::Says(Approval::AllowedOnce)));
    assert_eq!(scene.ask().await.unwrap(), Approval::AllowedOnce);
    assert_eq!(scene.log().lines().count(), 2);
}

#[tokio::test]
async fn a_question_whose_process_died_is_closed_as_cancelled() {
    let scene = Scene::new();
    scene.ask().await.unwrap();
    let mut events: Vec<Event> =
        scene.agent.session().events().iter().map(|event| Event::clone(event)).collect();
    assert_eq!(
        events.pop().unwrap().read::<ApprovalDecided>().unwrap().unwrap().outcome,
        Approval::Unavailable
    );
    let resumed = Session::resume(spec("s", None), events).unwrap();
    insta::assert_snapshot!(log(&resumed), @r#"
    approval/asked {"id":"q1","toolName":"bash"}
    approval/decided {"id":"q1","outcome":"cancelled","cause":"the process ended before it was answered"}
    "#);
    assert!(verify(resumed.header(), &resumed.events(), resumed.vocabulary()).is_ok());
}

/// Each row: what the log says, and the word that a reader of the problem needs.
#[test]
fn a_record_that_breaks_the_rules_is_found() {
    let asked = |id: &str, tool: &str| ("approval/asked", object! { "id": id, "toolName": tool });
    let decided = |id: &str, outcome: &str| ("approval/decided", object! { "id": id, "outcome": outcome });
    let policy = |policy: &str| ("approval/policy", object! { "policy": policy });
    let (start, stop) = (("turn/start", object! { "turn": 1 }), |reason: &str| {
        ("turn/end", object! { "turn": 1, "reason": object! { "kind": reason } })
    });
    let rows: [(&str, Vec<(&str, Json)>); 9] = [
        ("", vec![start.clone(), asked("a", "t"), decided("a", "rejected"), stop("completed")]),
        ("outside", vec![asked("a", "t")]),
        ("names no tool", vec![start.clone(), asked("a", "")]),
        ("no id", vec![start.clone(), asked("", "t")]),
        ("open", vec![start.clone(), asked("a", "t"), asked("a", "t")]),
        ("not open", vec![start.clone(), decided("a", "rejected")]),
        ("outcome", vec![start.clone(), asked("a", "t"), decided("a", "perhaps")]),
        ("policy", vec![policy("sometimes")]),
        ("", vec![policy("never"), start, stop("completed")]),
    ];
    for (expected, events) in rows {
        let events: Vec<Arc<Event>> = events
            .into_iter()
            .enumerate()
            .map(|(seq, (kind, data))| {
                let (kind, seq) = (kind.into(), seq as u64);
                Arc::new(Event {
                    kind,
                    seq,
                    time: 0,
                    data,
                    surface_op: None,
                    source_event_seqs: None,
                    ignorable: false,
                })
            })
            .collect();
        let verdict = verify(&spec("s", None).header, &events, &vocabulary());
        let told: Vec<String> = verdict.problems.iter().map(ToString::to_string).collect();
        let told = told.join("; ");
        assert!(expected.is_empty() == told.is_empty() && told.contains(expected), "{expected}: {told}");
    }
}

#[tokio::test]
async fn sessions_are_asked_about_at_the_same_time_without_mixing() {
    let approvals = approvals(Default::default());
    let _here = approvals.answer_with(None, Person::who(Does::Says(Approval::Rejected)));
    let agents: Vec<_> =
        (0..20).map(|at| agent(Scope::root(), Session::create(spec(&format!("s{at}"), None)))).collect();
    let (tool, cancel) = ("bash".into(), Cancel::new());
    let questions = agents.iter().map(|agent| {
        begin(agent.session());
        let request =
            Request { agent, tool: &tool, call: None, definition: None, reason: None, cancel: &cancel };
        approvals.request(request)
    });
    for answer in futures_util::future::join_all(questions).await {
        assert_eq!(answer.unwrap(), Approval::Rejected);
    }
    for agent in &agents {
        assert_eq!(log(agent.session()).lines().count(), 2);
    }
}
