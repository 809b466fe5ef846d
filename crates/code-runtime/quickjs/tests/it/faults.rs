//! What the model reads when its program is wrong.

use dsh_code_runtime::FailureKind;

use super::kit::{failure, run, value};

#[tokio::test]
async fn an_exception_has_its_line_column_and_source() {
    let text =
        failure("const a: number = 1;\nconst b: string = null as any; b.x.y;", FailureKind::Exception).await;
    assert_eq!(
        text,
        "TypeError: cannot read property 'x' of null\nat line 2, column 32\n\
         2 | const b: string = null as any; b.x.y;\n  |                                ^"
    );
}

#[tokio::test]
async fn the_first_line_has_its_own_columns() {
    let text = failure("throw new Error('here')", FailureKind::Exception).await;
    assert_eq!(text, "Error: here\nat line 1, column 11\n1 | throw new Error('here')\n  |           ^");
}

#[tokio::test]
async fn frames_are_named() {
    let text = failure(
        "function inner(): never {\n  throw new RangeError('deep');\n}\ninner();",
        FailureKind::Exception,
    )
    .await;
    assert!(text.starts_with("RangeError: deep\nat line 2, column 13\n"), "{text}");
    assert!(text.ends_with("\n    at line 4, column 1"), "{text}");
}

#[tokio::test]
async fn a_failed_call_shows_where_it_was_made() {
    let text = failure("const x = 1;\nawait tools.fail('no such file');", FailureKind::Exception).await;
    assert!(text.starts_with("ToolCallError: no such file\nat line 2, column "), "{text}");
}

#[tokio::test]
async fn a_failed_call_that_nobody_awaits_is_named() {
    let text = failure("tools.fail('lost');\nawait tools.echo(1);", FailureKind::Exception).await;
    assert!(
        text.starts_with("nobody awaited or caught this: ToolCallError: lost\nat line 1, column "),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_caught_later_is_no_failure() {
    assert_eq!(
        value(
            "const p = tools.fail('x'); await tools.echo(1); try { await p; } catch (e) { return e.message; }"
        )
        .await,
        "x".into()
    );
}

#[tokio::test]
async fn a_timer_that_throws_fails_the_program() {
    let text = failure(
        "setTimeout(() => { throw new Error('tick'); }, 1); await new Promise(r => setTimeout(r, 5));",
        FailureKind::Exception,
    )
    .await;
    assert!(text.contains("Error: tick"), "{text}");
}

#[tokio::test]
async fn anything_can_be_thrown() {
    for (program, text) in [
        ("throw 'text'", "thrown: text"),
        ("throw null", "thrown: null"),
        ("throw undefined", "thrown: undefined"),
        ("throw { code: 7 }", "thrown: { code: 7 }"),
        ("throw Symbol('s')", "thrown: Symbol(s)"),
        ("const e = new Error('m'); Object.defineProperty(e, 'stack', { value: 5 }); throw e", "Error: m\n5"),
        (
            "const e = new Error('m'); Object.defineProperty(e, 'message', { get() { throw 1 } }); e.stack = ''; throw e",
            "Error",
        ),
        (
            "throw { toString() { throw 1 }, get x() { throw 2 } }",
            "thrown: { toString: [Function: toString], x: [Getter] }",
        ),
    ] {
        assert_eq!(failure(program, FailureKind::Exception).await, text, "{program}");
    }
}

#[tokio::test]
async fn early_errors_of_the_engine_are_syntax_with_their_place() {
    for (program, line) in [
        ("let a = 1;\nlet a = 2;", "line 2"),
        ("\n\nwith (x) {}", "line 3"),
        ("const console = 1;", "line 1"),
    ] {
        let text = failure(program, FailureKind::Syntax).await;
        assert!(text.contains(line), "{program}: {text}");
    }
}

#[tokio::test]
async fn a_stalled_program_is_told_what_to_look_for() {
    let text = failure("await new Promise(() => {});", FailureKind::Stalled).await;
    assert_eq!(
        text,
        "the program waits for a promise that nothing can resolve: no call is running and no timer is set. \
         Look for a promise whose resolve is never called"
    );
}

#[tokio::test]
async fn a_waiting_call_or_timer_is_no_stall() {
    assert_eq!(value("await new Promise(r => setTimeout(r, 2)); return 1;").await, 1.into());
    assert_eq!(value("let n = 0; await new Promise(r => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); r(); } }, 1); }); return n;").await, 3.into());
}

#[tokio::test]
async fn an_exit_says_how_to_end_a_program() {
    let outcome =
        run("console.log('x'); try { process.exit(7); } catch {} console.log('y'); return 1;").await;
    assert_eq!(outcome.logs, ["x"]);
    let failure = outcome.result.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "worker-exit: the program called process.exit(7): end a program with return"
    );
}
