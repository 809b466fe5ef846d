//! The ground of one attempt: a workspace, a directory that may be read besides, and what is out of reach.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::os::fd::IntoRawFd as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use dsh_harness::{Agent, CallTurn, Environment, Harness, Providers, RequestedCall, SessionChoice};
use dsh_lifecycle::{Cancel, SeededIds, SteppingClock};
use dsh_tools_core::{Execution, Observer, ToolResult};
use parking_lot::Mutex;
use tempfile::TempDir;

use crate::world::config as config_text;

/// What lies out of reach, beside the workspace.
const OUT_OF_REACH: [&str; 4] = ["outside", "rootling", "home", "shared"];

pub(crate) struct Ground {
    dir: TempDir,
    secret: String,
}

/// What stands at a name: kind and permissions, inode, links, time of the last change, and the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    mode: u32,
    inode: u64,
    pub(crate) links: u64,
    modified: (i64, i64),
    content: Vec<u8>,
}

pub(crate) type Tree = BTreeMap<PathBuf, Entry>;

/// What lies out of reach. What a model reads must not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    Nothing,
    Files,
    /// The same names, and other lines in the files.
    OtherFiles,
}

impl Ground {
    pub(crate) fn new(outside: Outside) -> Self {
        let ground = Self { dir: folder(), secret: format!("{:016x}", RandomState::new().hash_one(0)) };
        for place in OUT_OF_REACH {
            fs::create_dir(ground.path(place)).unwrap();
        }
        match outside {
            Outside::Nothing => {}
            Outside::Files => ground.fill("", "repo"),
            Outside::OtherFiles => ground.fill("inside.txt\n", "rules"),
        }
        ground.write("shared/notes.txt", "a line, for all to read\n");
        for name in ["inside.txt", "sub/inside.txt"] {
            ground.put(name, "a line\n");
        }
        ground.put("dsh.toml", "# a line\n");
        ground
    }

    /// Fills the places out of reach with files. `more` would leave out files of the workspace, as a rule of a search;
    /// `named` is what the files that name a repository name.
    fn fill(&self, more: &str, named: &str) {
        let lines = format!("a line, secret {}\n{more}", self.secret);
        for place in ["outside", "outside/dir", "outside/sub", "rootling", "home"] {
            for name in ["secret", "inside", &self.secret] {
                self.write(&format!("{place}/{name}.txt"), &lines);
            }
        }
        for name in ["repo", "rules"] {
            self.write(&format!("outside/{name}/info/exclude"), &lines);
        }
        self.write("outside/repo/commondir", &format!("../{named}\n"));
        self.write("outside/pointer", &self.with_places(&format!("gitdir: ROOT/{named}\n")));
    }

    /// A harness over the workspace, with this configuration besides the directory that may be read.
    pub(crate) fn harness(&self, config: &str) -> Harness {
        let environment = Environment {
            root: self.path("root"),
            home: Some(self.path("home")),
            state: None,
            clock: Arc::new(SteppingClock::starting_at(0)),
            ids: Arc::new(SeededIds::new(7)),
            providers: Providers::none(),
            measures: false,
        };
        let config =
            config_text(&self.path("root/dsh.toml"), &format!("readRoots = ['../shared']\n{config}"));
        Harness::builder(environment).config(config).build().unwrap()
    }

    /// A place on the ground.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// The text with the places that it names in capitals.
    pub(crate) fn with_places(&self, text: &str) -> String {
        [("ROOT", "root"), ("OUTSIDE", "outside"), ("SHARED", "shared"), ("BESIDE", "rootling")]
            .iter()
            .fold(text.to_owned(), |text, (name, place)| {
                text.replace(name, self.path(place).to_str().unwrap())
            })
    }

    /// The text without what is different on each ground.
    pub(crate) fn without_places(&self, text: &str) -> String {
        text.replace(self.path("").to_str().unwrap().trim_end_matches('/'), "$DIR")
    }

    /// Makes a link in the workspace. `to` may name places.
    pub(crate) fn link(&self, name: &str, to: &str) {
        self.link_path(Path::new(name), Path::new(&self.with_places(to)));
    }

    pub(crate) fn link_path(&self, name: &Path, to: &Path) {
        let name = self.path("root").join(name);
        fs::create_dir_all(name.parent().unwrap()).unwrap();
        symlink(to, name).unwrap();
    }

    /// Gives a file a second name in the workspace.
    pub(crate) fn hard_link(&self, name: &str, to: &str) {
        fs::hard_link(self.with_places(to), self.path("root").join(name)).unwrap();
    }

    /// Writes a file of the workspace. `content` may name places.
    pub(crate) fn put(&self, name: &str, content: &str) {
        self.write(&format!("root/{name}"), &self.with_places(content));
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Puts a link in the place of a name of the workspace; what stood there is moved aside.
    pub(crate) fn replace_by_link(&self, name: &str, to: &str) {
        let name = self.path(name);
        fs::rename(&name, name.with_extension("aside")).unwrap();
        symlink(self.with_places(to), name).unwrap();
    }

    pub(crate) fn pipe(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path("root").join(name)).status().unwrap();
        assert!(made.success());
    }

    /// Makes a link to a descriptor of a file or directory that stays open for as long as the process lives.
    pub(crate) fn link_to_descriptor(&self, name: &str, to: &str) {
        let number = File::open(self.with_places(to)).unwrap().into_raw_fd();
        self.link(name, &format!("/proc/self/fd/{number}"));
    }

    /// Everything below, but for the session's log.
    pub(crate) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        look(&self.path(""), &mut tree);
        tree.retain(|path, _| !path.iter().any(|part| part == ".log"));
        tree
    }

    /// What is out of reach, of the tree.
    pub(crate) fn out_of_reach(&self) -> Tree {
        let mut tree = Tree::new();
        for place in OUT_OF_REACH {
            look(&self.path(place), &mut tree);
        }
        tree
    }

    /// Whether a text holds what only stands out of reach: of contents, and of names that nobody asks for.
    pub(crate) fn betrayed_by(&self, text: &str) -> bool {
        text.contains(&self.secret)
    }
}

/// In memory, where the system has such a place: each write waits for the device, and this is not about devices.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn look(path: &Path, tree: &mut Tree) {
    let found = fs::symlink_metadata(path).unwrap();
    let content = if found.is_symlink() {
        fs::read_link(path).unwrap().into_os_string().into_encoded_bytes()
    } else if found.is_file() {
        fs::read(path).unwrap()
    } else {
        Vec::new()
    };
    if found.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            look(&entry.unwrap().path(), tree);
        }
    }
    let modified = (found.mtime(), found.mtime_nsec());
    let (mode, inode, links) = (found.mode(), found.ino(), found.nlink());
    tree.insert(path.to_owned(), Entry { mode, inode, links, modified, content });
}

/// A session on a ground, and everything that is told of its calls.
pub(crate) struct Caller {
    harness: Harness,
    agent: Agent,
    told: Arc<Told>,
}

#[derive(Default)]
struct Told(Mutex<Vec<Arc<ToolResult>>>);

impl Observer for Told {
    fn result(&self, _call: &Arc<Execution>, result: &Arc<ToolResult>) {
        self.0.lock().push(Arc::clone(result));
    }
}

impl Caller {
    pub(crate) fn new(harness: Harness, log: &SessionChoice) -> Self {
        let told = Arc::<Told>::default();
        harness.host().tools.on_result(None, Arc::clone(&told) as _).keep();
        let agent = harness.agent(harness.open_session(log).unwrap().session);
        Self { harness, agent, told }
    }

    /// Makes calls as one turn: their results, in order.
    pub(crate) async fn call(&self, calls: Vec<(&str, String)>) -> Vec<Arc<ToolResult>> {
        let calls = calls.into_iter().enumerate().map(|(index, (name, arguments))| RequestedCall {
            id: format!("c{index}").into(),
            name: name.into(),
            arguments: arguments.into(),
        });
        let turn = CallTurn { origin: "test".into(), note: "Attempts.".into(), calls: calls.collect() };
        self.harness.run_calls(&self.agent, turn, &Cancel::new()).await.unwrap();
        std::mem::take(&mut *self.told.0.lock())
    }

    /// The log so far.
    pub(crate) fn log(&self) -> String {
        self.agent.session().events().iter().map(|event| event.to_json().to_text()).collect()
    }
}
