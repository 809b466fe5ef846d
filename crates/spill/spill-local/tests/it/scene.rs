//! A store below a directory of its own.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_json::Json;
use dsh_lifecycle::{Cancel, SteppingClock};
use dsh_spill::{Pending, SaveText, SpillError, SpillOwner, SpillRef, SpillSource, SpillStore as _};
use dsh_spill_local::{ConfigError, LocalSpill};

pub(crate) struct Scene {
    base: tempfile::TempDir,
    pub(crate) store: LocalSpill,
}

impl Scene {
    /// A store with its root at `spill`, and more of its configuration.
    pub(crate) fn new(config: &str) -> Self {
        let base = tempfile::tempdir().unwrap();
        let store = store(&format!(r#"{{"root": "spill", {config}}}"#), base.path(), 0).unwrap();
        Self { base, store }
    }

    pub(crate) fn plain() -> Self {
        Self::new(r#""sync": false"#)
    }

    pub(crate) fn base(&self) -> &Path {
        self.base.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.base().join("spill")
    }

    pub(crate) async fn save(&self, name: &str, content: &str) -> Result<SpillRef, SpillError> {
        self.store.save_text(request("s1", name, content), &Cancel::new()).await
    }

    /// Saves a text; where it is.
    pub(crate) async fn saved(&self, name: &str, content: &str) -> PathBuf {
        PathBuf::from(self.save(name, content).await.unwrap().locator.as_str())
    }

    pub(crate) async fn begin(&self, name: &str, content: &str) -> Box<dyn Pending> {
        self.store.begin(request("s1", name, content), &Cancel::new()).await.unwrap()
    }

    /// The session's directory.
    pub(crate) fn session(&self) -> PathBuf {
        self.root().join("session-e8bc163c82ee")
    }

    /// All below the root, in order, hidden names too.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.root()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).into_iter().flatten().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                } else {
                    found.push(entry.path().strip_prefix(self.root()).unwrap().display().to_string());
                }
            }
        }
        found.sort();
        found
    }
}

/// A store with this configuration, whose clock begins at a time.
pub(crate) fn store(config: &str, base: &Path, now_ms: i64) -> Result<LocalSpill, ConfigError> {
    let config = Json::parse(config).unwrap().read().unwrap();
    LocalSpill::new(config, base, Arc::new(SteppingClock::starting_at(now_ms)))
}

pub(crate) fn request(session: &str, name: &str, content: &str) -> SaveText {
    SaveText {
        owner: SpillOwner { session_id: session.into() },
        source: SpillSource { tool_name: "t".into(), call_id: "c".into(), label: SpillSource::RESULT.into() },
        suggested_name: name.into(),
        content: content.into(),
    }
}

/// The permission bits of a file.
pub(crate) fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Makes a directory with a mode.
pub(crate) fn make_dir(path: &Path, mode: u32) {
    std::fs::create_dir_all(path).unwrap();
    set_mode(path, mode);
}

/// The code of a refusal, or what else was told.
pub(crate) fn told<T>(result: Result<T, SpillError>) -> String {
    match result {
        Ok(_) => "saved".to_owned(),
        Err(SpillError::Refused { code, .. }) => code.to_owned(),
        Err(error) => error.to_string(),
    }
}

/// The first twelve digits of a text's digest, or those after so many times twelve.
pub(crate) fn digits(content: &str, skip: usize) -> String {
    blake3::hash(content.as_bytes()).to_hex().as_str()[skip * 12..][..12].to_owned()
}
