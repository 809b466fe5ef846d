//! What programs find beside the language, one behaviour a row.

use dsh_code_runtime::FailureKind;
use dsh_json::{Json, array, object};

use super::kit::{failure, printed, value};

mod clone;
mod hostile;
mod language;
mod text;
mod urls;

/// Runs each program, an expression or statements that return, and compares what it gives.
async fn check(rows: &[(&str, Json)]) {
    for (program, expected) in rows {
        let statements = program.ends_with([';', '}']);
        let text = if statements { (*program).to_owned() } else { format!("return ({program});") };
        assert_eq!(value(&text).await, *expected, "{program}");
    }
}

/// Runs each expression, which must throw, and compares `name: message`.
async fn check_thrown(rows: &[(&str, &str)]) {
    for (expression, expected) in rows {
        let text = format!(
            "try {{ {expression}; }} catch (e) {{ return `${{e.name}}: ${{e.message}}`; }} return 'nothing thrown';"
        );
        assert_eq!(value(&text).await, Json::from(*expected), "{expression}");
    }
}

#[tokio::test]
async fn base64_is_the_engines() {
    check(&[
        ("[btoa('hi'), atob('aGk='), atob(' aG k ')]", array!["aGk=", "hi", "hi"]),
        ("btoa('\\xff\\x00')", "/wA=".into()),
        ("[...atob('/wA=')].map(c => c.charCodeAt(0))", array![255, 0]),
    ])
    .await;
    check_thrown(&[
        ("atob('*')", "InvalidCharacterError: The string to be decoded is not correctly encoded"),
        ("btoa('€')", "InvalidCharacterError: String contains an invalid character"),
    ])
    .await;
}

#[tokio::test]
async fn tasks_and_time() {
    check(&[
        (
            "const order = []; setTimeout(() => order.push('timer'), 1); queueMicrotask(() => order.push('task'));
             order.push('now'); await new Promise(r => setTimeout(r, 3)); return order;",
            array!["now", "task", "timer"],
        ),
        (
            "const t = performance.now(); await new Promise(r => setTimeout(r, 5)); const d = performance.now() - t;
             return [d >= 4, d < 60000];",
            array![true, true],
        ),
    ])
    .await;
    check_thrown(&[("queueMicrotask(1)", "TypeError: not a function")]).await;
}

#[tokio::test]
async fn classes_are_built_when_they_are_read() {
    let descriptor = |name: &str| {
        format!(
            "(d => [typeof d.value, d.writable, d.enumerable, d.configurable])(Object.getOwnPropertyDescriptor(globalThis, '{name}'))"
        )
    };
    for name in ["TextEncoder", "TextDecoder", "URL", "URLSearchParams"] {
        let read = descriptor(name);
        check(&[
            (&*format!("const first = {name}; const again = globalThis.{name}; return [first === again, first.name, {read}];"),
                array![true, name, array!["function", true, false, true]]),
            (&*format!("globalThis.{name} = 7; return [{name}, {read}];"), array![7, array!["number", true, false, true]]),
            (&*format!("[delete globalThis.{name}, typeof {name}]"), array![true, "undefined"]),
            (&*format!("Object.freeze(globalThis); return [{name} === {name}, typeof new {name}({})];", if name == "URL" { "'a:b'" } else { "" }),
                array![true, "object"]),
            (&*format!("Object.prototype.toString.call(new {name}({}))", if name == "URL" { "'a:b'" } else { "" }),
                format!("[object {name}]").into()),
            (&*format!("(d => [d.writable, d.enumerable, d.configurable])(Object.getOwnPropertyDescriptor({name}, 'prototype'))"),
                array![false, false, false]),
            (&*format!("class Mine extends {name} {{ own() {{ return 1; }} }} const m = new Mine({}); return [m instanceof {name}, m instanceof Mine, m.own()];",
                if name == "URL" { "'a:b'" } else { "" }), array![true, true, 1]),
        ])
        .await;
        check_thrown(&[(
            &*format!("{name}('a:b')"),
            &*format!("TypeError: {name} is a class: write new {name}(…)"),
        )])
        .await;
    }
}

#[tokio::test]
async fn there_is_no_buffer_and_the_console_has_five_methods() {
    check(&[
        (
            "[typeof Buffer, typeof require, typeof fetch, typeof setImmediate, typeof Blob]",
            Json::from(dsh_json::Array::from(vec!["undefined".into(); 5])),
        ),
        ("Object.keys(console).join()", "log,info,warn,error,debug".into()),
        ("Object.keys(process).join()", "env,stdout,stderr,exit".into()),
        ("({ a: 1 })", object! { "a": 1 }),
    ])
    .await;
}

#[tokio::test]
async fn instances_are_shown_with_what_they_hold() {
    let printed = printed(
        "console.log(new URL('http://h/?a=1'), [new URL('a:b')]); console.log(new URLSearchParams('a=1&b=it\\'s'), new URLSearchParams());
         console.log(new TextDecoder(), Object.assign(new URL('a:b'), { own: 1 })); console.log(new URLSearchParams('a&'.repeat(102)));",
    )
    .await;
    assert_eq!(printed[0], "URL { href: 'http://h/?a=1' } [ URL { href: 'a:b' } ]");
    assert_eq!(printed[1], "URLSearchParams { 'a' => '1', 'b' => \"it's\" } URLSearchParams {}");
    assert_eq!(printed[2], "TextDecoder {} URL { href: 'a:b', own: 1 }");
    assert!(printed[3].ends_with("... 2 more items\n}"), "{}", printed[3]);
}

#[tokio::test]
async fn what_the_globals_throw_is_told() {
    for (program, text) in [
        (
            "\nstructuredClone(() => 1);",
            "DataCloneError: a function can't be cloned\nat line 2, column 1\n2 | structuredClone(() => 1);\n  | ^",
        ),
        (
            "atob('*');",
            "InvalidCharacterError: The string to be decoded is not correctly encoded\nat line 1, column 1\n1 | atob('*');\n  | ^",
        ),
        (
            "new URL('x');",
            "TypeError: invalid URL (relative URL without a base): x\nat line 1, column 5\n1 | new URL('x');\n  |     ^",
        ),
    ] {
        assert_eq!(failure(program, FailureKind::Exception).await, text);
    }
    let printed = printed("try { atob('*'); } catch (e) { console.log(e); }").await;
    assert!(printed[0].starts_with("InvalidCharacterError: The string to be decoded"), "{printed:?}");
}
