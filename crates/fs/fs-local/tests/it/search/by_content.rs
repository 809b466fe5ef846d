//! `grep` on real trees (spec 07 §7.3).

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;

use super::{Workspace, code, rows, warnings};

/// A repository with hidden, ignored and ordinary files that all contain `needle`.
fn repository() -> Workspace {
    Workspace::new(&[
        (".git/HEAD", "needle"),
        (".gitignore", "*.log\nbuild/\n"),
        (".ignore", "skipped.ts\n"),
        ("a.ts", "one\nneedle two\n"),
        (".hidden.ts", "needle"),
        ("debug.log", "needle"),
        ("skipped.ts", "needle"),
        ("build/out.ts", "needle"),
        (".secret/in.ts", "needle"),
        ("sub/b.ts", "needle\nneedle again"),
        ("sub/.gitignore", "!keep.log\nlocal.ts\n"),
        ("sub/keep.log", "needle"),
        ("sub/local.ts", "needle"),
    ])
}

#[tokio::test]
async fn hidden_and_ignored_files_are_passed_over() {
    assert_eq!(
        repository().grep("needle").await,
        ["a.ts:2:needle two", "sub/b.ts:1:needle", "sub/b.ts:2:needle again", "sub/keep.log:1:needle"]
    );
}

#[tokio::test]
async fn git_rules_count_in_repositories_only_and_other_rules_everywhere() {
    let workspace = Workspace::new(&[
        (".gitignore", "a\n"),
        (".ignore", "b\n"),
        (".rgignore", "c\n"),
        ("a", "x"),
        ("b", "x"),
        ("c", "x"),
        ("d", "x"),
    ]);
    assert_eq!(workspace.grep("x").await, ["a:1:x", "d:1:x"]);
    workspace.write(".git/", "");
    assert_eq!(workspace.grep("x").await, ["d:1:x"]);
    workspace.write(".git/info/exclude", "d\n");
    assert_eq!(workspace.grep("x").await, [""; 0]);
}

#[tokio::test]
async fn rules_above_the_root_count() {
    let workspace = repository();
    let hits = workspace.try_grep("needle", Some("sub"), None).await.unwrap();
    assert_eq!(rows(&hits).len(), 3);
    let hits = workspace.try_grep("needle", Some("build"), None).await.unwrap();
    assert_eq!(rows(&hits), ["build/out.ts:1:needle"], "a root is searched even when it is ignored");
}

#[tokio::test]
async fn an_include_opens_files_and_no_directories() {
    let workspace = repository();
    let rows_of =
        async |include: &str| rows(&workspace.try_grep("needle", None, Some(include)).await.unwrap());
    let all = [
        ".hidden.ts:1:needle",
        "a.ts:2:needle two",
        "skipped.ts:1:needle",
        "sub/b.ts:1:needle",
        "sub/b.ts:2:needle again",
        "sub/local.ts:1:needle",
    ];
    assert_eq!(rows_of("*.ts").await, all);
    assert_eq!(rows_of("**/*.ts").await, all);
    assert_eq!(rows_of("*.{log,md}").await, ["debug.log:1:needle", "sub/keep.log:1:needle"]);
    assert_eq!(rows_of("sub/*.ts").await, all[3..]);
    assert_eq!(rows_of("build/*").await, [""; 0]);
    // Names every directory, and opens none that is hidden or ignored.
    assert_eq!(rows_of("*").await.len(), 8);
    assert_eq!(rows_of("*.none").await, [""; 0]);
}

#[tokio::test]
async fn one_file_is_searched_whatever_it_is_called() {
    let workspace = repository();
    for (path, include) in [("build/out.ts", None), (".hidden.ts", None), ("debug.log", Some("*.ts"))] {
        let hits = workspace.try_grep("needle", Some(path), include).await.unwrap();
        assert_eq!(rows(&hits), [format!("{path}:1:needle")]);
    }
}

#[tokio::test]
async fn binary_files_are_passed_over() {
    let workspace = Workspace::new(&[("text", "needle\n")]);
    workspace.write("binary", b"needle\n\0needle\n");
    // The place is only met after the first piece of the file was searched.
    let mut late = b"needle padding\n".repeat(5_000);
    late.push(0);
    late.extend(b"\nneedle\n");
    workspace.write("late", &late);
    let hits = workspace.try_grep("needle", None, None).await.unwrap();
    assert!(hits.matches.iter().all(|hit| &*hit.path != "binary"));
    assert_eq!(&*hits.matches.last().unwrap().path, "text");
    assert_eq!(warnings(&hits.warnings), ["late: binary from byte 75000 on, not searched further"]);

    let hits = workspace.try_grep("needle", Some("binary"), None).await.unwrap();
    assert_eq!(rows(&hits), [""; 0]);
    assert_eq!(warnings(&hits.warnings), ["binary: binary from byte 7 on, not searched further"]);
}

#[tokio::test]
async fn lines_lose_their_ends_and_nothing_else() {
    let workspace =
        Workspace::new(&[("crlf", "  a b \r\nab\r\n\r\nlast a"), ("cr", "a\rb a\r"), ("empty", "")]);
    assert_eq!(workspace.grep("a").await, ["cr:1:a\rb a", "crlf:1:  a b ", "crlf:2:ab", "crlf:4:last a"]);
    assert_eq!(workspace.grep("b$").await, ["crlf:2:ab"]);
    // A carriage return is a line's end for `^` and `$`, and no line break.
    assert_eq!(workspace.grep("^$").await, ["cr:1:a\rb a", "crlf:3:"]);
    assert_eq!(workspace.grep("^b").await, ["cr:1:a\rb a"]);
    assert_eq!(workspace.grep(" ").await, ["cr:1:a\rb a", "crlf:1:  a b ", "crlf:4:last a"]);
}

#[tokio::test]
async fn a_line_that_is_no_text_is_a_match_without_text() {
    let workspace = Workspace::new(&[]);
    workspace.write("latin", b"caf\xe9 needle\nneedle\n");
    assert_eq!(workspace.grep("needle").await, ["latin:1:(no text)", "latin:2:needle"]);
}

#[tokio::test]
async fn utf16_with_a_mark_is_read_as_text() {
    let workspace = Workspace::new(&[]);
    let text: Vec<u8> = "\u{feff}äneedle\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    workspace.write("wide", text);
    assert_eq!(workspace.grep("needle").await, ["wide:1:äneedle"]);
}

#[tokio::test]
async fn a_huge_line_is_whole_and_a_too_long_one_a_warning() {
    let mut workspace = Workspace::new(&[]);
    let huge = format!("{}needle", "x".repeat(300_000));
    workspace.write("huge", format!("needle\n{huge}\nneedle\n"));
    let hits = workspace.try_grep("needle", None, None).await.unwrap();
    assert_eq!(hits.matches[1].line.as_deref(), Some(&*huge));
    assert_eq!((hits.matches.len(), hits.warnings.is_empty()), (3, true));

    workspace.limits.max_bytes = NonZeroUsize::new(200_000).unwrap();
    let hits = workspace.try_grep("needle", None, None).await.unwrap();
    assert_eq!(rows(&hits), ["huge:1:needle"]);
    assert_eq!(warnings(&hits.warnings), ["huge: has a line of over 200000 bytes, not searched further"]);
}

#[tokio::test]
async fn names_that_are_no_text_are_shown_as_bytes() {
    let workspace = Workspace::new(&[("one\ntwo", "x")]);
    workspace.write(OsStr::from_bytes(b"\xff"), "x");
    assert_eq!(workspace.grep("x").await, ["\\xff:1:x", "one\ntwo:1:x"]);
    for (include, found) in [("one\n*", &["one\ntwo:1:x"][..]), ("?", &["\\xff:1:x"]), ("\0", &[])] {
        assert_eq!(rows(&workspace.try_grep("x", None, Some(include)).await.unwrap()), found, "{include}");
    }
}

#[tokio::test]
async fn a_pattern_is_never_an_option_or_a_command() {
    let workspace = Workspace::new(&[("a", "--files\n$(touch x)\n-e\n")]);
    for (pattern, row) in
        [("--files", "a:1:--files"), (r"\$\(touch x\)", "a:2:$(touch x)"), ("-e$", "a:3:-e")]
    {
        assert_eq!(workspace.grep(pattern).await, [row]);
    }
    workspace.write("-dash", "dash");
    let hits = workspace.try_grep("dash", Some("-dash"), Some("-*")).await.unwrap();
    assert_eq!(rows(&hits), ["-dash:1:dash"]);
}

#[tokio::test]
async fn a_limit_keeps_the_first_matches_and_says_so() {
    let mut workspace = Workspace::new(&[("b", "x1\nx2\nx3\n"), ("a/z", "x4\n"), ("c", "x5\n")]);
    let all = workspace.try_grep("x", None, None).await.unwrap();
    assert_eq!(rows(&all), ["a/z:1:x4", "b:1:x1", "b:2:x2", "b:3:x3", "c:1:x5"]);
    for (max, truncated) in [(6, false), (5, false), (4, true), (2, true), (1, true)] {
        workspace.limits.max_hits = NonZeroUsize::new(max);
        let some = workspace.try_grep("x", None, None).await.unwrap();
        assert_eq!(rows(&some), rows(&all)[..max.min(5)]);
        assert_eq!(some.truncated, truncated);
    }
}

#[tokio::test]
async fn bad_requests_have_their_codes() {
    let workspace = Workspace::new(&[]);
    for pattern in ["a(", r"(a)\1", r"a\nb", r"(?:\w{1000}){1000}"] {
        assert_eq!(code(workspace.try_grep(pattern, None, None).await), "SEARCH_INVALID_PATTERN");
    }
    assert_eq!(code(workspace.try_grep("a", None, Some("{a")).await), "SEARCH_INVALID_PATTERN");
    assert_eq!(code(workspace.try_grep("a", Some("missing"), None).await), "FS_NOT_FOUND");
    assert_eq!(code(workspace.try_grep("a", Some("nul\0"), None).await), "FS_NOT_FOUND");
}

#[tokio::test]
async fn bad_ignore_rules_are_a_warning_and_the_others_count() {
    let workspace = Workspace::new(&[(".ignore", "{a\nskipped\n"), ("skipped", "x"), ("kept", "x")]);
    let hits = workspace.try_grep("x", None, None).await.unwrap();
    assert_eq!(rows(&hits), ["kept:1:x"]);
    assert_eq!(warnings(&hits.warnings), [".ignore: has lines that are no ignore rules"]);
}
