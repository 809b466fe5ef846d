//! Names that come to stand for something else while calls run.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dsh_harness::SessionChoice;
use dsh_tools_core::ToolResult;

use super::attempts::EVERY;
use super::ground::{Caller, Ground, Outside};

/// How many calls are made, and in turns of how many.
pub(crate) const ROUNDS: usize = 10_000;
const TURN: usize = 250;

#[tokio::test]
async fn no_swap_of_names_leads_a_call_outside() {
    let ground = Ground::new(Outside::Files);
    for name in ["dir/inside.txt", "file.txt", "real/inside.txt"] {
        ground.put(name, "a line\n");
    }
    ground.link("via", "real");
    let out_of_reach = ground.out_of_reach();
    let swapper = Swapper::start(&ground);
    // Each change would otherwise have to follow a read that met the same file.
    let harness = ground.harness("observation-policy.enabled = false");
    let caller = Caller::new(harness, &SessionChoice::Memory);
    let mut tally = Tally::default();
    for turn in (0..ROUNDS).map(round).collect::<Vec<_>>().chunks(TURN) {
        let results = caller.call(turn.to_vec()).await;
        for ((tool, _), result) in turn.iter().zip(&results) {
            assert!(!ground.betrayed_by(&format!("{result:?}")), "{result:?}");
            tally.count(tool, result);
        }
    }
    let swaps = swapper.stop();
    assert_eq!(ground.out_of_reach(), out_of_reach);
    assert!(!ground.betrayed_by(&caller.log()));
    let left = ground.tree().into_keys().find(|path| path.to_string_lossy().contains("/.dsh-"));
    assert_eq!(left, None, "a staged file was left behind");
    // The race was one: swaps came in between, and won some and lost some.
    assert_eq!(tally.rounds(), ROUNDS);
    assert!(swaps > ROUNDS, "{swaps} swaps");
    for tool in EVERY {
        assert!(tally.of(tool, "done") > 0, "{tally:?}");
    }
    for tool in ["read", "write", "edit"] {
        assert!(tally.of(tool, "FS_SANDBOX_DENIED") > 0, "{tally:?}");
    }
}

/// One call: the tools, and for each of them the names, in turn.
fn round(number: usize) -> (&'static str, String) {
    let (tool, turn) = (number % 5, number / 5);
    let (dir, name) = match turn % 3 {
        0 => ("dir", "dir/inside.txt"),
        1 => ("via", "via/inside.txt"),
        _ => (".", "file.txt"),
    };
    let search = match turn / 3 % 3 {
        0 => String::new(),
        1 => format!(r#", "path": "{dir}""#),
        _ if tool == 3 => r#", "path": ".""#.to_owned(),
        _ => r#", "include": "*.txt""#.to_owned(),
    };
    match tool {
        0 => ("read", format!(r#"{{"file_path": "{name}"}}"#)),
        1 if turn.is_multiple_of(2) => {
            ("write", format!(r#"{{"file_path": "{name}", "content": "a line\n"}}"#))
        }
        1 => ("write", format!(r#"{{"file_path": "{dir}/made{}/a.txt", "content": ""}}"#, turn % 7)),
        2 => ("edit", format!(r#"{{"file_path": "{name}", "old_string": "line", "new_string": "word"}}"#)),
        3 => ("glob", format!(r#"{{"pattern": "**/*.txt"{search}}}"#)),
        _ => ("grep", format!(r#"{{"pattern": "line|word"{search}}}"#)),
    }
}

/// Swaps as fast as it can, until it is stopped.
struct Swapper {
    over: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<usize>,
}

impl Swapper {
    fn start(ground: &Ground) -> Self {
        let [root, outside, aside, kept] = ["root", "outside", "aside", "kept"].map(|name| ground.path(name));
        fs::write(&kept, "a line\n").unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let over = Arc::clone(&over);
            move || {
                let made = aside.with_extension("made");
                let mut swaps = 0;
                while !over.load(Ordering::Relaxed) {
                    swap_directory(&root.join("dir"), &aside, &outside);
                    if swaps % 2 == 0 {
                        swap(&root.join("via"), &made, || symlink(&outside, &made));
                        swap(&root.join("file.txt"), &made, || symlink(outside.join("inside.txt"), &made));
                    } else {
                        swap(&root.join("via"), &made, || symlink("real", &made));
                        swap(&root.join("file.txt"), &made, || fs::hard_link(&kept, &made));
                    }
                    swaps += 1;
                    std::thread::yield_now();
                }
                swaps
            }
        });
        Self { over, thread }
    }

    fn stop(self) -> usize {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// A directory becomes a link that leads out, or the other way round. In between nothing stands there; whoever makes a
/// directory of that name then is let.
fn swap_directory(name: &Path, aside: &Path, outside: &Path) {
    if name.is_symlink() {
        fs::remove_file(name).unwrap();
        let _ = fs::rename(aside, name);
    } else {
        let _ = fs::remove_dir_all(aside);
        let _ = fs::rename(name, aside);
        let _ = symlink(outside, name);
    }
}

/// A name comes to stand for what is made, at once.
fn swap(name: &Path, made: &Path, make: impl Fn() -> io::Result<()>) {
    make().unwrap();
    fs::rename(made, name).unwrap();
}

/// How many calls of each tool ended how.
#[derive(Debug, Default)]
struct Tally(BTreeMap<(&'static str, String), usize>);

impl Tally {
    fn count(&mut self, tool: &'static str, result: &ToolResult) {
        let code = result.error().map(|error| error.info.as_ref().map_or("refused", |info| &*info.code));
        *self.0.entry((tool, code.unwrap_or("done").to_owned())).or_default() += 1;
    }

    fn of(&self, tool: &'static str, end: &str) -> usize {
        self.0.get(&(tool, end.to_owned())).copied().unwrap_or_default()
    }

    fn rounds(&self) -> usize {
        self.0.values().sum()
    }
}
