//! What `console` and the streams print.

use super::kit::{printed, run};

async fn shown(expression: &str) -> String {
    let program = format!("console.log({expression});");
    printed(&program).await.join("\n---\n")
}

#[tokio::test]
async fn values_look_as_in_node() {
    for (expression, text) in [
        ("'raw', 1, -0, 1n, true, null, undefined", "raw 1 -0 1n true null undefined"),
        ("Symbol('s'), [Symbol.iterator]", "Symbol(s) [ Symbol(Symbol.iterator) ]"),
        ("{}", "{}"),
        ("[]", "[]"),
        (
            "{ a: 1, 'b c': 'x', d: [1, 'two'], e: { f: null } }",
            "{ a: 1, 'b c': 'x', d: [ 1, 'two' ], e: { f: null } }",
        ),
        ("['it\\'s', 'say \"x\"', `it's \"y\"`]", "[ \"it's\", 'say \"x\"', `it's \"y\"` ]"),
        ("[1, , 3, , ,]", "[ 1, <1 empty item>, 3, <2 empty items> ]"),
        ("Object.assign([1], { x: 2 })", "[ 1, x: 2 ]"),
        (
            "function f() {}, () => {}, class A {}, async () => {}",
            "[Function: f] [Function (anonymous)] [class A] [AsyncFunction (anonymous)]",
        ),
        ("new Map([[1, { a: 2 }]]), new Set(['x'])", "Map(1) { 1 => { a: 2 } } Set(1) { 'x' }"),
        ("new Date(0), /x/gi", "1970-01-01T00:00:00.000Z /x/gi"),
        ("[new Date(0)]", "[ 1970-01-01T00:00:00.000Z ]"),
        ("Object.create(null)", "[Object: null prototype] {}"),
        ("new (class P { x = 1 })()", "P { x: 1 }"),
        (
            "{ get a() { throw 1 }, set b(v) {}, get c() { return 1 }, set c(v) {} }",
            "{ a: [Getter], b: [Setter], c: [Getter/Setter] }",
        ),
        ("Promise.resolve(4), new Promise(() => {})", "Promise { 4 } Promise { <pending> }"),
        ("new Uint8Array([1, 2])", "Uint8Array(2) [ 1, 2 ]"),
        ("{ [Symbol('k')]: 1 }", "{ [Symbol(k)]: 1 }"),
        (
            "{ a: { b: { c: { d: { e: { f: 1 } } } } } }",
            "{\n  a: {\n    b: { c: { d: { e: [Object] } } }\n  }\n}",
        ),
        ("new Proxy({ a: 1 }, {})", "{ a: 1 }"),
        ("'\\ud800x'", "\u{fffd}x"),
    ] {
        assert_eq!(shown(expression).await, text, "{expression}");
    }
}

#[tokio::test]
async fn cycles_are_numbered() {
    let printed = printed("const a = { name: 'a' }; a.self = a; a.list = [a]; console.log(a);").await;
    assert_eq!(printed, ["<ref *1> { name: 'a', self: [Circular *1], list: [ [Circular *1] ] }"]);
}

#[tokio::test]
async fn long_things_are_broken_and_cut() {
    assert_eq!(
        shown("{ first: 'x'.repeat(40), second: 'y'.repeat(40) }").await,
        format!("{{\n  first: '{}',\n  second: '{}'\n}}", "x".repeat(40), "y".repeat(40))
    );
    let list = shown("Array.from({ length: 120 }, (_, i) => i)").await;
    assert!(list.starts_with("[\n   0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11,\n"), "{list}");
    assert!(list.ends_with("96, 97, 98, 99,\n  ... 20 more items\n]"), "{list}");
    let text = shown("['z'.repeat(10010)]").await;
    assert!(text.contains(&format!("'{}'... 10 more characters", "z".repeat(10_000))));
    assert_eq!(
        shown("['a', 'b', 'c', 'd', 'e', 'f', 'g']").await,
        "[\n  'a', 'b', 'c',\n  'd', 'e', 'f',\n  'g'\n]"
    );
}

#[tokio::test]
async fn a_wide_value_is_no_flood() {
    let text = shown("(() => { let v = 1; for (let i = 0; i < 4; i++) v = Array.from({ length: 90 }, () => v); return v; })()").await;
    assert!(text.len() < 4 << 20, "{}", text.len());
}

#[tokio::test]
async fn the_console_is_five_methods() {
    let printed = printed(
        "for (const k of Object.keys(console)) console[k](k); console.log(Object.getPrototypeOf(console), typeof console.table);",
    )
    .await;
    assert_eq!(printed, ["log", "info", "warn", "error", "debug", "null undefined"]);
}

#[tokio::test]
async fn streams_print_in_the_same_order() {
    let outcome =
        run("console.log('a'); process.stdout.write('b\\n'); process.stderr.write(3); console.log();
        const done = await new Promise(r => process.stdout.write('c', 'utf8', e => r(e)));
        return [done, process.stdout.write('d')];")
        .await;
    assert_eq!(outcome.logs, ["a", "b\n", "3", "", "c", "d"]);
    assert_eq!(outcome.result, Ok(Some(dsh_json::array![dsh_json::Json::Null, true])));
}

#[tokio::test]
async fn errors_show_their_stack() {
    let text = shown("new TypeError('bad')").await;
    assert!(text.starts_with("TypeError: bad\n    at "), "{text}");
}
