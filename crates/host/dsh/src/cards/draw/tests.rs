use std::sync::Arc;

use dsh_json::object;
use dsh_llm::ErrorFacts;
use dsh_session::CodedError;
use dsh_tools_core::{FileMatches, Kind, Match, NumberedLine, WebSource};

use super::super::card::Place;
use super::*;

fn check(card: &Card, expected: &str) {
    let drawn = draw(card, Look { width: 40, body: 3 });
    let plain = anstream::adapter::strip_str(&drawn).to_string();
    assert_eq!(plain, expected);
    for line in plain.lines() {
        assert!(super::super::sheet::columns(line) <= 40, "{line:?} is too wide");
    }
}

fn place() -> Place {
    Place { turn: 1, step: 1, call_id: "c1".into(), name: "tool".into() }
}

fn called(view: CallView) -> Card {
    Card::Call(CallCard { place: place(), view })
}

fn result(view: ResultView) -> Card {
    Card::Result(ResultCard { place: place(), title: "Do it".into(), is_error: false, error: None, view })
}

fn generic(title: &str, raw_input: Option<dsh_json::Json>, content: Option<&str>) -> CallView {
    let content = content.map(dsh_llm::text);
    CallView::Generic { title: title.into(), kind: Kind::Other, raw_input, content, locations: Vec::new() }
}

#[test]
fn a_call_is_one_line_unless_it_has_content() {
    check(&called(generic("Read a.txt", None, None)), "● Read a.txt\n");
    check(&called(generic("tool", Some(object! { "a": 1 }), None)), "● tool  {\"a\":1}\n");
    check(&called(generic("tool", Some("{\"a\": \n".into()), None)), "● tool  {\"a\": \\n\n");
    check(&called(generic("Ask", None, Some("one\ntwo"))), "● Ask\n  one\n  two\n");
    let title = "cargo test".into();
    let command = CallView::Terminal { title, description: Some("Run tests".into()), cwd: None };
    check(&called(command), "● cargo test  Run tests\n");
    let diff = FileDiff { path: "a".into(), old_text: None, new_text: "x".into() };
    let change = CallView::Diff { title: "Write a".into(), diffs: vec![diff], locations: Vec::new() };
    check(&called(change), "● Write a\n");
}

#[test]
fn what_is_too_wide_is_cut() {
    let title = "Read a/very/long/path/that/goes/on/and/on/file.rs";
    check(&called(generic(title, None, None)), "● Read a/very/long/path/that/goes/on/an…\n");
    let input = object! { "pattern": "something that is long" };
    check(
        &called(generic("a tool of a long name", Some(input), None)),
        "● a tool of a long…  {\"pattern\":\"someth…\n",
    );
}

#[test]
fn nothing_acts_on_the_terminal() {
    check(&called(generic("Read \u{1b}]0;x\u{7}\n", None, None)), "● Read \\u{1b}]0;x\\u{7}\\n\n");
    let content = Some(dsh_llm::text("\u{1b}[31mred\rgone\n\u{202e}back"));
    check(
        &result(ResultView::Generic { title: None, content }),
        "✓ Do it\n  \\u{1b}[31mred\\rgone\n  \\u{202e}back\n",
    );
}

#[test]
fn a_body_has_a_few_lines() {
    let content = Some(dsh_llm::text("1\n2\n3\n4\n5"));
    check(
        &result(ResultView::Generic { title: None, content }),
        "✓ Do it\n  1\n  2\n  3\n  … 2 more lines\n",
    );
}

#[test]
fn a_failure_is_told_in_whole_sentences() {
    let content = Some(dsh_llm::text("Error: there is no tool `raed`; did you mean `read`?"));
    let card = |code: Option<&str>| {
        let error = code.map(|code| CodedError { name: "E".into(), code: code.into() });
        let view = ResultView::Generic { title: None, content: content.clone() };
        Card::Result(ResultCard { place: place(), title: "raed".into(), is_error: true, error, view })
    };
    let told = "  Error: there is no tool `raed`; did\n  you mean `read`?\n";
    check(&card(Some("UNKNOWN_TOOL")), &format!("✗ raed  UNKNOWN_TOOL\n{told}"));
    check(&card(None), &format!("✗ raed\n{told}"));
}

#[test]
fn a_command_shows_its_end_and_its_output() {
    let view = |output: &str, end| ResultView::Terminal { title: None, output: Some(output.into()), end };
    check(&result(view("a\nb\n", Some(TerminalEnd::ExitCode(2)))), "✓ Do it  exit code 2\n  a\n  b\n");
    check(&result(view("", Some(TerminalEnd::Signal("SIGKILL".into())))), "✓ Do it  ended by SIGKILL\n");
    check(&result(view("a", None)), "✓ Do it\n  a\n");
}

#[test]
fn a_change_shows_its_lines_and_where_a_hunk_ends() {
    let diff = |path: &str, old: &str, new: &str| FileDiff {
        path: path.into(),
        old_text: Some(old.into()),
        new_text: new.into(),
    };
    let view = |diffs| ResultView::Diff { title: Some("Edit".into()), diffs };
    check(&result(view(vec![diff("a", "x\ny", "x\nz")])), "✓ Edit  +1 −1\n    x\n  - y\n  + z\n");
    check(&result(view(vec![diff("a", "x", ""), diff("a", "y", "")])), "✓ Edit  +0 −2\n  - x\n  ⋮\n  - y\n");
    check(&result(view(vec![diff("a", "x", ""), diff("b", "y", "")])), "✓ Edit  +0 −2\n  - x\n  b\n  - y\n");
}

#[test]
fn a_search_shows_what_it_found() {
    let found = |line: &str| Match { line_number: 7, line: line.into() };
    let files = vec![FileMatches { path: "src/a.rs".into(), matches: vec![found("fn a() {"), found("\tb")] }];
    check(
        &result(ResultView::Search(SearchView::Matches { files, truncated: false, total: 2 })),
        "✓ Do it  2 matches\n  src/a.rs:7: fn a() {\n  src/a.rs:7: b\n",
    );
    let paths = vec!["a".into()];
    check(
        &result(ResultView::Search(SearchView::Paths { paths, truncated: true, total: 9 })),
        "✓ Do it  9 files, 1 kept\n  a\n",
    );
}

#[test]
fn a_read_numbers_its_lines() {
    let line = |number, text: &str| NumberedLine { number, text: text.into() };
    let view = |lines, total_lines| {
        ResultView::Read(ReadView {
            path: "/ws/a".into(),
            offset: 1,
            lines,
            total_lines,
            lang: None,
            content: None,
        })
    };
    check(&result(view(vec![line(1, "a")], 1)), "✓ Do it  1 line\n  1  a\n");
    check(
        &result(view(vec![line(9, "a"), line(10, "b")], 20)),
        "✓ Do it  lines 9–10 of 20\n   9  a\n  10  b\n",
    );
    check(&result(view(Vec::new(), 0)), "✓ Do it  no lines\n");
}

#[test]
fn what_is_fetched_shows_where_from() {
    let source = WebSource { url: "https://a".into(), title: None, snippet: None, published_at: None };
    let sources = vec![source];
    let search = WebView::Search { sources, answer: Some("Yes.".into()), truncated: false };
    check(&result(ResultView::Web(search)), "✓ Do it  1 source\n  Yes.\n  https://a\n");
    let fetch = WebView::Fetch { url: "https://a".into(), status_code: 200, truncated: true };
    check(&result(ResultView::Web(fetch)), "✓ Do it  status 200, cut\n  https://a\n");
}

#[test]
fn a_turn_that_was_not_done_says_so() {
    let card = |reason| Card::End { turn: 2, reason };
    check(&card(TurnEndReason::StepLimit), "■ turn 2 used up its steps\n");
    check(&card(TurnEndReason::Aborted { reason: AbortReason::User }), "■ turn 2 was interrupted\n");
    let error = ErrorFacts::new("NO_MODEL", "no model");
    check(&card(TurnEndReason::Error { error }), "■ turn 2 failed: no model (NO_MODEL)\n");
}

#[test]
fn prompts_and_words_are_whole() {
    let text: Arc<str> = "Do this and that, please, and then some more of it.\n\nThen stop.".into();
    check(
        &Card::Prompt { turn: 1, text: Arc::clone(&text) },
        "› Do this and that, please, and then\n  some more of it.\n\n  Then stop.\n",
    );
    check(&Card::Said { turn: 1, step: 1, text: "Yes.".into() }, "◦ Yes.\n");
}
