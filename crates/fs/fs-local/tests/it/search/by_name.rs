//! `glob` on real trees (spec 07 §7.2).

use std::ffi::OsStr;
use std::fs::{File, FileTimes};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, SystemTime};

use dsh_fs_local::LocalSearch;

use super::{Workspace, code};

const TREE: &[(&str, &str)] = &[
    ("a.rs", ""),
    (".hidden.rs", ""),
    ("src/b.rs", ""),
    ("src/deep/c.rs", ""),
    ("src/deep/c.md", ""),
    ("target/ignored.rs", ""),
    (".gitignore", "target/\n"),
    (".git/config.rs", ""),
    (".github/ci.rs", ""),
    ("sub/.hg/x.rs", ""),
    ("sub/.svn/x.rs", ""),
    ("sub/.jj/x.rs", ""),
    ("sub/.sl/x.rs", ""),
    ("sub/.bzr/x.rs", ""),
    ("empty.rs/", ""),
];

#[tokio::test]
async fn hidden_and_ignored_files_are_found_and_version_control_is_not() {
    let workspace = Workspace::new(TREE);
    assert_eq!(
        workspace.glob("*.rs").await,
        [".github/ci.rs", ".hidden.rs", "a.rs", "src/b.rs", "src/deep/c.rs", "target/ignored.rs"]
    );
    assert_eq!(workspace.glob("src/*.rs").await, ["src/b.rs"]);
    assert_eq!(workspace.glob("src/**").await, ["src/b.rs", "src/deep/c.md", "src/deep/c.rs"]);
    assert_eq!(workspace.glob("*.nothing").await, [""; 0]);
    assert_eq!(workspace.glob("empty.rs").await, [""; 0]);
}

#[tokio::test]
async fn a_file_named_like_version_control_is_left_out_too() {
    let workspace = Workspace::new(&[("sub/.git", "gitdir: elsewhere"), ("sub/a", "")]);
    assert_eq!(workspace.glob("*").await, ["sub/a"]);
}

#[tokio::test]
async fn version_control_is_left_out_as_the_root_too() {
    let workspace = Workspace::new(TREE);
    for path in [".git", "sub/.hg", "./.git/"] {
        assert_eq!(workspace.try_glob("*", Some(path)).await.unwrap().paths, []);
    }
}

#[tokio::test]
async fn a_pattern_with_a_slash_is_below_the_root_or_as_shown() {
    let workspace = Workspace::new(&[("src/src/a.rs", ""), ("src/b.rs", "")]);
    let hits = workspace.try_glob("src/*.rs", Some("src")).await.unwrap();
    assert_eq!(&*hits.root, "src");
    let mut paths = hits.paths;
    paths.sort();
    assert_eq!(paths.iter().map(|path| &**path).collect::<Vec<_>>(), ["src/b.rs", "src/src/a.rs"]);
}

#[tokio::test]
async fn roots_are_shown_relative_to_the_workspace() {
    let workspace = Workspace::new(&[("src/a.rs", "")]);
    let absolute = workspace.path().canonicalize().unwrap().join("src");
    for (path, root) in
        [("src", "src"), ("src/", "src"), ("./src/../src", "src"), (absolute.to_str().unwrap(), "src")]
    {
        let hits = workspace.try_glob("*", Some(path)).await.unwrap();
        assert_eq!((&*hits.root, &*hits.paths[0]), (root, "src/a.rs"));
    }
    let hits = workspace.try_glob("*", Some(".")).await.unwrap();
    assert_eq!((&*hits.root, &*hits.paths[0]), (".", "src/a.rs"));
}

#[tokio::test]
async fn the_oldest_comes_first_then_the_path() {
    let workspace = Workspace::new(&[("b", ""), ("a", ""), ("c/d", ""), ("c-d", ""), ("new", "")]);
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    for (name, age) in [("b", 0), ("a", 0), ("c/d", 0), ("c-d", 0), ("new", 7)] {
        let times = FileTimes::new().set_modified(old + Duration::from_nanos(age));
        File::options().write(true).open(workspace.path().join(name)).unwrap().set_times(times).unwrap();
    }
    let hits = workspace.try_glob("*", None).await.unwrap();
    let paths: Vec<&str> = hits.paths.iter().map(|path| &**path).collect();
    assert_eq!(paths, ["a", "b", "c/d", "c-d", "new"]);
}

#[tokio::test]
async fn hostile_names_are_one_path_each() {
    let workspace = Workspace::new(&[("one\ntwo", ""), ("--flag", ""), ("$(touch x)", ""), ("a b\t'\"", "")]);
    workspace.write(OsStr::from_bytes(b"caf\xe9"), "");
    assert_eq!(workspace.glob("*").await, ["$(touch x)", "--flag", "a b\t'\"", "caf\\xe9", "one\ntwo"]);
    assert_eq!(workspace.glob("one\n*").await, ["one\ntwo"]);
    assert_eq!(workspace.glob("*\0*").await, [""; 0]);
}

#[tokio::test]
async fn a_limit_keeps_the_first_hits_and_says_so() {
    let files: Vec<(String, &str)> = (0..50).map(|n| (format!("d{}/f{n:02}", n % 5), "")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
    let mut workspace = Workspace::new(&files);
    let all = workspace.try_glob("*", None).await.unwrap();
    assert_eq!((all.paths.len(), all.truncated), (50, false));
    for (max, truncated) in [(50, false), (49, true), (7, true), (1, true)] {
        workspace.limits.max_hits = NonZeroUsize::new(max);
        let some = workspace.try_glob("*", None).await.unwrap();
        assert_eq!((&some.paths[..], some.truncated), (&all.paths[..max], truncated));
    }
}

#[tokio::test]
async fn the_order_is_that_of_no_walk() {
    let files: Vec<(String, String)> =
        (0..200).map(|n| (format!("d{}/e{}/f{n}", n % 7, n % 3), format!("x{n}\nx\n"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let mut workspace = Workspace::new(&files);
    let mut seen = Vec::new();
    for threads in [1, 2, 3, 8, 8, 8] {
        workspace.search = LocalSearch::with_threads(NonZeroUsize::new(threads).unwrap());
        let by_name = workspace.try_glob("*", None).await.unwrap();
        let by_content = workspace.try_grep("x", None, None).await.unwrap();
        let included = workspace.try_grep("x", None, Some("*")).await.unwrap();
        assert_eq!(by_content, included);
        seen.push((by_name, by_content));
    }
    assert!(seen.iter().all(|result| *result == seen[0]));
    assert_eq!(seen[0].1.matches.len(), 400);
}

#[tokio::test]
async fn too_much_is_an_error_that_names_the_limit() {
    let mut workspace = Workspace::new(&[("aaaa", ""), ("bbbb", "")]);
    // Each hit costs its path and 64 bytes.
    for (bytes, fits) in [(136, true), (135, false)] {
        workspace.limits.max_bytes = NonZeroUsize::new(bytes).unwrap();
        let result = workspace.try_glob("*", None).await;
        assert_eq!(result.is_ok(), fits);
        if let Err(error) = result {
            assert_eq!(error.code(), "SEARCH_RAW_OUTPUT_OVERFLOW");
            assert!(error.to_string().contains("135 bytes"), "{error}");
        }
    }
}

#[tokio::test]
async fn bad_requests_have_their_codes() {
    let workspace = Workspace::new(&[("file", "")]);
    assert_eq!(code(workspace.try_glob("[a", None).await), "SEARCH_INVALID_PATTERN");
    assert_eq!(code(workspace.try_glob("*", Some("missing")).await), "FS_NOT_FOUND");
    assert_eq!(code(workspace.try_glob("*", Some("file/below")).await), "FS_NOT_FOUND");
    assert_eq!(code(workspace.try_glob("*", Some("nul\0")).await), "FS_NOT_FOUND");
    assert_eq!(code(workspace.try_glob("*", Some("file")).await), "FS_NOT_DIRECTORY");
}
