//! Rows are mounted in order and unmounted in reverse, and nothing of them stays.

use std::sync::Arc;

use dsh_harness::{Harness, HarnessError, Host, MountError, Row, row};
use dsh_lifecycle::{Registration, Registrations};
use dsh_system_prompt::AssembleContext;
use dsh_tools_core::Tools;
use parking_lot::Mutex;
use serde::Deserialize;

use crate::world::{World, config};

type Notes = Arc<Mutex<Vec<String>>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A row that notes when it is mounted and unmounted.
fn noting(notes: &Notes, name: &'static str) -> Row {
    let notes = Arc::clone(notes);
    row(name, "takes notes", move |_: Nothing, _: &Host| {
        notes.lock().push(format!("+{name}"));
        let notes = Arc::clone(&notes);
        Ok(Registration::new(move || notes.lock().push(format!("-{name}"))).into())
    })
}

fn refusing(name: &'static str) -> Row {
    row(name, "can't be mounted", |_: Nothing, _: &Host| Err("there is no such thing".into()))
}

fn panicking_at_unmount(name: &'static str) -> Row {
    row(name, "panics when it goes", |_: Nothing, _: &Host| {
        Ok(Registration::new(|| panic!("on purpose")).into())
    })
}

#[test]
fn rows_are_mounted_in_their_order_behind_the_table_and_unmounted_in_reverse() {
    let (world, notes) = (World::new(), Notes::default());
    let rows = [noting(&notes, "b"), panicking_at_unmount("p"), noting(&notes, "a")];
    // The order of the text counts for nothing.
    let text = config(&world.file("dsh.toml"), "[a]\n[tool-fs]\n[b]\n");
    let builder = rows.into_iter().fold(world.builder().config(text), dsh_harness::HarnessBuilder::row);
    let harness = builder.build().unwrap();
    let names: Vec<_> = harness.plugins().iter().map(dsh_harness::MountedPlugin::name).collect();
    assert_eq!(
        names,
        [
            "sandbox-policy",
            "system-prompt",
            "model",
            "agent-loop",
            "user-approval",
            "permission-presets",
            "permission-rules",
            "timeout-policy",
            "repeat-reminder",
            "spill-local",
            "spill-policy",
            "fs-local",
            "observation-policy",
            "tool-fs",
            "tool-fs-search",
            "mcp-server",
            "code-mode",
            "b",
            "p",
            "a"
        ]
    );
    drop(harness);
    assert_eq!(*notes.lock(), ["+b", "+a", "-a", "-b"]);
}

#[test]
fn a_row_that_fails_unmounts_those_before_it_in_reverse() {
    let (world, notes) = (World::new(), Notes::default());
    let seen = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&seen);
    let looking = row("looking", "keeps a handle of the tools", move |_: Nothing, host: &Host| {
        *keep.lock() = Some((host.tools.clone(), host.model.clone(), host.fs.clone()));
        Ok(Registrations::new())
    });
    let builder = world.builder().row(looking).row(noting(&notes, "a")).row(noting(&notes, "b"));
    let error = builder.row(refusing("bad")).row(noting(&notes, "c")).build().err().unwrap();
    assert_eq!(error.to_string(), "plugin `bad`: there is no such thing");
    assert_eq!(*notes.lock(), ["+a", "+b", "-b", "-a"]);
    let (tools, model, fs) = seen.lock().take().unwrap();
    assert_eq!(visible(&tools), [""; 0]);
    assert!(model.get().is_none() && fs.get().is_none());
}

#[test]
fn nothing_is_mounted_when_a_configuration_is_refused() {
    let (world, notes) = (World::new(), Notes::default());
    let text = config(&world.file("dsh.toml"), "[b]\nkey = 1");
    let builder = world.builder().config(text).row(noting(&notes, "a")).row(noting(&notes, "b"));
    let error = builder.build().err().unwrap();
    assert_eq!(
        world.shown(&error),
        "$DIR/root/dsh.toml:2:1: b.key: unknown field `key`, there are no fields"
    );
    assert!(notes.lock().is_empty());
}

#[test]
fn names_are_given_once() {
    let (world, notes) = (World::new(), Notes::default());
    for (first, second) in [("a", "a"), ("b", "tool-fs")] {
        let error = world.builder().row(noting(&notes, first)).row(noting(&notes, second)).build().err();
        assert!(matches!(error, Some(HarnessError::DuplicateRow(name)) if name == second));
    }
    assert!(notes.lock().is_empty());
}

#[test]
fn a_row_of_the_outside_gets_its_typed_configuration() {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Greeting {
        words: String,
    }
    fn greet(config: Greeting, host: &Host) -> Result<Registrations, MountError> {
        let section = dsh_system_prompt::Section::new("greeting", 500, config.words);
        Ok(host.prompt.section(None, section)?.into())
    }
    let world = World::new();
    let build = |text: &str| {
        let text = config(&world.file("dsh.toml"), text);
        world.builder().config(text).row(row("greeting", "greets", greet)).build()
    };
    let assembly =
        build("greeting.words = 'Hello.'").unwrap().host().prompt.assemble(&AssembleContext::default());
    assert!(assembly.unwrap().render_prompt().unwrap().ends_with("Hello."));
    let missing = build("").err().unwrap();
    assert_eq!(world.shown(&missing), "$DIR/root/dsh.toml:1:1: greeting: missing field `words`");
}

#[test]
fn a_harness_that_is_dropped_leaves_nothing() {
    let world = World::new();
    let harness = world.builder().build().unwrap();
    let host = harness.host();
    let (tools, prompt) = (host.tools.clone(), host.prompt.clone());
    let (model, fs, search, turns) =
        (host.model.clone(), host.fs.clone(), host.search.clone(), host.turns.clone());
    let intents = host.intents.clone();
    assert!(intents.get().is_some());
    assert_eq!(visible(&tools), ["read", "write", "edit", "glob", "grep", "run_code"]);
    assert!(!assembled(&prompt).is_empty());
    assert!(harness.plugins().iter().map(dsh_harness::MountedPlugin::registrations).sum::<usize>() > 0);

    drop(harness);
    assert_eq!(visible(&tools), [""; 0]);
    assert_eq!(assembled(&prompt), "");
    assert!(model.get().is_none() && fs.get().is_none() && search.get().is_none() && turns.get().is_none());
    assert!(intents.get().is_none());
}

#[tokio::test]
async fn shutting_down_leaves_nothing_either() {
    let (world, notes) = (World::new(), Notes::default());
    let harness: Harness = world.builder().row(noting(&notes, "a")).row(noting(&notes, "b")).build().unwrap();
    let tools = harness.host().tools.clone();
    harness.shut_down().await;
    assert_eq!(visible(&tools), [""; 0]);
    assert_eq!(*notes.lock(), ["+a", "+b", "-b", "-a"]);
}

fn visible(tools: &Tools) -> Vec<String> {
    tools.view(None).tools().map(|tool| tool.name().to_string()).collect()
}

fn assembled(prompt: &dsh_system_prompt::SystemPrompt) -> String {
    prompt.assemble(&AssembleContext::default()).unwrap().render_prompt().unwrap()
}
