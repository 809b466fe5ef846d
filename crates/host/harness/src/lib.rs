//! The composition: which plugins there are, what they are configured to, and one running host of them.
//!
//! The table of plugins is `plugins.rs`: a row is a name, a typed configuration and what mounting it does. The order of
//! the rows is the order in which listeners are called. [`Harness::builder`] reads the configuration, refuses what
//! nobody understands before anything is mounted, mounts the rows in order, and unmounts them in reverse. A plugin
//! from outside is the same row, added to the builder.
//!
//! This is the one place that names concrete providers, and where clock, ids, environment and current directory enter.

mod builder;
mod config;
mod environment;
mod harness;
mod host;
mod model;
mod mounted;
mod plugins;
mod policy;
mod programs;
mod providers;
mod row;
mod sessions;
mod text_file;

pub use builder::{HarnessBuilder, HarnessError};
pub use config::{CONFIG_FILE, ConfigError, ConfigText, MAX_CONFIG_BYTES};
pub use environment::{Environment, EnvironmentError};
pub use harness::{Harness, TurnFailure};
pub use host::Host;
pub use model::{ModelChoice, ModelError};
pub use mounted::MountedPlugin;
pub use policy::SharedPolicy;
pub use programs::become_worker;
pub use providers::Providers;
pub use row::{MountError, Row, row};
pub use sessions::{OpenSession, SessionChoice, SessionFailure};
pub use text_file::read_text;

// What the program and embedders need besides.
pub use dsh_agent::{Agent, CallTurn, RequestedCall, TurnError};
pub use dsh_agent_loop::TurnOutcome;
pub use dsh_llm_openai::Provider;
pub use dsh_permission_presets::Presets;
pub use dsh_permission_rules::RulesConfig;
pub use dsh_sandbox_policy::SandboxMode;
pub use dsh_tools_core::Presentation;
pub use dsh_worker::Entry as WorkerEntry;
