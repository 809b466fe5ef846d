//! What holds for every batch of calls.

use dsh_conformance::scheduler::{Abort, Batch, Call, agrees, run, simulated};
use dsh_session::{ToolCall, ToolResult, verify};
use proptest::prelude::*;

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
