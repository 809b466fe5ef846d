//! Every bound, and that it is named when it is hit (spec 06 §8.9–8.10, §10, design §4.11).

use std::time::Duration;

use dsh_json::Json;

use super::host::{TestHost, message, request, run_text, run_within, value};
use super::{Make, Program, name_clauses};
use crate::{FailureKind, Limits};

name_clauses! {
    the_wall_clock_ends_a_program_that_waits
    time_that_a_person_takes_does_not_count
    busy_time_ends_a_loop
    busy_time_ends_a_loop_behind_a_call
    waiting_is_not_being_busy
    memory_is_bounded_and_the_next_run_works
    output_at_the_bound_passes_and_one_byte_more_does_not
    a_flood_of_output_ends_the_program_and_keeps_a_start
    a_huge_error_is_only_the_bounds_message
    the_bound_holds_before_a_program_starts
    calls_are_bounded
    bytes_in_calls_that_run_are_bounded
    shared_parts_do_not_explode
    an_exit_is_no_end_of_the_host
}

async fn the_wall_clock_ends_a_program_that_waits(make: Make<'_>) {
    let limits = Limits { max_wall: Duration::from_millis(80), ..Limits::default() };
    let program = Program {
        typescript: "console.log('x'); await tools.wait({});",
        python: "print('x')\nawait tools.wait({})",
    };
    let outcome = run_within(make, limits, program).await;
    assert_eq!(outcome.logs, ["x"]);
    let message = message(outcome, FailureKind::Timeout);
    assert!(message.contains("80 ms are allowed (maxWallMs)"), "{message}");
}

async fn time_that_a_person_takes_does_not_count(make: Make<'_>) {
    struct Patient(TestHost);
    impl crate::Host for Patient {
        fn call(&self, call: crate::wire::Call) -> crate::BoxFuture<'_, Result<Json, String>> {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(150)).await;
                self.0.call(call).await
            })
        }

        fn excused(&self) -> Duration {
            Duration::from_millis(150)
        }
    }
    let runtime = make(Limits { max_wall: Duration::from_millis(120), ..Limits::default() });
    let request = request(
        Program { typescript: "return await tools.echo(1);", python: "return await tools.echo(1)" }
            .of(&*runtime),
    );
    let host = Patient(TestHost::of(&request));
    assert_eq!(runtime.run(request, &host).await.map(value), Ok(Json::from(1)));
}

async fn busy_time_ends_a_loop(make: Make<'_>) {
    let limits = Limits { max_compute: Duration::from_millis(50), ..Limits::default() };
    for program in [
        Program { typescript: "for (;;) {}", python: "while True:\n    pass" },
        Program {
            typescript: "for (;;) { try { for (;;) {} } catch {} finally { continue; } }",
            python: "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        },
        Program {
            typescript: "const f = () => Promise.resolve().then(f); await f();",
            python: "import asyncio\nwhile True:\n    await asyncio.sleep(0)",
        },
        Program {
            typescript: "return /(a+)+$/.test('a'.repeat(40) + '!');",
            python: "import re\nreturn bool(re.match('(a+)+$', 'a' * 40 + '!'))",
        },
    ] {
        let message = message(run_within(make, limits.clone(), program).await, FailureKind::Timeout);
        assert!(message.contains("50 ms are allowed (maxComputeMs)"), "{message}");
    }
}

async fn busy_time_ends_a_loop_behind_a_call(make: Make<'_>) {
    let limits = Limits { max_compute: Duration::from_millis(50), ..Limits::default() };
    let program = Program {
        typescript: "tools.wait({}); await tools.echo(1); for (;;) {}",
        python: "import asyncio\nasyncio.ensure_future(tools.wait({}))\nawait tools.echo(1)\nwhile True:\n    pass",
    };
    message(run_within(make, limits, program).await, FailureKind::Timeout);
}

async fn waiting_is_not_being_busy(make: Make<'_>) {
    struct Slow(TestHost);
    impl crate::Host for Slow {
        fn call(&self, call: crate::wire::Call) -> crate::BoxFuture<'_, Result<Json, String>> {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(400)).await;
                self.0.call(call).await
            })
        }
    }
    let runtime = make(Limits { max_compute: Duration::from_millis(300), ..Limits::default() });
    let request = request(
        Program { typescript: "return await tools.echo(1);", python: "return await tools.echo(1)" }
            .of(&*runtime),
    );
    let host = Slow(TestHost::of(&request));
    assert_eq!(runtime.run(request, &host).await.map(value), Ok(Json::from(1)));
}

async fn memory_is_bounded_and_the_next_run_works(make: Make<'_>) {
    let runtime = make(Limits { max_memory_bytes: 16 << 20, ..Limits::default() });
    let hungry = Program {
        typescript: "const x = []; for (;;) x.push('a'.repeat(1000) + x.length);",
        python: "x = []\nwhile True:\n    x.append('a' * 1000 + str(len(x)))",
    };
    if runtime.language() == "typescript" {
        for text in [
            "const x = []; for (;;) x.push(new Uint8Array(100000));",
            "return 'a'.repeat(2 ** 29);",
            "return [...Array(1e8)];",
        ] {
            let failure = run_text(&*runtime, text).await.result.map_err(|failure| failure.kind);
            assert_eq!(failure, Err(FailureKind::MemoryLimit), "{text}");
        }
    }
    let message = message(run_text(&*runtime, hungry.of(&*runtime)).await, FailureKind::MemoryLimit);
    assert!(message.contains("(maxMemoryBytes)"), "{message}");
    assert_eq!(value(run_text(&*runtime, "return 1").await), Json::from(1));
}

async fn output_at_the_bound_passes_and_one_byte_more_does_not(make: Make<'_>) {
    let within = |max_output_bytes| Limits { max_output_bytes, ..Limits::default() };
    let euro = Program { typescript: "return '€';", python: "return '€'" };
    assert_eq!(value(run_within(make, within(7), euro).await), Json::from("€"));
    message(run_within(make, within(6), euro).await, FailureKind::OutputLimit);

    let both =
        Program { typescript: "console.log('abc'); return 'xy';", python: "print('abc')\nreturn 'xy'" };
    let outcome = run_within(make, within(11), both).await;
    assert_eq!(outcome.logs, ["abc"]);
    assert_eq!(value(outcome), Json::from("xy"));
    message(run_within(make, within(10), both).await, FailureKind::OutputLimit);
}

async fn a_flood_of_output_ends_the_program_and_keeps_a_start(make: Make<'_>) {
    let limits = Limits { max_output_bytes: 1_000, ..Limits::default() };
    let program = Program {
        typescript: "for (let i = 0; ; i++) console.log('line', i, '\\n😀');",
        python: "i = 0\nwhile True:\n    print('line', i, '\\n😀')\n    i += 1",
    };
    let outcome = run_within(make, limits, program).await;
    let kept = crate::json_bytes(
        &Json::from(dsh_json::Array::from(
            outcome.logs.iter().map(|entry| Json::from(entry.as_str())).collect::<Vec<_>>(),
        )),
        usize::MAX,
    );
    assert_eq!(outcome.logs.first().map(String::as_str), Some("line 0 \n😀"));
    let message = message(outcome, FailureKind::OutputLimit);
    let total = kept.unwrap_or(0) + crate::string_bytes(&message, usize::MAX).unwrap_or(0);
    assert!(
        message.contains("1000 bytes (maxOutputBytes)") && (900..=1_000).contains(&total),
        "{total} {message}"
    );
}

async fn a_huge_error_is_only_the_bounds_message(make: Make<'_>) {
    let limits = Limits { max_output_bytes: 10_000, ..Limits::default() };
    let program =
        Program { typescript: "throw new Error('x'.repeat(1e6));", python: "raise Exception('x' * 1000000)" };
    let message = message(run_within(make, limits, program).await, FailureKind::OutputLimit);
    assert!(message.len() < 200, "{message}");
}

async fn the_bound_holds_before_a_program_starts(make: Make<'_>) {
    let runtime = make(Limits { max_output_bytes: 64, ..Limits::default() });
    let request = request("return 1");
    request.cancel.cancel(dsh_lifecycle::Cause::Hook("x".repeat(1_000).into()));
    let host = TestHost::of(&request);
    let outcome = runtime.run(request, &host).await;
    let length = outcome.map(|outcome| message(outcome, FailureKind::OutputLimit).len());
    assert_eq!(length, Ok(60));
}

async fn calls_are_bounded(make: Make<'_>) {
    let limits = Limits { max_sub_calls: 3, ..Limits::default() };
    let program = Program {
        typescript: "for (let i = 0; ; i++) { try { await tools.echo(i); } catch {} }",
        python: "i = 0\nwhile True:\n    try:\n        await tools.echo(i)\n    except Exception:\n        pass\n    i += 1",
    };
    let outcome = run_within(make, limits, program).await;
    assert_eq!(outcome.calls.len(), 3);
    let message = message(outcome, FailureKind::CallLimit);
    assert!(message.contains("more than 3 calls (maxSubCalls)"), "{message}");
}

async fn bytes_in_calls_that_run_are_bounded(make: Make<'_>) {
    let limits = Limits { max_in_flight_bytes: 100_000, ..Limits::default() };
    let program = Program {
        typescript: "const text = 'x'.repeat(40000);
            for (let i = 0; i < 9; i++) await tools.echo(text);
            await Promise.all([1, 2, 3].map(() => tools.echo(text)));",
        python: "import asyncio\ntext = 'x' * 40000\nfor i in range(9):\n    await tools.echo(text)
await asyncio.gather(*[tools.echo(text) for _ in range(3)])",
    };
    let outcome = run_within(make, limits, program).await;
    assert_eq!(outcome.calls.len(), 11);
    let message = message(outcome, FailureKind::CallLimit);
    assert!(message.contains("100000 bytes (maxInFlightBytes)"), "{message}");
}

async fn shared_parts_do_not_explode(make: Make<'_>) {
    let limits = Limits { max_output_bytes: 1 << 20, max_in_flight_bytes: 1 << 20, ..Limits::default() };
    let program = Program {
        typescript: "let v = ['x']; for (let i = 0; i < 60; i++) v = [v, v]; return v;",
        python: "v = ['x']\nfor i in range(60):\n    v = [v, v]\nreturn v",
    };
    message(run_within(make, limits.clone(), program).await, FailureKind::OutputLimit);
    let program = Program {
        typescript: "let v = ['x']; for (let i = 0; i < 60; i++) v = [v, v]; await tools.echo(v);",
        python: "v = ['x']\nfor i in range(60):\n    v = [v, v]\nawait tools.echo(v)",
    };
    message(run_within(make, limits, program).await, FailureKind::CallLimit);
}

async fn an_exit_is_no_end_of_the_host(make: Make<'_>) {
    let runtime = make(Limits::default());
    let program = Program { typescript: "process.exit(7);", python: "import os\nos._exit(7)" };
    let message = message(run_text(&*runtime, program.of(&*runtime)).await, FailureKind::WorkerExit);
    assert!(message.contains('7'), "{message}");
    assert_eq!(value(run_text(&*runtime, "return 1").await), Json::from(1));
}
