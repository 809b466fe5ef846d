//! What becomes of that which is over the cap (spec 07 §7.4).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dsh_agent::Agent;
use dsh_json::{Json, array, object};
use dsh_lifecycle::{Cause, Slot, SteppingClock};
use dsh_llm::plain_text;
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_spill::{SaveText, SpillOwner, SpillSource};
use dsh_tools_core::{
    Accept, CallInput, Context, Execution, Layer, Next, Observer, Post, PostDecision, ToolError, ToolResult,
    async_trait,
};
use insta::assert_snapshot;

use super::World;
use super::store::{Does, FakeStore};

const TREE: &[(&str, &str)] = &[
    ("old/1.rs", "needle one\nhay\nneedle two\n"),
    ("old/2\n.rs", "needle three, which is long\n"),
    ("top.rs", "needle four\n"),
];
const GLOB: &str = r#"{"pattern": "*.rs"}"#;
const GREP: &str = r#"{"pattern": "needle"}"#;
/// The first path, the first match, and nine bytes of it.
const ONE: &str = r#"{"globMaxResults": 1, "grepMaxMatches": 1, "grepMaxLineBytes": 9}"#;

fn agent() -> Agent {
    let session = Session::create(SessionSpec {
        header: Header::new("s1", 0).unwrap(),
        vocabulary: Arc::new(Vocabulary::core()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    });
    Agent::new(Scope::root(), session)
}

/// A call of the model.
fn called(tool: &str, arguments: &str) -> CallInput {
    let input = CallInput::new("c1", tool, Json::parse(arguments).unwrap());
    CallInput { agent: Some(agent()), ..input }
}

async fn told(world: &World, input: CallInput) -> String {
    let result = world.tools.execute(input).await;
    assert!(!result.is_error(), "{result:?}");
    plain_text(&result.content)
}

#[tokio::test]
async fn the_complete_list_of_files_is_kept_and_the_page_says_where() {
    let store = FakeStore::new(Does::Keep);
    let world = World::keeping(r#"{"globMaxResults": 2}"#, store.slot(), TREE);
    assert_snapshot!(told(&world, called("glob", GLOB)).await, @r"
    old/1.rs
    top.rs

    (These are 2 of 3 files, taken in turn from 2 of 2 top-level entries. The complete list is at /spill/s1/1-glob-results.txt. Page through it with `read`.)
    ");
    let expected = SaveText {
        owner: SpillOwner { session_id: "s1".into() },
        source: SpillSource { tool_name: "glob".into(), call_id: "c1".into(), label: "result".into() },
        suggested_name: "glob-results.txt".into(),
        content: "old/1.rs\n\"old/2\\n.rs\"\ntop.rs".into(),
    };
    assert_eq!(*store.given.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn the_complete_list_of_matches_is_kept_as_they_are_shown() {
    let store = FakeStore::new(Does::Keep);
    let world = World::keeping(ONE, store.slot(), TREE);
    let result = world.tools.execute(called("grep", GREP)).await;
    assert_snapshot!(plain_text(&result.content), @r"
    Found 1 of 4 matches

    old/1.rs:
    Line 1: needle on [cut; the line has 10 bytes]

    (The others are not shown. The complete list is at /spill/s1/1-grep-results.txt. Page through it with `read`.)
    ");
    assert_snapshot!(store.text(), @r#"
    Found 4 matches

    old/1.rs:
    Line 1: needle on [cut; the line has 10 bytes]
    Line 3: needle tw [cut; the line has 10 bytes]

    "old/2\n.rs":
    Line 1: needle th [cut; the line has 27 bytes]

    top.rs:
    Line 1: needle fo [cut; the line has 11 bytes]
    "#);
    let value = result.value().unwrap().to_text();
    assert!(value.contains("needle three, which is long"), "the value stays whole: {value}");
    assert!(result.meta.as_ref().unwrap().to_text().contains(r#""truncated":true,"total":4"#));
}

#[tokio::test]
async fn a_page_of_long_lines_ends_before_it_is_too_large_itself() {
    let line = format!("needle {}\n", "x".repeat(5_000));
    let file = line.repeat(200);
    let tree = [("long.txt", &*file), ("short.txt", "needle\n")];
    for (bytes, shown) in [(1, 1), (2_200, 1), (4_400, 2), (40_000, 19), (1_000_000, 201)] {
        let store = FakeStore::new(Does::Keep);
        let world = World::keeping(&format!(r#"{{"grepMaxBytes": {bytes}}}"#), store.slot(), &tree);
        let page = told(&world, called("grep", GREP)).await;
        let (lines, all) = (page.matches("\nLine ").count(), shown == 201);
        assert_eq!(lines, shown, "{bytes}");
        assert!(shown == 1 || page.len() <= bytes + 300, "{bytes}: {}", page.len());
        assert_eq!(page.starts_with(&format!("Found {shown} of 201 matches\n")), !all, "{bytes}");
        assert_eq!(store.given.lock().unwrap().len(), usize::from(!all), "{bytes}");
        if !all {
            assert_eq!(store.text().matches("\nLine ").count(), 201, "the list is complete");
        }
    }
}

#[tokio::test]
async fn what_fits_is_not_handed_over() {
    let store = FakeStore::new(Does::Keep);
    let world = World::keeping(r#"{"globMaxResults": 3, "grepMaxMatches": 4}"#, store.slot(), TREE);
    assert_eq!(told(&world, called("glob", GLOB)).await, "old/1.rs\n\"old/2\\n.rs\"\ntop.rs");
    assert!(told(&world, called("grep", GREP)).await.starts_with("Found 4 matches\n"));
    assert!(world.tools.execute(called("grep", r#"{"pattern": "("}"#)).await.is_error());
    assert!(store.is_unused());
}

#[tokio::test]
async fn without_a_store_the_page_is_the_same_and_one_that_comes_later_counts() {
    let slot = Slot::empty();
    let world = World::keeping(ONE, slot.clone(), TREE);
    let alone = told(&world, called("glob", GLOB)).await;
    assert_eq!(alone, world.text("glob", GLOB).await);
    assert!(alone.ends_with("top-level entries. Narrow the pattern or the path to see the others. To see an entry that is missing here, give it as the path.)"), "{alone}");
    let mounted = slot.provide(FakeStore::new(Does::Keep) as _).unwrap();
    assert!(told(&world, called("glob", GLOB)).await.contains("The complete list is at /spill/s1/"));
    drop(mounted);
    assert_eq!(told(&world, called("glob", GLOB)).await, alone);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_keep_never_fails_the_call_and_the_page_says_so() {
    let config = r#"{"grepMaxMatches": 3, "sampleOverCapGlobResults": false, "globMaxResults": 1, "spillTimeoutMs": 700}"#;
    let rows = [(Does::Fail, ""), (Does::Panic, ""), (Does::Hang, " within 700 ms")];
    for (does, why) in rows {
        let store = FakeStore::new(does);
        let world = World::keeping(config, store.slot(), TREE);
        let (by_name, by_content) =
            (told(&world, called("glob", GLOB)).await, told(&world, called("grep", GREP)).await);
        let expected = format!(
            "old/1.rs\n\n(This is the first of 3 files. The complete list could not be saved{why}. Narrow the pattern \
             or the path to see the others.)"
        );
        assert_eq!(by_name, expected);
        let expected = format!(
            "(The others are not shown. The complete list could not be saved{why}. Narrow the pattern, the path or the \
             include to see them.)"
        );
        assert!(by_content.ends_with(&expected), "{by_content}");
        let late = matches!(does, Does::Hang).then_some(Cause::Deadline);
        assert!(store.cancels.lock().unwrap().iter().all(|cancel| cancel.cause() == late));
    }
    let store = FakeStore::new(Does::Keep);
    let world = World::keeping(config, store.slot(), TREE);
    let unowned = world.text("glob", GLOB).await;
    assert!(
        unowned.contains("could not be saved, because this call belongs to no session. Narrow"),
        "{unowned}"
    );
    assert!(store.is_unused());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_stopped_while_it_is_saved_waits_no_longer() {
    let store = FakeStore::new(Does::Hang);
    let world = World::keeping(ONE, store.slot(), TREE);
    let input = called("grep", GREP);
    let stop = input.cancel.clone();
    let begun = tokio::time::Instant::now();
    let stopped = async {
        while store.is_unused() {
            tokio::task::yield_now().await;
        }
        stop.cancel(Cause::User);
    };
    let (text, ()) = tokio::join!(told(&world, input), stopped);
    assert!(text.contains("could not be saved. Narrow"), "{text}");
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

/// Notes the calls that had a result.
#[derive(Default)]
struct Calls(Mutex<Vec<Arc<Execution>>>);

impl Observer for Calls {
    fn result(&self, call: &Arc<Execution>, _: &Arc<ToolResult>) {
        self.0.lock().unwrap().push(Arc::clone(call));
    }
}

#[tokio::test]
async fn a_call_of_a_program_keeps_nothing() {
    let store = FakeStore::new(Does::Keep);
    let world = World::keeping(ONE, store.slot(), TREE);
    let calls = Arc::new(Calls::default());
    let _observed = world.tools.on_result(None, Arc::clone(&calls) as _);
    world.call("glob", r#"{"pattern": "none"}"#).await;
    let parent = calls.0.lock().unwrap().first().map(|call| call.token);
    for (tool, arguments) in [("glob", GLOB), ("grep", GREP)] {
        let text = told(&world, CallInput { parent, ..called(tool, arguments) }).await;
        assert!(text.contains("Narrow"), "{text}");
    }
    assert!(store.is_unused());
}

type SaysWhat = fn() -> PostDecision;

/// Says something about each result.
struct Says(SaysWhat);

#[async_trait]
impl Layer<Post, PostDecision> for Says {
    async fn call(&self, _: &Post, _: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        Ok((self.0)())
    }
}

fn note() -> Vec<Context> {
    vec![Context { plugin: "p".into(), form: None, content: dsh_llm::text("note") }]
}

#[tokio::test]
async fn what_another_listener_says_stands_and_its_messages_are_kept() {
    let content = || PostDecision::Accept(Accept::Content(dsh_llm::text("other")), note());
    let value = || {
        let value = object! { "root": ".", "paths": array!["x/1", "y/2", "z/3"] };
        PostDecision::Accept(Accept::Value(value), note())
    };
    let block = || PostDecision::Block(dsh_llm::text("no"), note());
    let keep = || PostDecision::Accept(Accept::Keep, note());
    let rows: [(SaysWhat, &str, usize); 4] = [
        (content, "other", 0),
        (value, "x/1\n\n(This is 1 of 3 files", 0),
        (block, "no", 0),
        (keep, "old/1.rs\n\n", 1),
    ];
    for (says, beginning, given) in rows {
        let store = FakeStore::new(Does::Keep);
        let world = World::keeping(ONE, store.slot(), TREE);
        let _listens = world.tools.on_post_execute(None, Arc::new(Says(says)));
        let result = world.tools.execute(called("glob", GLOB)).await;
        let text = plain_text(&result.content);
        assert!(text.starts_with(beginning), "{text}");
        assert_eq!(
            (result.contexts.as_slice(), store.given.lock().unwrap().len()),
            (note().as_slice(), given)
        );
    }
}

#[tokio::test]
async fn a_tool_of_the_same_name_is_left_alone() {
    let store = FakeStore::new(Does::Keep);
    let world = World::keeping(ONE, store.slot(), TREE);
    let input = called("glob", GLOB);
    // The agent's own `glob`, with the same value, over another workspace.
    let other = World::with(ONE, TREE);
    let theirs = other.tools.definition(None, "glob").unwrap();
    let scope = input.agent.as_ref().unwrap().scope().clone();
    let _shadow = world.tools.register(Some(&scope), dsh_tools_core::Definition::clone(&theirs)).unwrap();
    assert!(told(&world, input).await.contains("Narrow"));
    assert!(store.is_unused());
}

#[tokio::test]
async fn what_hands_over_goes_with_the_registrations() {
    let store = FakeStore::new(Does::Keep);
    let slot = store.slot();
    let World { dir: _dir, tools, mounted } = World::keeping(ONE, slot.clone(), TREE);
    drop(mounted);
    assert!(tools.execute(called("glob", GLOB)).await.is_error());
    drop(tools);
    assert!(store.is_unused());
    // The listeners are gone, and with them their hold on the slot and the registry.
    assert_eq!(Arc::strong_count(&store), 2);
}
