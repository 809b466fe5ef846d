//! Values that are no plain data, and programs that are stopped. Whole programs that attack what runs them are fixtures, which
//! `hostile_programs` runs.

use std::sync::Arc;
use std::time::Duration;

use dsh_code_runtime::contract::{TestHost, request};
use dsh_code_runtime::{CodeRuntime as _, FailureKind, Limits, Misuse};
use dsh_json::object;
use dsh_quickjs::QuickJs;
use tokio::time::Instant;

use super::kit::{failure, failure_of, run, value};

#[tokio::test]
async fn look_alikes_are_refused() {
    for (value, what) in [
        ("Object.setPrototypeOf([], { __proto__: Array.prototype })", "subclass of Array"),
        ("Object.create(Object.create(Object.prototype))", "an instance of a class"),
        ("Object.create({ constructor: { name: 'Object' } })", "an instance of Object"),
        ("Object.defineProperty({}, 'x', { value: 1 })", "hidden"),
        ("({ [Symbol('x')]: 1 })", "symbol properties"),
        ("Object.assign([1], { x: 1 })", "holes or extra"),
        ("[1, , 2]", "holes or extra"),
        ("new (class extends Array {})()", "subclass of Array"),
        ("new Proxy({}, {})", "a proxy"),
        ("new Proxy([], {})", "a proxy"),
        ("new Error('x')", "an error"),
        ("new Set([1])", "an instance of Set"),
        ("Object(1n)", "an instance of BigInt"),
        ("new Uint8Array(2)", "an instance of Uint8Array"),
        ("({ get a() { throw new Error('no') } })", "$.a is a getter that throws Error: no"),
        (
            "(() => { const a = [1, 2]; return Object.defineProperty(a, 0, { get() { a.length = 1; return 1 }, enumerable: true }); })()",
            "changed while it was read",
        ),
    ] {
        let text = failure(&format!("return {value};"), FailureKind::InvalidOutput).await;
        assert!(text.contains(what), "{value}: {text}");
        let outcome =
            run(&format!("try {{ await tools.echo({value}); }} catch (e) {{ return e.message; }}")).await;
        assert_eq!(outcome.calls, [], "{value}");
        let text = outcome.result.unwrap().unwrap();
        assert!(text.as_str().is_some_and(|text| text.contains(what)), "{value}: {text:?}");
    }
}

#[tokio::test]
async fn what_does_not_cross_is_named_with_its_place_and_a_way_out() {
    for (lossy, text) in [
        ("() => 1", "$ is a function"),
        ("{ a: [undefined] }", "$.a[0] is undefined: leave it out, or use null"),
        ("[Symbol()]", "$[0] is a symbol: use a string"),
        ("{ 'a b': NaN }", "$[\"a b\"] is NaN: use null or a string"),
        ("{ a: -Infinity }", "$.a is -Infinity: use null or a string"),
        ("{ a: -0 }", "$.a is -0: write 0"),
        ("[2n ** 64n]", "$[0] is a BigInt beyond 64 bits: use a string"),
        ("[Promise.resolve(1)]", "$[0] is a promise: await it first"),
        ("[new Error('x')]", "$[0] is an error: use its message"),
        ("['\\ud800']", "$[0] is text with half of a surrogate pair: use toWellFormed()"),
        ("[new Date(0)]", "$[0] is an instance of Date: copy its data into a plain object"),
        ("[[1, , 2]]", "$[0] is an array with holes or extra properties: fill it, or use an object"),
    ] {
        let completion = failure(&format!("return ({lossy});"), FailureKind::InvalidOutput).await;
        assert_eq!(completion, format!("program completion must be lossless JSON: {text}"));
        let program = format!("try {{ await tools.echo({lossy}); }} catch (e) {{ return e.message; }}");
        assert_eq!(value(&program).await, format!("tool arguments must be lossless JSON: {text}").into());
    }
    assert_eq!(
        value("try { await tools.echo(); } catch (e) { return e.message; }").await,
        "tool arguments must be lossless JSON: got none: pass an object such as {}".into()
    );
}

#[tokio::test]
async fn odd_but_plain_values_pass() {
    assert_eq!(value("return Object.assign(Object.create(null), { a: 1 });").await, object! { "a": 1 });
    assert_eq!(value("return JSON.parse('{\"__proto__\": 1}');").await, object! { "__proto__": 1 });
    assert_eq!(value("let n = 0; return { get a() { return ++n; } };").await, object! { "a": 1 });
    assert_eq!(value("return { toJSON() { return 1 } }.x === undefined;").await, true.into());
}

#[tokio::test]
async fn a_timer_calls_a_function() {
    let text = failure("setTimeout('code', 1);", FailureKind::Exception).await;
    assert!(text.contains("must be a function"), "{text}");
}

/// The engine does not look up inside one long operation of its own. The run ends nevertheless, and the thread is counted.
#[tokio::test]
async fn a_long_operation_delays_only_its_thread() {
    let runtime = Arc::new(QuickJs::on_threads(Limits {
        max_wall: Duration::from_millis(50),
        max_compute: Duration::from_secs(60),
        ..Limits::default()
    }));
    let request = request(
        "const t = 'ab'.repeat(2e4); let n = 0; for (let i = 0; i < 9000; i++) n += t.indexOf('ba'.repeat(9) + 'x'); return n;",
    );
    let host = TestHost::of(&request);
    let started = Instant::now();
    let outcome = runtime.run(request, &host).await.unwrap();
    let waited = started.elapsed() >= Duration::from_millis(50) + QuickJs::GRACE;
    failure_of(outcome, FailureKind::Timeout);
    // A machine on which the operation ends within the grace has no thread left.
    assert_eq!(runtime.unstopped(), usize::from(waited));
    runtime.close().await;
    assert_eq!(runtime.unstopped(), 0);
}

#[tokio::test]
async fn dropping_a_run_stops_its_program() {
    let runtime = QuickJs::on_threads(Limits::default());
    let request = request("for (;;) {}");
    let host = TestHost::of(&request);
    let run = runtime.run(request, &host);
    assert!(tokio::time::timeout(Duration::from_millis(20), run).await.is_err());
    runtime.close().await;
    assert_eq!(runtime.unstopped(), 0);
}

#[tokio::test]
async fn closing_stops_a_busy_program_and_its_thread() {
    let runtime = QuickJs::on_threads(Limits::default());
    let request = request("console.log('busy'); for (;;) { try { for (;;) {} } finally { continue; } }");
    let host = TestHost::of(&request);
    let close = async {
        while host.printed.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        runtime.close().await;
    };
    let (outcome, ()) = tokio::join!(runtime.run(request.clone(), &host), close);
    let text = failure_of(outcome.unwrap(), FailureKind::Abort);
    assert!(text.starts_with("runtime disposed: "), "{text}");
    assert_eq!(runtime.unstopped(), 0);
    assert_eq!(runtime.run(request.clone(), &host).await, Err(Misuse::Closed));
}
