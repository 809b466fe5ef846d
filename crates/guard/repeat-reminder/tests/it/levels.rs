//! What follows on the last threshold (spec 09 §C.5, §C.7.5), and names of any length (§C.7.10).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_lifecycle::SeededIds;
use dsh_llm::{Source, plain_text};
use dsh_repeat_reminder::{ConfigError, RepeatConfig, RepeatReminder};
use dsh_tools_core::{
    Approval, ApprovalRequest, Approver, Execution, Layer, Next, PreDecision, ToolError, ToolResult, Tools,
    codes,
};

use crate::scene::{Scene, said, waits};

fn refused(result: &ToolResult) -> Option<String> {
    let error = result.error()?;
    assert_eq!(error.code(), Some(codes::DENIED));
    assert_eq!(plain_text(&result.content), format!("Error: {error}"));
    Some(error.message.clone())
}

#[tokio::test]
async fn beyond_the_last_threshold_the_model_is_told_every_so_often() {
    for (config, numbers) in [
        (r#"{"thresholds": [2, 3], "every": 4}"#, vec![2, 3, 7, 11]),
        (r#"{"thresholds": [2], "every": 1}"#, (2..=12).collect()),
        (r#"{"thresholds": [2]}"#, vec![2]),
    ] {
        let scene = Scene::new(config);
        assert_eq!(scene.reminded(&scene.agent(), "probe", 12).await, numbers, "{config}");
    }
    let scene = Scene::new(r#"{"thresholds": [2], "every": 2, "maxPeriod": 2}"#);
    let (agent, mut rounds) = (scene.agent(), Vec::new());
    for number in 1..=12 {
        let result = scene.call(&agent, "probe", object! { "odd": number % 2 }).await;
        rounds.extend(said(&result).map(|_| number));
    }
    assert_eq!(rounds, [4, 8, 12]);
}

#[tokio::test]
async fn from_a_count_on_the_call_is_denied_and_still_counted() {
    let scene = Scene::new(r#"{"thresholds": [2], "denyAt": 4}"#);
    let agent = scene.agent();
    let mut denials = Vec::new();
    for _ in 0..5 {
        denials.push(refused(&*scene.call(&agent, "probe", object! { "a": 1 }).await));
    }
    assert_eq!(denials[..3], [const { None }; 3]);
    insta::assert_snapshot!(denials[3].as_ref().unwrap(), @"this is call 4 in a row of `probe` with the same arguments. It did not run, and will not until something else is done. Take another action, use other arguments, or finish and say what is in the way.");
    assert!(denials[4].as_ref().unwrap().contains("call 5 in a row"), "{denials:?}");
    // Another call runs, and is where counting begins.
    for arguments in [2, 1, 1, 1] {
        assert_eq!(refused(&*scene.call(&agent, "probe", object! { "a": arguments }).await), None);
    }
    assert!(refused(&*scene.call(&agent, "probe", object! { "a": 1 }).await).is_some());
    scene.step(&agent, Source::User).await;
    assert_eq!(refused(&*scene.call(&agent, "probe", object! { "a": 1 }).await), None);
}

#[tokio::test]
async fn a_round_is_denied_and_what_leaves_it_is_not() {
    let scene = Scene::new(r#"{"thresholds": [2], "denyAt": 3, "maxPeriod": 3}"#);
    let (agent, mut denials) = (scene.agent(), Vec::new());
    for letter in "ababababxab".chars() {
        denials
            .push(refused(&*scene.call(&agent, "probe", object! { "letter": String::from(letter) }).await));
    }
    let which: Vec<bool> = denials.iter().map(Option::is_some).collect();
    assert_eq!(which, [false, false, false, false, false, true, true, true, false, false, false]);
    insta::assert_snapshot!(denials[6].as_ref().unwrap(), @"this call goes on with rounds of the same 2 calls, 3 of them by now: `probe` → `probe`. It did not run, and will not until something else is done. Take another action, use other arguments, or finish and say what is in the way.");
}

#[tokio::test]
async fn calls_of_programs_are_denied_as_well() {
    let scene = Scene::new(r#"{"thresholds": [2], "denyAt": 3, "exclude": ["program"]}"#);
    let agent = scene.agent();
    let mut reminded = Vec::new();
    for _ in 0..4 {
        let result = scene.call(&agent, "program", object! {}).await;
        reminded.push(result.value().unwrap().get("reminded").unwrap().as_bool().unwrap());
    }
    assert_eq!(reminded, [false, true, false, false]);
    let events = agent.session().events();
    let texts: Vec<String> = events.iter().map(|event| event.data.to_text()).collect();
    assert_eq!(texts.iter().filter(|text| text.contains("in a row of `other`")).count(), 2, "{texts:?}");
}

#[tokio::test]
async fn agents_that_are_nobody_and_tools_that_are_not_looked_at_are_never_denied() {
    let scene = Scene::new(r#"{"thresholds": [2], "denyAt": 3, "exclude": ["other"]}"#);
    let agent = scene.agent();
    for _ in 0..5 {
        for tool in ["other", "status"] {
            assert_eq!(refused(&*scene.call(&agent, tool, object! {}).await), None);
        }
        let nobody = dsh_tools_core::CallInput::new("c", "probe", object! {});
        assert_eq!(refused(&*scene.tools.execute(nobody).await), None);
    }
}

#[tokio::test]
async fn there_is_a_guard_only_where_calls_may_be_denied() {
    let rows = |config| {
        let mut scene = Scene::new(config);
        let rows = scene.tools.rows();
        scene.kept = dsh_lifecycle::Registrations::new();
        assert_eq!(scene.tools.rows(), 0);
        rows
    };
    assert_eq!(rows(r#"{"denyAt": 9}"#), rows("{}") + 2);
}

#[tokio::test]
async fn a_name_of_any_length_is_cut_between_characters() {
    let scene = Scene::new(r#"{"thresholds": [2, 3], "denyAt": 4, "maxPeriod": 2}"#);
    let name = "é".repeat(101);
    let (shown, mut told) = (format!("`{}…`", "é".repeat(50)), Vec::new());
    let agent = scene.agent();
    for _ in 0..4 {
        let result = scene.call(&agent, &name, object! {}).await;
        told.extend(said(&result).or_else(|| waits(&agent)));
        told.extend(refused_here(&result));
    }
    let other = scene.agent();
    for number in 0..4 {
        let result = scene.call(&other, &name, object! { "odd": number % 2 }).await;
        told.extend(said(&result).or_else(|| waits(&other)));
    }
    assert_eq!(told.len(), 4, "{told:?}");
    for told in &told[1..] {
        assert!(told.contains(&shown) && !told.contains(&name), "{told}");
    }
}

fn refused_here(result: &ToolResult) -> Option<String> {
    result.error().filter(|error| error.code() == Some(codes::DENIED)).map(|error| error.message.clone())
}

#[test]
fn levels_that_can_not_be_are_refused() {
    for (text, says) in [
        (r#"{"maxPeriod": 0}"#, "`maxPeriod` is 0; a round has 1 to 4 calls"),
        (r#"{"maxPeriod": 5}"#, "`maxPeriod` is 5"),
        (r#"{"every": 0}"#, "every"),
        (r#"{"thresholds": [4, 2], "denyAt": 4}"#, "`denyAt` is 4; it must be more than 4"),
        (r#"{"denyAt": 2}"#, "`denyAt` is 2; it must be more than 8"),
        (r#"{"resumeCalls": -1}"#, "resumeCalls"),
    ] {
        let config = Json::parse(text).unwrap().read::<RepeatConfig>().map_err(|error| error.to_string());
        let mounted = config.and_then(|config| {
            RepeatReminder::new(Tools::new(), Arc::new(SeededIds::new(1)), config)
                .map_err(|error: ConfigError| error.to_string())
        });
        let told = mounted.err().unwrap();
        assert!(told.contains(says), "{text}: {told}");
    }
}

/// Asks about every call, and counts the questions.
#[derive(Default)]
struct Asks(AtomicUsize);

#[async_trait]
impl Layer<Execution, PreDecision> for Asks {
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        let _rest = next.run(cx).await?;
        Ok(PreDecision::Ask(None))
    }
}

#[async_trait]
impl Approver for Asks {
    async fn ask(&self, _: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Approval::AllowedOnce)
    }
}

/// A yes would lead nowhere, so nobody is asked for it.
#[tokio::test]
async fn nobody_is_asked_about_a_call_that_is_denied_anyway() {
    let mut scene = Scene::new(r#"{"thresholds": [2], "denyAt": 4}"#);
    let asks = Arc::new(Asks::default());
    scene.kept.push(scene.tools.on_pre_execute(None, Arc::clone(&asks) as _));
    scene.kept.push(scene.tools.approver().provide(Arc::clone(&asks) as _).unwrap());
    let (agent, mut denied) = (scene.agent(), 0);
    for _ in 0..6 {
        denied += usize::from(refused(&*scene.call(&agent, "probe", object! { "a": 1 }).await).is_some());
    }
    assert_eq!((asks.0.load(Ordering::Relaxed), denied), (3, 3));
}
