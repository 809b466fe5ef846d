use super::*;
use crate::trial::{check, tried};
use crate::{KINDS, Kind};

const READ: &Kind = &read_tool::KIND;
const WRITE: &Kind = &write_tool::KIND;
const EDIT: &Kind = &edit_tool::KIND;

#[test]
fn all_forms_of_files_and_calls_are_read() {
    let done = r#"{"isError": false, "value": {"path": "$DIR/a", "offset": 1, "lines": [{"number": 1, "text": "é\\"}], "totalLines": 1}}"#;
    check(&[
        (READ, r#"{"files": {"a": {"hex": "C3a95c"}}, "args": {"file_path": "a"}}"#, done, None),
        (
            READ,
            r#"{"files": {"a": {"base64": "w6lc"}}, "args_text": "{\"file_path\":\"$DIR/a\"}"}"#,
            done,
            None,
        ),
        (
            READ,
            r#"{"files": {"a": {"base64": "w6lcCg=="}, "d/e": {"dir": true}, "n": null}, "args": {"file_path": "d/../a"}}"#,
            done,
            None,
        ),
        (
            READ,
            r#"{"files": {"b": {"parts": [{"text": "é"}, {"text": "\\", "repeat": 1}]}, "a": {"symlink": "$DIR/b"}}, "tool": "read", "config": null, "args": {"file_path": "a"}}"#,
            done,
            None,
        ),
        (
            WRITE,
            r#"{"files": {"a": {"text": "é\\"}}, "tool": "read", "args": {"file_path": "a"}}"#,
            done,
            None,
        ),
        // What is refused when it is read never gets to the tool.
        (
            READ,
            r#"{"args_text": "{\"file_path\":\"a\",\"limit\":1e400}"}"#,
            r#"{"isError": true, "error": {"code": "INVALID_ARGS"}}"#,
            None,
        ),
        (
            READ,
            r#"{"config": {"readLimit": 0}, "args": {"file_path": "a"}}"#,
            r#"{"config_error": true}"#,
            None,
        ),
        // A list of calls needs no policy; a change from outside has no result and may take a file away.
        (
            EDIT,
            r#"{"files": {"a": {"text": "x\n"}}, "calls": [
                {"external_write": {"a": null, "b": {"text": "x"}}},
                {"tool": "read", "args": {"file_path": "a"}},
                {"args": {"file_path": "b", "old_string": "x", "new_string": "y"}, "external_write": {"b": {"text": "xx."}}}
            ]}"#,
            r#"{"results": [{"isError": true, "error": {"code": "FS_NOT_FOUND"}}, {"isError": true, "error": {"code": "FS_AMBIGUOUS_EDIT"}}],
                "files_after": {"a": null, "b": {"text": "xx."}, "no/such": null}}"#,
            None,
        ),
        // One call under the policy.
        (
            WRITE,
            r#"{"observation_policy": true, "files": {"a": {"text": "x"}, "d": {"dir": 1}}, "args": {"file_path": "a", "content": "y"}}"#,
            r#"{"isError": true, "error": {"code": "FS_NOT_OBSERVED"}, "files_after": {"a": {"base64": "eA=="}, "d": {"dir": true}}}"#,
            None,
        ),
        (
            WRITE,
            r#"{"observation_policy": false, "args": {"file_path": "a", "content": "y"}}"#,
            r#"{"isError": false, "value": {"path": "$DIR/a", "operation": "create", "before": null, "after": "y"}, "meta": {"diffs": []}}"#,
            None,
        ),
        // A large value by its digest, which here is one of a small one.
        (
            READ,
            r#"{"files": {"a": {"text": ""}}, "args": {"file_path": "a"}}"#,
            r#"{"isError": false, "value": {"$sha256_of_json": "1a854ac84f379c9b24e3b4643bad0a247b8c68f13f605d025ba8646ed10df36e", "json_bytes": 54}}"#,
            None,
        ),
    ]);
}

#[test]
fn a_rule_takes_what_its_decision_changes() {
    check(&[
        // The bound of a line is configuration.
        (
            READ,
            r#"{"config": {"readMaxLineLength": 3}, "files": {"a": {"text": "abcdef\nabc\r\n"}}, "args": {"file_path": "a"}}"#,
            r#"{"isError": false,
                "value": {"path": "$DIR/a", "offset": 1, "lines": [{"number": 1, "text": "abc... (line truncated to 3 chars)"}, {"number": 2, "text": "abc"}], "totalLines": 2},
                "meta": {"path": "$DIR/a", "offset": 1, "lines": [{"number": 1, "text": "abc... (line truncated to 3 chars)"}, {"number": 2, "text": "abc"}], "totalLines": 2}}"#,
            Some("cut lines say how to go on"),
        ),
        // Our longer mark fills the byte cap earlier; the language stays.
        (
            READ,
            r#"{"config": {"readMaxLineLength": 3, "readMaxBytes": 120}, "files": {"a.rs": {"parts": [{"text": "abcdef\n", "repeat": 4}]}}, "args": {"file_path": "$DIR/a.rs", "offset": 2}}"#,
            r#"{"isError": false,
                "value": {"path": "$DIR/a.rs", "offset": 2, "lines": [{"number": 2, "text": "abc... (line truncated to 3 chars)"}, {"number": 3, "text": "abc... (line truncated to 3 chars)"}, {"number": 4, "text": "abc... (line truncated to 3 chars)"}], "totalLines": 4},
                "meta": {"path": "$DIR/a.rs", "offset": 2, "lines": [{"number": 2, "text": "abc... (line truncated to 3 chars)"}, {"number": 3, "text": "abc... (line truncated to 3 chars)"}, {"number": 4, "text": "abc... (line truncated to 3 chars)"}], "totalLines": 4, "lang": "rs"}}"#,
            Some("cut lines say how to go on"),
        ),
        // Half a pair is written as the character that stands for it here.
        (
            READ,
            r#"{"config": {"readMaxLineLength": 2}, "files": {"a": {"text": "a😀b"}}, "args": {"file_path": "a"}}"#,
            r#"{"isError": false, "value": {"path": "$DIR/a", "offset": 1, "lines": [{"number": 1, "text": "a�... (line truncated to 2 chars)"}], "totalLines": 1},
                "meta": {"path": "$DIR/a", "offset": 1, "lines": [{"number": 1, "text": "a�... (line truncated to 2 chars)"}], "totalLines": 1}}"#,
            Some("cut lines say how to go on"),
        ),
        (
            READ,
            r#"{"config": {"readMaxBytes": 3}, "files": {"b": {"text": "路路\nx\n"}, "a": {"symlink": "b"}}, "args": {"file_path": "a"}}"#,
            r#"{"isError": false, "value": {"path": "$DIR/a", "offset": 1, "lines": [], "totalLines": 2}, "meta": {"path": "$DIR/a", "offset": 1, "lines": [], "totalLines": 2}}"#,
            Some("no window is empty"),
        ),
        (
            READ,
            r#"{"files": {}, "args": {"file_path": "/no/such/file"}}"#,
            r#"{"isError": true, "error": {"code": "FS_NOT_FOUND"}}"#,
            Some("reach ends at the root"),
        ),
        (
            WRITE,
            r#"{"files": {"l": {"symlink": "/no/such/file"}}, "args": {"file_path": "l", "content": "x"}}"#,
            r#"{"isError": false, "value": {"path": "$DIR/l", "operation": "create", "before": null, "after": "x"}}"#,
            Some("reach ends at the root"),
        ),
    ]);
}

#[test]
fn a_rule_about_edits_takes_what_its_decision_changes() {
    check(&[
        // The mark and the line breaks of what is not replaced, read again afterwards.
        (
            EDIT,
            r#"{"files": {"a": {"text": "\ufeffa\r\nb\nc\r\n"}}, "calls": [
                {"args": {"file_path": "a", "old_string": "b\n", "new_string": "b\nB\n"}}, {"tool": "read", "args": {"file_path": "a"}}
            ]}"#,
            r#"{"results": [
                {"isError": false, "value": {"path": "$DIR/a", "before": "a\nb\nc\n", "after": "a\nb\nB\nc\n"}},
                {"isError": false, "value": {"path": "$DIR/a", "offset": 1, "lines": [{"number": 1, "text": "a"}, {"number": 2, "text": "b"}, {"number": 3, "text": "B"}, {"number": 4, "text": "c"}], "totalLines": 4}}
            ], "files_after": {"a": {"text": "a\r\nb\r\nB\r\nc\r\n"}}}"#,
            Some("untouched bytes stay"),
        ),
        (
            EDIT,
            r#"{"files": {"a": {"text": "a\nb"}}, "args": {"file_path": "a", "old_string": "a\n", "new_string": "a\r\n"}}"#,
            r#"{"isError": false, "value": {"path": "$DIR/a", "before": "a\nb", "after": "a\nb"}, "meta": {"diffs": []}, "files_after": {"a": {"text": "a\nb"}}}"#,
            Some("an edit changes something"),
        ),
        (
            EDIT,
            r#"{"files": {"a": {"text": "let x = “1”;  \nend\n"}}, "args": {"file_path": "a", "old_string": "x = \"1\";\nend", "new_string": "y = 2;\nend"}}"#,
            r#"{"isError": true, "error": {"code": "FS_EDIT_NOT_FOUND"}, "files_after": {"a": {"text": "let x = “1”;  \nend\n"}}}"#,
            Some("edits look past what no reader sees"),
        ),
        (
            EDIT,
            r#"{"files": {"a": {"text": "one\ntwo\n"}}, "args": {"file_path": "a", "old_string": "1: one\n2: two", "new_string": "1: three"}}"#,
            r#"{"isError": true, "error": {"code": "FS_EDIT_NOT_FOUND"}, "files_after": {"a": {"text": "one\ntwo\n"}}}"#,
            Some("edits look past what no reader sees"),
        ),
        (
            EDIT,
            r#"{"files": {"a": {"text": "it’s it’s"}}, "args": {"file_path": "a", "old_string": "it's", "new_string": "it is"}}"#,
            r#"{"isError": true, "error": {"code": "FS_EDIT_NOT_FOUND"}, "files_after": {"a": {"text": "it’s it’s"}}}"#,
            Some("edits look past what no reader sees"),
        ),
        (
            EDIT,
            r#"{"files": {"a": {"hex": "fffe61000a00"}}, "args": {"file_path": "a", "old_string": "a", "new_string": "b"}}"#,
            r#"{"isError": true, "error": {"code": "FS_NOT_TEXT"}, "files_after": {"a": {"hex": "fffe61000a00"}}}"#,
            Some("UTF-16 that says so is edited"),
        ),
    ]);
}

#[test]
fn an_outcome_that_no_decision_explains_fails() {
    let cut = r#"{"config": {"readMaxLineLength": 3}, "files": {"a": {"text": "abcdef"}}, "args": {"file_path": "a"}}"#;
    let read = r#"{"files": {"a": {"text": "x"}}, "args": {"file_path": "a"}}"#;
    let edit = r#"{"files": {"a": {"text": "a\r\nb\n"}}, "args": {"file_path": "a", "old_string": "a", "new_string": "b"}}"#;
    let rows = [
        (
            READ,
            cut,
            r#"{"isError": false, "value": {"path": "$DIR/a", "offset": 1, "lines": [{"number": 1, "text": "ab... (line truncated to 3 chars)"}], "totalLines": 1}}"#,
        ),
        (READ, cut, r#"{"isError": true, "error": {"code": "FS_NOT_FOUND"}}"#),
        (
            READ,
            read,
            r#"{"isError": false, "value": {"path": "$DIR/a", "offset": 1, "lines": [], "totalLines": 1}}"#,
        ),
        (READ, read, r#"{"isError": false, "value": {"$sha256_of_json": "00", "json_bytes": 79}}"#),
        (READ, read, r#"{"isError": false, "files_after": {"a": {"text": "y"}}}"#),
        (READ, read, r#"{"isError": false, "files_after": {"a": null}}"#),
        (READ, read, r#"{"isError": false, "files_after": {"a": {"base64": "?"}}}"#),
        (READ, read, r#"{"results": [{"isError": false}]}"#),
        (READ, r#"{"args": {"file_path": "a"}}"#, r#"{"isError": true, "error": {"code": "FS_NOT_TEXT"}}"#),
        (
            EDIT,
            edit,
            r#"{"isError": false, "value": {"path": "$DIR/a", "before": "a\nb\n", "after": "b\nb\n"}, "files_after": {"a": {"text": "b\r\nb\r\n"}}}"#,
        ),
        (EDIT, edit, r#"{"isError": true, "error": {"code": "FS_EDIT_NOT_FOUND"}}"#),
        (EDIT, r#"{"calls": []}"#, r#"{"results": [{"isError": false}]}"#),
    ];
    for (kind, input, output) in rows {
        assert!(!tried(kind, input, output).passes, "{} {input} {output}", kind.name);
    }
}

#[test]
fn a_malformed_vector_says_what_is_wrong() {
    let rows = [
        ("{}", "the vector has no `args`"),
        (r#"{"calls": 1}"#, "`calls` is 1, not a list"),
        (r#"{"calls": [{}]}"#, "`calls` is {}, not calls with `args`, or `external_write`"),
        (r#"{"files": [], "args": {}}"#, "`files` is [], not an object of files"),
        (r#"{"files": {"a": {}}, "args": {}}"#, "`a` is {}, not text, parts, hex, base64, dir or symlink"),
        (r#"{"files": {"a": {"hex": "abc"}}, "args": {}}"#, "`a` is {\"hex\":\"abc\"}, not text, parts,"),
        (r#"{"files": {"a": {"parts": [{"text": "x", "repeat": 99999999999}]}}, "args": {}}"#, "`a` is {"),
        (r#"{"files": {"../a": {"text": "x"}}, "args": {}}"#, "`files` is \"../a\", not names below"),
        (r#"{"files": {"/a": {"text": "x"}}, "args": {}}"#, "`files` is \"/a\", not names below"),
        (
            r#"{"files": {"a": {"text": "x"}, "a/b": {"text": "x"}}, "args": {}}"#,
            "the scene could not be set: ",
        ),
        (r#"{"tool": 1, "args": {}}"#, "`tool` is 1, not a text"),
    ];
    for (input, expected) in rows {
        let tried = tried(EDIT, input, "{}");
        assert!(!tried.passes && tried.said.starts_with(expected), "{input}: {}", tried.said);
    }
}

#[test]
fn a_tool_that_nobody_registered_is_missed() {
    assert_eq!(world::lacks("no-such-tool"), Some("the tool is not registered"));
    assert!(KINDS.iter().all(|kind| (kind.lacks)().is_none()));
}
