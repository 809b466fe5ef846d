//! What is mounted, and its undoing in reverse.

use dsh_lifecycle::{Registrations, contain};

use crate::Host;
use crate::row::{Mount, MountError};

/// A plugin that is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountedPlugin {
    name: &'static str,
    summary: &'static str,
    registrations: usize,
}

impl MountedPlugin {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is for.
    pub fn summary(&self) -> &'static str {
        self.summary
    }

    /// How many things it has registered.
    pub fn registrations(&self) -> usize {
        self.registrations
    }
}

/// The mounted plugins, in order. Dropping them unmounts the last one first (design §4.1).
#[derive(Debug, Default)]
pub(crate) struct Mounted(Vec<(MountedPlugin, Registrations)>);

impl Mounted {
    /// Mounts one more behind the others. One that panics is refused like one that fails.
    pub(crate) fn mount(
        &mut self,
        name: &'static str,
        summary: &'static str,
        mount: Mount,
        host: &Host,
    ) -> Result<(), MountError> {
        let registrations =
            contain(|| mount(host)).map_err(|panic| format!("it panicked while mounting: {panic}"))??;
        self.0.push((MountedPlugin { name, summary, registrations: registrations.len() }, registrations));
        Ok(())
    }

    pub(crate) fn facts(&self) -> Vec<MountedPlugin> {
        self.0.iter().map(|(plugin, _)| plugin.clone()).collect()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        while let Some((_, registrations)) = self.0.pop() {
            drop(registrations);
        }
    }
}
