//! Calls that are made in turn, round by round (spec 09 §C.5, §C.7.3).

use dsh_json::object;
use dsh_llm::Source;

use crate::scene::{Scene, said};

/// Makes a call for each letter, and says what the model is told with it: nothing `.`, the nudge `n`, of the same call `1`, of a
/// round its number of calls. `s` is a call of a tool that polls, `!` a word of a person.
async fn told(config: &str, calls: &str) -> String {
    let scene = Scene::new(config);
    let agent = scene.agent();
    let mut marks = String::new();
    for letter in calls.chars() {
        if letter == '!' {
            scene.step(&agent, Source::User).await;
            marks.push('!');
            continue;
        }
        let tool = if letter == 's' { "status" } else { "probe" };
        let arguments = object! { "letter": String::from(letter) };
        let text = said(&scene.call(&agent, tool, arguments.clone()).await).unwrap_or_default();
        let round = text.strip_prefix("You have made the same ").filter(|text| !text.starts_with("call"));
        marks.push(match round.and_then(|text| text.chars().next()) {
            Some(calls) => calls,
            None if text.starts_with("You have called") => '1',
            None if text.starts_with("You have made the same call with") => 'n',
            None => '.',
        });
        // Only the last call's arguments are quoted.
        assert_eq!(text.contains("\"letter\""), text.contains(&arguments.canonical()), "{text}");
    }
    marks
}

#[tokio::test]
async fn a_round_is_told_of_when_it_ends_for_the_time_that_is_a_threshold() {
    for (period, calls, marks) in [
        (2, "ababababababab", ".....2...2...."),
        (3, "abcabcabcabc", "........3..."),
        (4, "abcdabcdabcd", "...........4"),
        // One that is longer than what is looked for.
        (1, "abababababab", "............"),
        (2, "abcabcabcabc", "............"),
        (3, "abcdabcdabcd", "............"),
        // It may begin anywhere, and with half of it.
        (3, "xbababab", "......2."),
        // Whatever else is called ends it.
        (3, "ababxababab", "..........2"),
        (3, "abab!ababab", "....!.....2"),
        // But for what is not looked at.
        (3, "absasbsasbs", ".........2."),
    ] {
        let config = format!(r#"{{"thresholds": [3, 5], "maxPeriod": {period}}}"#);
        assert_eq!(told(&config, calls).await, marks, "{period}: {calls}");
    }
    assert_eq!(told("{}", "abababababab").await, "............", "nothing is seen by default");
}

#[tokio::test]
async fn same_calls_in_a_row_are_told_as_such_and_are_no_round() {
    for (calls, marks) in [
        ("aaaaaaaaa", ".n.1....."),
        // A round of four that is a round of two.
        ("abababab", "...2...2"),
        // Two of a round's calls are the same.
        ("baabaabaabaa", "..n..n..n..n"),
        ("aabaabaabaab", ".n..n3.n..n3"),
        ("aaaabababab", ".n.1..2...2"),
        ("ababaaaa", "...2.n.1"),
    ] {
        let config = r#"{"thresholds": [2, 4], "maxPeriod": 4}"#;
        assert_eq!(told(config, calls).await, marks, "{calls}");
    }
}

#[tokio::test]
async fn the_same_tools_with_other_arguments_are_no_round() {
    assert_eq!(told(r#"{"thresholds": [2], "maxPeriod": 2}"#, "abcdefgh").await, "........");
}

#[tokio::test]
async fn a_round_is_told_with_its_tools_in_order_and_the_last_arguments() {
    let scene = Scene::new(r#"{"thresholds": [2], "maxPeriod": 3, "argumentsPreviewChars": 8}"#);
    let agent = scene.agent();
    let mut told = None;
    for tool in ["probe", "other", "forbidden", "probe", "other", "forbidden"] {
        told = said(&scene.call(&agent, tool, object! { "for": tool }).await);
    }
    insta::assert_snapshot!(told.unwrap(), @r#"
    You have made the same 3 calls 2 times in a row: `probe` → `other` → `forbidden`, the last one with these arguments: {"for":" … (11 more characters)
    Going round makes no progress. Take another action, use other arguments, or finish and say what is in the way.
    "#);
}
