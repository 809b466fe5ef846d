//! What a program finds, and what it does not.

use dsh_json::{Json, array};

use super::kit::{printed, value};

#[tokio::test]
async fn the_globals_are_these() {
    let printed = printed(
        "const own = Object.getOwnPropertyNames(globalThis).filter(n => !['globalThis', 'undefined', 'NaN', 'Infinity'].includes(n));
         console.log(own.sort().join(' '));",
    )
    .await;
    insta::assert_snapshot!(printed.concat());
}

#[tokio::test]
async fn there_is_no_way_out() {
    for name in
        ["require", "module", "std", "os", "fetch", "Deno", "Bun", "importScripts", "WebAssembly", "console2"]
    {
        assert_eq!(value(&format!("return typeof {name};")).await, "undefined".into(), "{name}");
    }
    // Code made from text sees the language, and none of the program's own names.
    let program = "return [new Function('return typeof tools + typeof console')(), (0, eval)('typeof tools'),
        (() => {}).constructor('return typeof globalThis.tools')()];";
    assert_eq!(value(program).await, array!["undefinedundefined", "undefined", "undefined"]);
}

#[tokio::test]
async fn programs_are_strict_functions() {
    let program =
        "try { undeclared = 1; } catch (e) { return [e.name, this === undefined, arguments.length > 0]; }";
    assert_eq!(value(program).await, array!["ReferenceError", true, true]);
}

#[tokio::test]
async fn the_language_is_recent() {
    let program = "using x = { [Symbol.dispose]() {} };
        const groups = Object.groupBy([1, 2, 3], n => n % 2 ? 'odd' : 'even');
        return [[3, 1].toSorted(), groups, new Set([1]).union(new Set([2])).size, [1, 2].values().map(n => n * 2).toArray()];";
    assert!(matches!(value(program).await, Json::Array(_)));
}

#[tokio::test]
async fn programs_of_five_megabytes_run() {
    let text = "x".repeat(5 << 20);
    assert_eq!(value(&format!("return '{text}'.length;")).await, (5 << 20).into());
    assert_eq!(value(&format!("/* {text} */ return 1;")).await, 1.into());
}

#[tokio::test]
async fn deep_values_of_the_language_are_no_end() {
    let program = "let v = []; for (let i = 0; i < 100000; i++) v = [v]; v = null;
        const text = '['.repeat(5000) + ']'.repeat(5000);
        const f = n => n ? f(n - 1) + 1 : 0; let over; try { f(1e7); } catch (e) { over = e.name; }
        return [JSON.stringify(JSON.parse(text)).length, over];";
    assert_eq!(value(program).await, array![10_000, "RangeError"]);
}
