//! A process that is killed amid its writes.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use dsh_fs::{FileSystem as _, WriteIntent};
use dsh_fs_local::{LocalFs, LocalFsConfig, canonical_policy};
use dsh_lifecycle::Cancel;
use dsh_sandbox_policy::SandboxMode;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::world::{World, code, request};

/// Where the child writes, and in which round; unset in a normal run of the tests.
const ROOT: &str = "DSH_TEST_ROOT";
const ROUND: &str = "DSH_TEST_ROUND";

const FILES: usize = 500;
const ROUNDS: usize = 25;
/// How many writes the child has under way.
const LANES: usize = 4;

/// The file's path, in one of some directories.
fn path(file: usize) -> String {
    format!("a{}/b{}/f{file}", file % 5, file % 3)
}

/// What a round writes into a file: at most a mebibyte, all of it telling file and round.
fn content(file: usize, round: usize) -> String {
    let size = match file % 50 {
        7 => 1 << 20,
        rest => 10 << (rest % 12),
    };
    let line = format!("{file:03} {round:02}\n");
    line.repeat(size / line.len() + 1)
}

/// The child's half of the tests below: writes all files, each guarded by what it found, and tells of each.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the only way to tell a child of the test harness what it is")]
async fn child() {
    let Some(root) = std::env::var_os(ROOT).map(PathBuf::from) else { return };
    let round = std::env::var(ROUND).unwrap().parse().unwrap();
    let policy = canonical_policy(SandboxMode::WorkspaceWrite, &root, []);
    let (fs, cancel) = (LocalFs::default(), Cancel::new());
    let tell = |line: &str| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "\n{line}").unwrap();
        out.flush().unwrap();
    };
    let lane = async |first| {
        for file in (first..FILES).step_by(LANES) {
            let target = fs.resolve(&path(file), &policy.workspace_root, &policy, &cancel).await.unwrap();
            let found = fs.stat(&target, &policy, &cancel).await.unwrap();
            let intent =
                found.map_or(WriteIntent::CreateIfAbsent, |info| WriteIntent::ReplaceIfVersion(info.version));
            let request = request(&content(file, round), Some(intent));
            fs.write_text(&target, request, &policy, &cancel).await.unwrap();
            tell(&format!("told {file}"));
        }
    };
    tell("told begin");
    tokio::join!(lane(0), lane(1), lane(2), lane(3));
}

/// A child that writes, and what it has told.
struct Writer {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    told: Vec<usize>,
}

impl Writer {
    fn start(root: &Path, round: usize) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["killed::child", "--exact", "--nocapture", "--test-threads=1"])
            .env(ROOT, root)
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut writer = Self { process, lines, told: Vec::new() };
        assert_eq!(writer.next().as_deref(), Some("begin"));
        writer
    }

    fn next(&mut self) -> Option<String> {
        let told = self.lines.find_map(|line| line.unwrap().strip_prefix("told ").map(str::to_owned))?;
        self.told.extend(told.parse::<usize>());
        Some(told)
    }

    /// Stops it within a write, and returns what it has staged.
    fn pause_in_a_write(&mut self, root: &Path) -> Vec<(PathBuf, u64)> {
        let id = Pid::from_child(&self.process);
        loop {
            self.next().unwrap();
            kill_process(id, Signal::STOP).unwrap();
            assert!(waitpid(Some(id), WaitOptions::UNTRACED).unwrap().unwrap().1.stopped());
            let held = staged(root);
            // An empty one may not be locked yet: then it is nobody's loss, and the writer begins another.
            if !held.is_empty() && held.iter().all(|(_, size)| *size > 0) {
                return held;
            }
            self.go_on();
        }
    }

    fn go_on(&self) {
        kill_process(Pid::from_child(&self.process), Signal::CONT).unwrap();
    }

    /// Ends it, and takes in what it had told before.
    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        while self.next().is_some() {}
    }
}

/// The staged files below a directory, with their sizes.
fn staged(root: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else if entry.file_name().to_str().unwrap().starts_with(".dsh-") {
                // It may get its name, or lose it, in this moment.
                found.extend(entry.metadata().map(|metadata| (entry.path(), metadata.len())));
            }
        }
    }
    found.sort();
    found
}

/// The round whose content the file has, all of it; `None` for no file.
fn round_of(root: &Path, file: usize) -> Option<usize> {
    let text = std::fs::read_to_string(root.join(path(file))).ok()?;
    let round = text.get(4..6).and_then(|round| round.parse().ok());
    assert!(round.is_some_and(|round| content(file, round) == text), "{file} is torn");
    round
}

#[tokio::test]
async fn a_process_killed_amid_500_writes_leaves_whole_files_and_no_staged_ones() {
    let world = World::new();
    let root = world.at("root");
    let mut before = [None; FILES];
    let mut left = 0;
    for round in 1..=ROUNDS {
        for file in (round % 10..FILES).step_by(10) {
            // One in ten is created, the others are replaced.
            let _ = std::fs::remove_file(root.join(path(file)));
            before[file] = None;
        }
        let mut writer = Writer::start(&root, round);
        for _ in 0..FILES * (round - 1).pow(3) / ROUNDS.pow(3) {
            writer.next().unwrap();
        }
        if round % 2 == 0 {
            // Not only when a write was told, but surely within one.
            writer.pause_in_a_write(&root);
        }
        writer.kill();

        for (file, before) in before.iter_mut().enumerate() {
            let now = round_of(&root, file);
            let is_told = writer.told.contains(&file);
            assert!(now == Some(round) || now == *before && !is_told, "{file}: {before:?} became {now:?}");
            *before = now;
        }
        let staged_before = staged(&root).len();
        assert_eq!(LocalFs::default().sweep(&world.policy, &world.cancel).await.unwrap(), staged_before);
        assert_eq!(staged(&root), []);
        left += staged_before;
    }
    assert!(left >= ROUNDS / 2, "killed within a write at least every other time: {left}");
}

#[tokio::test]
async fn what_another_living_process_has_staged_is_not_swept() {
    let world = World::new();
    let root = world.at("root");
    let mut writer = Writer::start(&root, 1);
    let held = writer.pause_in_a_write(&root);
    let dead = held[0].0.with_file_name(".dsh-1-1.tmp");
    std::fs::write(&dead, "").unwrap();
    assert_eq!(world.fs.sweep(&world.policy, &world.cancel).await.unwrap(), 1);
    assert_eq!(staged(&root), held);
    writer.go_on();
    while writer.next().is_some() {}
    assert!(writer.process.wait().unwrap().success());
    assert!((0..FILES).all(|file| round_of(&root, file) == Some(1)));
    assert_eq!(staged(&root), []);
}

#[tokio::test]
async fn the_first_change_in_a_directory_sweeps_it() {
    let world = World::new();
    for path in ["w/.dsh-1-1.tmp", "e/.dsh-1-1.tmp", "other/.dsh-1-1.tmp", "w/a", "e/a"] {
        world.put(path, "x");
    }
    world.write("w/a", "y").await.unwrap();
    let target = world.target("e/a").await.unwrap();
    let edit = dsh_fs::EditRequest { old: "x".into(), new: "y".into(), replace_all: false, intent: None };
    world.fs.edit_text(&target, edit, &world.policy, &world.cancel).await.unwrap();
    let left: Vec<_> = staged(&world.at("root")).into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, [world.at("root/other/.dsh-1-1.tmp")]);
}

#[tokio::test]
async fn a_sweep_is_bounded_stops_when_cancelled_and_changes_nothing_where_nothing_may_be_written() {
    let world = World::with(LocalFs::new(LocalFsConfig {
        sweep_max_entries: std::num::NonZeroU64::MIN,
        ..LocalFsConfig::default()
    }));
    for number in 0..3 {
        world.put(&format!(".dsh-1-{number}.tmp"), "");
    }
    let read_only = world.policy.with_mode(SandboxMode::ReadOnly);
    assert_eq!(world.fs.sweep(&read_only, &world.cancel).await.unwrap(), 0);
    assert_eq!(world.fs.sweep(&world.policy, &world.cancel).await.unwrap(), 1);
    let cancel = world.cancel.child();
    cancel.cancel(dsh_lifecycle::Cause::User);
    assert_eq!(code(world.fs.sweep(&world.policy, &cancel).await), "FS_ABORTED");
    assert_eq!(staged(&world.at("root")).len(), 2);
    let everywhere = world.policy.with_mode(SandboxMode::DangerFullAccess);
    assert_eq!(world.fs.sweep(&everywhere, &world.cancel).await.unwrap(), 1);
}
