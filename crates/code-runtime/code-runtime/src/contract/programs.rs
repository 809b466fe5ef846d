//! What a program is, sees and says.

use dsh_json::{Json, array, object};
use dsh_lifecycle::{Cancel, Cause};

use super::host::{TestHost, helpers, lock, message, namespace, request, run, run_text, tools, value};
use super::{Make, Program, name_clauses};
use crate::{CallEnd, FailureKind, Limits, Misuse, NameError, unfinished};

name_clauses! {
    a_program_prints_and_returns
    no_return_is_no_value_and_null_is_one
    what_was_printed_before_an_exception_stays
    a_text_that_is_no_program_is_a_syntax_failure
    text_that_closes_the_function_early_is_no_program
    calls_answer_and_fail_as_errors_of_the_namespace
    namespaces_do_not_share_their_error_class
    a_namespace_without_a_class_fails_with_plain_errors
    any_text_is_a_function_name
    calls_are_made_in_order_and_overlap
    a_call_that_was_not_awaited_is_stopped_and_named
    a_failure_that_nobody_caught_fails_the_program
    a_program_that_waits_for_nothing_stalls_at_once
    nothing_survives_a_run
    a_cancelled_request_never_starts
    cancelling_stops_a_program_that_waits
    cancelling_stops_a_program_that_is_busy
    names_that_break_the_rules_are_refused
    closing_stops_programs_and_refuses_later_ones
    the_environment_is_empty
}

async fn a_program_prints_and_returns(make: Make<'_>) {
    let outcome = run(make, Program {
        typescript: "interface P { a: number }\nconst p = { a: 1 } as P;\nconsole.log('one', 2);\nconsole.error('three');\nreturn p;",
        python: "print('one', 2)\nprint('three')\nreturn {'a': 1}",
    })
    .await;
    assert_eq!(outcome.logs, ["one 2", "three"]);
    assert_eq!(value(outcome), object! { "a": 1 });
}

async fn no_return_is_no_value_and_null_is_one(make: Make<'_>) {
    let nothing = Program { typescript: "const x = 1;", python: "x = 1" };
    assert_eq!(run(make, nothing).await.result, Ok(None));
    let null =
        Program { typescript: "return null;", python: "return {'a': None}['a'] if False else [None][0]" };
    // Python's `None` is its way to return nothing.
    if make(Limits::default()).language() != "python" {
        assert_eq!(run(make, null).await.result, Ok(Some(Json::Null)));
    }
    assert_eq!(run(make, Program { typescript: "", python: "" }).await.result, Ok(None));
}

async fn what_was_printed_before_an_exception_stays(make: Make<'_>) {
    let outcome = run(
        make,
        Program {
            typescript: "console.log('before');\nthrow new TypeError('went wrong');",
            python: "print('before')\nraise TypeError('went wrong')",
        },
    )
    .await;
    assert_eq!(outcome.logs, ["before"]);
    let message = message(outcome, FailureKind::Exception);
    assert!(message.contains("TypeError: went wrong") && message.contains("line 2"), "{message}");
}

async fn a_text_that_is_no_program_is_a_syntax_failure(make: Make<'_>) {
    let outcome =
        run(make, Program { typescript: "const a = 1;\nconst b = ;", python: "a = 1\nb = )" }).await;
    let message = message(outcome, FailureKind::Syntax);
    assert!(message.contains("line 2"), "{message}");
}

async fn text_that_closes_the_function_early_is_no_program(make: Make<'_>) {
    for program in [
        Program { typescript: "return 1 } async function f() {", python: "return 1\n  return 2" },
        Program { typescript: "}); (async function () {", python: ")\n(" },
    ] {
        message(run(make, program).await, FailureKind::Syntax);
    }
}

async fn calls_answer_and_fail_as_errors_of_the_namespace(make: Make<'_>) {
    let outcome = run(make, Program {
        typescript: "const got = await tools.echo({ a: [1, 'x', null] });
            try { await tools.fail('no such file'); } catch (e) {
                return [got, e instanceof ToolCallError, e instanceof Error, e.name, e.toolName, e.message];
            }",
        python: "got = await tools.echo({'a': [1, 'x', None]})
try:
    await tools.fail('no such file')
except ToolCallError as e:
    return [got, isinstance(e, ToolCallError), isinstance(e, Exception), type(e).__name__, e.toolName, str(e)]",
    })
    .await;
    let expected = array![
        object! { "a": array![1, "x", Json::Null] },
        true,
        true,
        "ToolCallError",
        "fail",
        "no such file"
    ];
    assert_eq!(
        outcome.calls.iter().map(|call| call.end).collect::<Vec<_>>(),
        [CallEnd::Succeeded, CallEnd::Failed]
    );
    assert_eq!(value(outcome), expected);
}

async fn namespaces_do_not_share_their_error_class(make: Make<'_>) {
    let runtime = make(Limits::default());
    let mut request = request(
        Program {
            typescript: "const out = [];
                try { await helpers.fail('h'); } catch (e) { out.push(e instanceof HelperCallError, e instanceof ToolCallError, e.helperName); }
                try { await tools.fail('t'); } catch (e) { out.push(e instanceof HelperCallError, e instanceof ToolCallError, e.toolName); }
                return out;",
            python: "out = []
try:
    await helpers.fail('h')
except Exception as e:
    out += [isinstance(e, HelperCallError), isinstance(e, ToolCallError), e.helperName]
try:
    await tools.fail('t')
except Exception as e:
    out += [isinstance(e, HelperCallError), isinstance(e, ToolCallError), e.toolName]
return out",
        }
        .of(&*runtime),
    );
    request.namespaces = vec![tools(), helpers()];
    let host = TestHost::of(&request);
    let outcome = runtime.run(request, &host).await;
    let expected = array![true, false, "fail", false, true, "fail"];
    assert_eq!(outcome.map(value), Ok(expected));
}

async fn a_namespace_without_a_class_fails_with_plain_errors(make: Make<'_>) {
    let runtime = make(Limits::default());
    let mut request = request(
        Program {
            typescript: "try { await plain.fail('p'); } catch (e) { return [e.constructor === Error, e.message, Object.keys(e)]; }",
            python: "try:\n    await plain.fail('p')\nexcept Exception as e:\n    return [type(e) is Exception, str(e), []]",
        }
        .of(&*runtime),
    );
    request.namespaces = vec![namespace("plain", &["fail"], None)];
    let host = TestHost::of(&request);
    assert_eq!(runtime.run(request, &host).await.map(value), Ok(array![true, "p", array![]]));
}

async fn any_text_is_a_function_name(make: Make<'_>) {
    let outcome = run(
        make,
        Program {
            typescript:
                "await tools['__proto__']({}); await tools.constructor({}); await tools['two words']({});
            return [typeof tools.hasOwnProperty, typeof tools.run_code, Object.keys(tools).length];",
            python:
                "await tools['__proto__']({})\nawait tools['constructor']({})\nawait tools['two words']({})
return ['undefined', 'undefined', 6]",
        },
    )
    .await;
    let called: Vec<_> = outcome.calls.iter().map(|call| call.name.to_string()).collect();
    assert_eq!(called, ["__proto__", "constructor", "two words"]);
    assert_eq!(value(outcome), array!["undefined", "undefined", 6]);
}

async fn calls_are_made_in_order_and_overlap(make: Make<'_>) {
    let outcome = run(make, Program {
        typescript: "const slow = tools.wait({}); const rest = await Promise.all([1, 2, 3].map(n => tools.echo(n)));
            slow.catch(() => {}); return rest;",
        python: "import asyncio\nslow = asyncio.ensure_future(tools.wait({}))\nawait asyncio.sleep(0)
return await asyncio.gather(*[tools.echo(n) for n in [1, 2, 3]])",
    })
    .await;
    assert_eq!(outcome.calls.iter().map(|call| call.id).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(value(outcome), array![1, 2, 3]);
}

async fn a_call_that_was_not_awaited_is_stopped_and_named(make: Make<'_>) {
    let outcome = run(make, Program {
        typescript: "tools.wait({ path: 'a' }); return 'done';",
        python: "import asyncio\nasyncio.ensure_future(tools.wait({'path': 'a'}))\nawait asyncio.sleep(0)\nreturn 'done'",
    })
    .await;
    assert_eq!(outcome.calls.iter().map(|call| call.end).collect::<Vec<_>>(), [CallEnd::Stopped]);
    let warning = unfinished(&outcome.calls).concat();
    assert!(warning.contains("tools.wait (call 1)"), "{warning}");
    assert_eq!(value(outcome), Json::from("done"));
}

async fn a_failure_that_nobody_caught_fails_the_program(make: Make<'_>) {
    let outcome = run(make, Program {
        typescript: "tools.fail('lost'); await tools.echo(1); return 1;",
        python: "import asyncio\nasyncio.ensure_future(tools.fail('lost'))\nawait tools.echo(1)\nawait tools.echo(2)\nreturn 1",
    })
    .await;
    let message = message(outcome, FailureKind::Exception);
    assert!(message.contains("ToolCallError: lost"), "{message}");
}

async fn a_program_that_waits_for_nothing_stalls_at_once(make: Make<'_>) {
    let outcome = run(
        make,
        Program {
            typescript: "await tools.echo(1);\nawait new Promise(() => {});",
            python: "import asyncio\nawait tools.echo(1)\nawait asyncio.get_running_loop().create_future()",
        },
    )
    .await;
    message(outcome, FailureKind::Stalled);
}

async fn nothing_survives_a_run(make: Make<'_>) {
    let runtime = make(Limits::default());
    let program = Program {
        typescript: "globalThis.kept = (globalThis.kept ?? 0) + 1; return globalThis.kept;",
        python: "import builtins\nbuiltins.kept = getattr(builtins, 'kept', 0) + 1\nreturn builtins.kept",
    }
    .of(&*runtime);
    for _ in 0..2 {
        assert_eq!(value(run_text(&*runtime, program).await), Json::from(1));
    }
}

async fn a_cancelled_request_never_starts(make: Make<'_>) {
    let runtime = make(Limits::default());
    let mut request = request("this is no program");
    request.cancel = Cancel::new();
    request.cancel.cancel(Cause::Hook("enough".into()));
    let host = TestHost::of(&request);
    let outcome = runtime.run(request, &host).await;
    assert_eq!(outcome.map(|outcome| message(outcome, FailureKind::Abort)), Ok("enough".to_owned()));
}

async fn cancelling_stops_a_program_that_waits(make: Make<'_>) {
    let runtime = make(Limits::default());
    let request = request(
        Program {
            typescript: "console.log('waiting'); await tools.wait({});",
            python: "print('waiting')\nawait tools.wait({})",
        }
        .of(&*runtime),
    );
    let host = TestHost::of(&request);
    let cancel = request.cancel.clone();
    let run = runtime.run(request, &host);
    let stop = async {
        while host.called().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel(Cause::User);
    };
    let (outcome, ()) = futures_util::join!(run, stop);
    let outcome = outcome.unwrap_or_else(|misuse| super::host::fail(format_args!("{misuse}")));
    assert_eq!(outcome.logs, ["waiting"]);
    assert_eq!(outcome.calls.iter().map(|call| call.end).collect::<Vec<_>>(), [CallEnd::Stopped]);
    message(outcome, FailureKind::Abort);
}

async fn cancelling_stops_a_program_that_is_busy(make: Make<'_>) {
    let runtime = make(Limits::default());
    let request = request(
        Program {
            typescript: "console.log('busy'); for (;;) { try { for (;;) {} } finally { continue; } }",
            python: "print('busy')\nwhile True:\n    try:\n        pass\n    except BaseException:\n        pass",
        }
        .of(&*runtime),
    );
    let host = TestHost::of(&request);
    let cancel = request.cancel.clone();
    let run = runtime.run(request, &host);
    let stop = async {
        while lock(&host.printed).is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel(Cause::Hook("too long".into()));
    };
    let (outcome, ()) = futures_util::join!(run, stop);
    assert_eq!(outcome.map(|outcome| message(outcome, FailureKind::Abort)), Ok("too long".to_owned()));
}

async fn names_that_break_the_rules_are_refused(make: Make<'_>) {
    let runtime = make(Limits::default());
    let mut request = request("return 1");
    for (name, error) in [
        ("$tools", NameError::NotIdentifier("$tools".to_owned())),
        ("lambda", NameError::ReservedWord("lambda".to_owned())),
        ("console", NameError::Taken("console".to_owned())),
    ] {
        request.namespaces = vec![namespace(name, &[], None)];
        let host = TestHost::of(&request);
        assert_eq!(runtime.run(request.clone(), &host).await, Err(Misuse::Names(error)));
    }
    request.namespaces = vec![namespace("ToolCallError", &["echo"], None)];
    let host = TestHost::of(&request);
    assert!(runtime.run(request, &host).await.is_ok());
}

async fn closing_stops_programs_and_refuses_later_ones(make: Make<'_>) {
    let runtime = make(Limits::default());
    let waiting = request(
        Program { typescript: "await tools.wait({});", python: "await tools.wait({})" }.of(&*runtime),
    );
    let host = TestHost::of(&waiting);
    let run = runtime.run(waiting, &host);
    let close = async {
        while host.called().is_empty() {
            tokio::task::yield_now().await;
        }
        runtime.close().await;
    };
    let (outcome, ()) = futures_util::join!(run, close);
    let message = outcome.map(|outcome| message(outcome, FailureKind::Abort)).unwrap_or_default();
    assert!(message.contains("runtime disposed"), "{message}");
    let late = request("return 1");
    let host = TestHost::of(&late);
    assert_eq!(runtime.run(late, &host).await, Err(Misuse::Closed));
}

async fn the_environment_is_empty(make: Make<'_>) {
    let outcome = run(
        make,
        Program {
            typescript: "return Object.keys(process.env);",
            python: "import os\nreturn list(os.environ)",
        },
    )
    .await;
    assert_eq!(value(outcome), array![]);
}
