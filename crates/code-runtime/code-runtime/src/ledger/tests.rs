//! The bounds of spec 06 §10, to the byte.

use dsh_json::{Json, array};
use proptest::prelude::*;

use super::*;

#[test]
fn at_the_bound_the_exact_output_comes_back_and_one_above_it_does_not() {
    let euro = || Ok(Some(Json::from("€")));
    assert_eq!(settled(7, &[], euro()), (vec![], euro()));
    assert!(over(&settled(6, &[], euro()), &[]));

    let xy = || Ok(Some(Json::from("xy")));
    let threw = || Err(Failure::new(FailureKind::Exception, "xy"));
    for result in [xy, threw] {
        assert_eq!(settled(11, &["abc"], result()), (vec!["abc".into()], result()));
        assert!(matches!(
            settled(10, &["abc"], result()).1,
            Err(Failure { kind: FailureKind::OutputLimit, .. })
        ));
    }
}

#[test]
fn the_usual_bound_is_as_exact() {
    let cap = crate::Limits::default().max_output_bytes;
    let filling = |bytes: usize| Ok(Some(Json::from("x".repeat(bytes - "[]".len() - "\"\"".len()))));
    assert!(settled(cap, &[], filling(cap)).1.is_ok());
    assert!(over(&settled(cap, &[], filling(cap + 1)), &[]));
}

#[test]
fn what_is_printed_alone_may_fill_the_bound() {
    assert_eq!(
        settled(15, &["12345", "12345"], Ok(None)).1.map_err(|failure| failure.kind),
        Err(FailureKind::OutputLimit)
    );
    let mut ledger = Ledger::new(15);
    assert_eq!(ledger.log("12345".into()), Ok(()));
    let limit = Err(overflow(15));
    assert_eq!(ledger.log("12345".into()), limit);
    assert_eq!(ledger.entries(), ["12345", "123"]);
    assert_eq!(ledger.log("dropped".into()), limit);
    assert_eq!(ledger.entries(), ["12345", "123"]);

    let mut full = Ledger::new(9);
    assert_eq!(full.log("12345".into()), Ok(()));
    assert_eq!(full.log("x".into()), Err(overflow(9)));
    assert_eq!(full.entries(), ["12345"]);
}

#[test]
fn a_tiny_bound_cuts_its_own_message() {
    let (logs, result) = settled(4, &["12345"], Ok(None));
    assert_eq!((logs, result.map_err(|failure| failure.message)), (vec![], Err(String::new())));

    let reason = "x".repeat(1000);
    let (logs, result) = settled(64, &[], Err(Failure::new(FailureKind::Abort, reason)));
    let failure = result.unwrap_err();
    assert_eq!((logs.len(), failure.kind), (0, FailureKind::OutputLimit));
    assert_eq!(failure.message, &overflow(64).message[..60]);
}

#[test]
fn the_message_says_the_bound_its_value_and_what_to_do() {
    assert_eq!(
        overflow(64).message,
        "outer output exceeded 64 bytes (maxOutputBytes): print and return less, or only the part you need"
    );
}

#[test]
fn an_entry_is_cut_at_a_character_and_escapes_are_counted() {
    let mut meter = Meter::new(2 + 2 + 4 + 2);
    assert_eq!(meter.charge("😀\n😀"), Entry::Cut(5));
    let mut meter = Meter::new(2 + 2 + 5);
    assert_eq!(meter.charge("😀\u{1}"), Entry::Cut(4));
    assert_eq!(meter.charge(""), Entry::Cut(0));
}

#[test]
fn empty_entries_cost_their_quotes() {
    let mut meter = Meter::new(7);
    assert_eq!(
        (meter.charge(""), meter.charge(""), meter.charge("")),
        (Entry::Whole, Entry::Whole, Entry::Cut(0))
    );
    assert_eq!(meter.room(), 0);
}

#[test]
fn deep_values_are_measured_without_recursion() {
    let mut value = Json::Null;
    for _ in 0..9_000 {
        value = array![value];
    }
    assert_eq!(json_bytes(&value, usize::MAX), Some(2 * 9_000 + 4));
    assert_eq!(json_bytes(&value, 2 * 9_000 + 3), None);
}

#[test]
fn numbers_cost_what_ecmascript_writes() {
    let number = |value: f64| Json::try_from(value).unwrap();
    for (value, text) in
        [(number(1.0), "1"), (number(1e21), "1e+21"), (number(1e20), "100000000000000000000")]
    {
        assert_eq!(json_bytes(&value, 100), Some(text.len()));
    }
    assert_eq!(json_bytes(&Json::from(u64::MAX), 20), Some(20));
}

proptest! {
    #[test]
    fn measuring_equals_writing(value in values()) {
        let text = value.to_text();
        prop_assert_eq!(json_bytes(&value, text.len()), Some(text.len()));
        prop_assert_eq!(json_bytes(&value, text.len() - 1), None);
    }

    #[test]
    fn what_a_ledger_keeps_fits_and_is_the_longest_start(
        entries in prop::collection::vec("(?s).{0,12}", 0..8),
        cap in 4_usize..160,
        value in prop::option::of(values()),
    ) {
        let mut ledger = Ledger::new(cap);
        for entry in &entries {
            let _ = ledger.log(entry.clone());
        }
        let whole = weight(&entries) + value.as_ref().map_or(0, |value| value.to_text().len());
        let (logs, result) = ledger.settle(Ok(value.clone()));
        if whole <= cap {
            prop_assert_eq!((&logs, &result), (&entries, &Ok(value)));
        } else {
            let message = string(&result.unwrap_err().message);
            prop_assert!(weight(&logs) + message <= cap);
            prop_assert!(logs.concat().len() <= entries.concat().len() && entries.concat().starts_with(&logs.concat()));
            // One character more would not have fitted.
            if let Some(next) = logs.last().and_then(|last| entries[logs.len() - 1][last.len()..].chars().next()) {
                let mut longer = logs.clone();
                longer.last_mut().unwrap().push(next);
                prop_assert!(weight(&longer) + message > cap);
            }
        }
    }
}

fn values() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "(?s).{0,8}".prop_map(|text| Json::from(text.as_str())),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| Json::from(dsh_json::Array::from(items))),
            prop::collection::vec(("(?s).{0,4}", inner), 0..4).prop_map(|pairs| Json::from(
                pairs
                    .into_iter()
                    .map(|(key, value)| (std::sync::Arc::<str>::from(key), value))
                    .collect::<dsh_json::Object>()
            )),
        ]
    })
}

fn settled(
    cap: usize,
    entries: &[&str],
    result: Result<Option<Json>, Failure>,
) -> (Vec<String>, Result<Option<Json>, Failure>) {
    let mut ledger = Ledger::new(cap);
    for entry in entries {
        let _ = ledger.log((*entry).to_owned());
    }
    ledger.settle(result)
}

fn over(settled: &(Vec<String>, Result<Option<Json>, Failure>), logs: &[&str]) -> bool {
    settled.0 == logs && matches!(settled.1, Err(Failure { kind: FailureKind::OutputLimit, .. }))
}

fn weight(entries: &[String]) -> usize {
    2 + entries.len().saturating_sub(1) + entries.iter().map(|entry| string(entry)).sum::<usize>()
}

fn string(text: &str) -> usize {
    Json::from(text).to_text().len()
}
