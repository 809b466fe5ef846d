//! What is shown in part is read on with `read`, by the locator that the notice names.

use std::num::NonZeroU64;
use std::sync::Arc;

use dsh_json::{Json, object};
use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};
use dsh_system_prompt::SystemPrompt;
use dsh_tool_fs::{FsTools, FsToolsConfig};
use dsh_tools_core::{CallInput, ToolResult};

use crate::previews::Chance;
use crate::scene::{Scene, agent_of, only_text};

/// A policy and the file tools over one store. There are no files.
fn scene(cap: usize) -> Scene {
    let mut scene = Scene::capped(cap);
    let small = |number| NonZeroU64::new(number).unwrap();
    let config =
        FsToolsConfig { read_limit: small(40), read_max_bytes: small(600), ..FsToolsConfig::default() };
    let policy = Arc::new(SandboxPolicy::new(SandboxMode::ReadOnly, "/w", []));
    let tools = FsTools::new(dsh_lifecycle::Slot::empty(), policy, config).with_spill(scene.slot.clone());
    let mounted = tools.register(&scene.tools, &SystemPrompt::default()).unwrap();
    scene.kept.append(mounted);
    scene
}

/// The locator in a notice.
fn locator(shown: &str) -> &str {
    let (_, rest) =
        shown.rsplit_once("is stored at ").unwrap_or_else(|| panic!("nothing is stored: {shown}"));
    rest.split_once(". ").unwrap().0
}

async fn read(scene: &Scene, session: &str, locator: &str, offset: u64) -> Arc<ToolResult> {
    let arguments = object! { "file_path": locator, "offset": offset };
    let agent = Some(agent_of(session, None));
    scene.tools.execute(CallInput { agent, ..CallInput::new("c2", "read", arguments) }).await
}

/// All lines of a stored text, page by page, and how many pages those were.
async fn pages(scene: &Scene, locator: &str) -> (Vec<String>, usize) {
    let (mut lines, mut pages) = (Vec::new(), 0);
    loop {
        let result = read(scene, "s", locator, lines.len() as u64 + 1).await;
        let value = result.value().unwrap_or_else(|| panic!("{result:?}"));
        let page = value.get("lines").and_then(Json::as_array).unwrap();
        lines.extend(page.iter().map(|line| line.get("text").and_then(Json::as_str).unwrap().to_owned()));
        pages += 1;
        if value.get("totalLines").and_then(Json::as_u64) == Some(lines.len() as u64) {
            return (lines, pages);
        }
        assert!(!page.is_empty() && only_text(&result.content).contains("Go on with offset"));
    }
}

#[tokio::test]
async fn the_notice_names_a_locator_that_read_takes_for_any_text() {
    let mut chance = Chance(7);
    let (mut stored, mut turned) = (0, 0);
    for _ in 0..300 {
        let mut scene = scene(300);
        // Lines that are not cut: that their rest is reached is the tool's to show.
        let text: String = chance.text().split_inclusive('\n').filter(|line| line.len() < 500).collect();
        let shown = scene.says(&text).await;
        if shown == text {
            continue;
        }
        let (lines, count) = pages(&scene, locator(&shown)).await;
        // As lines are counted everywhere here: at `\n`, and a `\r` in front of it is no part of them.
        let end = |line: &str| line.strip_suffix('\r').unwrap_or(line).to_owned();
        assert_eq!(lines, text.split_terminator('\n').map(end).collect::<Vec<_>>());
        (stored, turned) = (stored + 1, turned + usize::from(count > 1));
        assert_eq!(
            (scene.shelf.take().len(), scene.warned().as_str()),
            (1, ""),
            "a page is not stored again"
        );
    }
    assert!(stored > 50 && turned > 10, "{stored} {turned}");
}

#[tokio::test]
async fn a_stored_result_is_its_session_s_to_read() {
    let mut scene = scene(300);
    let shown = scene.says(&"line\n".repeat(400)).await;
    let locator = locator(&shown);
    assert_eq!(locator, "mem:c1");
    assert!(only_text(&read(&scene, "s", locator, 399).await.content).contains("\n400: line\n"));
    let refused = read(&scene, "other", locator, 1).await;
    assert_eq!(refused.error().and_then(|error| error.code()), Some("SPILL_NOT_FOUND"));
    // A store that went away took its locators along.
    scene.store = None;
    let result = read(&scene, "s", locator, 1).await;
    assert!(only_text(&result.content).contains("no file system is mounted"));
}
