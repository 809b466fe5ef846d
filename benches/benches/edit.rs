//! What does a file tool cost, from its call to its result, beside the disk?
//!
//! The files lie where flushing costs nothing, in memory if the system has such a directory.
//!
//! Goals: 4 ms to edit one place in 1 MB; 50 ms to overwrite 4,000 lines that all differ, with their difference; 2 ms to
//! read the first lines of 2 MB; 0.5 s to read a window in the middle of 1 GB, which is looked at as a whole.

use std::error::Error;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use criterion::Criterion;
use dsh_benches::{criterion, one_thread};
use dsh_fs::FileSystem;
use dsh_fs_local::{LocalFs, canonical_policy};
use dsh_json::Json;
use dsh_lifecycle::Slot;
use dsh_sandbox_policy::SandboxMode;
use dsh_system_prompt::SystemPrompt;
use dsh_tool_fs::{FsTools, FsToolsConfig};
use dsh_tools_core::{CallInput, Tools, object};

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = criterion().configure_from_args();
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    let fs: Arc<dyn FileSystem> = Arc::new(LocalFs::default());
    let policy = canonical_policy(SandboxMode::WorkspaceWrite, dir.path(), []);
    let (tools, prompt) = (Tools::new(), SystemPrompt::default());
    let files = FsTools::new(Slot::filled(fs), Arc::new(policy), FsToolsConfig::default());
    let _mounted = files.register(&tools, &prompt)?;

    std::fs::write(dir.path().join("one.txt"), text(1..20_001, ""))?;
    let place = |to: &str| format!("line 010000 {to}abcdef");
    let edit = |from: &str, to: &str| {
        let (old, new) = (place(from), place(to));
        ("edit", object! { "file_path": "one.txt", "old_string": old, "new_string": new })
    };
    row(&mut criterion, "one place in 1 MB", &tools, &[edit("", "X"), edit("X", "")])?;

    std::fs::write(dir.path().join("many.txt"), text(1..4_001, ""))?;
    let write = |text: String| ("write", object! { "file_path": "many.txt", "content": text });
    let both = [write(text(1..4_001, "#")), write(text(1..4_001, ""))];
    row(&mut criterion, "overwrite 4,000 lines that differ", &tools, &both)?;
    let mixed = |mark: &str| {
        let odd = |number| text(number..number + 1, if number % 2 == 0 { mark } else { "" });
        write((1..8_001).map(odd).collect())
    };
    row(&mut criterion, "overwrite every other of 8,000 lines", &tools, &[mixed("#"), mixed("+")])?;

    std::fs::write(dir.path().join("long.txt"), text(1..40_001, ""))?;
    row(
        &mut criterion,
        "read the first lines of 2 MB",
        &tools,
        &[("read", object! { "file_path": "long.txt" })],
    )?;

    // Lines, a hole, lines, and a hole.
    let huge = dir.path().join("huge.txt");
    std::fs::write(&huge, text(1..20_001, ""))?;
    let mut file = std::fs::File::options().write(true).open(&huge)?;
    file.set_len(1 << 30)?;
    file.seek(SeekFrom::Start(1 << 29))?;
    file.write_all(format!("\n{}", text(20_002..40_001, "")).as_bytes())?;
    row(
        &mut criterion,
        "read a window in the middle of 1 GB",
        &tools,
        &[("read", object! { "file_path": "huge.txt", "offset": 30_000, "limit": 100 })],
    )?;
    criterion.final_summary();
    Ok(())
}

/// Lines of 51 characters: 20,000 of them are 1,040,000 bytes.
fn text(numbers: std::ops::Range<u32>, mark: &str) -> String {
    let rest = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP";
    let line = |number| {
        let mut line = format!("{mark}line {number:06} {rest}");
        line.truncate(51);
        line.push('\n');
        line
    };
    numbers.map(line).collect()
}

/// Makes the calls in turn.
fn row(
    criterion: &mut Criterion,
    name: &str,
    tools: &Tools,
    calls: &[(&str, Json)],
) -> Result<(), Box<dyn Error>> {
    let runtime = one_thread()?;
    let mut turn = 0;
    criterion.bench_function(&format!("edit/{name}"), |bencher| {
        bencher.iter(|| {
            let Some((tool, arguments)) = calls.get(turn % calls.len()) else { return };
            turn += 1;
            let result = runtime.block_on(tools.execute(CallInput::new("c1", *tool, arguments.clone())));
            assert!(!result.is_error(), "{result:?}");
        });
    });
    Ok(())
}
