//! Where the outside comes in: directories, clock, ids. Everything below takes them as values.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use dsh_lifecycle::{Clock, Ids, SeededIds, SteppingClock};

use crate::Providers;

/// What the harness knows of the machine and the person.
#[derive(Clone)]
pub struct Environment {
    /// The directory that relative paths start at and that workspace writes are confined to, as it was given.
    pub root: PathBuf,
    /// The home directory, if there is one.
    pub home: Option<PathBuf>,
    /// Where session logs go that nobody named a file for, if there is such a place.
    pub state: Option<PathBuf>,
    /// Unix time.
    pub clock: Arc<dyn Clock>,
    /// Fresh names.
    pub ids: Arc<dyn Ids>,
    /// Models on the network: keys, addresses, proxies.
    pub providers: Providers,
    /// Whether results say how long they took and how much memory, which no two runs have in common.
    pub measures: bool,
}

/// Why the environment can't be read.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// The current directory is gone or can't be read.
    #[error("failed to find the current directory: {0}; name one with --root")]
    CurrentDirectory(#[source] std::io::Error),
}

impl Environment {
    /// The environment of this process: its current directory, `HOME`, `XDG_STATE_HOME`, what [`Providers::read`] lists, the
    /// system's clock, random ids. This is the one place that reads them.
    pub fn of_process() -> Result<Self, EnvironmentError> {
        let root = std::env::current_dir().map_err(EnvironmentError::CurrentDirectory)?;
        Ok(Self::of_process_at(root))
    }

    /// The environment of this process with another root, so that the current directory is not asked for.
    #[expect(clippy::disallowed_methods, reason = "the environment enters the program here, and only here")]
    pub fn of_process_at(root: impl Into<PathBuf>) -> Self {
        let directory = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = directory("HOME");
        let state = directory("XDG_STATE_HOME").or_else(|| Some(home.as_ref()?.join(".local/state")));
        Self {
            root: root.into(),
            home,
            state: state.map(|state| state.join("dsh/sessions")),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            providers: Providers::read(|name| std::env::var(name).ok()),
            measures: true,
        }
    }

    /// The same with a clock and ids that depend on `seed` alone: equal runs write equal logs.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        /// 2026-01-01T00:00:00Z.
        const START: i64 = 1_767_225_600_000;
        Self {
            clock: Arc::new(SteppingClock::starting_at(START)),
            ids: Arc::new(SeededIds::new(seed)),
            measures: false,
            ..self
        }
    }

    /// The same with another root.
    #[must_use]
    pub fn at(self, root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), ..self }
    }

    /// A path from a configuration or command line: `~/` is the home directory, a relative one starts at `base`.
    pub fn expand(&self, path: &Path, base: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            (Ok(_), None) | (Err(_), _) => base.join(path),
        }
    }
}

struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the clock enters the program here, and only here")]
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}

struct RandomIds;

impl Ids for RandomIds {
    fn fresh(&self) -> Arc<str> {
        uuid::Uuid::now_v7().to_string().into()
    }
}
