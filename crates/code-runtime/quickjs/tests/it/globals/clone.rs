//! `structuredClone`.

use dsh_json::{array, object};

use super::super::kit::value;
use super::{check, check_thrown};

#[tokio::test]
async fn plain_values_are_copied() {
    check(&[
        (
            "const a = { n: 1, t: 'x', l: [1, [2]], nil: null, o: { p: true } }; const b = structuredClone(a);
             return [JSON.stringify(b), b !== a, b.l !== a.l, b.o !== a.o];",
            array![r#"{"n":1,"t":"x","l":[1,[2]],"nil":null,"o":{"p":true}}"#, true, true, true],
        ),
        ("[undefined, NaN, -0, 10n ** 30n].map(v => Object.is(structuredClone(v), v))", array![true, true, true, true]),
        ("'u' in structuredClone({ u: undefined })", true.into()),
        ("Object.keys(structuredClone({ b: 1, a: 2, 1: 3 }))", array!["1", "b", "a"]),
        ("const c = structuredClone([1, , 3, ,]); return [c.length, 1 in c, 3 in c];", array![4, false, false]),
        ("const a = Object.assign([1], { x: 2 }); const c = structuredClone(a); return [c.length, c.x, Array.isArray(c)];", array![1, 2, true]),
        ("structuredClone(JSON.parse('{\"__proto__\": 1}'))", object! { "__proto__": 1 }),
        ("structuredClone({ get a() { return 7; } })", object! { "a": 7 }),
        ("Object.getOwnPropertyDescriptor(structuredClone(Object.freeze({ a: 1 })), 'a').writable", true.into()),
        ("structuredClone(Object.defineProperty({ a: 1, [Symbol('s')]: 2 }, 'hidden', { value: 3 }))", object! { "a": 1 }),
        ("structuredClone(new Array(4294967295)).length", 4_294_967_295_u32.into()),
        ("structuredClone.length", 1.into()),
    ])
    .await;
}

#[tokio::test]
async fn what_is_shared_stays_shared() {
    check(&[
        ("const a = {}; a.self = a; const c = structuredClone(a); return [c.self === c, c !== a];", array![true, true]),
        ("const x = [1]; const c = structuredClone({ p: x, q: x }); return [c.p === c.q, c.p !== x];", array![true, true]),
        ("const m = new Map(); m.set('me', m); const c = structuredClone(m); return c.get('me') === c;", true.into()),
        ("const s = new Set(); s.add(s); const c = structuredClone(s); return [c.has(c), c.size];", array![true, 1]),
        ("const e = new Error('x'); e.cause = e; const c = structuredClone(e); return c.cause === c;", true.into()),
        (
            "const u = new Uint8Array([1, 2, 3, 4]); const c = structuredClone({ a: u, b: new Uint16Array(u.buffer, 2, 1), d: new DataView(u.buffer, 1, 2) });
             c.a[2] = 9; return [c.a.buffer === c.b.buffer, c.b.length, c.b.byteOffset, c.d.byteLength, c.d.getUint8(1), u[2]];",
            array![true, 1, 2, 2, 9, 3],
        ),
        ("const k = {}; const c = structuredClone([k, new Map([[k, k]])]); return [c[1].get(c[0]) === c[0]];", array![true]),
    ])
    .await;
}

#[tokio::test]
async fn classes_of_the_language_are_kept() {
    check(&[
        ("const c = structuredClone(new Map([[1, { a: 2 }], ['k', [3]]])); return [c instanceof Map, [...c]];",
            array![true, array![array![1, object! { "a": 2 }], array!["k", array![3]]]]),
        ("const c = structuredClone(new Set([3, 1, 2])); return [c instanceof Set, [...c]];", array![true, array![3, 1, 2]]),
        ("const c = structuredClone(new Date(86400000)); return [c instanceof Date, c.toISOString()];", array![true, "1970-01-02T00:00:00.000Z"]),
        ("Number.isNaN(structuredClone(new Date(NaN)).getTime())", true.into()),
        ("const r = /a(?<n>b)/giu; r.lastIndex = 2; const c = structuredClone(r); return [c instanceof RegExp, c.source, c.flags, c.lastIndex];",
            array![true, "a(?<n>b)", "giu", 0]),
        ("const c = structuredClone(new Uint8Array([1, 2]).buffer); return [c instanceof ArrayBuffer, c.byteLength, new Uint8Array(c)[1]];", array![true, 2, 2]),
        ("const c = structuredClone(new ArrayBuffer(2, { maxByteLength: 8 })); return [c.resizable, c.byteLength, c.maxByteLength];", array![true, 2, 8]),
        (
            "[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float16Array, Float32Array, Float64Array]
                .map(T => { const c = structuredClone(T.of(1, 2, 3)); return c instanceof T && c.length === 3 && c[2] === 3; }).every(Boolean)",
            true.into(),
        ),
        ("[BigInt64Array, BigUint64Array].every(T => structuredClone(T.of(5n))[0] === 5n)", true.into()),
        ("[new Number(1), new String('s'), new Boolean(false), Object(2n)].map(b => { const c = structuredClone(b); return [typeof c, String(c.valueOf())]; })",
            array![array!["object", "1"], array!["object", "s"], array!["object", "false"], array!["object", "2"]]),
    ])
    .await;
}

#[tokio::test]
async fn errors_keep_name_message_stack_and_cause() {
    for name in ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"]
    {
        let program = format!(
            "const e = new {name}('m', {{ cause: {{ why: 1 }} }}); e.extra = 2; const c = structuredClone(e);
             return [c instanceof {name}, c.name, c.message, c.stack === e.stack, c.cause, c.cause !== e.cause, c.extra, Object.keys(c)]
                .map(v => v === undefined ? 'none' : v);"
        );
        check(&[(&program, array![true, name, "m", true, object! { "why": 1 }, true, "none", array![]])])
            .await;
    }
    check(&[
        ("const c = structuredClone(new AggregateError([1], 'm')); return [c.constructor === Error, c.name, c.message];", array![true, "Error", "m"]),
        ("class Mine extends TypeError { name = 'Mine'; } const c = structuredClone(new Mine('m')); return [c.constructor === Error, c.name, c.message];",
            array![true, "Error", "m"]),
        ("'message' in Object.getOwnPropertyDescriptors(structuredClone(new Error()))", false.into()),
        ("try { await tools.fail('no'); } catch (e) { const c = structuredClone(e); return [c.constructor === Error, c.message]; }", array![true, "no"]),
    ])
    .await;
}

#[tokio::test]
async fn instances_lose_their_class() {
    check(&[
        ("class P { x = 1; get y() { return 2; } m() {} } const c = structuredClone(new P()); return [c, Object.getPrototypeOf(c) === Object.prototype];",
            array![object! { "x": 1 }, true]),
        ("Object.getPrototypeOf(structuredClone(Object.create(null, { a: { value: 1, enumerable: true } }))) === Object.prototype", true.into()),
        ("class L extends Array {} const c = structuredClone(L.of(1, 2)); return [c.constructor === Array, c];", array![true, array![1, 2]]),
        ("class M extends Map {} const c = structuredClone(new M([[1, 2]])); return [c.constructor === Map, [...c]];", array![true, array![array![1, 2]]]),
        ("structuredClone(Object.assign(Object.create(Map.prototype), { a: 1 }))", object! { "a": 1 }),
        ("structuredClone(Object.assign(Object.create(Date.prototype), { a: 1 }))", object! { "a": 1 }),
        ("structuredClone(Object.assign(Object.create(Uint8Array.prototype), { a: 1 }))", object! { "a": 1 }),
        ("structuredClone(Object.assign(Object.create(ArrayBuffer.prototype), { a: 1 }))", object! { "a": 1 }),
        ("(function () { return structuredClone(arguments); })(1, 2)", object! { "0": 1, "1": 2 }),
    ])
    .await;
}

#[tokio::test]
async fn what_has_no_copy_is_a_data_clone_error() {
    for (expression, what) in [
        ("() => 1", "a function can't be cloned"),
        ("class {}", "a function can't be cloned"),
        ("{ a: [tools.echo] }", "a function can't be cloned"),
        ("console", "a function can't be cloned"),
        ("Symbol('s')", "a symbol can't be cloned"),
        ("Object(Symbol('s'))", "an instance of Symbol can't be cloned"),
        ("Promise.resolve(1)", "a promise can't be cloned: await it first"),
        ("new Proxy({}, {})", "a proxy can't be cloned"),
        ("new Proxy([], {})", "a proxy can't be cloned"),
        ("new Proxy(() => 1, {})", "a function can't be cloned"),
        ("new WeakMap()", "an instance of WeakMap can't be cloned"),
        ("new WeakSet()", "an instance of WeakSet can't be cloned"),
        ("new WeakRef({})", "an instance of WeakRef can't be cloned"),
        ("new FinalizationRegistry(() => {})", "an instance of FinalizationRegistry can't be cloned"),
        ("new SharedArrayBuffer(1)", "an instance of SharedArrayBuffer can't be cloned"),
        ("new Uint8Array(new SharedArrayBuffer(1))", "an instance of SharedArrayBuffer can't be cloned"),
        ("[1].values()", "an instance of Iterator can't be cloned"),
        ("(function* () {})()", "an instance of Iterator can't be cloned"),
        ("new DOMException('m')", "an instance of DOMException can't be cloned"),
        ("new URL('a:b')", "an instance of URL can't be cloned"),
        ("new URLSearchParams()", "an instance of URLSearchParams can't be cloned"),
        ("new URLSearchParams().keys()", "an instance of URLSearchParams Iterator can't be cloned"),
        ("new TextDecoder()", "an instance of TextDecoder can't be cloned"),
        ("(b => { b.transfer(); return b; })(new ArrayBuffer(1))", "a detached ArrayBuffer can't be cloned"),
        (
            "(u => { u.buffer.transfer(); return u; })(new Uint8Array(1))",
            "a detached ArrayBuffer can't be cloned",
        ),
        (
            "(d => { d.buffer.transfer(); return d; })(new DataView(new ArrayBuffer(1)))",
            "a view of a detached ArrayBuffer can't be cloned",
        ),
    ] {
        let program = format!(
            "try {{ structuredClone({expression}); }} catch (e) {{ return [e instanceof DOMException, e.name, e.code, e.message]; }}"
        );
        assert_eq!(value(&program).await, array![true, "DataCloneError", 25, what], "{expression}");
    }
    check_thrown(&[("structuredClone()", "TypeError: structuredClone needs the value to clone")]).await;
}

#[tokio::test]
async fn buffers_can_be_transferred() {
    check(&[
        ("const b = new Uint8Array([1, 2]).buffer; const c = structuredClone({ b }, { transfer: [b] }); return [b.detached, c.b.byteLength, new Uint8Array(c.b)[1]];",
            array![true, 2, 2]),
        ("const b = new ArrayBuffer(4); structuredClone(1, { transfer: new Set([b]) }); return b.detached;", true.into()),
        ("const b = new ArrayBuffer(4); try { structuredClone([b, () => 1], { transfer: [b] }); } catch {} return b.detached;", false.into()),
        ("structuredClone([1], {})", array![1]),
        ("structuredClone([1], null)", array![1]),
    ])
    .await;
    let refused = "DataCloneError: what is transferred must be an ArrayBuffer, each once, and not detached";
    check_thrown(&[
        ("structuredClone(1, { transfer: [{}] })", refused),
        ("const b = new ArrayBuffer(1); structuredClone(1, { transfer: [b, b] })", refused),
        ("const b = new ArrayBuffer(1); b.transfer(); structuredClone(1, { transfer: [b] })", refused),
        ("structuredClone(1, { transfer: [new SharedArrayBuffer(1)] })", refused),
        ("structuredClone(1, { transfer: 1 })", "TypeError: what is to be transferred is an array"),
        ("structuredClone(1, 1)", "TypeError: the options of structuredClone are an object"),
    ])
    .await;
}

#[tokio::test]
async fn getters_run_once_and_throw_on() {
    check(&[
        ("let n = 0; const c = structuredClone({ get a() { return ++n; } }); return [c.a, n];", array![1, 1]),
        ("const order = []; structuredClone({ get a() { order.push('a'); return { get b() { order.push('b'); return 1; } }; }, get c() { order.push('c'); return 1; } }); return order;",
            array!["a", "b", "c"]),
        ("const o = { get a() { delete this.b; return 1; }, b: 2 }; return Object.keys(structuredClone(o));", array!["a"]),
        ("const a = [1, 2, 3]; Object.defineProperty(a, 0, { get() { a.length = 1; return 9; }, enumerable: true }); const c = structuredClone(a); return [c.length, c[0], 1 in c];",
            array![3, 9, false]),
    ])
    .await;
    check_thrown(&[
        ("structuredClone({ a: [{ get x() { throw new RangeError('mine'); } }] })", "RangeError: mine"),
        ("const e = new Error(); Object.defineProperty(e, 'name', { get() { throw new TypeError('name'); } }); structuredClone(e)", "TypeError: name"),
    ])
    .await;
}

#[tokio::test]
async fn depth_costs_memory_only() {
    let deep = |levels: u32, wrap: &str| {
        format!(
            "let v = 1; for (let i = 0; i < {levels}; i++) v = {wrap}; let c = structuredClone(v); let n = 0;
             while (typeof c === 'object') {{ n++; c = Array.isArray(c) ? c[0] : c instanceof Map ? c.get(0) : c instanceof Set ? [...c][0] : c.cause ?? c.a; }} return n;"
        )
    };
    for wrap in ["[v]", "{ a: v }", "new Map([[0, v]])", "new Set([v])"] {
        check(&[(&deep(5_000, wrap), 5_000.into()), (&deep(20_000, wrap), 20_000.into())]).await;
    }
    check(&[(&deep(5_000, "new Error('e', { cause: v })"), 5_000.into())]).await;
}
