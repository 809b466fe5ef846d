//! No way leads around the rules.

use std::sync::Arc;

use dsh_permission_rules::{PermissionRules, RulesConfig};
use dsh_tools_core::{
    Answer, Approval, Arguments, Attempt, CallInput, Definition, Execution, JsonLimits, Layer, Mask, Next,
    PreDecision, Presentation, Registration, Schema, ToolError, Tools, Transport, async_trait, codes, object,
};
use parking_lot::Mutex;

use crate::scene::{Person, Program, Scene, rules, told, without_the_rest};

const GRANTS: Option<Person> = Some(Person::Says(Approval::AllowedOnce));

#[tokio::test]
async fn the_strictest_rule_holds_on_every_path() {
    // config, tool, what it comes to, whether somebody is asked
    for (config, tool, begins, asked) in [
        (r#"{"deny": ["bash"]}"#, "bash", "DENIED", false),
        (r#"{"deny": ["bash"]}"#, "read", "done", false),
        (r#"{"allow": ["bash"], "deny": ["b*"]}"#, "bash", "DENIED", false),
        (r#"{"ask": ["bash"], "deny": ["*"]}"#, "bash", "DENIED", false),
        (r#"{"allow": ["*"], "ask": ["*sh"]}"#, "bash", "done", true),
        (r#"{"allow": ["program"], "otherwise": "deny"}"#, "bash", "DENIED", false),
        (r#"{"allow": ["program", "bash"], "otherwise": "deny"}"#, "bash", "done", false),
        (r#"{"allow": ["program"], "otherwise": "ask"}"#, "bash", "done", true),
        (r#"{"ask": ["bash"], "otherwise": "allow"}"#, "read", "done", false),
        // A tool that asks by itself is not asked about when it is denied.
        (r#"{"deny": ["own"]}"#, "own", "DENIED", false),
    ] {
        let scene = Scene::new(config, GRANTS);
        for way in ["direct", "nested"] {
            let told = if way == "direct" { scene.call(tool).await } else { scene.nested(tool).await };
            assert!(told.starts_with(begins), "{config} {tool} {way}: {told}");
            let noted = scene.noted();
            assert_eq!(noted.iter().any(|note| note.starts_with("asked")), asked, "{config} {tool} {way}");
            assert_eq!(noted.contains(&format!("{tool} ran")), begins == "done", "{config} {tool} {way}");
        }
    }
}

#[tokio::test]
async fn nothing_is_registered_where_the_rules_are_against_nothing() {
    let scene = Scene::bare();
    for config in ["{}", r#"{"allow": ["*"]}"#] {
        let before = scene.tools.version();
        assert!(rules(&scene.tools, config).is_empty());
        assert_eq!(scene.tools.version(), before, "{config}");
    }
    assert_eq!(rules(&scene.tools, r#"{"deny": ["x"]}"#).len(), 2);
}

#[tokio::test]
async fn rules_go_with_their_registration() {
    let scene = Scene::bare();
    let held = rules(&scene.tools, r#"{"deny": ["*"]}"#);
    assert!(scene.call("bash").await.starts_with("DENIED"));
    drop(held);
    assert_eq!(scene.call("bash").await, "done");
}

#[tokio::test]
async fn what_is_no_configuration_registers_nothing() {
    let scene = Scene::bare();
    let before = scene.tools.version();
    let config = RulesConfig { deny: vec!["bash".into(), "bash".into()], ..RulesConfig::default() };
    let refused = PermissionRules::new(scene.tools.clone(), config).err().unwrap();
    assert_eq!(refused.to_string(), "`deny` has `bash` twice");
    assert_eq!(scene.tools.version(), before);
}

#[tokio::test]
async fn a_denial_stands_whatever_listeners_say() {
    let deny = r#"{"deny": ["bash"]}"#;
    for says in [PreDecision::Allow, PreDecision::Ask(None)] {
        let outside = Scene::behind(deny, GRANTS, says.clone());
        let mut inside = Scene::new(deny, GRANTS);
        inside.keep(inside.tools.on_pre_execute(None, without_the_rest(says.clone())));
        let mut scoped = Scene::new(deny, GRANTS);
        let scope = scoped.agent.scope().clone();
        scoped.keep(scoped.tools.on_pre_execute(Some(&scope), without_the_rest(says)));
        for scene in [outside, inside, scoped] {
            for told in [scene.call("bash").await, scene.nested("bash").await] {
                assert!(told.starts_with("DENIED Error: `bash` is denied by the rule"), "{told}");
            }
            assert!(!scene.noted().contains(&"bash ran".to_owned()));
        }
    }
}

#[tokio::test]
async fn a_call_of_no_agent_is_ruled_too() {
    let scene = Scene::new(r#"{"deny": ["bash"]}"#, None);
    let result = scene.tools.execute(CallInput::new("c", "bash", object! {})).await;
    assert_eq!(result.error().unwrap().info.as_ref().unwrap().code, codes::DENIED);
    assert!(scene.noted().is_empty());
}

#[tokio::test]
async fn a_tool_that_is_registered_anew_or_in_a_scope_is_ruled_by_its_name() {
    let mut scene = Scene::new(r#"{"deny": ["late", "bash"]}"#, None);
    let scope = scene.agent.scope().clone();
    let first = scene.tools.register(None, scene.tool("late", None)).unwrap();
    assert!(scene.call("late").await.starts_with("DENIED"));
    drop(first);
    scene.keep(scene.tools.register(None, scene.tool("late", None)).unwrap());
    scene.keep(scene.tools.register(Some(&scope), scene.tool("bash", None)).unwrap());
    for name in ["late", "bash"] {
        assert!(scene.call(name).await.starts_with("DENIED"), "{name}");
        assert!(scene.nested(name).await.starts_with("DENIED"), "{name}");
    }
    assert!(scene.noted().is_empty());
}

/// Hides `bash` from the agent while the call is decided, and lets it through.
#[derive(Clone)]
struct Hides(Tools, Arc<Mutex<Option<Registration>>>);

#[async_trait]
impl Layer<Execution, PreDecision> for Hides {
    async fn call(
        &self,
        cx: &Execution,
        _: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        let mask = Mask { deny: [Arc::from("bash")].into(), ..Mask::default() };
        *self.1.lock() = Some(self.0.restrict(cx.agent.as_ref().unwrap().scope(), mask).unwrap());
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

#[tokio::test]
async fn a_tool_that_is_hidden_for_the_moment_is_no_way_around() {
    for (config, begins) in
        [(r#"{"deny": ["bash"]}"#, "DENIED"), (r#"{"ask": ["bash"]}"#, "DENIED"), ("{}", "done")]
    {
        let mut scene = Scene::bare();
        let hides = Arc::new(Hides(scene.tools.clone(), Arc::default()));
        scene.keep(scene.tools.on_pre_execute(None, Arc::clone(&hides) as _));
        scene.keep(scene.tools.on_execute(None, hides));
        scene.kept.append(rules(&scene.tools, config));
        let told = scene.call("bash").await;
        assert!(told.starts_with(begins), "{config}: {told}");
        assert_eq!(scene.noted().is_empty(), begins == "DENIED", "{config}");
    }
}

#[tokio::test]
async fn malformed_calls_run_nothing_and_nobody_is_asked() {
    for config in [r#"{"deny": ["bash"]}"#, r#"{"ask": ["bash"]}"#] {
        let scene = Scene::new(config, GRANTS);
        let arguments = Arguments::parse("{\"a\": ", &JsonLimits::default());
        let told = scene.execute(CallInput::new("c", "bash", arguments)).await;
        assert!(told.starts_with(codes::INVALID_ARGS), "{told}");
        assert!(scene.noted().is_empty());
    }
}

/// Makes a tool of the program that runs programs.
struct Bridge(Tools);

impl Transport for Bridge {
    fn definition(&self) -> Definition {
        let any = || Schema::object().open().build().unwrap();
        Definition::raw("run_code", "Calls.", any(), any(), Program(self.0.clone())).unwrap()
    }

    fn ready(&self) -> Result<(), String> {
        Ok(())
    }

    fn route(&self, tool: &str) -> String {
        format!("call {tool} in a program")
    }
}

#[tokio::test]
async fn rules_hold_in_every_presentation_and_for_the_transport_itself() {
    for presentation in Presentation::ALL {
        for (config, begins, rules_the_transport) in [
            (r#"{"deny": ["bash"]}"#, "DENIED", false),
            (r#"{"ask": ["bash"]}"#, "APPROVAL_UNSUPPORTED", false),
            (r#"{"deny": ["run_*"]}"#, "DENIED", true),
            (r#"{"allow": ["bash"], "otherwise": "deny"}"#, "DENIED", true),
        ] {
            let mut scene = Scene::new(config, None);
            scene.keep(scene.tools.mount_transport(Arc::new(Bridge(scene.tools.clone()))).unwrap());
            scene.keep(scene.tools.present_as(None, presentation).unwrap());
            let arguments = object! { "tool": "bash" };
            let input =
                CallInput { agent: Some(scene.agent.clone()), ..CallInput::new("c", "run_code", arguments) };
            let told = told(&scene.tools.execute(input).await);
            // Where no program can be run there is no such tool, and a rule that names it refuses it all the same.
            let there = presentation != Presentation::Native || rules_the_transport;
            let begins = if there { begins } else { codes::UNKNOWN_TOOL };
            assert!(told.starts_with(begins), "{presentation} {config}: {told}");
            assert!(scene.noted().is_empty(), "{presentation} {config}");
        }
    }
}
