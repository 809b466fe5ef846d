//! What crosses between program and host (spec 06 §9, design §5).

use dsh_json::{Array, Json, array, object};

use super::host::{message, run, value};
use super::{Make, Program, name_clauses};
use crate::FailureKind;

name_clauses! {
    values_come_back_as_they_went
    integers_are_exact_to_64_bits_both_ways
    deep_values_cross_both_ways
    long_lists_cross_exactly
    what_is_not_json_is_refused_with_its_path
    refused_arguments_never_reach_the_host
    a_value_that_waits_is_refused_with_its_path
    a_cycle_is_refused
    half_a_surrogate_pair_is_refused
    a_shared_part_is_repeated
}

async fn values_come_back_as_they_went(make: Make<'_>) {
    let outcome = run(make, Program {
        typescript: r#"return await tools.echo({ z: 1, a: [true, false, null, -1.5, 1e300, "é\u0000😀\n"], "": {}, "1": [[]] });"#,
        python: r#"return await tools.echo({"1": [[]], "z": 1, "a": [True, False, None, -1.5, 1e300, "é\u0000😀\n"], "": {}})"#,
    })
    .await;
    let expected =
        Json::parse(r#"{"1": [[]], "z": 1, "a": [true, false, null, -1.5, 1e300, "é\u0000😀\n"], "": {}}"#);
    assert_eq!(Ok(value(outcome)), expected.map_err(|error| error.to_string()));
}

async fn integers_are_exact_to_64_bits_both_ways(make: Make<'_>) {
    let outcome = run(make, Program {
        typescript: "const big = await tools.echo([9007199254740993n, 18446744073709551615n, -9223372036854775808n, 9007199254740992n, 5n]);
            return [...big, ...big.map(n => typeof n), big[0] + 1n];",
        python: "big = await tools.echo([9007199254740993, 18446744073709551615, -9223372036854775808, 9007199254740992, 5])
return big + ['bigint', 'bigint', 'number', 'number', 'number', big[0] + 1]",
    })
    .await;
    let expected = array![
        9_007_199_254_740_993_i64,
        u64::MAX,
        i64::MIN,
        9_007_199_254_740_992_i64,
        5,
        "bigint",
        "bigint",
        "number",
        "number",
        "number",
        9_007_199_254_740_994_i64,
    ];
    assert_eq!(value(outcome), expected);
    let outcome =
        run(make, Program { typescript: "return { a: [2n ** 64n] };", python: "return {'a': [2 ** 64]}" })
            .await;
    let message = message(outcome, FailureKind::InvalidOutput);
    assert!(message.contains("$.a[0]"), "{message}");
}

async fn deep_values_cross_both_ways(make: Make<'_>) {
    let outcome = run(make, Program {
        typescript: "let v = null; for (let i = 0; i < 5000; i++) v = i % 2 ? [v] : { v }; return await tools.echo(v);",
        python: "v = None\nfor i in range(5000):\n    v = [v] if i % 2 else {'v': v}\nreturn await tools.echo(v)",
    })
    .await;
    assert_eq!(value(outcome).depth(), 5_000);
    let outcome = run(
        make,
        Program {
            typescript: "let v = null; for (let i = 0; i < 10001; i++) v = [v]; return v;",
            python: "v = None\nfor i in range(10001):\n    v = [v]\nreturn v",
        },
    )
    .await;
    let message = message(outcome, FailureKind::InvalidOutput);
    assert!(message.contains("10,000 levels"), "{message}");
}

async fn long_lists_cross_exactly(make: Make<'_>) {
    let outcome = run(
        make,
        Program {
            typescript: "return await tools.echo(Array.from({ length: 50000 }, (_, i) => i));",
            python: "return await tools.echo(list(range(50000)))",
        },
    )
    .await;
    let expected: Vec<_> = (0..50_000).map(|n: i64| Json::from(n)).collect();
    assert_eq!(value(outcome), Json::from(Array::from(expected)));
}

async fn what_is_not_json_is_refused_with_its_path(make: Make<'_>) {
    for (program, path) in [
        (Program { typescript: "return NaN;", python: "return float('nan')" }, "$"),
        (
            Program { typescript: "return { a: [1, Infinity] };", python: "return {'a': [1, float('inf')]}" },
            "$.a[1]",
        ),
        (Program { typescript: "return { a: -0 };", python: "return {'a': -0.0}" }, "$.a"),
        (Program { typescript: "return { f() {} };", python: "return {'f': len}" }, "$.f"),
        (Program { typescript: "return [new Date(0)];", python: "return [object()]" }, "$[0]"),
        (
            Program { typescript: "return { 'a b': new Map() };", python: "return {'a b': {1, 2}}" },
            "$[\"a b\"]",
        ),
    ] {
        let message = message(run(make, program).await, FailureKind::InvalidOutput);
        let start = format!("program completion must be lossless JSON: {path} is ");
        assert!(message.starts_with(&start), "{message}");
    }
}

async fn refused_arguments_never_reach_the_host(make: Make<'_>) {
    let outcome = run(make, Program {
        typescript: "const out = [];
            for (const bad of [undefined, { a: [NaN] }, { f: () => 1 }, new Date(), Symbol('s')]) {
                try { await tools.echo(bad); } catch (e) { out.push(e instanceof ToolCallError && e.message); }
            }
            await tools.echo('good'); return out;",
        python: "out = []
for bad in [..., {'a': [float('nan')]}, {'f': len}, object(), {1, 2}]:
    try:
        await tools.echo(bad)
    except ToolCallError as e:
        out.append(str(e))
await tools.echo('good')
return out",
    })
    .await;
    // What was refused was not counted either.
    assert_eq!(outcome.calls.iter().map(|call| call.id).collect::<Vec<_>>(), [1]);
    let messages = value(outcome);
    let messages = messages.as_array().unwrap_or_default();
    assert_eq!(messages.len(), 5);
    for (message, path) in messages.iter().zip(["", "$.a[0]", "$.f", "$", "$"]) {
        let message = message.as_str().unwrap_or_default();
        assert!(message.starts_with("tool arguments must be lossless JSON: "), "{message}");
        assert!(message.contains(path), "{message}");
    }
}

async fn a_value_that_waits_is_refused_with_its_path(make: Make<'_>) {
    let outcome = run(
        make,
        Program {
            typescript: "return { a: [tools.echo(1)] };",
            python: "import asyncio\nreturn {'a': [asyncio.ensure_future(tools.echo(1))]}",
        },
    )
    .await;
    let message = message(outcome, FailureKind::InvalidOutput);
    assert!(message.contains("$.a[0]"), "{message}");
    let outcome =
        run(make, Program { typescript: "return tools.echo(1);", python: "return await tools.echo(1)" })
            .await;
    assert_eq!(value(outcome), Json::from(1));
}

async fn a_cycle_is_refused(make: Make<'_>) {
    let outcome = run(
        make,
        Program {
            typescript: "const a = { b: [] }; a.b.push(a); return a;",
            python: "a = {'b': []}\na['b'].append(a)\nreturn a",
        },
    )
    .await;
    let message = message(outcome, FailureKind::InvalidOutput);
    assert!(message.contains("$.b[0] is a cycle"), "{message}");
}

async fn half_a_surrogate_pair_is_refused(make: Make<'_>) {
    let outcome =
        run(make, Program { typescript: "return ['x\\ud800'];", python: "return ['x\\ud800']" }).await;
    let message = message(outcome, FailureKind::InvalidOutput);
    assert!(message.contains("$[0]"), "{message}");
}

async fn a_shared_part_is_repeated(make: Make<'_>) {
    let outcome = run(
        make,
        Program {
            typescript: "const s = [1]; return { a: s, b: s };",
            python: "s = [1]\nreturn {'a': s, 'b': s}",
        },
    )
    .await;
    assert_eq!(value(outcome), object! { "a": array![1], "b": array![1] });
}
