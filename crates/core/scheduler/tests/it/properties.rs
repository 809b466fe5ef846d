//! What holds for every batch of calls.

use proptest::prelude::*;

use crate::work::{Call, Traced, limits, trace};

fn call() -> impl Strategy<Value = Call> {
    (any::<bool>(), prop::bool::weighted(0.2), 0..3_u64, 0..9_u64, 0..3_u64, 0..4_u64).prop_map(
        |(exclusive, settled, start, body, commit, side)| Call {
            exclusive,
            settled,
            panics: false,
            start,
            body,
            commit,
            side,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn order_bound_and_barriers_hold(
        calls in prop::collection::vec(call(), 0..14),
        cap in 1..5_usize,
        stop_at in prop::option::weighted(0.4, 0..30_u64),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (outcome, trace) = runtime.block_on(async {
            let mut work = Traced::new();
            work.stop_at = stop_at;
            trace(&mut work, &calls, limits(cap)).await
        });
        prop_assert_eq!(outcome, Ok(()));
        let rows: Vec<(&str, usize)> = trace.iter().map(|row| {
            let words: Vec<_> = row.split(' ').collect();
            (words[1], words[2].parse().unwrap())
        }).collect();
        let of = |what: &str| rows.iter().filter(|(event, _)| *event == what).map(|(_, n)| *n).collect::<Vec<_>>();
        // Every call started or was skipped, in order, and everything that started committed, in order.
        prop_assert_eq!([of("start"), of("skip")].concat(), (0..calls.len()).collect::<Vec<_>>());
        prop_assert_eq!(of("commit"), of("start"));
        prop_assert!(stop_at.is_some() || of("skip").is_empty());
        let (mut running, mut uncommitted) = (Vec::new(), Vec::new());
        for (event, n) in &rows {
            match *event {
                "start" => {
                    let alone = calls[*n].exclusive || uncommitted.iter().any(|m: &usize| calls[*m].exclusive);
                    prop_assert!(!alone || uncommitted.is_empty(), "{} started beside {:?}", n, uncommitted);
                    uncommitted.push(*n);
                }
                "begin" => running.push(*n),
                "end" => running.retain(|m| m != n),
                "commit" => {
                    prop_assert!(!running.contains(n), "{} committed while it ran", n);
                    uncommitted.retain(|m| m != n);
                }
                _ => prop_assert!(uncommitted.is_empty(), "{} skipped too early", n),
            }
            prop_assert!(running.len() <= cap, "{} bodies at once", running.len());
        }
    }
}
