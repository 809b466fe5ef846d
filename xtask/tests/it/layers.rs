//! Who may use whom, planted rule by rule.

use crate::planted::Planted;

const TASK: &[&str] = &["layers"];

#[test]
fn a_sound_workspace_passes() {
    Planted::sound().passes(TASK);
}

#[test]
fn a_crate_states_a_known_layer() {
    let planted = Planted::sound();
    planted.replace("crates/fs/tool/Cargo.toml", "\"consumer\"", "\"customer\"");
    planted.fails(TASK, "crates/fs/tool/Cargo.toml: dsh-tool states no known layer");
}

#[test]
fn each_layer_uses_only_what_lies_below() {
    let rows = [
        ("crates/core/json", "dsh-lane", "the definition dsh-json uses the mechanism dsh-lane"),
        ("crates/core/lane", "dsh-store", "the mechanism dsh-lane uses the provider dsh-store"),
        ("crates/fs/tool", "dsh-store", "the consumer dsh-tool uses the provider dsh-store"),
        ("crates/fs/store", "dsh-tool", "the provider dsh-store uses the consumer dsh-tool"),
        ("crates/fs/tool", "dsh-testkit", "the consumer dsh-tool uses the development dsh-testkit"),
        ("crates/host/harness", "dsh", "the composition dsh-harness uses the composition dsh"),
        ("crates/host/dsh", "dsh-testkit", "the composition dsh uses the development dsh-testkit"),
    ];
    for (folder, used, expected) in rows {
        let planted = Planted::sound();
        break_cycles(&planted, used);
        let manifest = format!("{folder}/Cargo.toml");
        planted.append(&manifest, &format!("{used}.workspace = true\n"));
        let line = planted.read(&manifest).lines().count();
        planted.fails(TASK, &format!("{manifest}:{line}: {expected}"));
    }
}

/// Cargo refuses a cycle itself: what is used anew uses nothing any more.
fn break_cycles(planted: &Planted, used: &str) {
    for (folder, layer) in [
        ("crates/core/lane", "mechanism"),
        ("crates/fs/store", "provider"),
        ("crates/fs/tool", "consumer"),
        ("crates/host/dsh", "composition"),
        ("crates/test-support/testkit", "development"),
    ] {
        let name = planted.read(&format!("{folder}/Cargo.toml"));
        if name.contains(&format!("name = \"{used}\"")) {
            planted.crate_(folder, used, layer, &[]);
        }
    }
}

#[test]
fn tests_may_use_anything() {
    let planted = Planted::sound();
    planted.append("crates/fs/tool/Cargo.toml", "[dev-dependencies]\ndsh-store.workspace = true\n");
    planted.passes(TASK);
}

#[test]
fn build_dependencies_are_bound_too() {
    let planted = Planted::sound();
    planted.append("crates/fs/tool/Cargo.toml", "[build-dependencies]\ndsh-store.workspace = true\n");
    planted.fails(TASK, "the consumer dsh-tool uses the provider dsh-store");
}

#[test]
fn definitions_have_one_order() {
    let planted = Planted::sound();
    planted.crate_("crates/core/json", "dsh-json", "definition", &["dsh-lifecycle"]);
    planted.crate_("crates/core/lifecycle", "dsh-lifecycle", "definition", &[]);
    planted.fails(TASK, "dsh-json uses dsh-lifecycle, which comes after it");

    let planted = Planted::sound();
    planted.append("Cargo.toml", "dsh-extra = { path = \"crates/fs/extra\" }\n");
    planted.crate_("crates/fs/extra", "dsh-extra", "definition", &[]);
    planted.append("crates/llm/llm/Cargo.toml", "dsh-extra.workspace = true\n");
    planted.fails(TASK, "dsh-llm uses dsh-extra, which comes after it");
}

#[test]
fn a_pure_crate_is_linked_with_no_runtime() {
    let planted = Planted::sound();
    planted.append("crates/core/json/Cargo.toml", "quiet.workspace = true\n");
    planted.fails(
        TASK,
        "Cargo.toml:14: the pure crate dsh-json is linked with tokio (dsh-json → quiet → tokio)",
    );
}

#[test]
fn a_definition_asks_tokio_for_no_io() {
    let planted = Planted::sound();
    planted
        .append("crates/llm/llm/Cargo.toml", "tokio = { workspace = true, features = [\"sync\", \"fs\"] }\n");
    planted.fails(TASK, "the definition dsh-llm asks for tokio's fs");
}

#[test]
fn definitions_and_consumers_name_no_io_clock_or_environment() {
    let rows = [
        ("fn f() { std::fs::read(p); }", "std::fs"),
        ("use std::{io, fs};", "std::fs"),
        ("use std::fs::File as F;", "std::fs"),
        ("use tokio::fs::read;", "tokio::fs"),
        ("use std::*;", "std::fs"),
        ("fn f() { std::process::abort() }", "std::process"),
        ("use tokio::net::TcpStream;", "tokio::net"),
        ("use std::net::TcpStream;", "std::net"),
        ("use std::env;\nfn f() { env::var(n); }", "std::env"),
        (
            "use std::time::{Duration, SystemTime};\nfn f() { SystemTime::now(); }",
            "std::time::SystemTime::now",
        ),
        ("use std::time as t;\nfn f() { t::Instant::now(); }", "std::time::Instant::now"),
        ("use super::*;\nfn f() { Instant::now(); }", "Instant::now"),
    ];
    for (code, ban) in rows {
        for (folder, whose) in
            [("crates/llm/llm", "definition dsh-llm"), ("crates/fs/tool", "consumer dsh-tool")]
        {
            let planted = Planted::sound();
            planted.append(&format!("{folder}/src/lib.rs"), code);
            let line = 1 + code.lines().count();
            let expected = format!("the {whose} names `{ban}`");
            planted.fails(TASK, &expected);
            if !code.starts_with("use std::env") {
                planted.fails(TASK, &format!("{folder}/src/lib.rs:{line}: {expected}"));
            }
        }
    }
}

#[test]
fn what_only_looks_like_io_is_no_violation() {
    let planted = Planted::sound();
    planted.append(
        "crates/fs/tool/src/lib.rs",
        "// std::fs::read\nconst A: &str = \"std::fs\";\nuse tokio::time::Instant;\nfn f() { Instant::now(); }\n\
         const OS: &str = std::env::consts::OS;\nconst V: &str = std::env!(\"CARGO_PKG_VERSION\");\nuse dsh_fs::fs;\n\
         #[cfg(test)]\nmod tests;\nmod part;\n#[cfg(test)]\nmod inline {\n    use std::fs;\n}\n",
    );
    planted.write("crates/fs/tool/src/tests.rs", "use std::fs;\n");
    planted.write("crates/fs/tool/src/part.rs", "//! A part.\n#[cfg(test)]\nmod rows;\n");
    planted.write("crates/fs/tool/src/part/rows.rs", "use std::fs;\n");
    planted.passes(TASK);
}

#[test]
fn providers_and_mechanisms_do_io() {
    let planted = Planted::sound();
    planted.append("crates/fs/store/src/lib.rs", "use std::fs;\n");
    planted.append("crates/core/lane/src/lib.rs", "use std::fs;\n");
    planted.passes(TASK);
}

#[test]
fn a_pure_mechanism_does_no_io() {
    let planted = Planted::sound();
    planted.crate_("crates/core/tool-sdk", "dsh-tool-sdk", "mechanism", &["dsh-json"]);
    planted.append("crates/core/tool-sdk/src/lib.rs", "use std::fs;\n");
    planted.fails(TASK, "the mechanism dsh-tool-sdk names `std::fs`");
}
