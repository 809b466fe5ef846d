//! Where a session's log goes, and what stands in the way.

use dsh_harness::{Environment, Harness, SessionChoice};
use dsh_lifecycle::Cancel;
use dsh_llm::text;

use crate::world::{World, agent, verdict};

const TALK: &str = r#"{"steps": [{"text": "One."}, {"text": "Two."}]}"#;

#[tokio::test]
async fn a_session_in_memory_has_no_file() {
    let world = World::new();
    let harness = world.scripted(TALK);
    let open = harness.open_session(&SessionChoice::Memory).unwrap();
    assert!(open.file.is_none() && !open.resumed && open.set_aside.is_none());
    harness.run_turn(&harness.agent(open.session), text("Go."), &Cancel::new()).await.unwrap();
    assert_eq!(names(&world, "state"), [""; 0]);
}

#[tokio::test]
async fn a_file_is_created_and_continued() {
    let world = World::new();
    let file = world.path("logs/new/a.jsonl");
    let choice = SessionChoice::File(file.clone());
    let mut lengths = Vec::new();
    for resumed in [false, true] {
        let harness = world.scripted(TALK);
        let open = harness.open_session(&choice).unwrap();
        assert_eq!((open.resumed, open.file.as_deref()), (resumed, Some(&*file)));
        let agent = harness.agent(open.session);
        let outcome = harness.run_turn(&agent, text("Go."), &Cancel::new()).await.unwrap();
        assert_eq!(outcome.turn, if resumed { 2 } else { 1 });
        lengths.push(agent.session().len());
        harness.shut_down().await;
    }
    let stored = dsh_session_jsonl::read(&file).unwrap();
    assert_eq!(stored.events.len() as u64, *lengths.last().unwrap());
    assert_eq!(stored.header.unwrap().cwd().map(std::path::Path::new), Some(&*world.path("root")));
}

#[test]
fn a_fresh_file_lies_below_the_state_directory_and_is_named_after_the_session() {
    let world = World::new();
    let harness = world.scripted(TALK);
    let open = harness.open_session(&SessionChoice::Fresh).unwrap();
    assert_eq!(open.file, Some(world.path("state").join(format!("{}.jsonl", open.session.id()))));

    let homeless = Environment { state: None, ..world.environment() };
    let error = Harness::builder(homeless).build().unwrap().open_session(&SessionChoice::Fresh).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no place for session logs: neither HOME nor XDG_STATE_HOME is set; name a file with --session"
    );
}

#[test]
fn a_file_has_one_writer_until_all_its_handles_are_gone() {
    let world = World::new();
    let harness = world.scripted(TALK);
    let choice = SessionChoice::File(world.path("a.jsonl"));
    let open = harness.open_session(&choice).unwrap();
    let agent = harness.agent(open.session.clone());
    drop(open);
    let error = harness.open_session(&choice).unwrap_err();
    assert_eq!(world.shown(&error), "$DIR/a.jsonl is in use by another process");
    drop(agent);
    harness.open_session(&choice).unwrap();
}

#[tokio::test]
async fn a_torn_end_is_set_aside_and_damage_is_refused() {
    let world = World::new();
    let file = world.path("a.jsonl");
    let choice = SessionChoice::File(file.clone());
    let harness = world.scripted(TALK);
    let agent = harness.agent(harness.open_session(&choice).unwrap().session);
    harness.run_turn(&agent, text("Go."), &Cancel::new()).await.unwrap();
    drop(agent);
    let whole = std::fs::read_to_string(&file).unwrap();

    std::fs::write(&file, format!("{whole}{{\"type\":\"tur")).unwrap();
    let open = harness.open_session(&choice).unwrap();
    assert_eq!(open.set_aside.as_ref().map(|aside| aside.bytes), Some(12));
    assert!(open.resumed && verdict(&open.session).is_ok());
    drop(open);

    std::fs::write(&file, whole.replace("Go.", "No.")).unwrap();
    let error = harness.open_session(&choice).unwrap_err();
    let shown = world.shown(&error);
    assert!(shown.starts_with("$DIR/a.jsonl is damaged at line "), "{shown}");

    std::fs::write(&file, "not a log\n").unwrap();
    let error = harness.open_session(&choice).unwrap_err();
    assert_eq!(world.shown(&error), "$DIR/a.jsonl is not a session log");
}

#[tokio::test]
async fn what_an_earlier_life_left_open_is_closed() {
    let world = World::new();
    let file = world.path("a.jsonl");
    let choice = SessionChoice::File(file.clone());
    let harness = world.scripted(TALK);
    let agent_before = harness.agent(harness.open_session(&choice).unwrap().session);
    harness.run_turn(&agent_before, text("Go."), &Cancel::new()).await.unwrap();
    drop(agent_before);
    // As if the process had been killed before the end of the turn.
    let whole = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    std::fs::write(&file, lines.get(..lines.len() - 2).unwrap().join("\n") + "\n").unwrap();

    let open = harness.open_session(&choice).unwrap();
    let verdict = verdict(&open.session);
    assert!(verdict.is_ok() && verdict.open_turn.is_none(), "{verdict:?}");
    assert_eq!(agent(&harness).session().len(), 0);
}

fn names(world: &World, directory: &str) -> Vec<String> {
    let entries = std::fs::read_dir(world.path(directory)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
