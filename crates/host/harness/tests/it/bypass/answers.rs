//! Answers that come late, twice, for something else, from somebody else, or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_tools_core::{Approval, Json, Scope};
use dsh_user_approval::{Answer, AnswerError, Answerer, Question};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::attempts;
use super::person::{Person, Said};
use super::scene::Scene;
use super::setup::Setup;
use super::tally::{FORBIDDEN, GUARDED, OWN, Rules, Tally};

attempts! {
    Runs nobody_is_there: "there is nobody to answer",
    Runs after_its_time: "the yes comes after `answerMs`",
    Runs after_the_call_was_cancelled: "the yes comes in the moment in which the call is cancelled",
    Runs it_hangs: "the answer never comes",
    Runs it_panics: "whoever is asked panics, and somebody behind would say yes",
    Runs it_fails: "whoever is asked fails, and somebody behind would say yes",
    Runs a_second_opinion: "the first one asked says no, and the second one would say yes",
    Runs two_at_once: "two say yes at once: one call runs once",
    Runs the_nearer_scope_says_no: "the agent's scope says no, and everybody's answerer would say yes",
    Runs a_foreign_scope: "somebody in another agent's scope, and one below the agent's, would say yes",
    Runs crossed: "two questions are open, and the answers come in the other order",
    Runs of_another_session: "two sessions ask for the same call, and the yes is for one of them",
    Runs never_was_said: "`never` was said before, and somebody would say yes now",
    Runs yes_and_never: "a yes with `never`: this call runs, and no other is asked about",
    Runs a_yes_for_each_tool: "a yes to everything does not allow what is denied",
}

async fn one_call(setup: Setup, code: &str) -> Scene {
    let mut scene = setup.scene();
    let ends = [scene.call(GUARDED, "{}").await, scene.call(OWN, "{}").await];
    scene.must(ends.iter().all(|end| end == code), format!("{ends:?}"));
    scene
}

async fn nobody_is_there(rules: Rules) -> Scene {
    one_call(Setup::new(rules).nobody(), "APPROVAL_UNAVAILABLE").await
}

async fn after_its_time(rules: Rules) -> Scene {
    let setup = Setup::new(rules).config("user-approval.answerMs = 10");
    one_call(setup.says([Said::YesAfter(11), Said::YesAfter(10_000)]), "APPROVAL_UNAVAILABLE").await
}

async fn it_hangs(rules: Rules) -> Scene {
    let setup = Setup::new(rules).config("user-approval.answerMs = 10");
    one_call(setup.says([Said::Hangs, Said::Hangs]), "APPROVAL_UNAVAILABLE").await
}

async fn after_the_call_was_cancelled(rules: Rules) -> Scene {
    let cancelled = Said::meanwhile(
        |question| {
            let call = question.call.as_ref().unwrap();
            call.cancel.cancel(dsh_lifecycle::Cause::User);
        },
        Said::Yes,
    );
    one_call(Setup::new(rules).says([cancelled.clone(), cancelled]), "ABORTED_BEFORE_DISPATCH").await
}

/// The first one says this; behind it somebody says yes to all.
async fn with_somebody_behind(rules: Rules, said: Said, code: &str) -> Scene {
    let setup = Setup::new(rules).says([said.clone(), said]);
    let behind = Person::new(&setup.tally, vec![Said::Yes; 4]);
    let mut scene = setup.scene();
    scene.kept.push(scene.approvals.answer_with(None, behind));
    let ends = [scene.call(GUARDED, "{}").await, scene.call(OWN, "{}").await];
    scene.must(ends == [code; 2], format!("{ends:?}"));
    scene.must(scene.tally.questions() == 2, "somebody else was asked, too");
    scene
}

async fn it_panics(rules: Rules) -> Scene {
    with_somebody_behind(rules, Said::Panics, "APPROVAL_UNAVAILABLE").await
}

async fn it_fails(rules: Rules) -> Scene {
    with_somebody_behind(rules, Said::Fails, "APPROVAL_UNAVAILABLE").await
}

async fn a_second_opinion(rules: Rules) -> Scene {
    with_somebody_behind(rules, Said::No, "APPROVAL_REJECTED").await
}

async fn two_at_once(rules: Rules) -> Scene {
    let setup = Setup::new(rules).says([Said::Passes, Said::No]);
    let others = [0, 1].map(|_| Person::new(&setup.tally, [Said::Yes]));
    let mut scene = setup.scene().allows(GUARDED, 1);
    for other in others {
        scene.kept.push(scene.approvals.answer_with(None, other));
    }
    let ends = [scene.call(GUARDED, "{}").await, scene.call(GUARDED, "{}").await];
    scene.must(ends == ["ok", "APPROVAL_REJECTED"], format!("{ends:?}"));
    scene
}

async fn the_nearer_scope_says_no(rules: Rules) -> Scene {
    let setup = Setup::new(rules).says(vec![Said::Yes; 2]);
    let near = Person::new(&setup.tally, []);
    let mut scene = setup.scene();
    let scope = scene.agent.scope().clone();
    scene.kept.push(scene.approvals.answer_with(Some(&scope), near));
    let ends = [scene.call(GUARDED, "{}").await, scene.call(OWN, "{}").await];
    scene.must(ends == ["APPROVAL_REJECTED"; 2], format!("{ends:?}"));
    scene
}

async fn a_foreign_scope(rules: Rules) -> Scene {
    let setup = Setup::new(rules).nobody();
    let foreign = Person::new(&setup.tally, vec![Said::Yes; 4]);
    let mut scene = setup.scene();
    let (other, below) = (Scope::root(), scene.agent.scope().child());
    for scope in [&other, &below] {
        scene.kept.push(scene.approvals.answer_with(Some(scope), Arc::clone(&foreign) as _));
    }
    let ends = [scene.call(GUARDED, "{}").await, scene.call(OWN, "{}").await];
    scene.must(ends == ["APPROVAL_UNAVAILABLE"; 2], format!("{ends:?}"));
    scene
}

/// Waits until two are asked, and answers the later one first: yes to `n` = 2 and no to `n` = 1.
struct Crosses {
    tally: Arc<Tally>,
    open: Mutex<BTreeMap<u64, Arc<Notify>>>,
}

#[async_trait]
impl Answerer for Crosses {
    fn name(&self) -> &'static str {
        "crosses"
    }

    async fn answer(&self, question: &Question) -> Result<Option<Answer>, AnswerError> {
        let call = question.call.as_ref().unwrap();
        let n = call.arguments.get("n").and_then(Json::as_u64).unwrap_or_default();
        let turn = Arc::new(Notify::new());
        let both = {
            let mut open = self.open.lock();
            open.insert(n, Arc::clone(&turn));
            open.len() == 2
        };
        if both {
            // This one is the later question: it goes first, and then the other.
            let open = self.open.lock().clone();
            for turn in open.values() {
                turn.notify_one();
            }
        } else {
            turn.notified().await;
            tokio::task::yield_now().await;
        }
        if n == 2 {
            self.tally.granted(&call.name, &call.arguments);
            return Ok(Some(Approval::AllowedOnce.into()));
        }
        Ok(Some(Approval::Rejected.into()))
    }
}

async fn crossed(rules: Rules) -> Scene {
    let setup = Setup::new(rules);
    let crosses = Crosses { tally: Arc::clone(&setup.tally), open: Mutex::default() };
    let mut scene = setup.answered_by(Arc::new(crosses)).scene().allows(GUARDED, 1);
    let calls = [(GUARDED, r#"{"n": 1}"#), (GUARDED, r#"{"n": 2}"#)];
    let ends = scene.calls(&calls).await;
    scene.must(ends == ["APPROVAL_REJECTED", "ok"], format!("{ends:?}"));
    scene
}

async fn of_another_session(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).says([Said::Yes]).scene().allows(GUARDED, 1);
    let first = scene.call(GUARDED, r#"{"same": true}"#).await;
    let agent = scene.agent_in(scene.agent.scope().clone());
    scene = scene.acting(agent);
    let second = scene.call(GUARDED, r#"{"same": true}"#).await;
    scene.must(first == "ok" && second == "APPROVAL_REJECTED", format!("{first}, {second}"));
    scene
}

async fn never_was_said(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).says([Said::Never, Said::Yes, Said::Yes]).scene();
    let ends =
        [scene.call(GUARDED, "{}").await, scene.call(GUARDED, "{}").await, scene.call(OWN, "{}").await];
    scene.must(ends == ["APPROVAL_REJECTED"; 3], format!("{ends:?}"));
    scene.must(scene.tally.questions() == 1, "somebody was asked after `never`");
    scene
}

async fn yes_and_never(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).says([Said::YesAndNever, Said::Yes]).scene().allows(GUARDED, 1);
    let ends = [scene.call(GUARDED, "{}").await, scene.call(GUARDED, "{}").await];
    scene.must(ends == ["ok", "APPROVAL_REJECTED"], format!("{ends:?}"));
    scene
}

async fn a_yes_for_each_tool(rules: Rules) -> Scene {
    let setup = Setup::new(rules).says(vec![Said::Yes; 3]);
    let mut scene = setup.scene().allows(GUARDED, 1).allows(OWN, 1);
    let ends = scene.call_all().await;
    scene.must(ends == ["DENIED", "ok", "ok"], format!("{ends:?}"));
    let end = scene.call(FORBIDDEN, r#"{"again": true}"#).await;
    scene.must(end == "DENIED" && scene.tally.questions() == 2, "somebody was asked about what is denied");
    scene
}
