//! Presets that ask nobody, switches at a bad moment, and sessions that go on.

use std::sync::Arc;

use dsh_approval_policy::{ApprovalPolicy, PolicyChanged};
use dsh_harness::{Presets, SandboxMode};
use dsh_lifecycle::Slot;
use dsh_permission_presets::PresetChosen;
use dsh_sandbox_policy::set_session_mode;
use dsh_tools_core::object;
use dsh_user_approval::Question;
use parking_lot::Mutex;

use super::attempts;
use super::person::Said;
use super::scene::Scene;
use super::setup::Setup;
use super::tally::{FORBIDDEN, GUARDED, OWN, Rules};

attempts! {
    Runs full_access: "`danger-full-access` lifts no rule, and asks nobody",
    Runs full_access_that_asks: "a preset of the configuration with full access that asks",
    Runs switched_to_full_access_while_asked: "the session is switched to `danger-full-access` while the question is open, and then there is a no",
    Runs switched_while_asked_and_granted: "the same, and the question that was open is granted: it counts, and no other",
    Fails switched_to_read_only_while_asked: "more reach is asked for, the session is narrowed meanwhile, and then there is a no",
    Runs a_session_that_goes_on: "a session under `never` goes on where new ones are asked",
    Runs a_cut_switch_to_never: "the process died in the middle of a switch to `never`",
    Runs a_cut_switch_to_asking: "the process died in the middle of a switch away from `never`",
    Runs chosen_by_the_operator: "`--preset danger-full-access` for a session that asked before",
}

const NEVER: [&str; 3] = ["DENIED", "APPROVAL_REJECTED", "APPROVAL_REJECTED"];

async fn rejected_unasked(mut scene: Scene) -> Scene {
    let before = scene.tally.questions();
    let ends = scene.call_all().await;
    scene.must(ends == NEVER, format!("{ends:?}"));
    scene.must(scene.tally.questions() == before, "somebody was asked");
    scene
}

async fn full_access(rules: Rules) -> Scene {
    let setup = Setup::new(rules).config("permission-presets.defaultPreset = 'danger-full-access'");
    rejected_unasked(setup.says(vec![Said::Yes; 3]).scene()).await
}

async fn full_access_that_asks(rules: Rules) -> Scene {
    let preset = "permission-presets.presets.bold = { sandbox = 'danger-full-access', approval = 'ask' }\n\
                  permission-presets.defaultPreset = 'bold'";
    let mut scene = Setup::new(rules).config(preset).scene();
    let ends = scene.call_all().await;
    scene.must(ends == NEVER && scene.tally.questions() == 2, format!("{ends:?}"));
    scene
}

/// The presets of a scene that is not built yet.
#[derive(Clone, Default)]
struct Later(Arc<Mutex<Option<Slot<Presets>>>>);

impl Later {
    fn knows(&self, scene: &Scene) {
        *self.0.lock() = Some(scene.harness.as_ref().unwrap().host().presets.clone());
    }

    fn switches_to(&self, name: &'static str) -> impl Fn(&Question) + Send + Sync + 'static {
        let presets = self.clone();
        move |question| {
            let presets = presets.0.lock().as_ref().and_then(Slot::get).unwrap();
            presets.switch(&question.agent, name).unwrap();
        }
    }
}

async fn switched_to_full_access_while_asked(rules: Rules) -> Scene {
    let later = Later::default();
    let says = Said::meanwhile(later.switches_to("danger-full-access"), Said::No);
    let mut scene = Setup::new(rules).says([says, Said::Yes]).scene();
    later.knows(&scene);
    let end = scene.call(GUARDED, "{}").await;
    scene.must(end == "APPROVAL_REJECTED", end);
    rejected_unasked(scene).await
}

async fn switched_while_asked_and_granted(rules: Rules) -> Scene {
    let later = Later::default();
    let says = Said::meanwhile(later.switches_to("danger-full-access"), Said::Yes);
    let mut scene = Setup::new(rules).says([says, Said::Yes]).scene().allows(GUARDED, 1);
    later.knows(&scene);
    let end = scene.call(GUARDED, "{}").await;
    scene.must(end == "ok", end);
    rejected_unasked(scene).await
}

async fn switched_to_read_only_while_asked(rules: Rules) -> Scene {
    let later = Later::default();
    let says = Said::meanwhile(later.switches_to("read-only"), Said::No);
    let mut scene = Setup::new(rules).says([says]).scene();
    later.knows(&scene);
    let outside = scene.world.path("new.txt");
    let arguments = object! {
        "file_path": outside.display().to_string(), "content": "x",
        "sandbox_permissions": "danger-full-access", "justification": "because",
    };
    let ends = [
        scene.call("write", &arguments.to_text()).await,
        scene.call("write", r#"{"file_path": "in.txt", "content": "x"}"#).await,
    ];
    scene.must(ends == ["APPROVAL_REJECTED", "FS_SANDBOX_DENIED"], format!("{ends:?}"));
    scene.must(!outside.exists() && !scene.world.file("in.txt").exists(), "a file was written");
    scene
}

async fn a_session_that_goes_on(rules: Rules) -> Scene {
    let setup = Setup::new(rules).log("s.jsonl");
    let first = setup.config("permission-presets.defaultPreset = 'danger-full-access'").scene();
    first.call("nothing", "{}").await;
    let setup = Setup::again(&first).log("s.jsonl").says(vec![Said::Yes; 3]);
    let faults = first.faults();
    let mut scene = setup.scene();
    scene.must(faults.is_empty(), format!("{faults:?}"));
    rejected_unasked(scene).await
}

/// A log that ends within a switch, and goes on.
fn cut(rules: Rules, begins: impl FnOnce(&Scene), says: Vec<Said>) -> Scene {
    let first = Setup::new(rules).log("s.jsonl").scene();
    begins(&first);
    let setup = Setup::again(&first).log("s.jsonl").says(says);
    drop(first);
    setup.scene()
}

async fn a_cut_switch_to_never(rules: Rules) -> Scene {
    let begins = |scene: &Scene| {
        let session = scene.agent.session();
        scene.harness.as_ref().unwrap().host().presets.get().unwrap().pin(session).unwrap();
        session.append(&PresetChosen { preset: "danger-full-access".into() }).unwrap();
    };
    rejected_unasked(cut(rules, begins, vec![Said::Yes; 3])).await
}

async fn a_cut_switch_to_asking(rules: Rules) -> Scene {
    let begins = |scene: &Scene| {
        let session = scene.agent.session();
        session.append(&PresetChosen { preset: "danger-full-access".into() }).unwrap();
        set_session_mode(session, SandboxMode::DangerFullAccess, None).unwrap();
        session.append(&PolicyChanged { policy: ApprovalPolicy::Never, source: None }).unwrap();
        session.append(&PresetChosen { preset: "workspace-write".into() }).unwrap();
    };
    let mut scene = cut(rules, begins, vec![Said::No; 2]);
    let ends = scene.call_all().await;
    scene.must(ends == NEVER && scene.tally.questions() == 2, format!("{ends:?}"));
    scene
}

async fn chosen_by_the_operator(rules: Rules) -> Scene {
    let first = Setup::new(rules).log("s.jsonl").scene();
    let end = first.call(OWN, "{}").await;
    let setup = Setup::again(&first).log("s.jsonl").says(vec![Said::Yes; 3]);
    let faults = first.faults();
    let mut scene = setup.built(|builder| builder.preset("danger-full-access")).scene();
    scene.must(faults.is_empty() && end == "APPROVAL_REJECTED", format!("{faults:?}, {end}"));
    let denied = scene.call(FORBIDDEN, "{}").await;
    scene.must(denied == "DENIED", denied);
    rejected_unasked(scene).await
}
