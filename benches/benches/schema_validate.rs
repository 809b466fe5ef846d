//! What does it cost to know that a value fits?
//!
//! Each row has the `jsonschema` crate beside it, over the same schema and the same value.
//!
//! Goals: 100 ns for the arguments of an ordinary call, 60 µs for 2,000 lines that were read, 1 ms for ten thousand
//! records; never more than the other crate takes.

use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::num::NonZeroU64;
use std::sync::Arc;

use dsh_benches::{criterion, one_thread, record_schema, records};
use dsh_fs::FileSystem;
use dsh_fs_local::{LocalFs, canonical_policy};
use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::Slot;
use dsh_sandbox_policy::SandboxMode;
use dsh_system_prompt::SystemPrompt;
use dsh_tool_fs::{FsTools, FsToolsConfig};
use dsh_tools_core::{CallInput, Outcome, Tools};

/// A question: its name, the schema and a value that fits.
type Row = (&'static str, Schema, Json);

fn main() -> Result<(), Box<dyn Error>> {
    let [arguments, output] = read()?;
    let many = ("10000 records", Schema::array(record_schema()).build()?, records(10_000)?);
    let mut criterion = criterion().configure_from_args();
    for (name, schema, value) in &[arguments, output, many] {
        assert!(schema.is_valid(value), "{}", schema.violations(value, "$"));
        let theirs = jsonschema::validator_for(&serde_json::to_value(schema.json())?)?;
        let converted = serde_json::to_value(value)?;
        assert!(theirs.is_valid(&converted));
        let mut group = criterion.benchmark_group(format!("schema_validate/{name}"));
        group.bench_function("ours", |bencher| bencher.iter(|| schema.is_valid(black_box(value))));
        group.bench_function("jsonschema is_valid", |bencher| {
            bencher.iter(|| theirs.is_valid(black_box(&converted)));
        });
        group.bench_function("jsonschema validate", |bencher| {
            bencher.iter(|| theirs.validate(black_box(&converted)).is_ok());
        });
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}

/// The tool `read` as it is registered: three arguments, and what it gives for 2,000 lines.
fn read() -> Result<[Row; 2], Box<dyn Error>> {
    const LINES: u32 = 2_000;
    let dir = tempfile::tempdir()?;
    let mut text = String::new();
    for number in 1..=LINES + 1 {
        writeln!(text, "line {number:06} of a file that is looked at in an editor")?;
    }
    std::fs::write(dir.path().join("long.txt"), text)?;
    let fs: Arc<dyn FileSystem> = Arc::new(LocalFs::default());
    let policy = canonical_policy(SandboxMode::WorkspaceWrite, dir.path(), []);
    let (tools, prompt) = (Tools::new(), SystemPrompt::default());
    let config = FsToolsConfig { read_max_bytes: NonZeroU64::MAX, ..FsToolsConfig::default() };
    let _mounted = FsTools::new(Slot::filled(fs), Arc::new(policy), config).register(&tools, &prompt)?;
    let tool = tools.view(None).get("read").cloned().ok_or("`read` is registered")?;
    let arguments = object! { "file_path": "long.txt", "offset": 1, "limit": LINES };
    let result = one_thread()?.block_on(tools.execute(CallInput::new("c1", "read", arguments.clone())));
    let Outcome::Succeeded { value, .. } = &result.outcome else { return Err("a file can be read".into()) };
    let lines = value.get("lines").and_then(Json::as_array).unwrap_or_default();
    assert_eq!(lines.len(), 2_000);
    Ok([
        ("three arguments", tool.parameters().clone(), arguments),
        ("2000 lines that were read", tool.output().clone(), value.clone()),
    ])
}
