//! Scopes that see the tools otherwise, callers without a turn or an agent, and tools that change while somebody is asked.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::{Cancel, Cause, Registration, Registrations};
use dsh_tools_core::{
    Answer, Attempt, CallInput, Execution, Layer, Mask, Next, PreDecision, Presentation, RunContext, Scope,
    ToolError, Tools, object,
};
use dsh_tools_core::{AnyTool, BoxFuture, Content, Definition, Json, Schema, text};
use dsh_user_approval::Question;
use parking_lot::Mutex;

use super::attempts;
use super::person::{Person, Said};
use super::scene::Scene;
use super::setup::Setup;
use super::tally::{ALL, FORBIDDEN, GUARDED, OWN, Rules, Shelf, Tally, counting};

attempts! {
    Runs shadowed: "the agent's scope registers tools of its own under the three names",
    Runs shadowed_further_up: "a scope between registers them, and the agent acts below it",
    Runs hidden_for_a_moment: "a listener hides the tool while the call is decided, and a wrapper shows it again",
    Runs presented_otherwise: "the agent's scope presents as `both` what is presented as `code`",
    Runs a_parents_listener: "a listener of a scope above the agent says Allow",
    Runs outside_of_a_turn: "a call of an agent that has no turn open",
    Runs without_an_agent: "a call of no agent",
    Runs with_a_forged_parent: "a call that says that it is made within another one, under `code`",
    Runs within_a_tool: "another tool's body makes the calls",
    Fails removed_while_asked: "the tool is removed while the question is open, and then there is a yes",
    Fails replaced_while_asked: "another tool is registered under the name while the question is open, and then there is a yes",
    Fails shadowed_while_asked: "the agent's scope shadows the tool while the question is open, and then there is a yes",
    Runs the_asking_one_replaced: "the tool that asks by itself is registered anew, with a body that does not ask, while it asks",
    Runs registered_anew: "the tools are removed and registered again before the call",
    Runs the_turn_is_cancelled: "the turn is cancelled while the question is open, and then there is a yes",
    Runs the_harness_goes: "everything is unmounted while calls of it are on their way",
}

const REFUSED: [&str; 3] = ["DENIED", "APPROVAL_REJECTED", "APPROVAL_REJECTED"];

fn shadows(scene: &mut Scene, scope: &Scope) {
    for name in ALL {
        let tool = counting(&scene.tally, name, scene.rules);
        scene.kept.push(scene.tools.register(Some(scope), tool).unwrap());
    }
}

async fn refused(mut scene: Scene) -> Scene {
    let ends = scene.call_all().await;
    scene.must(ends == REFUSED, format!("{ends:?}"));
    scene
}

async fn shadowed(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).scene();
    let scope = scene.agent.scope().clone();
    shadows(&mut scene, &scope);
    let scene = refused(scene).await;
    scene
        .program("for (const name of ['forbidden', 'guarded']) { try { await tools[name]({}); } catch {} }")
        .await;
    scene
}

async fn shadowed_further_up(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).scene();
    let (above, apart) = (Scope::root(), Scope::root());
    shadows(&mut scene, &above);
    shadows(&mut scene, &apart);
    let agent = scene.agent_in(above.child().child());
    refused(scene.acting(agent)).await
}

/// Hides the tools from the agent while its call is decided, and shows them when it runs.
#[derive(Clone)]
struct Hides(Tools, Arc<Mutex<Option<Registration>>>);

#[async_trait]
impl Layer<Execution, PreDecision> for Hides {
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        let Some(agent) = &cx.agent else { return next.run(cx).await };
        let mask = Mask { deny: ALL.map(Arc::from).into(), ..Mask::default() };
        let hidden = self.0.restrict(agent.scope(), mask).ok();
        *self.1.lock() = hidden;
        let _said = next.run(cx).await;
        Ok(PreDecision::Allow)
    }
}

#[async_trait]
impl Layer<Attempt, Answer> for Hides {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        self.1.lock().take();
        next.run(cx).await
    }
}

async fn hidden_for_a_moment(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).behind(|tools| {
        let hides = Arc::new(Hides(tools.clone(), Arc::default()));
        let listener = tools.on_pre_execute(None, Arc::clone(&hides) as _);
        [listener, tools.on_execute(None, hides)].into_iter().collect()
    });
    let ends = [scene.call(FORBIDDEN, "{}").await, scene.call(GUARDED, "{}").await];
    scene.must(ends == ["DENIED"; 2], format!("{ends:?}"));
    scene
}

async fn presented_otherwise(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).mode(Presentation::Code).scene();
    let scope = scene.agent.scope().clone();
    scene.kept.push(scene.tools.present_as(Some(&scope), Presentation::Both).unwrap());
    refused(scene).await
}

struct Allows;

#[async_trait]
impl Layer<Execution, PreDecision> for Allows {
    async fn call(
        &self,
        _: &Execution,
        _: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        Ok(PreDecision::Allow)
    }
}

async fn a_parents_listener(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).scene();
    let above = Scope::root();
    scene.kept.push(scene.tools.on_pre_execute(Some(&above), Arc::new(Allows)));
    let agent = scene.agent_in(above.child());
    refused(scene.acting(agent)).await
}

async fn executed(scene: &mut Scene, input: impl Fn(&str) -> CallInput, codes: [&str; 3]) {
    for (tool, expected) in ALL.into_iter().zip(codes) {
        let result = scene.tools.execute(input(tool)).await;
        let code = result.error().and_then(ToolError::code).unwrap_or("ok").to_owned();
        scene.must(code == expected, format!("{tool}: {code}"));
    }
}

async fn outside_of_a_turn(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).says(vec![Said::Yes; 3]).scene();
    let agent = scene.agent.clone();
    let input =
        |tool: &str| CallInput { agent: Some(agent.clone()), ..CallInput::new("c", tool, object! {}) };
    executed(&mut scene, input, ["DENIED", "APPROVAL_FAILED", "APPROVAL_FAILED"]).await;
    let (questions, events) = (scene.tally.questions(), agent.session().len());
    scene.must(questions == 0 && events == 0, "a question was put, or recorded, outside of a turn");
    scene
}

async fn without_an_agent(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).says(vec![Said::Yes; 3]).scene();
    let input = |tool: &str| CallInput::new("c", tool, object! {});
    executed(&mut scene, input, ["DENIED", "APPROVAL_NO_AGENT", "APPROVAL_NO_AGENT"]).await;
    scene
}

/// Makes the three calls within its own, or with a parent that it made up.
struct Bridge(Tools);

impl AnyTool for Bridge {
    fn execute<'a>(&'a self, _: &'a Json, cx: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async {
            let call = cx.execution();
            for (tool, parent) in ALL.iter().flat_map(|tool| [(*tool, None), (*tool, Some(call.token))]) {
                let input = CallInput::new("within", tool, object! {});
                self.0.execute(CallInput { agent: call.agent.clone(), parent, ..input }).await;
            }
            Ok(object! {})
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("done"))
    }
}

fn with_bridge(setup: Setup) -> Setup {
    setup.plugin(|tools| {
        let any = || Schema::object().open().build().unwrap();
        let bridge = Definition::raw("bridge", "Calls.", any(), any(), Bridge(tools.clone())).unwrap();
        tools.register(None, bridge).unwrap().into()
    })
}

async fn within_a_tool(rules: Rules) -> Scene {
    let mut scene = with_bridge(Setup::new(rules)).scene();
    let end = scene.call("bridge", "{}").await;
    scene.must(end == "ok" && scene.tally.questions() == 4, format!("{end}, {}", scene.tally.questions()));
    scene
}

async fn with_a_forged_parent(rules: Rules) -> Scene {
    let mut scene = with_bridge(Setup::new(rules).mode(Presentation::Code)).scene();
    let end = scene.program("await tools.bridge({}); return 1;").await;
    scene.must(end == "ok" && scene.tally.questions() == 2, format!("{end}, {}", scene.tally.questions()));
    scene
}

/// Somebody says yes to a call of `tool` after this has happened.
async fn asked_while(
    rules: Rules,
    tool: &'static str,
    what: impl Fn(&Changes) + Send + Sync + 'static,
) -> Scene {
    let setup = Setup::new(rules);
    let changes = Arc::new(Changes {
        tools: Mutex::default(),
        tally: Arc::clone(&setup.tally),
        shelf: setup.shelf.clone(),
        kept: Mutex::default(),
    });
    let happens = {
        let changes = Arc::clone(&changes);
        move |question: &Question| {
            if let Some((_, scope)) = &mut *changes.tools.lock() {
                *scope = Some(question.agent.scope().clone());
            }
            what(&changes);
        }
    };
    let mut scene = setup.says([Said::meanwhile(happens, Said::Yes)]).scene();
    *changes.tools.lock() = Some((scene.tools.clone(), None));
    if rules == Rules::Absent {
        // Nobody asks, so nothing happens meanwhile; it happens before.
        scene.shelf.take(tool);
    }
    let end = scene.call(tool, "{}").await;
    scene.must(end == "UNKNOWN_TOOL" && scene.tally.questions() == 1, end);
    scene
}

/// What can change while a question is open.
struct Changes {
    tools: Mutex<Option<(Tools, Option<Scope>)>>,
    tally: Arc<Tally>,
    shelf: Shelf,
    kept: Mutex<Registrations>,
}

impl Changes {
    fn register(&self, tool: &'static str, in_scope: bool) {
        let Some((tools, scope)) = self.tools.lock().clone() else { return };
        let held =
            tools.register(scope.as_ref().filter(|_| in_scope), counting(&self.tally, tool, Rules::Absent));
        self.kept.lock().push(held.unwrap());
    }
}

async fn removed_while_asked(rules: Rules) -> Scene {
    asked_while(rules, GUARDED, |changes| changes.shelf.take(GUARDED)).await
}

async fn replaced_while_asked(rules: Rules) -> Scene {
    asked_while(rules, GUARDED, |changes| {
        changes.shelf.take(GUARDED);
        changes.register(GUARDED, false);
    })
    .await
}

async fn shadowed_while_asked(rules: Rules) -> Scene {
    asked_while(rules, GUARDED, |changes| changes.register(GUARDED, true)).await
}

async fn the_asking_one_replaced(rules: Rules) -> Scene {
    let scene = asked_while(rules, OWN, |changes| {
        changes.shelf.take(OWN);
        changes.register(OWN, false);
    })
    .await;
    if rules == Rules::Absent {
        scene.call(GUARDED, "{}").await;
    }
    scene
}

async fn registered_anew(rules: Rules) -> Scene {
    let mut scene = Setup::new(rules).scene();
    for name in ALL {
        scene.shelf.take(name);
        let tool = counting(&scene.tally, name, rules);
        scene.kept.push(scene.tools.register(None, tool).unwrap());
    }
    refused(scene).await
}

async fn the_turn_is_cancelled(rules: Rules) -> Scene {
    let setup = Setup::new(rules);
    let cancel = Cancel::new();
    let stops = cancel.clone();
    let meanwhile = Said::meanwhile(move |_| stops.cancel(Cause::User), Said::Yes);
    let mut scene = setup.says([meanwhile]).scene();
    scene.cancel = cancel;
    let end = scene.call(GUARDED, "{}").await;
    scene.must(end == "ABORTED_BEFORE_DISPATCH", end);
    scene
}

async fn the_harness_goes(rules: Rules) -> Scene {
    let setup = Setup::new(rules);
    let person = Person::new(&setup.tally, [Said::YesAfter(60_000)]);
    let mut scene = setup.answered_by(person).scene();
    let harness = scene.harness.as_ref().unwrap();
    let (ends, ()) = tokio::join!(scene.calls(&[(GUARDED, "{}"), (FORBIDDEN, "{}"), (OWN, "{}")]), async {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        harness.shut_down().await;
    });
    scene.must(ends.len() == 3 && !ends.contains(&"ok".to_owned()), format!("{ends:?}"));
    // What is unmounted is gone, the tools before the rules.
    scene.harness = None;
    let later = scene.call_all().await;
    scene.must(later == ["UNKNOWN_TOOL"; 3], format!("{later:?}"));
    scene
}
