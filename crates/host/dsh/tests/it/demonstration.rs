//! The demonstration, with the real tools and programs in a real worker (spec 12 §2).

use dsh_json::{Json, object};

use crate::world::{World, assert_closed};

/// A small project with names that are not all plain, and a source that is no text.
fn project() -> World {
    let world = World::new();
    for directory in ["src", "docs", "target", ".hidden"] {
        std::fs::create_dir(world.path("ws").join(directory)).unwrap();
    }
    for (path, text) in [
        ("ws/README.md", "# Sorting hat\n\nIt sorts.\n"),
        ("ws/Cargo.toml", "[package]\n"),
        ("ws/src/main.rs", "fn main() {}\n// TODO: sort\n"),
        ("ws/src/__proto__.rs", ""),
        ("ws/src/a\nb `c` \u{1f600}.rs", "1\n2\n3\n"),
        ("ws/src/binary.rs", "\0\0\0"),
        ("ws/docs/1.1", "x"),
        ("ws/docs/x.__proto__", "x"),
        ("ws/target/big.rs", "1\n2\n3\n4\n5\n"),
        ("ws/.hidden/a", ""),
    ] {
        world.file(path, text);
    }
    world
}

fn overview(world: &World, mode: &str) -> String {
    let ran = world.dsh(["run", "--mode", mode, "look around"]).done();
    assert!(!ran.err.contains('✗'), "{}", ran.err);
    assert!(ran.out.lines().count() <= 25, "{}", ran.out);
    ran.out
}

#[test]
fn it_reads_searches_and_runs_a_program() {
    let world = project();
    insta::assert_snapshot!("overview_of_a_project", overview(&world, "both"));
    let logs = world.fresh_logs();
    let log = std::fs::read_to_string(logs.first().unwrap()).unwrap();
    assert_eq!(log.matches("\"tool/code-dispatch-start\"").count(), 6);
    assert_closed(&world, logs.first().unwrap());
}

/// Spec 12 §2: with a seed, a result says nothing that two runs don't have in common. Where calls overlap, the order of their
/// events is left to time (spec 06 §5.3), so the results are compared and not the whole logs.
#[test]
fn equal_seeds_give_equal_results() {
    let world = project();
    let results = |name: &str| {
        world.dsh(["--seed", "7", "--session", name, "run", "look around"]).done();
        let log = std::fs::read_to_string(world.path(name)).unwrap();
        let events = log.lines().map(|line| Json::parse(line).unwrap());
        let is_result = |event: &Json| event.get("type").and_then(Json::as_str) == Some("tool/result");
        events.filter(is_result).map(|event| event.get("data").unwrap().clone()).collect::<Vec<_>>()
    };
    let first = results("first.jsonl");
    assert!(first.iter().any(|result| result.to_text().contains("\"receipt\"")), "{first:?}");
    assert_eq!(first, results("second.jsonl"));
}

#[test]
fn it_is_the_same_by_programs_alone_and_has_no_lines_without_them() {
    let world = project();
    let both = overview(&world, "both");
    assert_eq!(overview(&world, "code"), both);
    let told = both.lines().filter(|line| !line.starts_with("- Lines") && !line.starts_with("- Longest"));
    assert_eq!(overview(&world, "native").lines().collect::<Vec<_>>(), told.collect::<Vec<_>>());
}

#[test]
fn an_empty_workspace_is_no_obstacle() {
    for mode in ["native", "both", "code"] {
        let out = overview(&World::new(), mode);
        assert!(out.contains("\nIt is empty: there are no files in it.\n"), "{mode}: {out}");
    }
}

/// The program that counts, with another bound on what it reads.
fn counting(world: &World, most: &str) -> String {
    let program = include_str!("../../../../llm/llm-script/src/demo/count.ts");
    assert!(program.contains("(sources.length, 2000)"));
    world.file("count.ts", &program.replace("(sources.length, 2000)", &format!("(sources.length, {most})")));
    world.dsh(["code", "count.ts"]).done().out
}

#[test]
fn of_many_sources_a_sample_stands_for_all() {
    let world = World::new();
    for number in 0..40 {
        world.file(&format!("ws/{number}.rs"), &"line\n".repeat(5));
        world.file(&format!("ws/{number}.md"), &"line\n".repeat(3));
    }
    for most in ["2000", "9"] {
        let counted = Json::parse(&counting(&world, most)).unwrap();
        assert_eq!(counted.get("lines"), Some(&object! { "rs": 200, "md": 120 }), "{counted}");
        let tried = counted.get("tried").unwrap().as_u64().unwrap();
        assert_eq!((tried, counted.get("sources")), (most.parse().unwrap_or(0).min(80), Some(&80.into())));
    }
}

#[test]
fn a_listing_that_fails_is_no_obstacle() {
    let world = project();
    world.file("ws/dsh.toml", "[tool-fs-search]\nrawOutputMaxBytes = 300\n");
    assert!(counting(&world, "2000").starts_with("{\n  \"error\": \""));
    for mode in ["both", "code"] {
        let out = world.dsh(["run", "--mode", mode, "look around"]).done().out;
        assert!(out.contains("\nThe files could not be listed: ") && !out.contains("Lines"), "{out}");
    }
}
