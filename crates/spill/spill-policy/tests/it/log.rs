//! What the log keeps of programs' calls, record by record (spec 08 §4.3).

use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::text;
use dsh_spill::SpillSource;
use dsh_tools_core::{CallInput, Content, Dispatch, Execution, Layer, Next, Observer, ToolError, ToolResult};
use parking_lot::Mutex;

use crate::scene::{Gives, Scene, block, image, only_text, tool};
use crate::shelf::Does;

#[derive(Default)]
struct Seen(Mutex<Option<Arc<Execution>>>);

impl Observer for Seen {
    fn result(&self, call: &Arc<Execution>, _: &Arc<ToolResult>) {
        *self.0.lock() = Some(Arc::clone(call));
    }
}

/// A record of a call of `tool` with this content, within a call that has an agent or not.
pub(crate) async fn record(scene: &mut Scene, tool_name: &str, content: Content, owned: bool) -> Dispatch {
    let seen = Arc::new(Seen::default());
    let heard = [
        scene.tools.register(None, tool("program", Gives::Content(text("over")))).unwrap(),
        scene.tools.on_result(None, Arc::clone(&seen) as _),
    ];
    let input = scene.input("program");
    let agent = input.agent.clone().filter(|_| owned);
    scene.tools.execute(CallInput { agent, ..input }).await;
    drop(heard);
    let program = seen.0.lock().take().unwrap();
    Dispatch {
        program,
        agent: scene.agent.clone(),
        sub_call_id: "c1:code:1".into(),
        name: tool_name.into(),
        is_error: false,
        content,
    }
}

fn long() -> String {
    "line\n".repeat(400)
}

#[tokio::test]
async fn a_record_is_bounded_byte_for_byte_as_a_result_is() {
    let mut scene = Scene::capped(300);
    let shown = scene.says(&long()).await;
    let mut dispatch = record(&mut scene, "t", text(long()), true).await;
    dispatch.sub_call_id = "c1".into();
    assert_eq!(only_text(&scene.tools.kept_of(&dispatch).await), shown);
    dispatch.sub_call_id = "c1:code:1".into();
    assert!(only_text(&scene.tools.kept_of(&dispatch).await).contains("at mem:c1:code:1."));
    let [_, _, saved] = &scene.shelf.take()[..] else { panic!("three texts") };
    assert_eq!((&*saved.owner.session_id, &*saved.suggested_name), ("s", "t.txt"));
    let source = SpillSource { tool_name: "t".into(), call_id: "c1:code:1".into(), label: "dispatch".into() };
    assert_eq!((&saved.source, &*saved.content), (&source, &*long()));
}

#[tokio::test]
async fn a_record_that_fits_is_kept_as_it_is() {
    let mut scene = Scene::capped(300);
    let contents: [Content; 3] =
        [text("short"), [block("short"), image("1")].into(), [image("1"), image("2")].into()];
    for content in contents {
        let dispatch = record(&mut scene, "t", Arc::clone(&content), true).await;
        assert!(Arc::ptr_eq(&scene.tools.kept_of(&dispatch).await, &content));
    }
    assert_eq!(*scene.shelf.asked.lock(), 0);
}

#[tokio::test]
async fn pictures_stay_and_tools_that_page_are_bounded_too() {
    let mut scene = Scene::capped(300);
    scene.tool(tool("view", Gives::Content(text("unused"))).paging());
    let content: Content = [block(&long()), image("1"), block("more")].into();
    let dispatch = record(&mut scene, "view", content, true).await;
    let kept = scene.tools.kept_of(&dispatch).await;
    let [shown, picture] = &*kept else { panic!("{kept:?}") };
    assert!(shown.as_text().unwrap().len() <= 300);
    assert_eq!((picture, scene.shelf.take().len()), (&image("1"), 1));
}

#[tokio::test(start_paused = true)]
async fn a_record_that_can_t_be_stored_is_kept_whole() {
    let config = r#"{"maxInlineBytes": 300, "saveMs": 70}"#;
    for (does, owned, stopped, reason) in [
        (Does::Refuse, true, false, "the disk is full"),
        (Does::Hang, true, false, "`saveMs` allows 70"),
        (Does::Hang, true, true, "saving was aborted"),
        (Does::Keep, false, false, "the call belongs to no session"),
    ] {
        let mut scene = Scene::with(config, does);
        let dispatch = record(&mut scene, "t", text(long()), owned).await;
        if stopped {
            let cancel: &Cancel = &dispatch.program.cancel;
            cancel.cancel(Cause::User);
        }
        let kept = scene.tools.kept_of(&dispatch).await;
        assert!(Arc::ptr_eq(&kept, &dispatch.content), "{reason}");
        let warned = scene.warned();
        assert!(warned.contains(reason), "{reason}: {warned}");
        assert!(warned.contains(r#"tool="t" call="c1:code:1" label="dispatch""#), "{warned}");
    }
}

/// Makes something else of every record.
struct Rewrites;

#[async_trait]
impl Layer<Dispatch, Content> for Rewrites {
    async fn call(&self, _: &Dispatch, _: Next<'_, Dispatch, Content>) -> Result<Content, ToolError> {
        Ok(text("rewritten\n".repeat(100)))
    }
}

#[tokio::test]
async fn what_a_listener_inside_makes_of_a_record_is_bounded() {
    let mut scene = Scene::capped(300);
    scene.kept.push(scene.tools.on_dispatch_log(None, Arc::new(Rewrites)));
    let dispatch = record(&mut scene, "t", text("short"), true).await;
    let kept = only_text(&scene.tools.kept_of(&dispatch).await);
    assert!(kept.len() <= 300 && kept.starts_with("rewritten\n"), "{kept}");
    scene.policy = None;
    assert_eq!(only_text(&scene.tools.kept_of(&dispatch).await).len(), 1_000);
    assert_eq!(scene.shelf.take().len(), 1);
}
