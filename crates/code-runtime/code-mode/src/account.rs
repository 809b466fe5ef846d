//! The account of a run, for people, for scripts and for the log: what became of each call, and what was used. It is the
//! meta of a result of `run_code`, failed or not (spec 06 §2.4).

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use dsh_code_runtime::{CallEnd, CallRecord, Failure, FailureKind, Outcome, Receipt, unfinished};
use dsh_json::{Array, Json, Object, object};

/// Calls that are listed one by one. Where there are more, those that did not succeed come first.
const LISTED: usize = 100;
/// Tools named in a line for the model.
const NAMED: usize = 10;

/// The account of a program that did not run.
pub(crate) fn of_refusal(kind: FailureKind) -> Json {
    object! { "error": object! { "kind": kind.name() } }
}

/// The account of a run. `measures`: whether it has times and memory, which no two runs have in common.
pub(crate) fn of_run(outcome: &Outcome, call_id: &str, measures: bool) -> Json {
    let Outcome { result, calls, receipt, .. } = outcome;
    let mut account = Object::new();
    if let Err(Failure { kind, .. }) = result {
        account.insert("error", object! { "kind": kind.name() });
    }
    account.insert("receipt", receipt_json(receipt, calls, measures));
    let listed = listed(calls);
    let call = |call: &&CallRecord| {
        object! { "id": sub_call_id(call_id, call), "name": &call.name, "end": call.end.name() }
    };
    account.insert("calls", list(listed.iter().map(call)));
    if calls.len() > listed.len() {
        account.insert("moreCalls", calls.len() - listed.len());
    }
    if is_silent(outcome) {
        account.insert("summary", list(summary(calls, call_id).into_iter().map(Json::from)));
    }
    account.insert("warnings", list(unfinished(calls).into_iter().map(Json::from)));
    account.into()
}

/// The lines of an account that the model reads, below everything else.
pub(crate) fn notes(account: &Json) -> Vec<String> {
    let lines =
        |key| account.get(key).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let summary = lines("summary").map(str::to_owned);
    let warnings = lines("warnings").map(|warning| format!("warning: {warning}"));
    summary.chain(warnings).collect()
}

/// Whether nothing that the program printed or returned says a word.
fn is_silent(outcome: &Outcome) -> bool {
    let returned = match &outcome.result {
        Ok(Some(value)) => value.as_str() != Some(""),
        Ok(None) | Err(_) => false,
    };
    !returned && outcome.logs.iter().all(String::is_empty)
}

/// The name under which a call is in the log.
pub(crate) fn sub_call_id(call_id: &str, call: &CallRecord) -> String {
    format!("{call_id}:code:{}", call.id)
}

fn receipt_json(receipt: &Receipt, calls: &[CallRecord], measures: bool) -> Json {
    let count = |end| calls.iter().filter(|call| call.end == end).count();
    let mut shown = Object::new();
    shown.insert("calls", calls.len());
    for (key, end) in [
        ("succeeded", CallEnd::Succeeded),
        ("failed", CallEnd::Failed),
        ("stopped", CallEnd::Stopped),
        ("late", CallEnd::Late),
        ("notStarted", CallEnd::NotStarted),
    ] {
        shown.insert(key, count(end));
    }
    if measures {
        shown.insert("wallMs", milliseconds(receipt.wall));
        shown.insert("askedMs", milliseconds(receipt.excused));
        shown.insert("waitingMs", milliseconds(receipt.waiting));
        if let Some(busy) = receipt.busy {
            shown.insert("busyMs", milliseconds(busy));
        }
        if let Some(peak) = receipt.peak_memory {
            shown.insert("peakMemoryBytes", peak);
        }
    }
    shown.insert("argumentBytes", receipt.argument_bytes);
    shown.insert("resultBytes", receipt.result_bytes);
    shown.insert("outputBytes", receipt.output_bytes);
    shown.into()
}

/// The calls that are listed, in order.
fn listed(calls: &[CallRecord]) -> Vec<&CallRecord> {
    let unsuccessful = calls.iter().filter(|call| call.end != CallEnd::Succeeded);
    let successful = calls.iter().filter(|call| call.end == CallEnd::Succeeded);
    let chosen: BTreeSet<u64> = unsuccessful.chain(successful).take(LISTED).map(|call| call.id).collect();
    calls.iter().filter(|call| chosen.contains(&call.id)).collect()
}

/// What a program did that says nothing itself: a line for the calls that succeeded, and one for those that failed, with
/// the ids that they have in the log. Warnings speak of the others.
fn summary(calls: &[CallRecord], call_id: &str) -> Vec<String> {
    let of = |end| calls.iter().filter(move |call| call.end == end);
    let (mut names, mut places): (Vec<(&str, usize)>, HashMap<&str, usize>) = Default::default();
    for call in of(CallEnd::Succeeded) {
        let place = *places.entry(&call.name).or_insert(names.len());
        match names.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => names.push((&call.name, 1)),
        }
    }
    let succeeded = names.iter().map(|(name, count)| match count {
        1 => (*name).to_owned(),
        _ => format!("{name} ×{count}"),
    });
    let failed = of(CallEnd::Failed).map(|call| format!("{} ({})", call.name, sub_call_id(call_id, call)));
    let lines = [
        line("succeeded", of(CallEnd::Succeeded).count(), succeeded),
        line("failed", of(CallEnd::Failed).count(), failed),
    ];
    lines.into_iter().flatten().collect()
}

/// `3 calls failed: a (c1:code:1), b (c1:code:2), c (c1:code:5)`.
fn line(what: &str, calls: usize, mut parts: impl Iterator<Item = String>) -> Option<String> {
    if calls == 0 {
        return None;
    }
    let named: Vec<String> = parts.by_ref().take(NAMED).collect();
    let rest = match parts.count() {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let plural = if calls == 1 { "" } else { "s" };
    Some(format!("{calls} call{plural} {what}: {}{rest}", named.join(", ")))
}

fn list(items: impl Iterator<Item = Json>) -> Json {
    Json::from(Array::from(items.collect::<Vec<_>>()))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: u64, name: &str, end: CallEnd) -> CallRecord {
        CallRecord { id, namespace: "tools".into(), name: name.into(), end }
    }

    fn outcome(logs: &[&str], result: Result<Option<Json>, Failure>, calls: Vec<CallRecord>) -> Outcome {
        let logs = logs.iter().map(|&entry| entry.to_owned()).collect();
        let receipt = Receipt {
            wall: Duration::from_micros(12_999),
            excused: Duration::from_millis(5),
            waiting: Duration::from_millis(7),
            busy: Some(Duration::from_millis(4)),
            peak_memory: Some(2_100_000),
            argument_bytes: 1,
            result_bytes: 2,
            output_bytes: 3,
        };
        Outcome { logs, result, calls, receipt }
    }

    fn of(outcome: &Outcome) -> Json {
        of_run(outcome, "c1", true)
    }

    #[test]
    fn an_account_has_the_receipt_the_calls_and_the_warnings() {
        let calls = vec![
            call(1, "read", CallEnd::Succeeded),
            call(2, "write", CallEnd::Failed),
            call(3, "held", CallEnd::Stopped),
        ];
        let failure = Failure::new(FailureKind::Timeout, "too long");
        let outcome = outcome(&["a"], Err(failure), calls);
        let expected = r#"{"error":{"kind":"timeout"},
            "receipt":{"calls":3,"succeeded":1,"failed":1,"stopped":1,"late":0,"notStarted":0,
                "wallMs":12,"askedMs":5,"waitingMs":7,"busyMs":4,"peakMemoryBytes":2100000,
                "argumentBytes":1,"resultBytes":2,"outputBytes":3},
            "calls":[{"id":"c1:code:1","name":"read","end":"succeeded"},
                {"id":"c1:code:2","name":"write","end":"failed"},
                {"id":"c1:code:3","name":"held","end":"stopped"}],
            "warnings":["without an answer when the program ended; stopped, or failed: tools.held (call 3). Await every call whose effect or result you need."]}"#;
        assert_eq!(of(&outcome).to_text(), Json::parse(expected).unwrap().to_text());
        let receipt = of_run(&outcome, "c1", false).get("receipt").unwrap().to_text();
        assert_eq!(
            receipt,
            r#"{"calls":3,"succeeded":1,"failed":1,"stopped":1,"late":0,"notStarted":0,"argumentBytes":1,"resultBytes":2,"outputBytes":3}"#
        );
    }

    #[test]
    fn what_nobody_knows_is_absent() {
        let mut outcome = outcome(&[], Ok(None), vec![]);
        (outcome.receipt.busy, outcome.receipt.peak_memory) = (None, None);
        let account = of(&outcome);
        let receipt = account.get("receipt").unwrap();
        assert_eq!((receipt.get("busyMs"), receipt.get("peakMemoryBytes")), (None, None));
        assert_eq!((account.get("error"), account.get("moreCalls")), (None, None));
    }

    /// Spec 06 §2.3: a program is silent when nothing that it printed or returned says a word.
    #[test]
    fn the_calls_of_a_silent_program_are_told() {
        let calls = || vec![call(1, "read", CallEnd::Succeeded)];
        let failure = || Err(Failure::new(FailureKind::Exception, "x"));
        for (logs, result, silent) in [
            (&[][..], Ok(None), true),
            (&[""], Ok(Some("".into())), true),
            (&[], failure(), true),
            (&["a"], failure(), false),
            (&["a"], Ok(None), false),
            (&[], Ok(Some(Json::Null)), false),
            (&[], Ok(Some(0.into())), false),
        ] {
            let notes = notes(&of(&outcome(logs, result.clone(), calls())));
            let expected: &[&str] = if silent { &["1 call succeeded: read"] } else { &[] };
            assert_eq!(notes, expected, "{logs:?} {result:?}");
        }
        assert!(notes(&of(&outcome(&[], Ok(None), vec![]))).is_empty());
        assert!(notes(&of_refusal(FailureKind::Check)).is_empty());
    }

    #[test]
    fn a_line_counts_all_and_names_some() {
        let ends = [CallEnd::Succeeded, CallEnd::Failed];
        let calls = (1..=33).map(|id| call(id, &format!("t{}", id % 13), ends[usize::from(id % 3 == 0)]));
        insta::assert_snapshot!(notes(&of(&outcome(&[], Ok(None), calls.collect()))).join("\n"), @r"
        22 calls succeeded: t1 ×2, t2 ×2, t4 ×2, t5 ×2, t7 ×2, t8, t10 ×2, t11, t0 ×2, t3 ×2 and 3 more
        11 calls failed: t3 (c1:code:3), t6 (c1:code:6), t9 (c1:code:9), t12 (c1:code:12), t2 (c1:code:15), t5 (c1:code:18), t8 (c1:code:21), t11 (c1:code:24), t1 (c1:code:27), t4 (c1:code:30) and 1 more
        ");
    }

    #[test]
    fn of_many_calls_those_that_did_not_succeed_are_listed() {
        let end = |id| if id % 100 == 0 { CallEnd::Failed } else { CallEnd::Succeeded };
        let calls = (1..=10_000).map(|id| call(id, "t", end(id))).collect();
        let account = of(&outcome(&[], Ok(None), calls));
        let listed = account.get("calls").unwrap().as_array().unwrap();
        assert_eq!((listed.len(), account.get("moreCalls")), (100, Some(&9_900.into())));
        assert!(listed.iter().all(|call| call.get("end") == Some(&"failed".into())));

        let calls =
            (1..=101).map(|id| call(id, "t", if id == 101 { CallEnd::Failed } else { CallEnd::Succeeded }));
        let account = of(&outcome(&[], Ok(None), calls.collect()));
        let listed = account.get("calls").unwrap().as_array().unwrap();
        let ids: Vec<_> = listed.iter().map(|call| call.get("id").unwrap().as_str().unwrap()).collect();
        assert_eq!((ids.len(), ids[98], ids[99]), (100, "c1:code:99", "c1:code:101"));
    }
}
