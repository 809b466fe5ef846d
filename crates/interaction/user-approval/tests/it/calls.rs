//! Calls that need approval, through the pipeline.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::Registrations;
use dsh_llm::{Content, text};
use dsh_scope::Scope;
use dsh_session::{Session, Sink};
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::{
    AnyTool, Approval, BoxFuture, CallInput, Definition, Execution, Guard, RunContext, ToolError, ToolResult,
    Tools,
};
use dsh_user_approval::{ApprovalAsked, ApprovalConfig};

use crate::scene::{Does, Person, Shelf, agent, approvals, begin, spec};

/// Counts its runs, and needs approval each time.
#[derive(Clone, Default)]
struct Needs(Arc<AtomicUsize>);

#[async_trait]
impl AnyTool for Needs {
    fn execute<'a>(&'a self, _: &'a Json, cx: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        assert!(cx.execution().is_granted(), "it runs after a grant only");
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(object! {})))
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("ran"))
    }

    fn needs_approval(&self, _: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        Ok(Some("it changes the world".into()))
    }
}

struct After(Option<&'static str>);

impl Guard for After {
    fn check(&self, call: &Execution) -> Option<String> {
        assert!(call.is_granted(), "guards come after the grant");
        self.0.map(str::to_owned)
    }
}

struct Stage {
    tools: Tools,
    ran: Arc<AtomicUsize>,
    _mounted: Registrations,
}

fn stage(does: Does) -> Stage {
    stage_with(Person::who(does))
}

fn stage_with(person: Arc<Person>) -> Stage {
    let (tools, needs) = (Tools::new(), Needs::default());
    let any = || Schema::object().open().build().unwrap();
    let tool = Definition::raw("act", "Acts.", any(), any(), needs.clone()).unwrap();
    let approvals = approvals(ApprovalConfig::default());
    let mut mounted = approvals.mount(&tools, &SystemPrompt::default()).unwrap();
    mounted.push(approvals.answer_with(None, person));
    mounted.push(tools.register(None, tool).unwrap());
    Stage { tools, ran: needs.0, _mounted: mounted }
}

impl Stage {
    async fn call(&self, sink: Option<Arc<dyn Sink>>, turn: bool) -> (String, usize) {
        let agent = agent(Scope::root(), Session::create(spec("s", sink)));
        if turn {
            begin(agent.session());
        }
        let input = CallInput { agent: Some(agent), ..CallInput::new("c1", "act", object! {}) };
        (told(&*self.tools.execute(input).await), self.ran.load(Ordering::Relaxed))
    }
}

fn told(result: &ToolResult) -> String {
    let code = result.error().and_then(|error| error.info.as_ref()).map_or("", |info| &*info.code);
    format!("{code} {}", dsh_llm::plain_text(&result.content))
}

#[tokio::test]
async fn only_a_yes_lets_a_call_run() {
    for (does, begins) in [
        (Does::Says(Approval::AllowedOnce), " ran"),
        (Does::Says(Approval::Rejected), "APPROVAL_REJECTED"),
        (Does::Says(Approval::Cancelled), "APPROVAL_CANCELLED"),
        (Does::Says(Approval::Unavailable), "APPROVAL_UNAVAILABLE"),
        (Does::Passes, "APPROVAL_UNAVAILABLE"),
        (Does::Fails, "APPROVAL_UNAVAILABLE"),
        (Does::Panics, "APPROVAL_UNAVAILABLE"),
    ] {
        let (told, ran) = stage(does).call(None, true).await;
        assert!(told.starts_with(begins), "{told}");
        assert_eq!(ran, usize::from(begins == " ran"), "{told}");
    }
}

#[tokio::test]
async fn what_is_asked_about_is_this_call_and_its_arguments_have_a_digest() {
    let person = Person::who(Does::Says(Approval::AllowedOnce));
    let stage = stage_with(Arc::clone(&person));
    let agent = agent(Scope::root(), Session::create(spec("s", None)));
    begin(agent.session());
    let same = [object! { "a": 1, "b": 2 }, object! { "b": 2, "a": 1 }, object! { "a": 1, "b": 3 }];
    for arguments in same {
        let input =
            CallInput { agent: Some(agent.clone()), ..CallInput::new("c1", "act", arguments.clone()) };
        stage.tools.execute(input).await;
        let question = person.seen.lock().pop().unwrap();
        assert!(question.agent == agent);
        let call = question.call.unwrap();
        assert_eq!((&*call.call_id, &call.arguments), ("c1", &arguments));
        assert_eq!(&**question.definition.unwrap().name(), "act");
        assert_eq!(question.reason.as_deref(), Some("it changes the world"));
    }
    let asked: Vec<ApprovalAsked> =
        agent.session().events().iter().filter_map(|event| event.read()?.ok()).collect();
    assert_eq!(
        (asked[0].call_id.as_deref(), asked[0].reason.as_deref()),
        (Some("c1"), Some("it changes the world"))
    );
    let digest = |at: usize| asked[at].arguments_digest.clone().unwrap();
    assert_eq!(digest(0), digest(1), "the order of keys makes no other call of it");
    assert_ne!(digest(0), digest(2));
    assert_eq!(&*digest(0), blake3::hash(br#"{"a":1,"b":2}"#).to_hex().as_str());
    assert_ne!(asked[0].id, asked[1].id, "each question has an id of its own");
}

#[tokio::test]
async fn a_question_that_can_not_be_put_or_recorded_is_a_failure_of_its_own() {
    let yes = || stage(Does::Says(Approval::AllowedOnce));
    let (told, ran) = yes().call(None, false).await;
    insta::assert_snapshot!(told, @"APPROVAL_FAILED Error: a question can be asked within a turn only. The call did not run.");
    assert_eq!(ran, 0);
    for taken in [0, 1] {
        let (told, ran) = yes().call(Some(Arc::new(Shelf(AtomicUsize::new(taken)))), true).await;
        assert!(told.starts_with("APPROVAL_FAILED Error: the question could not be recorded"), "{told}");
        assert_eq!(ran, 0, "{taken}");
    }
}

#[tokio::test]
async fn guards_come_after_the_grant_and_can_still_deny() {
    for (reason, ran) in [(None, 1), (Some("not today"), 0)] {
        let stage = stage(Does::Says(Approval::AllowedOnce));
        let _guard = stage.tools.guard(None, Arc::new(After(reason)));
        let (told, count) = stage.call(None, true).await;
        assert_eq!(count, ran, "{told}");
    }
}
