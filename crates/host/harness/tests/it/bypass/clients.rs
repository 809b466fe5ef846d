//! Clients of the Model Context Protocol, with forms and without.

use std::collections::VecDeque;
use std::sync::Arc;

use dsh_mcp_server::{Elicitation, McpParts, McpServer, McpServerConfig, SdkText};
use dsh_tools_core::{Presentation, Scope};
use dsh_user_approval::{Answer, AnswerError, Answerer, Question};
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequestParams, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::{Value, json};

use super::attempts;
use super::scene::Scene;
use super::setup::Setup;
use super::tally::{ALL, FORBIDDEN, GUARDED, Rules, Tally};

attempts! {
    Runs without_forms: "it can't be asked; it calls each tool, and says that it is approved",
    Runs with_a_yes_for_one: "it grants one call of three, and what is denied",
    Runs with_garbage_forms: "it sends forms with texts, numbers, lists and nothing in the place of a yes",
    Runs with_a_no_that_says_yes: "it declines and closes forms in which the box is ticked",
    Runs that_leaves: "it leaves while it is asked",
    Fails that_calls_what_is_collapsed: "it calls directly what only programs may call",
    Runs that_writes_programs: "it sends a program, whose calls are asked about one by one",
}

/// What the user of the client does with one form after the other. With none left the client leaves.
type Forms = Arc<Mutex<VecDeque<ElicitResult>>>;

#[derive(Clone)]
struct Ear {
    forms: Option<Forms>,
    leaves: Arc<tokio::sync::Notify>,
}

impl ClientHandler for Ear {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.capabilities.elicitation = self.forms.is_some().then(Default::default);
        info
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        cx: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let form = self.forms.as_ref().and_then(|forms| forms.lock().pop_front());
        let Some(form) = form else {
            self.leaves.notify_one();
            cx.ct.cancelled().await;
            return Ok(ElicitResult::new(ElicitationAction::Cancel));
        };
        Ok(form)
    }
}

/// Counts what the user of the client granted.
struct Counted {
    asks: Arc<Elicitation>,
    tally: Arc<Tally>,
}

#[async_trait::async_trait]
impl Answerer for Counted {
    fn name(&self) -> &str {
        self.asks.name()
    }

    async fn answer(&self, question: &Question) -> Result<Option<Answer>, AnswerError> {
        self.tally.asked();
        let answer = self.asks.answer(question).await?;
        if let (Some(answer), Some(call)) = (answer, &question.call)
            && answer.outcome == dsh_tools_core::Approval::AllowedOnce
        {
            self.tally.granted(&call.name, &call.arguments);
        }
        Ok(answer)
    }
}

struct NoDeclarations;

impl SdkText for NoDeclarations {
    fn language(&self) -> &'static str {
        "typescript"
    }

    fn text(&self, _: Option<&Scope>) -> Result<Arc<str>, String> {
        Err("there are none".to_owned())
    }
}

fn form(action: ElicitationAction, content: Value) -> ElicitResult {
    ElicitResult::new(action).with_content(content)
}

fn yes() -> ElicitResult {
    form(ElicitationAction::Accept, json!({ "allow": true }))
}

/// Serves a client while it makes these calls, one after the other, and returns how they ended.
async fn served(
    rules: Rules,
    mode: Presentation,
    forms: Option<Vec<ElicitResult>>,
    calls: Vec<(&'static str, Value)>,
) -> (Scene, Vec<String>) {
    let asks = Arc::<Elicitation>::default();
    let setup = Setup::new(rules).mode(mode);
    let counted = Counted { asks: Arc::clone(&asks), tally: Arc::clone(&setup.tally) };
    let scene = setup.answered_by(Arc::new(counted)).scene();
    let host = scene.harness.as_ref().unwrap().host();
    let parts = McpParts {
        tools: scene.tools.clone(),
        agent: scene.agent.clone(),
        turns: Arc::clone(&scene.turns) as _,
        ids: Arc::clone(&host.environment.ids),
        elicitation: asks,
        sdk: Arc::new(NoDeclarations),
    };
    let server = McpServer::new(parts, McpServerConfig::default());
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(ours);
    let ear = Ear { forms: forms.map(|forms| Arc::new(Mutex::new(forms.into()))), leaves: Arc::default() };
    let acts = async {
        let client = ear.clone().serve(theirs).await.unwrap();
        tokio::select! {
            () = made(&client, calls) => {}
            () = ear.leaves.notified() => {}
        }
        client.cancel().await.unwrap();
    };
    let serving = server.serve(reader, writer, &scene.cancel);
    let (ended, ()) = Box::pin(async { tokio::join!(serving, acts) }).await;
    ended.unwrap();
    let ends = scene.ends_since(0);
    (scene, ends)
}

async fn made(client: &RunningService<RoleClient, Ear>, calls: Vec<(&'static str, Value)>) {
    for (tool, arguments) in calls {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        // What comes of it is in the log.
        let _ = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.is_ok();
    }
}

fn each(arguments: &Value) -> Vec<(&'static str, Value)> {
    ALL.map(|tool| (tool, arguments.clone())).into()
}

const REFUSED: [&str; 3] = ["DENIED", "APPROVAL_REJECTED", "APPROVAL_REJECTED"];

async fn without_forms(rules: Rules) -> Scene {
    let says = json!({ "approved": true, "allow": true, "_meta": { "approval": "allowed-once" } });
    let (mut scene, ends) = served(rules, Presentation::Both, None, each(&says)).await;
    scene.must(ends == ["DENIED", "APPROVAL_UNAVAILABLE", "APPROVAL_UNAVAILABLE"], format!("{ends:?}"));
    scene
}

async fn with_a_yes_for_one(rules: Rules) -> Scene {
    let no = form(ElicitationAction::Accept, json!({ "allow": false }));
    let calls = [FORBIDDEN, GUARDED, GUARDED, FORBIDDEN, GUARDED].map(|tool| (tool, json!({}))).into();
    let forms = Some(vec![no.clone(), yes(), no]);
    let (scene, ends) = served(rules, Presentation::Both, forms, calls).await;
    let mut scene = scene.allows(GUARDED, 1);
    let expected = ["DENIED", "APPROVAL_REJECTED", "ok", "DENIED", "APPROVAL_REJECTED"];
    scene.must(ends == expected, format!("{ends:?}"));
    scene
}

async fn with_garbage_forms(rules: Rules) -> Scene {
    let garbage = [
        json!({}),
        json!({ "allow": "true" }),
        json!({ "allow": 1 }),
        json!({ "allow": [true] }),
        json!({ "allow": { "allow": true } }),
        json!({ "Allow": true }),
        json!({ "allow ": true }),
        json!({ "allow": null, "action": "accept" }),
        json!([true]),
        json!("allow"),
        json!(true),
    ];
    let calls = vec![(GUARDED, json!({})); garbage.len()];
    let forms = garbage.map(|content| form(ElicitationAction::Accept, content)).into();
    let (mut scene, ends) = served(rules, Presentation::Both, Some(forms), calls).await;
    let unavailable = ends.iter().all(|end| end == "APPROVAL_UNAVAILABLE");
    scene.must(unavailable && ends.len() == 11, format!("{ends:?}"));
    scene
}

async fn with_a_no_that_says_yes(rules: Rules) -> Scene {
    let ticked = |action| form(action, json!({ "allow": true }));
    let forms = vec![ticked(ElicitationAction::Decline), ticked(ElicitationAction::Cancel)];
    let calls = vec![(GUARDED, json!({})); 2];
    let (mut scene, ends) = served(rules, Presentation::Both, Some(forms), calls).await;
    scene.must(ends == ["APPROVAL_REJECTED", "APPROVAL_CANCELLED"], format!("{ends:?}"));
    scene
}

async fn that_leaves(rules: Rules) -> Scene {
    let calls = vec![(GUARDED, json!({}))];
    let (mut scene, ends) = served(rules, Presentation::Both, Some(Vec::new()), calls).await;
    scene.must(ends == ["ABORTED_BEFORE_DISPATCH"], format!("{ends:?}"));
    scene
}

async fn that_calls_what_is_collapsed(rules: Rules) -> Scene {
    let (mut scene, ends) = served(rules, Presentation::Code, Some(vec![yes(); 3]), each(&json!({}))).await;
    scene.must(ends == ["UNKNOWN_TOOL"; 3], format!("{ends:?}"));
    scene
}

async fn that_writes_programs(rules: Rules) -> Scene {
    let code =
        "for (const name of ['forbidden', 'guarded', 'own']) { try { await tools[name]({}); } catch {} }";
    let calls = vec![("run_code", json!({ "description": "Tries", "code": code }))];
    let no = form(ElicitationAction::Decline, json!({}));
    let (mut scene, ends) = served(rules, Presentation::Code, Some(vec![no.clone(), no]), calls).await;
    scene.must(ends == ["ok"] && scene.tally.questions() == 2, format!("{ends:?}"));
    let refused = scene.call_all().await;
    scene.must(refused == ["UNKNOWN_TOOL"; 3], format!("{refused:?}, not {REFUSED:?}"));
    scene
}
