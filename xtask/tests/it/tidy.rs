//! The rules of form, planted one by one.

use crate::planted::Planted;

const TASK: &[&str] = &["tidy"];
const LIB: &str = "crates/fs/tool/src/lib.rs";
const MANIFEST: &str = "crates/fs/tool/Cargo.toml";

/// Each row: a file, what it then says, and what tidy says about it.
#[track_caller]
fn check(rows: &[(&str, &str, &str)]) {
    for (path, text, expected) in rows {
        let planted = Planted::sound();
        planted.write(path, text);
        planted.fails(TASK, expected);
    }
}

#[test]
fn a_sound_workspace_passes() {
    Planted::sound().passes(TASK);
}

#[test]
fn files_are_small() {
    let long = format!("//! Long.\n{}", "fn f() {}\n".repeat(600));
    let lib = format!("//! Long.\n{}", "fn f() {}\n".repeat(80));
    let planted = Planted::sound();
    planted.write("crates/fs/tool/src/long.rs", &long).write(LIB, &lib);
    planted.fails(TASK, "crates/fs/tool/src/long.rs: has 601 lines, 600 at most");
    planted.fails(TASK, "crates/fs/tool/src/lib.rs: has 81 lines, 80 at most");
}

#[test]
fn modules_are_opened_named_and_declared() {
    check(&[
        (LIB, "fn f() {}\n", "lib.rs:1: does not open with `//!`"),
        ("crates/fs/tool/src/a/mod.rs", "//! A.\n", "is a mod.rs"),
        ("crates/fs/tool/src/utils.rs", "//! A.\n", "is called `utils`"),
        (LIB, "//! A.\nmod helpers {}\n", "lib.rs:2: has a module `helpers`"),
        (
            "crates/fs/tool/src/lost.rs",
            "//! A.\n",
            "lost.rs: is compiled by nobody: declare `mod lost;` in src/lib.rs",
        ),
        ("crates/fs/tool/src/lost/deep.rs", "//! A.\n", "declare `mod deep;` in src/lost.rs"),
        ("crates/fs/tool/tests/it/lost.rs", "//! A.\n", "declare `mod lost;` in tests/it/main.rs"),
        ("crates/fs/tool/tests/alone.rs", "//! A.\n", "is a test binary of its own (alone)"),
    ]);
}

#[test]
fn declared_modules_pass() {
    let planted = Planted::sound();
    planted.write(LIB, "//! A.\nmod a;\n#[cfg(test)]\nmod tests;\n");
    planted.write("crates/fs/tool/src/a.rs", "//! A.\npub(crate) mod b;\n");
    planted.write("crates/fs/tool/src/a/b.rs", "//! A.\n");
    planted.write("crates/fs/tool/src/tests.rs", "fn f() {}\n");
    planted.write("crates/fs/tool/tests/it/main.rs", "mod rows;\n");
    planted.write("crates/fs/tool/tests/it/rows.rs", "fn f() {}\n");
    planted.passes(TASK);
}

#[test]
fn some_words_are_not_used() {
    check(&[
        (LIB, "//! A.\n#[ignore]\nfn f() {}\n", "lib.rs:2: says `#[ignore`"),
        (LIB, "//! A.\n#[ignore = \"slow\"]\nfn f() {}\n", "says `#[ignore`"),
        (LIB, "//! A.\n#[should_panic]\nfn f() {}\n", "says `#[should_panic`"),
        (LIB, "//! A.\n#[allow(dead_code)]\nfn f() {}\n", "says `#[allow(`"),
        (LIB, "//! A.\n#![allow(dead_code)]\n", "says `#![allow(`"),
        (LIB, "//! A.\nfn f() { todo!() }\n", "says `todo!(`"),
        (LIB, "//! A.\nfn f() { unimplemented!() }\n", "says `unimplemented!(`"),
        (LIB, "//! A.\n// TODO: later\n", "lib.rs:2: a TODO has no owner"),
        (LIB, "//! A.\n// TODO(): later\n", "lib.rs:2: a TODO has no owner"),
    ]);
    let planted = Planted::sound();
    planted.write(LIB, "//! Never `todo!()`.\n// TODO(ann): later\nconst A: &str = \"todo!() TODO\";\nfn f() { my_todo!() }\n");
    planted.passes(TASK);
}

#[test]
fn unsafe_is_listed_and_justified() {
    check(&[
        (
            LIB,
            "//! A.\nfn f() { unsafe { g() } }\n",
            "lib.rs:2: `unsafe` in dsh-tool, which is not on the list",
        ),
        (LIB, "//! A.\nunsafe impl Send for A {}\n", "lib.rs:2: `unsafe` without a `SAFETY:` comment"),
        (LIB, "//! A.\n// SAFETY: g needs nothing.\nfn f() { unsafe { g() } }\n", "tidy: 1 finding "),
    ]);
}

#[test]
fn text_is_the_same_on_every_machine() {
    let home = concat!("/", "root", "/");
    let machine = format!("//! See {home}x.\n");
    check(&[
        (LIB, "//! A.", "the last line does not end"),
        (LIB, "//! A.\r\n", "lib.rs:1: a line ends in CR LF"),
        (LIB, &machine, "a path of one machine"),
        ("docs/a.md", &machine, "docs/a.md:1: names"),
    ]);
    let planted = Planted::sound();
    planted.write("fixtures/set/crlf.txt", "a\r\nb").write("fixtures/set/deep/x/y.md", "no end");
    planted.passes(TASK);
}

#[test]
fn manifests_inherit() {
    let plant = |from: &str, to: &str, expected: &str| {
        let planted = Planted::sound();
        planted.replace(MANIFEST, from, to);
        planted.fails(TASK, expected);
    };
    plant("description = \"What dsh-tool is\"\n", "", "has no description");
    plant("layer = \"consumer\"\n", "", "has no layer");
    plant("[lints]\nworkspace = true\n", "", "has no lints");
    plant("version.workspace = true", "version = \"0.2.0\"", "states its own version");
    plant("dsh-llm.workspace = true", "dsh-llm = { path = \"../x\" }", "states where `dsh-llm` comes from");
    plant(
        "[dependencies]",
        "[dev-dependencies]\nserde = \"1\"\n[dependencies]",
        "states where `serde` comes from",
    );
    plant(
        "[dependencies]",
        "[target.'cfg(unix)'.build-dependencies]\nlibc = { version = \"1\" }\n[dependencies]",
        "states where `libc` comes from",
    );
}

#[test]
fn a_crate_that_says_so_stays_small() {
    let planted = Planted::sound();
    planted.replace(MANIFEST, "layer = \"consumer\"\n", "layer = \"consumer\"\nmax-source-lines = 12\n");
    planted
        .write(LIB, "//! Small.\n\nmod more;\n")
        .write("crates/fs/tool/tests/it/main.rs", &"//\n".repeat(50));
    planted.write("crates/fs/tool/src/more.rs", &format!("//! More.\n{}", "fn f() {}\n".repeat(8)));
    planted.passes(TASK);
    planted.write("crates/fs/tool/src/more.rs", &format!("//! More.\n{}", "fn f() {}\n".repeat(9)));
    planted.fails(TASK, "tool/Cargo.toml: has 13 lines of source, 12 at most (`max-source-lines`)");
}

#[test]
fn the_map_names_what_exists_and_is_short() {
    let long = "word ".repeat(1_501) + "\n";
    check(&[
        ("ARCHITECTURE.md", "See `core/gone.rs`.\n", "ARCHITECTURE.md:1: names the path `core/gone.rs`"),
        ("ARCHITECTURE.md", "See `tool/src/gone.rs`.\n", "names the path `tool/src/gone.rs`"),
        ("ARCHITECTURE.md", "See `dsh-gone`.\n", "names the crate `dsh-gone`"),
        (
            "ARCHITECTURE.md",
            "| crate | what |\n|---|---|\n| `gone` | x |\n",
            "ARCHITECTURE.md:3: names the crate `gone`",
        ),
        ("ARCHITECTURE.md", &long, "has 1501 words, 1500 at most"),
        ("docs/a.md", "[b](b.md)\n", "docs/a.md:1: links to `b.md`"),
        ("docs/decisions/0001-a.md", &long, "has 1501 words, 300 at most"),
    ]);
    let planted = Planted::sound();
    planted.write(
        "ARCHITECTURE.md",
        "<!-- pipeline-picture -->\n```text\na → b `x/y`\n```\n`crates/fs/tool`, `tool/src/lib.rs`, `dsh-tool`, `a/*`, `step-limit`, \
         [lib](crates/fs/tool/src/lib.rs#top), [web](https://example.invalid/x)\n\n\
         | crate | what |\n|---|---|\n| `tool` | `x` |\n",
    );
    planted.passes(TASK);
}

#[test]
fn the_glossary_gives_names_that_exist() {
    let page =
        |name: &str| format!("| term | meaning | Rust |\n|---|---|---|\n| tool | `thing` | `{name}` |\n");
    for (name, found) in
        [("Tool::run", true), ("Tool", true), ("dsh-tool", true), ("Tool::gone", false), ("Gone", false)]
    {
        let planted = Planted::sound();
        planted.write(LIB, "//! A Gone thing.\npub trait Tool {\n    fn run();\n}\n");
        planted.write("docs/glossary.md", &page(name));
        if found {
            planted.passes(TASK);
        } else {
            planted.fails(TASK, &format!("docs/glossary.md:3: gives the Rust name `{name}`"));
        }
    }
}

#[test]
fn the_pipeline_is_drawn_the_same_everywhere() {
    let core = "crates/core/tools-core";
    let drawn =
        "//! The core.\n//!\n//! <!-- pipeline-picture -->\n//! ```text\n//! a → b\n//!   → c\n//! ```\n";
    let planted = Planted::sound();
    planted.crate_(core, "dsh-tools-core", "definition", &[]);
    planted.write(&format!("{core}/src/lib.rs"), drawn);
    planted.write("ARCHITECTURE.md", "<!-- pipeline-picture -->\n\n```text\na → b\n  → c\n```\n");
    planted.passes(TASK);

    planted.write(&format!("{core}/src/lib.rs"), &drawn.replace("→ c", "→ d"));
    planted.fails(TASK, "tools-core/src/lib.rs:5: draws the pipeline differently from ARCHITECTURE.md");
    planted.write(&format!("{core}/src/lib.rs"), "//! The core.\n");
    planted.fails(TASK, "tools-core/src/lib.rs: does not draw the pipeline");
}
