//! Who is asked, and what their answers come to.

use std::sync::Arc;
use std::time::Duration;

use dsh_lifecycle::Cause;
use dsh_scope::Scope;
use dsh_session::Session;
use dsh_tools_core::Approval;
use dsh_user_approval::{covers, covers_once};

use crate::scene::{Does, Person, Scene, agent, begin, log, spec};

#[tokio::test]
async fn nobody_to_answer_means_no() {
    let scene = Scene::new();
    assert_eq!(scene.ask().await.unwrap(), Approval::Unavailable);
    insta::assert_snapshot!(scene.log(), @r#"
    approval/asked {"id":"q1","toolName":"bash"}
    approval/decided {"id":"q1","outcome":"unavailable","cause":"there was nobody to answer"}
    "#);
}

#[tokio::test]
async fn every_answer_is_given_as_it_is_and_recorded() {
    let scene = Scene::new();
    for answer in [Approval::AllowedOnce, Approval::Rejected, Approval::Cancelled, Approval::Unavailable] {
        let _here = scene.approvals.answer_with(None, Person::who(Does::Says(answer)));
        assert_eq!(scene.ask().await.unwrap(), answer);
    }
    insta::assert_snapshot!(scene.log(), @r#"
    approval/asked {"id":"q1","toolName":"bash"}
    approval/decided {"id":"q1","outcome":"allowed-once","by":"person"}
    approval/asked {"id":"q2","toolName":"bash"}
    approval/decided {"id":"q2","outcome":"rejected","by":"person"}
    approval/asked {"id":"q3","toolName":"bash"}
    approval/decided {"id":"q3","outcome":"cancelled","by":"person"}
    approval/asked {"id":"q4","toolName":"bash"}
    approval/decided {"id":"q4","outcome":"unavailable","by":"person"}
    "#);
}

#[tokio::test]
async fn the_first_answer_counts_and_who_passes_hands_on() {
    let scene = Scene::new();
    let people =
        [Does::Passes, Does::Says(Approval::Rejected), Does::Says(Approval::AllowedOnce)].map(Person::who);
    let here = people.clone().map(|person| scene.approvals.answer_with(None, person));
    assert_eq!(scene.ask().await.unwrap(), Approval::Rejected);
    assert_eq!(people.each_ref().map(|person| person.asked()), [1, 1, 0]);

    drop(here);
    assert_eq!(scene.ask().await.unwrap(), Approval::Unavailable, "who is gone is not asked");
    assert_eq!(people.each_ref().map(|person| person.asked()), [1, 1, 0]);
}

#[tokio::test]
async fn an_agent_is_answered_by_its_own_scope_first_and_never_by_another() {
    let scene = Scene::new();
    let (own, foreign) = (scene.agent.scope().clone(), Scope::root());
    let everybody = Person::who(Does::Says(Approval::Rejected));
    let (near, far) =
        (Person::who(Does::Says(Approval::AllowedOnce)), Person::who(Does::Says(Approval::Cancelled)));
    let _all = scene.approvals.answer_with(None, Arc::clone(&everybody) as _);
    let mine = scene.approvals.answer_with(Some(&own), Arc::clone(&near) as _);
    let _theirs = scene.approvals.answer_with(Some(&foreign), Arc::clone(&far) as _);
    assert_eq!(scene.ask().await.unwrap(), Approval::AllowedOnce);

    let child = agent(own.child(), Session::create(spec("child", None)));
    begin(child.session());
    assert_eq!(scene.ask_as(&child).await.unwrap(), Approval::AllowedOnce, "also those below it");
    drop(mine);
    assert_eq!(scene.ask().await.unwrap(), Approval::Rejected);
    assert_eq!((everybody.asked(), near.asked(), far.asked()), (1, 2, 0));
}

#[tokio::test]
async fn who_is_asked_first_comes_before_every_scope_and_passes_on_to_it() {
    let scene = Scene::new();
    let own = scene.agent.scope().clone();
    let near = Person::who(Does::Says(Approval::Rejected));
    let _near = scene.approvals.answer_with(Some(&own), Arc::clone(&near) as _);
    let passes = scene.approvals.answer_first(Person::who(Does::Passes));
    assert_eq!(scene.ask().await.unwrap(), Approval::Rejected);
    let first = scene.approvals.answer_first(Person::who(Does::Says(Approval::AllowedOnce)));
    assert_eq!(scene.ask().await.unwrap(), Approval::AllowedOnce);
    assert_eq!(near.asked(), 1);
    drop((first, passes));
    assert_eq!(scene.ask().await.unwrap(), Approval::Rejected);
}

/// Where nothing else can be answered, that is said; else it would not be true of all answers.
#[test]
fn what_a_yes_covers_is_told_with_and_without_that_nothing_is_remembered() {
    for (tool, whole) in [("write", true), ("write", false), ("run_code", true), ("run_code", false)] {
        let (all, once) = (covers(tool, whole), covers_once(tool, whole));
        assert_eq!(all, format!("{once} Nothing is remembered."));
        assert!(once.starts_with("Yes ") && !once.contains("remembered"), "{once}");
    }
}

#[tokio::test]
async fn who_fails_refuses_and_the_record_says_why() {
    let scene = Scene::new();
    for does in [Does::Fails, Does::Panics] {
        let behind = Person::who(Does::Says(Approval::AllowedOnce));
        let _broken = scene.approvals.answer_with(None, Person::who(does));
        let _willing = scene.approvals.answer_with(None, Arc::clone(&behind) as _);
        assert_eq!(scene.ask().await.unwrap(), Approval::Unavailable);
        assert_eq!(behind.asked(), 0, "a failure is not handed on to somebody more willing");
    }
    insta::assert_snapshot!(scene.log(), @r#"
    approval/asked {"id":"q1","toolName":"bash"}
    approval/decided {"id":"q1","outcome":"unavailable","by":"person","cause":"it failed: the line is dead"}
    approval/asked {"id":"q2","toolName":"bash"}
    approval/decided {"id":"q2","outcome":"unavailable","by":"person","cause":"it panicked: on purpose"}
    "#);
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_is_cancelled_already() {
    let scene = Scene::new();
    let person = Person::who(Does::Says(Approval::AllowedOnce));
    let _here = scene.approvals.answer_with(None, Arc::clone(&person) as _);
    scene.cancel.cancel(Cause::User);
    assert_eq!(scene.ask().await.unwrap(), Approval::Cancelled);
    assert_eq!(person.asked(), 0);
    assert_eq!(scene.log().lines().count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_withdraws_the_question_and_what_comes_later_does_not_count() {
    let scene = Scene::new();
    let person = Person::who(Does::Hangs);
    let _here = scene.approvals.answer_with(None, Arc::clone(&person) as _);
    let (asked, ()) = tokio::join!(scene.ask(), async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        scene.cancel.cancel(Cause::User);
    });
    assert_eq!(asked.unwrap(), Approval::Cancelled);
    assert!(person.seen.lock()[0].cancel.is_cancelled());
    assert_eq!(scene.log().lines().count(), 2, "{}", scene.log());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_come_in_time_is_a_refusal() {
    let scene = Scene::new();
    let person = Person::who(Does::Hangs);
    let _here = scene.approvals.answer_with(None, Arc::clone(&person) as _);
    let began = tokio::time::Instant::now();
    assert_eq!(scene.ask().await.unwrap(), Approval::Unavailable);
    assert_eq!(began.elapsed(), Duration::from_secs(3600));
    assert!(person.seen.lock()[0].cancel.is_cancelled(), "what is shown is withdrawn");
    assert!(scene.log().contains("nobody answered within 3600000 ms (`answerMs`)"), "{}", scene.log());
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_waits_for_any_more_is_closed() {
    let scene = Scene::new();
    let _here = scene.approvals.answer_with(None, Person::who(Does::Hangs));
    let left = tokio::time::timeout(Duration::from_secs(1), scene.ask()).await;
    assert!(left.is_err());
    insta::assert_snapshot!(log(scene.agent.session()), @r#"
    approval/asked {"id":"q1","toolName":"bash"}
    approval/decided {"id":"q1","outcome":"cancelled","cause":"nobody waits for it any more"}
    "#);
}
