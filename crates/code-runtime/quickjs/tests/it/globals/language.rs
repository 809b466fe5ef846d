//! What `docs/code-mode-language.md` says: each row of its tables that has a program is run.

use dsh_code_runtime::{FailureKind, Limits};

use super::super::kit::run;

const PAGE: &str = include_str!("../../../../../../docs/code-mode-language.md");

/// A row: what it says, a program, and what that gives.
struct Row<'a> {
    says: &'a str,
    program: String,
    gives: &'a str,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    PAGE.lines().filter_map(|line| {
        let inside = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let (says, rest) = inside.split_once(" | `")?;
        let (program, gives) = rest.rsplit_once("` | ")?;
        // A table's cell can't hold this sign by itself.
        Some(Row { says, program: program.replace("\\|", "|"), gives: gives.trim_matches('`') })
    })
}

#[tokio::test]
async fn the_page_is_true() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for Row { says, program, gives } in rows() {
        let statements = program.ends_with([';', '}']);
        let text = if statements { program.clone() } else { format!("return ({program});") };
        let got = match run(&text).await.result {
            Ok(value) => value.map_or_else(|| "nothing".to_owned(), |value| value.to_string()),
            Err(failure) if failure.kind == FailureKind::Syntax => "refused".to_owned(),
            Err(failure) if failure.kind == FailureKind::Exception => {
                format!("throws {}", failure.message.split(':').next().unwrap_or_default())
            }
            Err(failure) => failure.kind.to_string(),
        };
        if got != gives {
            wrong.push(format!("{says}: `{program}` gives {got}, the page says {gives}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 80, "{count} rows are left");
}

#[test]
fn the_page_names_the_engine_that_is_built_in() {
    let lock = include_str!("../../../../../../Cargo.lock");
    let version =
        lock.split("name = \"rquickjs\"\nversion = \"").nth(1).and_then(|rest| rest.split('"').next());
    let version = version.expect("the lock file has rquickjs");
    assert!(
        PAGE.contains(&format!("`rquickjs` {version}")),
        "the engine is that of rquickjs {version} now: look what has changed in it"
    );
}

#[test]
fn the_page_has_the_limits_that_hold() {
    let limits = Limits::default();
    for (name, value) in [
        ("maxWallMs", limits.max_wall.as_millis().to_string()),
        ("maxComputeMs", limits.max_compute.as_millis().to_string()),
        ("maxMemoryBytes", limits.max_memory_bytes.to_string()),
        ("maxOutputBytes", limits.max_output_bytes.to_string()),
        ("maxSubCalls", limits.max_sub_calls.to_string()),
        ("maxInFlightBytes", limits.max_in_flight_bytes.to_string()),
    ] {
        assert!(PAGE.contains(&format!("| `{name}` | {value} |")), "{name} is {value}");
    }
}
