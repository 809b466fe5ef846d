//! A small workspace on disk that keeps every rule, to plant violations in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

pub(crate) struct Planted {
    folder: TempDir,
}

/// What a task did.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    /// Both streams, stdout first.
    pub(crate) text: String,
}

impl Planted {
    /// At least one crate of each layer, named as the house names them. What comes from elsewhere lies beside it.
    pub(crate) fn sound() -> Self {
        let planted = Self { folder: tempfile::tempdir().unwrap() };
        planted.write(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*/*\"]\n\n\
             [workspace.package]\nversion = \"0.1.0\"\n\n[workspace.lints.rust]\nunsafe_code = \"deny\"\n\n\
             [workspace.dependencies]\n\
             dsh-json = { path = \"crates/core/json\" }\n\
             dsh-lifecycle = { path = \"crates/core/lifecycle\" }\n\
             dsh-llm = { path = \"crates/llm/llm\" }\n\
             dsh-lane = { path = \"crates/core/lane\" }\n\
             dsh-store = { path = \"crates/fs/store\" }\n\
             dsh-tool = { path = \"crates/fs/tool\" }\n\
             dsh-harness = { path = \"crates/host/harness\" }\n\
             dsh = { path = \"crates/host/dsh\" }\n\
             dsh-testkit = { path = \"crates/test-support/testkit\" }\n\
             tokio = { path = \"../vendor/tokio\" }\n\
             quiet = { path = \"../vendor/quiet\" }\n",
        );
        planted.crate_("crates/core/json", "dsh-json", "definition", &[]);
        planted.crate_("crates/core/lifecycle", "dsh-lifecycle", "definition", &["dsh-json", "tokio"]);
        planted.crate_("crates/llm/llm", "dsh-llm", "definition", &["dsh-json", "dsh-lifecycle"]);
        planted.crate_("crates/core/lane", "dsh-lane", "mechanism", &["dsh-json"]);
        planted.crate_("crates/fs/store", "dsh-store", "provider", &["dsh-llm", "dsh-lane"]);
        planted.crate_("crates/fs/tool", "dsh-tool", "consumer", &["dsh-llm", "dsh-lane"]);
        planted.crate_("crates/host/harness", "dsh-harness", "composition", &["dsh-store", "dsh-tool"]);
        planted.crate_("crates/host/dsh", "dsh", "composition", &["dsh-harness", "dsh-json"]);
        planted.crate_("crates/test-support/testkit", "dsh-testkit", "development", &["dsh", "dsh-tool"]);
        planted.write(
            "../vendor/tokio/Cargo.toml",
            "[package]\nname = \"tokio\"\nversion = \"1.0.0\"\n[features]\nfs = []\nsync = []\n",
        );
        planted.write("../vendor/tokio/src/lib.rs", "");
        planted.write(
            "../vendor/quiet/Cargo.toml",
            "[package]\nname = \"quiet\"\nversion = \"1.0.0\"\n[build-dependencies]\ntokio = { path = \"../tokio\" }\n",
        );
        planted.write("../vendor/quiet/src/lib.rs", "");
        planted
    }

    /// Writes the manifest and an empty library.
    pub(crate) fn crate_(&self, folder: &str, name: &str, layer: &str, uses: &[&str]) -> &Self {
        let uses = uses.iter().fold(String::new(), |all, used| all + used + ".workspace = true\n");
        self.write(
            &format!("{folder}/Cargo.toml"),
            &format!(
                "[package]\nname = \"{name}\"\nversion.workspace = true\nedition = \"2024\"\ndescription = \"What {name} is\"\n\n\
                 [package.metadata]\nlayer = \"{layer}\"\n\n[lints]\nworkspace = true\n\n[dependencies]\n{uses}"
            ),
        );
        self.write(&format!("{folder}/src/lib.rs"), "//! What it is.\n")
    }

    /// A runner of vectors, which says what it was asked for, and fails for the kind `bad`.
    pub(crate) fn runner(&self) -> &Self {
        let folder = "crates/test-support/conformance";
        self.crate_(folder, "dsh-conformance", "development", &[]);
        self.write(
            &format!("{folder}/src/main.rs"),
            "//! It runs.\n\nfn main() {\n    let words: Vec<String> = std::env::args().skip(1).collect();\n    \
             println!(\"asked: {}\", words.join(\" \"));\n    \
             std::process::exit(i32::from(words.iter().any(|word| word == \"bad\")));\n}\n",
        )
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn append(&self, path: &str, text: &str) -> &Self {
        let before = self.read(path);
        self.write(path, &(before + text))
    }

    pub(crate) fn replace(&self, path: &str, from: &str, to: &str) -> &Self {
        let before = self.read(path);
        assert!(before.contains(from), "{path} has no {from:?}");
        self.write(path, &before.replace(from, to))
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("house").join(path)
    }

    /// Runs the task in the workspace.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        run_in(&self.path(""), words)
    }

    /// The same, where the environment says that it is CI.
    pub(crate) fn run_in_ci(&self, words: &[&str]) -> Ran {
        outcome(task(&self.path(""), words).env("CI", "1"))
    }

    /// The task fails and says this.
    #[track_caller]
    pub(crate) fn fails(&self, words: &[&str], expected: &str) {
        let ran = self.run(words);
        assert_eq!(ran.code, Some(1), "{}", ran.text);
        assert!(ran.text.contains(expected), "expected {expected:?} in:\n{}", ran.text);
    }

    #[track_caller]
    pub(crate) fn passes(&self, words: &[&str]) {
        let ran = self.run(words);
        assert_eq!(ran.code, Some(0), "{}", ran.text);
    }
}

pub(crate) fn run_in(folder: &Path, words: &[&str]) -> Ran {
    outcome(&mut task(folder, words))
}

fn task(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(words).current_dir(folder);
    for outer in ["CARGO_TARGET_DIR", "CI", "INSTA_UPDATE", "RUSTDOCFLAGS"] {
        command.env_remove(outer);
    }
    command
}

fn outcome(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ran { code: output.status.code(), text }
}
