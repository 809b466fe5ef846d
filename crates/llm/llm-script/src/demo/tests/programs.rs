//! Where programs are offered, too, or nothing else.

use super::*;

/// What the program that counts returns, as models read it.
const COUNTED: &str = r#"{
  "files": 7,
  "kinds": { "md": 2, "rs": 2, "": 2, "toml": 1 },
  "directories": { "src": 2, "docs": 1 },
  "lines": { "rs": 1234, "md": 6 },
  "longest": { "src/lib.rs": 1233, "README.md": 5, "src/main.rs": 1 },
  "sources": 4,
  "tried": 4,
  "unreadable": 0
}"#;

/// Whether the program counts.
fn counts(arguments: &Json) -> bool {
    code(arguments).contains("kindOf")
}

fn code(arguments: &Json) -> &str {
    arguments.get("code").and_then(Json::as_str).unwrap()
}

/// The overview when programs are offered beside the tools, and the one that counts ends like this.
fn counted(program: Result<&str, &str>) -> String {
    Conversation::with(&["glob", "grep", "read", "run_code"]).overview(|name, arguments| match name {
        "run_code" => program.map(str::to_owned).map_err(str::to_owned),
        _ => small(name, arguments),
    })
}

#[test]
fn beside_its_calls_it_runs_one_program_that_counts() {
    let mut conversation = Conversation::with(&["glob", "grep", "read", "run_code"]);
    let first = conversation.step(small);
    assert!(first.tool_calls.iter().all(|call| &*call.name != "run_code"));
    let second = conversation.step(|name, arguments| match name {
        "run_code" => Ok(COUNTED.to_owned()),
        _ => small(name, arguments),
    });
    let names: Vec<_> = second.tool_calls.iter().map(|call| &*call.name).collect();
    assert_eq!(names, ["read", "read", "read", "run_code"]);
    assert_eq!(second.text.as_deref(), Some(LOOKING_AND_COUNTING));
    let arguments = Json::parse(&second.tool_calls.last().unwrap().arguments).unwrap();
    assert!(counts(&arguments), "{arguments}");
    insta::assert_snapshot!("overview_with_lines", conversation.step(small).text.unwrap());
}

#[test]
fn the_program_counts_for_the_searches_where_a_listing_is_a_page() {
    let tree = Huge { own: HUGE_OWN, apart: Ok("No files found"), counts: &[] };
    let program = r#"{"files": 120034, "kinds": {"py": 90000, "": 30000, "txt": 1}, "directories": {"y": 90033, "x": 30000},
        "lines": {"py": 8123456, "md": 99}, "longest": {"y/long.py": 12345}, "sources": 90000, "tried": 1000, "unreadable": 10}"#;
    let mut conversation = Conversation::with(&["glob", "run_code"]);
    let answer = |name: &str, arguments: &Json| match name {
        "run_code" => Ok(program.to_owned()),
        _ => tree.answer(name, arguments),
    };
    conversation.step(answer);
    let second = conversation.step(answer);
    assert_eq!(second.tool_calls.iter().map(|call| &*call.name).collect::<Vec<_>>(), ["run_code"]);
    insta::assert_snapshot!("overview_of_a_huge_tree_with_lines", conversation.step(answer).text.unwrap());
}

#[test]
fn of_a_program_without_a_result_it_says_nothing() {
    let mut without = Conversation::begun();
    let without = without.overview(small);
    for program in [
        Err("code run failed (timeout): it ran for longer than 300000 ms"),
        Ok(r#"{"error": "the results are larger than 20000000 bytes"}"#),
        Ok("(run_code completed with no output)"),
        Ok("[]"),
        Ok(r#"{"files": -1}"#),
    ] {
        assert_eq!(counted(program), without, "{program:?}");
    }
}

#[test]
fn notes_below_a_result_are_passed_over() {
    let noted = format!("{COUNTED}\nwarning: a note {{ 1 }}");
    assert_eq!(counted(Ok(&noted)), counted(Ok(COUNTED)));
}

#[test]
fn lines_are_told_as_they_were_counted() {
    let check = |from: &str, to: &str, want: &str| {
        let overview = counted(Ok(&COUNTED.replace(from, to)));
        assert!(overview.contains(want), "{overview}");
    };
    check("", "", "\n- Lines: `.rs` 1,234, `.md` 6\n");
    check(
        r#""unreadable": 0"#,
        r#""unreadable": 1"#,
        "\n- Lines: `.rs` 1,234, `.md` 6 (1 source file could not be read)\n",
    );
    let sample = "\n- Lines: `.rs` about 1,200, `.md` about 6 (4 of 9 source files were read)\n";
    check(r#""sources": 4"#, r#""sources": 9"#, sample);
    check("src/main.rs", r"a\n`b", "`README.md` (5 lines), `` a\u{fffd}`b `` (1 line)\n");
    let nothing = COUNTED.replace(r#"{ "rs": 1234, "md": 6 }"#, "{}");
    assert!(!counted(Ok(&nothing)).contains("Lines"));
}

/// Answers a program that makes calls, as the real tools would.
fn relayed(arguments: &Json) -> String {
    if counts(arguments) {
        return COUNTED.to_owned();
    }
    let (_, rows) = code(arguments).split_once("= [\n").unwrap();
    let (rows, _) = rows.split_once("\n];").unwrap();
    let answers = rows.lines().map(|row| answer(&Json::parse(row.trim().trim_end_matches(',')).unwrap()));
    format!("[{}]", answers.collect::<Vec<_>>().join(","))
}

fn answer(row: &Json) -> String {
    let (tool, arguments) = (row.at(0).and_then(Json::as_str).unwrap(), row.at(1).unwrap());
    match (tool, small(tool, arguments)) {
        (_, Err(error)) => object! { "error": error },
        ("glob", Ok(text)) => {
            let listing = results::Listing::parse(&text);
            let paths: dsh_json::Array = listing.paths.into_iter().map(Json::from).collect();
            object! { "root": ".", "paths": paths, "total": listing.total }
        }
        ("grep", Ok(_)) => {
            let row = |path, line: usize, text| object! { "path": path, "lineNumber": line, "line": text };
            let rows =
                [row("src/lib.rs", 7, "    // TODO: `parse` the rest"), row("src/main.rs", 1, "// FIXME")];
            object! { "matches": rows.into_iter().collect::<dsh_json::Array>(), "total": 2 }
        }
        (_, Ok(text)) => {
            let reading = results::Reading::parse(&text);
            let lines: dsh_json::Array = reading.lines.into_iter().map(Json::from).collect();
            object! { "path": "/w", "lines": lines, "totalLines": reading.total }
        }
    }
    .to_text()
}

#[test]
fn where_there_are_only_programs_they_make_the_calls() {
    let mut conversation = Conversation::with(&["run_code"]);
    let answer = |name: &str, arguments: &Json| match name {
        "run_code" => Ok(relayed(arguments)),
        _ => panic!("a direct call of {name}"),
    };
    let first = conversation.step(answer);
    assert_eq!(first.tool_calls.len(), 1);
    insta::assert_snapshot!(
        "program_that_makes_calls",
        code(&Json::parse(&first.tool_calls.first().unwrap().arguments).unwrap())
    );
    assert_eq!(conversation.step(answer).tool_calls.len(), 2);
    let overview = conversation.step(answer).text.unwrap();
    assert_eq!(&*overview, counted(Ok(COUNTED)));
}

#[test]
fn where_programs_fail_it_says_so() {
    let mut conversation = Conversation::with(&["run_code"]);
    let overview = conversation.overview(|_, _| Err("code run failed (unavailable): no worker".to_owned()));
    insta::assert_snapshot!(overview, @r"
    # Overview of the workspace

    The files could not be listed: code run failed (unavailable): no worker

    The search for TODO or FIXME failed: code run failed (unavailable): no worker

    To have your own question answered, configure a model.
    ");
    let overview = Conversation::with(&["run_code"]).overview(|_, _| Ok("[]".to_owned()));
    assert!(overview.contains("\nThe files could not be listed.\n"), "{overview}");
    let overview = Conversation::with(&["run_code"]).overview(|_, _| Ok("null".to_owned()));
    assert!(overview.contains("\nThe files could not be listed: the program returned"), "{overview}");
}

#[test]
fn programs_in_another_language_are_not_written() {
    let mut conversation = Conversation::with(&["glob", "run_code"]);
    let tools = conversation.0.tools.iter().cloned();
    conversation.0.tools =
        tools.map(|tool| ToolSchema { description: "Runs a program in Python.".into(), ..tool }).collect();
    conversation.step(small);
    assert!(conversation.step(small).tool_calls.iter().all(|call| &*call.name != "run_code"));
}

#[test]
fn its_programs_are_short_and_name_what_the_globs_name() {
    for program in [include_str!("../count.ts"), include_str!("../relay.ts")] {
        assert!(program.lines().count() <= 40);
        assert!(program.lines().all(|line| line.len() <= 120), "{program}");
    }
    let count = include_str!("../count.ts").replace("\" +\n  \"", "");
    assert!(count.contains(&format!("\"{}\"", own_files())), "{count}");
}
