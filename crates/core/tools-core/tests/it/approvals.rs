//! Asking first (spec 01 §8).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use dsh_lifecycle::{Cancel, Cause};
use dsh_scope::Scope;
use dsh_tools_core::{
    Approval, ApprovalRequest, Approver, CallInput, Execution, PostDecision, PreDecision, Prepared,
    ToolError, codes,
};
use parking_lot::Mutex;

use crate::kit::{Notes, Stage, agent, call, told};

struct Answers {
    notes: Notes,
    approval: Approval,
    stops: Option<Cancel>,
}

#[async_trait]
impl Approver for Answers {
    async fn ask(&self, request: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
        let call = request.execution;
        self.notes.lock().push(format!("ask {} {} {:?}", call.name, call.call_id, request.reason));
        if let Some(cancel) = &self.stops {
            cancel.cancel(Cause::User);
        }
        Ok(self.approval)
    }
}

/// A call that is asked about: what it came to, and what happened on the way.
async fn asked(
    approval: Option<Approval>,
    stops: bool,
    guard: Option<&'static str>,
) -> (String, Vec<String>) {
    let mut stage = Stage::with_tool();
    stage.pre(|_| Some(PreDecision::Ask(Some("it writes".into()))));
    stage.guard(guard);
    stage.post(|_| Ok(PostDecision::KEEP));
    let cancel = Cancel::new();
    if let Some(approval) = approval {
        let answers =
            Answers { notes: Arc::clone(&stage.notes), approval, stops: stops.then(|| cancel.clone()) };
        let mounted = stage.tools.approver().provide(Arc::new(answers)).unwrap();
        stage.keep(mounted);
    }
    let input = CallInput { agent: Some(agent(&Scope::root())), cancel, ..call("t") };
    let result = stage.call(input).await;
    (told(&result), stage.noted())
}

const ASK: &str = "ask t c1 Some(\"it writes\")";

#[tokio::test]
async fn a_grant_meets_the_guards_once_and_then_runs() {
    let (told, noted) = asked(Some(Approval::AllowedOnce), false, None).await;
    assert_eq!(told, "ok \"value\"");
    assert_eq!(noted, ["pre", ASK, "guard", "body", "post"]);
}

#[tokio::test]
async fn a_guard_denies_what_a_person_granted() {
    let (told, noted) = asked(Some(Approval::AllowedOnce), false, Some("never")).await;
    assert_eq!(told, "DENIED Error: never");
    assert_eq!(noted, ["pre", ASK, "guard", "post"]);
}

#[tokio::test]
async fn each_way_not_to_be_approved_has_its_own_code_and_text() {
    let rows = [
        (Some(Approval::Rejected), codes::APPROVAL_REJECTED),
        (Some(Approval::Cancelled), codes::APPROVAL_CANCELLED),
        (Some(Approval::Unavailable), codes::APPROVAL_UNAVAILABLE),
        (None, codes::APPROVAL_UNSUPPORTED),
    ];
    let mut texts = std::collections::BTreeSet::new();
    for (approval, code) in rows {
        let (told, noted) = asked(approval, false, None).await;
        assert!(told.starts_with(code), "{told}");
        assert_eq!(noted.last().map(String::as_str), Some("post"));
        assert!(!noted.contains(&"body".to_owned()) && !noted.contains(&"guard".to_owned()));
        texts.insert(told);
    }
    assert_eq!(texts.len(), rows.len());
}

#[tokio::test]
async fn without_an_agent_nobody_is_asked() {
    let mut stage = Stage::with_tool();
    stage.pre(|_| Some(PreDecision::Ask(None)));
    let answers = Answers { notes: Arc::clone(&stage.notes), approval: Approval::AllowedOnce, stops: None };
    let mounted = stage.tools.approver().provide(Arc::new(answers)).unwrap();
    stage.keep(mounted);
    let result = stage.call(call("t")).await;
    assert!(told(&result).starts_with(codes::APPROVAL_NO_AGENT));
    assert_eq!(stage.noted(), ["pre"]);
}

#[tokio::test]
async fn a_grant_that_comes_after_the_abort_does_not_run() {
    for approval in [Approval::AllowedOnce, Approval::Cancelled] {
        let (told, noted) = asked(Some(approval), true, None).await;
        assert!(told.starts_with(codes::ABORTED_BEFORE_DISPATCH), "{told}");
        assert_eq!(noted, ["pre", ASK, "post"]);
    }
    let (told, _) = asked(Some(Approval::Rejected), true, None).await;
    assert!(told.starts_with(codes::APPROVAL_REJECTED), "a refusal wins: {told}");
}

/// The tool itself wants to be allowed; a listener may want to, too.
async fn asked_by_tool(
    needs: fn(&Execution) -> Result<Option<Arc<str>>, ToolError>,
    listener: Option<PreDecision>,
    approval: Approval,
) -> (String, Vec<String>) {
    let mut stage = Stage::with_tool_that_needs(needs);
    stage.pre(move |_| listener.clone());
    stage.guard(None);
    let answers = Answers { notes: Arc::clone(&stage.notes), approval, stops: None };
    let mounted = stage.tools.approver().provide(Arc::new(answers)).unwrap();
    stage.keep(mounted);
    let result = stage.call(CallInput { agent: Some(agent(&Scope::root())), ..call("t") }).await;
    (told(&result), stage.noted())
}

#[tokio::test]
async fn what_a_tool_needs_is_asked_after_the_listeners_and_before_the_guards() {
    let needs = |_: &Execution| Ok(Some("more reach".into()));
    let (told, noted) = asked_by_tool(needs, None, Approval::AllowedOnce).await;
    assert_eq!(told, "ok \"value\"");
    assert_eq!(noted, ["pre", "ask t c1 Some(\"more reach\")", "guard", "body"]);
    let (told, noted) = asked_by_tool(needs, None, Approval::Rejected).await;
    assert!(told.starts_with(codes::APPROVAL_REJECTED), "{told}");
    assert!(!noted.contains(&"body".to_owned()));
}

#[tokio::test]
async fn two_questions_about_one_call_are_asked_as_one() {
    let needs = |_: &Execution| Ok(Some("more reach".into()));
    let rows = [
        (PreDecision::Ask(Some("it writes".into())), "ask t c1 Some(\"it writes\\nmore reach\")"),
        (PreDecision::Ask(None), "ask t c1 Some(\"more reach\")"),
    ];
    for (listener, question) in rows {
        let (_, noted) = asked_by_tool(needs, Some(listener), Approval::AllowedOnce).await;
        assert_eq!(noted, ["pre", question, "guard", "body"]);
    }
}

#[tokio::test]
async fn what_cannot_be_allowed_is_refused_unasked() {
    let refuses = |_: &Execution| Err(ToolError::invalid_args("no such reach"));
    let (told, noted) = asked_by_tool(refuses, None, Approval::AllowedOnce).await;
    assert_eq!(
        (told.as_str(), noted.as_slice()),
        ("INVALID_ARGS Error: no such reach", &["pre".to_owned()][..])
    );
    let panics = |_: &Execution| panic!("on purpose");
    let (told, noted) = asked_by_tool(panics, None, Approval::AllowedOnce).await;
    assert!(told.starts_with(codes::PANICKED), "{told}");
    assert_eq!(noted, ["pre"]);
    // A denial comes first, whatever the tool needs.
    let needs = |_: &Execution| Ok(Some("more reach".into()));
    let (told, noted) =
        asked_by_tool(needs, Some(PreDecision::Deny("no".into())), Approval::AllowedOnce).await;
    assert_eq!((told.as_str(), noted.as_slice()), ("DENIED Error: no", &["pre".to_owned()][..]));
}

/// Whoever answers can tell whose question it is.
struct WhoAsks(Notes);

#[async_trait]
impl Approver for WhoAsks {
    async fn ask(&self, request: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
        let itself = request.definition.unwrap().asks(request.execution);
        self.0.lock().push(format!("the tool itself asks: {itself}"));
        Ok(Approval::Rejected)
    }
}

#[tokio::test]
async fn who_answers_can_tell_whether_the_tool_itself_asks() {
    /// Nothing against the call, until it is looked at again.
    fn later<const PANICS: bool>(_: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        static LOOKED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
        if !LOOKED[usize::from(PANICS)].swap(true, Ordering::Relaxed) {
            return Ok(None);
        }
        assert!(!PANICS, "on purpose");
        Err(ToolError::plain("no such reach"))
    }
    type Needs = fn(&Execution) -> Result<Option<Arc<str>>, ToolError>;
    let needs: [(Needs, bool); 4] = [
        (|_| Ok(None), false),
        (|_| Ok(Some("more reach".into())), true),
        (later::<false>, true),
        (later::<true>, true),
    ];
    for (needs, asks) in needs {
        let mut stage = Stage::with_tool_that_needs(needs);
        stage.pre(|_| Some(PreDecision::Ask(None)));
        let mounted = stage.tools.approver().provide(Arc::new(WhoAsks(Arc::clone(&stage.notes)))).unwrap();
        stage.keep(mounted);
        stage.call(CallInput { agent: Some(agent(&Scope::root())), ..call("t") }).await;
        assert_eq!(stage.noted(), ["pre", &format!("the tool itself asks: {asks}")]);
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_reason_and_that_are_both_told() {
    let (told, _) = asked(None, false, None).await;
    assert_eq!(
        told,
        "APPROVAL_UNSUPPORTED Error: `t` needs a person's approval (it writes), and this session has no way to ask for \
         one. Do without it."
    );
}

#[tokio::test]
async fn a_panicking_approver_never_turns_into_a_permission() {
    struct Broken;
    #[async_trait]
    impl Approver for Broken {
        async fn ask(&self, _: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
            panic!("on purpose")
        }
    }
    let mut stage = Stage::with_tool();
    stage.pre(|_| Some(PreDecision::Ask(None)));
    let mounted = stage.tools.approver().provide(Arc::new(Broken)).unwrap();
    stage.keep(mounted);
    let input = CallInput { agent: Some(agent(&Scope::root())), ..call("t") };
    assert!(told(&*stage.call(input).await).starts_with(codes::PANICKED));
    assert!(!stage.noted().contains(&"body".to_owned()));
}

#[tokio::test]
async fn waiting_for_an_answer_does_not_hold_up_the_ordered_stage() {
    struct Slow(Mutex<Option<tokio::sync::oneshot::Receiver<()>>>);
    #[async_trait]
    impl Approver for Slow {
        async fn ask(&self, _: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
            let answered = self.0.lock().take();
            if let Some(answered) = answered {
                answered.await.ok();
            }
            Ok(Approval::AllowedOnce)
        }
    }
    let (answer, answered) = tokio::sync::oneshot::channel();
    let mut stage = Stage::with_tool();
    stage.pre(|_| Some(PreDecision::Ask(None)));
    let mounted = stage.tools.approver().provide(Arc::new(Slow(Mutex::new(Some(answered))))).unwrap();
    stage.keep(mounted);
    let input = CallInput { agent: Some(agent(&Scope::root())), ..call("t") };
    let Prepared::Ready(ready) = stage.tools.prepare(input).await else {
        panic!("prepare waited or settled")
    };
    let (settled, ()) = tokio::join!(stage.tools.dispatch(ready), async { answer.send(()).unwrap() });
    assert_eq!(told(&stage.tools.finish(settled).await.publish()), "ok \"value\"");
}

/// Who asks by itself knows when the answer came: the call has no question any more, and the body has not run.
#[tokio::test]
async fn an_answer_can_be_waited_for_before_the_body() {
    let prepared = async |approval, question: bool| {
        let mut stage = Stage::with_tool();
        stage.pre(move |_| question.then_some(PreDecision::Ask(None)));
        stage.guard(None);
        let answers = Answers { notes: Arc::clone(&stage.notes), approval, stops: None };
        let mounted = stage.tools.approver().provide(Arc::new(answers)).unwrap();
        stage.keep(mounted);
        let input = CallInput { agent: Some(agent(&Scope::root())), ..call("t") };
        let Prepared::Ready(ready) = stage.tools.prepare(input).await else { panic!("settled") };
        assert_eq!(ready.asks(), question);
        let approved = stage.tools.approve(ready).await;
        (stage, approved)
    };
    let (stage, approved) = prepared(Approval::AllowedOnce, true).await;
    let Prepared::Ready(ready) = approved else { panic!("it was granted") };
    assert!(!ready.asks());
    assert_eq!(stage.noted(), ["pre", "ask t c1 None", "guard"]);
    let finished = stage.tools.finish(stage.tools.dispatch(ready).await).await;
    assert_eq!(told(&finished.publish()), "ok \"value\"");
    assert_eq!(stage.noted(), ["pre", "ask t c1 None", "guard", "body"]);

    let (stage, refused) = prepared(Approval::Rejected, true).await;
    let Prepared::Settled(settled) = refused else { panic!("it was refused") };
    assert!(told(&stage.tools.finish(settled).await.publish()).starts_with(codes::APPROVAL_REJECTED));

    let (stage, approved) = prepared(Approval::Rejected, false).await;
    assert!(matches!(approved, Prepared::Ready(_)), "nobody was asked");
    assert_eq!(stage.noted(), ["pre", "guard"]);
}
