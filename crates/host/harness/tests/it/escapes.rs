//! Attempts to reach what is not for tools, each as a call of a turn: what a model asks for, in a workspace that others
//! have prepared.

mod attempts;
mod ground;
mod page;
mod race;

use dsh_harness::SessionChoice;
use dsh_llm::plain_text;
use dsh_tools_core::ToolResult;

use attempts::{Attempt, End, With, attempts, by_rules, by_second_name};
use ground::{Caller, Ground, Outside, Tree};

#[tokio::test]
async fn every_attempt_is_refused_or_stays_inside() {
    check(&attempts(), Outside::Nothing).await;
}

#[tokio::test]
async fn rules_from_out_of_reach_do_not_show_in_what_a_search_leaves_out() {
    check(&by_rules(), Outside::OtherFiles).await;
}

/// Makes the attempts on two grounds that differ in what lies out of reach, and compares what the model reads.
async fn check(attempts: &[Attempt], other: Outside) {
    let mut wrong = Vec::new();
    for attempt in attempts {
        let told = made(attempt, Outside::Files, &mut wrong).await;
        let told_elsewhere = made(attempt, other, &mut wrong).await;
        if told != told_elsewhere {
            let what = attempt.what;
            wrong.push(format!("{what}: tells what is out of reach: {told:?} {told_elsewhere:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_second_name_of_a_file_outside_parts_from_it_when_it_is_written() {
    for tool in ["write", "edit"] {
        let ground = Ground::new(Outside::Files);
        ground.hard_link("second.txt", "OUTSIDE/secret.txt");
        let before = ground.out_of_reach();
        let caller = Caller::new(ground.harness(""), &SessionChoice::Memory);
        let attempt = by_second_name();
        for tool in ["read", tool] {
            let results = caller.call(vec![(tool, attempt.arguments(tool, &ground))]).await;
            assert!(!results[0].is_error(), "{results:?}");
        }
        let after = ground.out_of_reach();
        let file = ground.path("outside/secret.txt");
        assert_eq!((before[&file].links, after[&file].links), (2, 1));
        assert!(std::fs::read_to_string(ground.path("root/second.txt")).unwrap().contains("mine"));
        let alone = |mut tree: Tree| {
            tree.get_mut(&file).unwrap().links = 1;
            tree
        };
        assert_eq!(alone(before), alone(after));
    }
}

/// Makes the calls of an attempt on a fresh ground, and returns what the model reads.
async fn made(attempt: &Attempt, outside: Outside, wrong: &mut Vec<String>) -> Vec<String> {
    let ground = Ground::new(outside);
    let harness = ground.harness(&format!("sandbox-policy.mode = '{}'", attempt.mode));
    let log = attempt.log.map_or(SessionChoice::Memory, |log| SessionChoice::File(ground.path(log)));
    let caller = Caller::new(harness, &log);
    (attempt.prepare)(&ground);
    let mut texts = Vec::new();
    for (tool, end) in
        attempt.ends.iter().flat_map(|(tools, end)| tools.iter().map(move |tool| (*tool, *end)))
    {
        if let (With::Path(_), "write" | "edit") = (attempt.with, tool) {
            // What was not read is not changed for that alone.
            caller.call(vec![("read", attempt.arguments("read", &ground))]).await;
        }
        let (tree, out_of_reach) = (ground.tree(), ground.out_of_reach());
        let results = caller.call(vec![(tool, attempt.arguments(tool, &ground))]).await;
        let [result] = &results[..] else { panic!("{} results", results.len()) };
        let text = ground.without_places(&plain_text(&result.content));
        let mut must = |holds: bool, what: &str| {
            if !holds {
                wrong.push(format!("{}, {tool}: {what}: {text}", attempt.what));
            }
        };
        must(ends_so(result, end), &format!("does not end so: {end:?}"));
        must(end == End::Inside || ground.tree() == tree, "changes something");
        must(ground.out_of_reach() == out_of_reach, "changes something out of reach");
        must(!ground.betrayed_by(&format!("{result:?}")), "tells a secret");
        must(!ground.betrayed_by(&caller.log()), "leaves a secret in the log");
        texts.push(text);
    }
    texts
}

fn ends_so(result: &ToolResult, end: End) -> bool {
    let code = result.error().map(|error| error.info.as_ref().map(|info| &*info.code));
    match (end, code) {
        (End::Code(expected), Some(Some(code))) => code == expected,
        (End::Refused, Some(None)) | (End::Inside, None) => true,
        (End::Nothing, None) => {
            ["No files found", "No matches found"].contains(&&*plain_text(&result.content))
        }
        (End::Code(_) | End::Refused | End::Nothing | End::Inside, _) => false,
    }
}
