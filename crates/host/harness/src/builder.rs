//! From an environment and a configuration to a running harness.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_fs_local::canonical_policy;
use dsh_llm::Model;
use dsh_sandbox_policy::{SandboxMode, default_read_roots};
use dsh_spill::SpillStore;
use dsh_tools_core::Presentation;
use dsh_user_approval::Answerer;

use crate::config::{Parsed, SETTINGS};
use crate::harness::Harness;
use crate::mounted::Mounted;
use crate::row::{MountError, Row};
use crate::{
    CONFIG_FILE, ConfigError, ConfigText, Environment, Host, ModelChoice, SharedPolicy, WorkerEntry, plugins,
};

/// Puts a harness together.
pub struct HarnessBuilder {
    environment: Environment,
    config: Option<ConfigText>,
    rows: Vec<Row>,
    model: Option<ModelChoice>,
    own_model: Option<Arc<dyn Model>>,
    own_spill_store: Option<Arc<dyn SpillStore>>,
    answerer: Option<Arc<dyn Answerer>>,
    preset: Option<Arc<str>>,
    whole_results: bool,
    mode: Option<Presentation>,
    worker: WorkerEntry,
}

/// Why there is no harness. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The workspace root can't be used.
    #[error("the root {} can't be used: {source}", root.display())]
    Root {
        /// The root as it was given.
        root: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The configuration is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A plugin could not be mounted. Those before it were unmounted again.
    #[error("plugin `{plugin}`: {source}")]
    Mount {
        /// The plugin.
        plugin: &'static str,
        /// Why.
        source: MountError,
    },
    /// Two rows have the same name.
    #[error("there are two plugins of the name `{0}`")]
    DuplicateRow(&'static str),
    /// A row has the name of a setting that stands above all tables.
    #[error("a plugin can't be called `{0}`: that is the name of a setting")]
    ReservedRow(&'static str),
}

impl Harness {
    /// Begins a harness with the built-in rows.
    pub fn builder(environment: Environment) -> HarnessBuilder {
        HarnessBuilder {
            environment,
            config: None,
            rows: plugins::table(),
            model: None,
            own_model: None,
            own_spill_store: None,
            answerer: None,
            preset: None,
            whole_results: false,
            mode: None,
            worker: WorkerEntry::Reexec,
        }
    }
}

impl HarnessBuilder {
    /// The configuration. Without one, the nearest `dsh.toml` from the root upward.
    #[must_use]
    pub fn config(self, config: ConfigText) -> Self {
        Self { config: Some(config), ..self }
    }

    /// Adds a plugin behind those that are there.
    #[must_use]
    pub fn row(mut self, row: Row) -> Self {
        self.rows.push(row);
        self
    }

    /// The model, above what the configuration says.
    #[must_use]
    pub fn model(self, model: ModelChoice) -> Self {
        Self { model: Some(model), ..self }
    }

    /// A model of the embedder's own, above every choice of one by name.
    #[must_use]
    pub fn own_model(self, model: Arc<dyn Model>) -> Self {
        Self { own_model: Some(model), ..self }
    }

    /// A spill store of the embedder's own, in place of the files of `spill-local`. The tool `read` takes its locators where it
    /// [says](SpillStore::reads) that they are its own.
    #[must_use]
    pub fn own_spill_store(self, store: Arc<dyn SpillStore>) -> Self {
        Self { own_spill_store: Some(store), ..self }
    }

    /// Somebody who can be asked. With one who [may allow](Answerer::may_allow) something, the file tools offer a wider
    /// sandbox mode for one call (spec 10 §B.2).
    #[must_use]
    pub fn answerer(self, answerer: Arc<dyn Answerer>) -> Self {
        Self { answerer: Some(answerer), ..self }
    }

    /// The permission preset, above what the configuration says: new sessions have it, and those that go on are switched
    /// to it (spec 10 §C).
    #[must_use]
    pub fn preset(self, name: &str) -> Self {
        Self { preset: Some(name.into()), ..self }
    }

    /// Results are read by no model and kept in no log: they are given whole, and nothing of them is stored.
    #[must_use]
    pub fn whole_results(self) -> Self {
        Self { whole_results: true, ..self }
    }

    /// The presentation mode, above what the configuration says.
    #[must_use]
    pub fn mode(self, mode: Presentation) -> Self {
        Self { mode: Some(mode), ..self }
    }

    /// What is started as a worker for programs. Without it this program itself, which has to call
    /// [`become_worker`](crate::become_worker) first in `main`.
    #[must_use]
    pub fn worker(self, worker: WorkerEntry) -> Self {
        Self { worker, ..self }
    }

    /// Reads everything, then mounts everything. After an error nothing is mounted.
    pub fn build(self) -> Result<Harness, HarnessError> {
        let Self {
            environment,
            config,
            rows,
            model,
            own_model,
            own_spill_store,
            answerer,
            preset,
            whole_results,
            mode,
            worker,
        } = self;
        for (index, row) in rows.iter().enumerate() {
            if SETTINGS.contains(&row.name()) {
                return Err(HarnessError::ReservedRow(row.name()));
            }
            if rows.iter().take(index).any(|earlier| earlier.name() == row.name()) {
                return Err(HarnessError::DuplicateRow(row.name()));
            }
        }
        let environment = at_canonical_root(environment)?;
        let config = match config {
            Some(config) => config,
            None => ConfigText::nearest(&environment.root)?,
        };
        let Parsed { settings, mounts } = config.parse(&rows)?;
        let base = config.base().unwrap_or(&environment.root).to_owned();
        let configured = settings.read_roots.iter().map(|root| environment.expand(root, &base));
        let mut read_roots = default_read_roots(toolchain_sources(&environment));
        read_roots.extend(configured);
        let read_roots = read_roots.iter().map(PathBuf::as_path);
        let mut policy = canonical_policy(SandboxMode::WorkspaceWrite, &environment.root, read_roots);
        // Whoever can write what decides about reach has any reach from the next start on.
        policy.protected_names.push(CONFIG_FILE.into());
        let policy = SharedPolicy::new(policy);
        if !config.file.as_os_str().is_empty() {
            policy.protect(&config.file);
        }
        let mut host = Host::new(environment, policy, model, base);
        host.own_model = own_model;
        host.own_spill_store = own_spill_store;
        host.worker = worker;
        // Programs have a runtime here, so they are offered (spec 12 §1).
        host.presentation = mode.or(settings.mode).unwrap_or(Presentation::Both);
        host.answerer = answerer;
        host.preset_choice = preset;
        host.whole_results = whole_results;
        let mut mounted = Mounted::default();
        for ((name, mount), row) in mounts.into_iter().zip(&rows) {
            let done = mounted.mount(name, row.summary(), mount, &host);
            done.map_err(|source| HarnessError::Mount { plugin: name, source })?;
        }
        if let Some(rules) = host.rules.get() {
            let view = host.tools.view(None);
            let tools: Vec<&str> = view.tools().map(|tool| &**tool.name()).collect();
            for rule in rules.nobodys(&tools) {
                tracing::warn!("{rule} names no tool that is here; is it written as the tool is?");
            }
        }
        Ok(Harness::new(host, mounted, config.file))
    }
}

fn at_canonical_root(environment: Environment) -> Result<Environment, HarnessError> {
    let root = environment.root.clone();
    let canonical = root.canonicalize().and_then(|root| {
        // A root that can't be listed is no workspace.
        std::fs::read_dir(&root)?;
        Ok(root)
    });
    match canonical {
        Ok(canonical) => Ok(environment.at(canonical)),
        Err(source) => Err(HarnessError::Root { root, source }),
    }
}

/// The sources of the standard library, so that an agent can read what its code calls.
fn toolchain_sources(environment: &Environment) -> Vec<PathBuf> {
    let Some(home) = &environment.home else { return Vec::new() };
    let Ok(toolchains) = std::fs::read_dir(home.join(".rustup/toolchains")) else { return Vec::new() };
    let mut sources: Vec<_> = toolchains
        .filter_map(|toolchain| Some(toolchain.ok()?.path().join("lib/rustlib/src")))
        .filter(|path: &PathBuf| Path::is_dir(path))
        .collect();
    sources.sort();
    sources
}
