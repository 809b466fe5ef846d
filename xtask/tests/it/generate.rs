//! The generated pages.

use crate::planted::Planted;

#[test]
fn pages_are_written_once_and_then_fresh() {
    let planted = Planted::sound();
    planted.fails(&["gen", "--check"], "crates/README.md:1: is stale: has the end, would have `# Crates`");
    assert!(!planted.path("crates/README.md").exists());
    planted.passes(&["gen"]);
    planted.passes(&["gen", "--check"]);
}

#[test]
fn the_table_has_a_row_for_each_crate() {
    let planted = Planted::sound();
    planted.passes(&["gen"]);
    let page = planted.read("crates/README.md");
    assert!(page.contains("\n## fs\n\n| crate | layer | what it is |\n|---|---|---|\n| [`dsh-store`](fs/store) | provider | What dsh-store is |\n| [`dsh-tool`](fs/tool)"), "{page}");

    planted.replace("crates/fs/tool/Cargo.toml", "What dsh-tool is", "What it became");
    planted.fails(&["gen", "--check"], "would have `| [`dsh-tool`](fs/tool) | consumer | What it became |`");
}

#[test]
fn the_graph_leaves_out_what_follows_and_what_is_for_tests() {
    let planted = Planted::sound();
    planted.passes(&["gen"]);
    let page = planted.read("docs/generated/crate-graph.md");
    let arrows: Vec<&str> = page.lines().filter(|line| line.contains(" --> dsh")).map(str::trim).collect();
    assert_eq!(
        arrows,
        [
            "dsh --> dsh-harness",
            "dsh-harness --> dsh-store",
            "dsh-harness --> dsh-tool",
            "dsh-lane --> dsh-json",
            "dsh-lifecycle --> dsh-json",
            "dsh-llm --> dsh-lifecycle",
            "dsh-store --> dsh-lane",
            "dsh-store --> dsh-llm",
            "dsh-tool --> dsh-lane",
            "dsh-tool --> dsh-llm",
        ]
    );
    assert!(!page.contains("testkit"), "{page}");
}

#[test]
fn each_fixture_set_tells_its_origin() {
    let planted = Planted::sound();
    planted.write("fixtures/vectors/a.json", "{}");
    planted.fails(&["gen"], "fixtures/README.md: cannot be written: fixtures/vectors/ORIGIN.md is missing");

    planted.write("fixtures/vectors/ORIGIN.md", "# Recorded cases\n\nMore.\n");
    planted.passes(&["gen"]);
    assert!(planted.read("fixtures/README.md").ends_with("| [`vectors`](vectors) | Recorded cases |\n"));
    planted.write("fixtures/vectors/ORIGIN.md", "# Other cases\n");
    planted.fails(&["gen", "--check"], "fixtures/README.md");
}
