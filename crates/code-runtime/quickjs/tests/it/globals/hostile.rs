//! Programs that turn the globals against what runs them.

use std::time::Duration;

use dsh_code_runtime::{FailureKind, Limits};
use dsh_json::{Json, array, object};

use super::super::kit::{run_within, value};
use super::{check, check_thrown};

/// Overwrites everything that a program can reach, before any class of ours is built.
const STORM: &str = "
    const boom = () => { throw new Error('reached'); };
    const roots = [Array.prototype, Object.prototype];
    const define = Object.defineProperty, keysOf = Reflect.ownKeys, protoOf = Object.getPrototypeOf;
    const trap = { __proto__: null, get: boom, set: boom, configurable: true };
    const holders = [Array, Promise, Object, Function, Error, TypeError, RangeError, String, Map, Set, WeakMap, JSON, Reflect, Symbol, Math, Date,
        RegExp, ArrayBuffer, DataView, Uint8Array, protoOf(Uint8Array), Number, Boolean, BigInt, Iterator, DOMException];
    const u8 = new Uint8Array([104, 105, 255]), view = new Uint16Array([7]), map = new Map([[1, { a: 2 }]]), set = new Set([3]), date = new Date(5),
        pattern = /x/g, error = define(new RangeError('m'), 'name', { value: 'RangeError' }), boxed = Object(4);
    const names = ['a', 'b', 'value', 'get', 'set', 'done', 'next', 'read', 'written', 'href', 'list', 'query', 'params', 'at', 'gives', 'stream', 'fatal',
        'ignoreBOM', 'transfer', 'maxByteLength', 'message', 'stack', 'cause', 'writable', 'enumerable', '0', '1', 'length'];
    for (let i = 0; i < holders.length; i++) {
        const all = [[holders[i], keysOf(holders[i])], holders[i].prototype ? [holders[i].prototype, keysOf(holders[i].prototype)] : [{}, []]];
        for (let h = 0; h < 2; h++) for (let n = 0; n < all[h][1].length; n++)
            try { define(all[h][0], all[h][1][n], { __proto__: null, value: boom, configurable: true }); } catch {}
    }
    for (let i = 0; i < names.length; i++) for (let r = 0; r < 2; r++) try { define(roots[r], names[i], trap); } catch {}
    const globals = ['Object', 'Array', 'Error', 'Proxy', 'Map', 'Set', 'WeakMap', 'Symbol', 'DOMException', 'Uint8Array', 'ArrayBuffer', 'Iterator', 'Date', 'RegExp'];
    for (let i = 0; i < globals.length; i++) globalThis[globals[i]] = boom;
";

#[tokio::test]
async fn overwriting_the_language_reaches_no_global() {
    for (program, expected) in [
        ("return new TextDecoder().decode(new TextEncoder().encode('é\\ud800'));", Json::from("é\u{fffd}")),
        ("return new TextDecoder('utf8', null).decode(u8);", "hi\u{fffd}".into()),
        ("const r = new TextEncoder().encodeInto('ab', u8); return r.read + r.written + u8[0];", 101.into()),
        (
            "const u = new URL('../x?q=1', 'http://h/a/b/'); u.searchParams.append('k', 'v w'); u.searchParams.delete('q'); u.searchParams.sort(); u.host = 'o'; return u.href;",
            "http://o/a/x?k=v+w".into(),
        ),
        (
            "const p = new URLSearchParams('a=1&b=2'); let s = ''; p.forEach((v, k) => { s += k + v; }); const i = p.keys(); return s + i.next().value + i.next().value + p.toString();",
            "a1b2aba=1&b=2".into(),
        ),
        (
            "const c = structuredClone(map); let s = 0; for (let i = 0; i < 1; i++) s = c === map; return s;",
            false.into(),
        ),
        (
            "const c = structuredClone([1, { a: u8, b: view, d: date, e: error, p: pattern, s: set, x: boxed }]); return c[1].a[1] + c[1].b[0] + (c[1].a === u8) + (c[1].e === error);",
            112.into(),
        ),
        (
            "try { structuredClone(() => 1); } catch (e) { return e !== undefined && e.constructor === undefined || typeof e; }",
            "object".into(),
        ),
    ] {
        assert_eq!(value(&format!("{STORM}{program}")).await, expected, "{program}");
    }
}

#[tokio::test]
async fn what_programs_do_to_our_classes_is_their_own_loss() {
    check(&[
        (
            "for (const C of [URL, URLSearchParams]) for (const k of Reflect.ownKeys(C.prototype)) Object.defineProperty(C.prototype, k, { value: () => { throw 1; } });
             globalThis.URLSearchParams = null; const u = new URL('http://h/?a=1'); return Object.getPrototypeOf(u) === URL.prototype;",
            true.into(),
        ),
        // The parts of one class do not fit another, whatever their prototypes say.
        (
            "const u = Object.setPrototypeOf(new URLSearchParams('a=1'), URL.prototype); let m; try { u.href; } catch (e) { m = e.message; }
             return [m, URLSearchParams.prototype.get.call(u, 'a')];",
            array!["this method is for instances of URL only", "1"],
        ),
        ("const u = new URL('http://h/'); Object.setPrototypeOf(u, null); return Object.getOwnPropertyDescriptor(URL.prototype, 'href').get.call(u);", "http://h/".into()),
        ("Reflect.ownKeys(new URL('http://h/?a')).length + Reflect.ownKeys(new URLSearchParams('a')).length", 0.into()),
        ("const g = Object.getOwnPropertyDescriptor(globalThis, 'URL').get; const U = URL; return g() === U && g.call(1) === U;", true.into()),
        ("Object.freeze(globalThis); const u = new URL('http://h/?a=1'); return u.searchParams instanceof URLSearchParams;", true.into()),
        ("Object.isExtensible(Object.freeze(new URL('http://h'))) || new URLSearchParams(Object.freeze(new URLSearchParams('a=1'))).size", 1.into()),
        ("const u = Object.freeze(new URL('http://h/')); u.hash = 'x'; return u.href;", "http://h/#x".into()),
    ])
    .await;
}

#[tokio::test]
async fn new_targets_are_respected_and_may_throw() {
    check(&[
        ("const o = Reflect.construct(URL, ['a:b'], Object); return [Object.getPrototypeOf(o) === Object.prototype, Object.getOwnPropertyDescriptor(URL.prototype, 'href').get.call(o)];",
            array![true, "a:b"]),
        ("class Odd extends URL { constructor() { super('a:b'); return [1]; } } return new Odd();", array![1]),
    ])
    .await;
    check_thrown(&[
        (
            "Reflect.construct(URL, ['a:b'], new Proxy(URL, { get() { throw new RangeError('mine'); } }))",
            "RangeError: mine",
        ),
        ("URL.call(new URL('a:b'), 'c:d')", "TypeError: URL is a class: write new URL(…)"),
        ("Reflect.construct(structuredClone, [1])", "TypeError: not a constructor"),
    ])
    .await;
}

#[tokio::test]
async fn proxies_and_getters_run_where_they_may() {
    check(&[
        (
            "const order = []; const p = new Proxy({ a: 1, b: 2 }, { ownKeys(t) { order.push('keys'); return Reflect.ownKeys(t); }, get(t, k) { order.push(String(k)); return t[k]; } });
             return [new URLSearchParams(p).toString(), order];",
            array!["a=1&b=2", array!["Symbol(Symbol.iterator)", "keys", "a", "b"]],
        ),
        // Only the object itself is looked at: no trap of its prototype runs.
        ("let n = 0; const o = Object.create(new Proxy({}, { getPrototypeOf() { n++; return null; }, get() { n++; } })); o.a = 1; return [structuredClone(o), n];",
            array![object! { "a": 1 }, 0]),
        ("let o = { a: 1 }; for (let i = 0; i < 5000; i++) o = Object.create(o); o.b = 2; return structuredClone(o);", object! { "b": 2 }),
        ("const r = /x/; Object.defineProperty(r, Symbol.match, { get() { return false; } }); return structuredClone(r).source;", "x".into()),
        ("structuredClone({ '\\ud800': '\\udc00' })['\\ud800'].charCodeAt(0)", 0xdc00.into()),
        ("new URLSearchParams({ '\\ud800': '\\udc00' }).toString()", "%EF%BF%BD=%EF%BF%BD".into()),
        ("const m = new Map([[1, 1]]); const c = structuredClone(Object.defineProperty(m, 'size', { get() { throw 1; } })); return [...c];", array![array![1, 1]]),
        ("const m = new Map([['x', null]]); m.set('x', { get y() { m.clear(); return 1; } }); m.set('z', 2); return [...structuredClone(m).keys()];", array!["x", "z"]),
    ])
    .await;
    check_thrown(&[
        (
            "new URLSearchParams(new Proxy({}, { ownKeys() { throw new RangeError('mine'); } }))",
            "RangeError: mine",
        ),
        ("new TextDecoder('utf8', { get fatal() { throw new RangeError('mine'); } })", "RangeError: mine"),
        ("structuredClone(1, { get transfer() { throw new RangeError('mine'); } })", "RangeError: mine"),
        (
            "structuredClone(1, { transfer: { [Symbol.iterator]() { throw new RangeError('mine'); } } })",
            "RangeError: mine",
        ),
        ("new URL({ toString() { throw new RangeError('mine'); } })", "RangeError: mine"),
        ("new URLSearchParams('a').forEach(() => { throw new RangeError('mine'); })", "RangeError: mine"),
    ])
    .await;
}

#[tokio::test]
async fn buffers_that_go_while_they_are_used() {
    check(&[
        ("const t = new Uint8Array(4); const r = new TextEncoder().encodeInto({ toString() { t.buffer.transfer(); return 'abc'; } }, t); return r;",
            object! { "read": 0, "written": 0 }),
        ("const b = new Uint8Array([97]); return new TextDecoder().decode(b, { get stream() { b.buffer.transfer(); return false; } });", "".into()),
        ("const b = new ArrayBuffer(4, { maxByteLength: 8 }); const u = new Uint8Array(b, 2, 2); const d = new DataView(b, 2, 2); b.resize(1); return [new TextDecoder().decode(u), new TextDecoder().decode(d)];",
            array!["", ""]),
        ("const b = new ArrayBuffer(4, { maxByteLength: 8 }); const u = new Uint8Array(b); b.resize(8); return structuredClone(u).length;", 8.into()),
    ])
    .await;
    check_thrown(&[
        ("const u = new Uint8Array(4); structuredClone([{ get a() { u.buffer.transfer(); return 1; } }, u])", "DataCloneError: a detached ArrayBuffer can't be cloned"),
        ("const b = new ArrayBuffer(4, { maxByteLength: 8 }); const d = new DataView(b, 2, 2); b.resize(1); structuredClone(d)",
            "DataCloneError: a view of a detached ArrayBuffer can't be cloned"),
        ("const b = new ArrayBuffer(4); structuredClone({ get a() { b.transfer(); return 1; } }, { transfer: [b] })", "TypeError: ArrayBuffer is detached"),
    ])
    .await;
}

#[tokio::test]
async fn what_ends_the_run_ends_it_inside_of_a_global() {
    let limits = || Limits { max_compute: Duration::from_millis(80), ..Limits::default() };
    for program in [
        "structuredClone({ get a() { for (;;) {} } });",
        "for (;;) { try { structuredClone({ get a() { for (;;) {} } }); } catch {} }",
        "const p = new URLSearchParams('a=1'); p.forEach(() => { for (;;) {} });",
        "const p = new URLSearchParams('a=1'); p.forEach(() => { p.append('a', 1); });",
        "new URLSearchParams({ [Symbol.iterator]() { return { next() { return { get done() { for (;;) {} } }; } }; } });",
        "new TextDecoder({ toString() { for (;;) {} } });",
        // No code of the program's runs inside: the walk itself gives the engine its occasions.
        "const a = Array.from({ length: 50000 }, (_, i) => i); for (;;) { try { structuredClone(a); } catch {} }",
    ] {
        let outcome = run_within(limits(), program).await;
        let got = outcome.result.map_err(|failure| failure.kind);
        assert_eq!(got, Err(FailureKind::Timeout), "{program}");
    }
}

#[tokio::test]
async fn memory_is_the_programs_own() {
    let limits = || Limits { max_memory_bytes: 6 << 20, ..Limits::default() };
    for program in [
        "const b = new Uint8Array(1 << 20).fill(0xff); const all = []; for (;;) all.push(new TextDecoder().decode(b));",
        "const s = 'é'.repeat(1 << 20); const all = []; for (;;) all.push(new TextEncoder().encode(s));",
        "const p = new URLSearchParams(); for (;;) p.append('a', 'b');",
        "const p = new URLSearchParams({ a: '€'.repeat(1 << 18) }); let s = ''; for (;;) s += p.toString();",
        "const s = 'x'.repeat(1 << 18); const all = []; for (;;) all.push(new URLSearchParams([[s, s]]));",
        "new URLSearchParams({ *[Symbol.iterator]() { for (;;) yield ['key', 'value']; } });",
        "const all = []; const s = 'http://h/' + 'x'.repeat(100000); for (;;) all.push(new URL(s));",
        "const make = () => ({ get a() { return make(); } }); structuredClone(make());",
        "const make = () => ({ a: [1, 2, 3], get b() { return make(); } }); structuredClone(new Map([[1, make()]]));",
        "const big = new ArrayBuffer(1 << 20); const all = []; for (;;) all.push(structuredClone(big));",
        "const d = []; for (;;) { const t = new TextDecoder(); t.decode(Uint8Array.of(0xe2), { stream: true }); d.push(t); }",
    ] {
        let outcome = run_within(limits(), program).await;
        let kind = outcome.result.expect_err(program).kind;
        assert!(matches!(kind, FailureKind::MemoryLimit | FailureKind::Exception), "{program}: {kind}");
    }
    // Rust held little beside it: what the tests of this process took at most, together.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<usize>().ok());
    assert!(peak.is_some_and(|kib| kib < 200 << 10), "{peak:?} KiB");
}

#[tokio::test]
async fn instances_go_when_they_are_dropped() {
    let limits = Limits { max_memory_bytes: 3 << 20, ..Limits::default() };
    let outcome = run_within(
        limits,
        "let n = 0; for (let i = 0; i < 3000; i++) { const u = new URL('http://h/path?a=1&b=' + 'x'.repeat(400)); u.searchParams.append('c', i); n += u.searchParams.size;
            for (const k of u.searchParams.keys()) n += k.length; new TextDecoder().decode(new TextEncoder().encode('x')); structuredClone({ a: [u.href] }); } return n;",
    )
    .await;
    assert_eq!(outcome.result, Ok(Some(18_000.into())));
}

#[tokio::test]
async fn kept_instances_do_not_outlive_the_engine() {
    let program = "const u = new URL('http://h/?a=1'); const p = u.searchParams; u.self = u; p.url = u; u.params = p;
        const d = new TextDecoder(); d.decode(Uint8Array.of(0xe2), { stream: true }); d.self = d; const i = p.keys(); i.params = p;
        Array.prototype.kept = [u, p, d, i, URL, structuredClone, TextEncoder]; Object.prototype.kept = u; URL.prototype.kept = new TextEncoder();
        globalThis.c = structuredClone(new Map([[d.encoding, [p.size]]])); globalThis.get = Object.getOwnPropertyDescriptor(URL.prototype, 'href').get;
        return 1;";
    for _ in 0..3 {
        assert_eq!(value(program).await, 1.into());
    }
}
