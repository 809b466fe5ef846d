//! What takes a process of its own: its memory, and limits and file systems that only it has.

use std::path::Path;
use std::process::Command;

use dsh_fs::{EditRequest, FileSystem, FsError, LineWindow};
use dsh_fs_local::{LocalFs, canonical_policy};
use dsh_lifecycle::Cancel;
use dsh_sandbox_policy::SandboxMode;

use crate::world::{World, request};

/// What the child does; unset in a normal run of the tests.
const ROLE: &str = "DSH_TEST_ROLE";
/// Its workspace.
const ROOT: &str = "DSH_TEST_ROOT";

/// The child's half of the tests below. It says each result on a line of its own.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the only way to tell a child of the test harness what it is")]
async fn child() {
    let (Ok(role), Ok(root)) = (std::env::var(ROLE), std::env::var(ROOT)) else { return };
    match role.as_str() {
        "read" => read(Path::new(&root)).await,
        "change" => change(Path::new(&root)).await,
        other => panic!("no such role: {other}"),
    }
}

#[expect(clippy::print_stdout, reason = "how a child of the test harness tells its parent")]
fn say(line: impl std::fmt::Display) {
    println!("\n> {line}");
}

/// The lines that a command said of the child's results.
fn said(command: &mut Command, role: &str, root: &Path) -> Vec<String> {
    command.args(["child::child", "--exact", "--nocapture", "--test-threads=1"]);
    let output = command.env(ROLE, role).env(ROOT, root).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect()
}

fn this_test() -> std::path::PathBuf {
    std::env::current_exe().unwrap()
}

/// Reads the five lines from line 100,001 on, of all files there are.
async fn read(root: &Path) {
    let (fs, cancel) = (LocalFs::default(), Cancel::new());
    let policy = canonical_policy(SandboxMode::ReadOnly, root, []);
    let mut names: Vec<_> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    for name in names {
        let target = fs.resolve(name.to_str().unwrap(), root, &policy, &cancel).await.unwrap();
        let window = LineWindow { first: 100_001, max_lines: 5, ..LineWindow::default() };
        let read = fs.read_lines(&target, window, &policy, &cancel).await.unwrap();
        let lines: Vec<_> = read.lines.iter().map(|line| line.text.as_str()).collect();
        say(format_args!("{} of {}: {}", name.display(), read.total_lines, lines.join(", ")));
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    say(most.trim().trim_end_matches(" kB"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_window_in_the_middle_of_a_huge_file_takes_little_memory() {
    use std::os::unix::fs::FileExt;
    let world = World::new();
    let lines = |numbers: std::ops::Range<u32>| {
        numbers.map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat()
    };
    let (head, middle) = (lines(1..100_000), lines(100_001..100_101));
    // Line 100,000 and the last one are holes: much to read, little to store.
    let put = |name: &str, size: u64, encode: fn(&str) -> Vec<u8>| {
        world.put(name, encode(&head));
        let file = std::fs::File::options().write(true).open(world.at("root").join(name)).unwrap();
        file.set_len(size).unwrap();
        file.write_all_at(&encode(&format!("\n{middle}"))[encode("").len()..], size / 2).unwrap();
    };
    put("narrow", 1 << 30, |text| text.as_bytes().to_vec());
    put("wide", 1 << 24, |text| {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    });
    let said = said(&mut Command::new(this_test()), "read", &world.at("root"));
    let expected = "of 100101: line 100001, line 100002, line 100003, line 100004, line 100005";
    assert_eq!(said[..2], [format!("narrow {expected}"), format!("wide {expected}")]);
    let most: u32 = said[2].parse().unwrap();
    assert!(most <= 16 * 1024, "{most} kB");
}

/// Writes much, edits, and reads. What is there before stays.
async fn change(root: &Path) {
    let (fs, cancel) = (LocalFs::default(), Cancel::new());
    let policy = canonical_policy(SandboxMode::WorkspaceWrite, root, []);
    let target = async |name: &str| fs.resolve(name, root, &policy, &cancel).await.unwrap();
    let big = "much ".repeat(100_000);
    let said = |error: FsError| say(format_args!("{} {error}", error.code()));
    for name in ["old", "new", "no/such/new"] {
        let written = fs.write_text(&target(name).await, request(&big, None), &policy, &cancel).await;
        said(written.unwrap_err());
    }
    let edit = EditRequest { old: "old".into(), new: big.as_str().into(), replace_all: false, intent: None };
    said(fs.edit_text(&target("old").await, edit, &policy, &cancel).await.unwrap_err());
    let text = fs.read_text(&target("old").await, 99, &policy, &cancel).await.unwrap().text;
    let names = std::fs::read_dir(root).unwrap().count();
    say(format_args!("{text} in {names} file"));
}

/// What the child says of changes that all fail with these words.
fn all_fail(root: &Path, words: &str) -> Vec<String> {
    let line = |action: &str, name: &str| {
        format!("FS_IO_ERROR cannot {action} {}: {words}", root.join(name).display())
    };
    let mut lines: Vec<_> = ["old", "new", "no/such/new"].map(|name| line("write", name)).into();
    lines.extend([line("edit", "old"), "old in 1 file".to_owned()]);
    lines
}

#[test]
fn a_file_that_may_not_grow_stays_as_it_was() {
    let world = World::new();
    world.put("old", "old");
    // The shell ignores the signal of the limit, and the child inherits that, as the program does: writes fail instead.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""]).arg(this_test());
    let root = world.at("root");
    assert_eq!(
        said(&mut command, "change", &root),
        all_fail(&root, "the file would be too large for the file system")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_and_a_read_only_file_system_keep_what_they_have() {
    let world = World::new();
    let root = world.at("root");
    let on = |then: &str| {
        let mut command = Command::new("unshare");
        let mount =
            format!("mount -t tmpfs -o size=64k none \"$0\" && printf old >\"$0/old\" && {then}exec \"$@\"");
        command.args(["-Urm", "sh", "-c", &mount]).arg(&root);
        command
    };
    // Not every machine lets its users have a file system of their own.
    if !on("").arg("true").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let full = said(on("").arg(this_test()), "change", &root);
    assert_eq!(full, all_fail(&root, "no space is left on the device"));
    let read_only = said(on("mount -o remount,bind,ro \"$0\" && ").arg(this_test()), "change", &root);
    assert_eq!(read_only, all_fail(&root, "the file system is read-only"));
}
