//! What holds for every batch of calls, and for whatever is done to an agent.

use dsh_agent::{InboxSpliced, Queued, Status, Target};
use dsh_conformance::scheduler::{Abort, Batch, Call, agrees, run, simulated};
use dsh_lifecycle::Cause;
use dsh_llm::{ErrorFacts, Finish};
use dsh_llm_script::Step;
use dsh_session::{ToolCall, ToolResult, UserMessage, verify};
use proptest::prelude::*;
use tokio::runtime::Builder;

use crate::kit::{Scene, calls, pass, says, thinks};
use crate::log::all;

fn call() -> impl Strategy<Value = Call> {
    let tool =
        prop_oneof![6 => Just("p"), 2 => Just("x"), 1 => Just("arg"), 1 => Just("bad"), 1 => Just("nosuch")];
    let raw = prop_oneof![
        8 => Just(None),
        1 => Just(Some("{")),
        1 => Just(Some("")),
        1 => Just(Some(r#"{"i":"x"}"#)),
        1 => Just(Some("[1]")),
    ];
    let delay = || prop_oneof![4 => Just(0_u64), 1 => 1..6_u64];
    let rarely = || prop::bool::weighted(0.1);
    let flags = (rarely(), rarely(), rarely(), any::<bool>(), any::<bool>(), rarely());
    (tool, 0..9_u64, raw, delay(), delay(), flags).prop_map(|(tool, ms, raw, pre_ms, post_ms, flags)| {
        let (throws, bad_output, conclude, cooperative, safe, denied) = flags;
        Call {
            tool: tool.to_owned(),
            ms,
            throws,
            bad_output,
            conclude,
            cooperative,
            safe,
            raw_arguments: raw.map(str::to_owned),
            denied,
            pre_ms,
            post_ms,
        }
    })
}

fn batch() -> impl Strategy<Value = Batch> {
    let abort = prop_oneof![
        5 => Just(None),
        1 => Just(Some(Abort::BeforeTheStep)),
        4 => (0..25_u64).prop_map(|at| Some(Abort::At(at))),
    ];
    (1..5_usize, prop::collection::vec(call(), 0..12), abort).prop_map(|(cap, calls, abort_at)| Batch {
        cap,
        calls,
        abort_at,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn every_call_is_answered_once_in_order_and_when_the_reference_says(batch in batch()) {
        let ran = run(&batch).unwrap();
        let (session, ids) = (&ran.session, |index: usize| format!("c{index}"));
        let verdict = verify(session.header(), &session.events(), session.vocabulary());
        prop_assert_eq!((verdict.problems, verdict.open_turn), (vec![], None));
        let expected: Vec<_> = (0..batch.calls.len()).map(ids).collect();
        let called: Vec<_> = all::<ToolCall>(session).iter().map(|call| call.call_id.to_string()).collect();
        prop_assert_eq!(&called, &expected);
        let answered: Vec<_> =
            all::<ToolResult>(session).iter().map(|result| result.call_id().unwrap().to_string()).collect();
        prop_assert_eq!(&answered, &expected);
        let raw: Vec<_> = all::<ToolCall>(session).iter().map(|call| call.arguments.to_string()).collect();
        let written: Vec<_> = batch.calls.iter().enumerate().map(|(index, call)| call.arguments(index)).collect();
        prop_assert_eq!(raw, written);

        let expected = simulated(&batch);
        prop_assert!(
            agrees(&ran.output, &expected),
            "     got {}\nexpected {}", ran.output, expected
        );
    }
}

/// What people and policies do to a driven agent, each at its time.
#[derive(Debug, Clone)]
enum Act {
    Followup,
    Steer,
    Inject,
    Retract(usize),
    Cancel(Queued),
}

fn acts() -> impl Strategy<Value = Vec<(u64, Act)>> {
    let act = prop_oneof![
        4 => Just(Act::Followup),
        3 => Just(Act::Steer),
        2 => Just(Act::Inject),
        1 => (0..8_usize).prop_map(Act::Retract),
        2 => prop_oneof![Just(Queued::Keep), Just(Queued::Discard)].prop_map(Act::Cancel),
    ];
    prop::collection::vec((0..6_u64, act), 1..16)
}

fn answers() -> impl Strategy<Value = Vec<Step>> {
    let called = (0..9_u64, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(ms, parallel, says, concludes)| {
            let says = if says { r#","say":"context""# } else { "" };
            let concludes = if concludes { r#","conclude":true"# } else { "" };
            let arguments = format!(r#"{{"ms":{ms}{says}{concludes}}}"#);
            let name = if parallel { "p" } else { "x" };
            calls([("c", name, &*arguments), ("c", name, &*arguments)])
        },
    );
    let said = (0..5_u64).prop_map(|ms| thinks(ms, says("so")));
    let cut = Just(Step { finish: Finish::MaxTokens, ..says("cut") });
    let broken = Just(Step { finish: Finish::Error(ErrorFacts::new("BROKEN", "broken")), ..says("half") });
    prop::collection::vec(prop_oneof![4 => called, 3 => said, 1 => cut, 1 => broken], 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn every_message_is_heard_or_dropped_or_waits_and_every_call_is_answered_once(
        answers in answers(),
        acts in acts(),
    ) {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let scene = runtime.block_on(async {
            let scene = Scene::new(answers);
            let act = async || {
                for (number, (ms, act)) in acts.iter().enumerate() {
                    pass(*ms).await;
                    let inbox = scene.agent.inbox();
                    match act {
                        Act::Followup => scene.followup(&format!("m{number}")),
                        Act::Steer => scene.steer(&format!("m{number}")),
                        Act::Inject => scene.inject(&format!("m{number}")),
                        Act::Retract(one) => drop(inbox.retract(&format!("m{one}")).unwrap()),
                        Act::Cancel(queued) => scene.agent.cancel(Cause::User, *queued),
                    }
                }
            };
            scene.driven(act).await;
            scene
        });
        let heard = all::<UserMessage>(scene.session());
        let mut ends: Vec<_> = heard.iter().map(|heard| heard.0.id.to_string()).collect();
        let mut begins = Vec::new();
        for spliced in all::<InboxSpliced>(scene.session()) {
            begins.extend(spliced.inserted.iter().map(|message| message.id.to_string()));
        }
        ends.extend(scene.dropped.lock().iter().cloned());
        for list in [Target::NextStep, Target::NextTurn] {
            ends.extend(scene.agent.inbox().messages(list).iter().map(|message| message.id.to_string()));
        }
        begins.sort();
        ends.sort();
        prop_assert_eq!(begins, ends);
        let called: Vec<_> = all::<ToolCall>(scene.session()).iter().map(|call| call.call_id.to_string()).collect();
        let answered: Vec<_> =
            all::<ToolResult>(scene.session()).iter().map(|result| result.call_id().unwrap().to_string()).collect();
        prop_assert_eq!(called, answered);
        prop_assert_eq!(scene.agent.status(), Status::Idle);
    }
}
