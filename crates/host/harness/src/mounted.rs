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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dsh_lifecycle::{SeededIds, SteppingClock};
    use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};
    use toml::Spanned;
    use toml::de::{DeTable, DeValue};

    use super::*;
    use crate::{Environment, Providers, SharedPolicy, plugins};

    fn host(root: &std::path::Path) -> Host {
        let environment = Environment {
            root: root.to_owned(),
            home: None,
            state: Some(root.join("state/sessions")),
            clock: Arc::new(SteppingClock::starting_at(0)),
            ids: Arc::new(SeededIds::new(1)),
            providers: Providers::none(),
            measures: false,
        };
        let policy = SharedPolicy::new(SandboxPolicy::new(SandboxMode::WorkspaceWrite, root, []));
        Host::new(environment, policy, None, root.to_owned())
    }

    /// Everything in a host that a row can change, but for the event types that it knows.
    fn state(host: &Host) -> String {
        let slots = [
            host.model.get().is_some(),
            host.fs.get().is_some(),
            host.search.get().is_some(),
            host.intents.get().is_some(),
            host.runtime.get().is_some(),
            host.spill.get().is_some(),
            host.turns.get().is_some(),
            host.mcp.get().is_some(),
            host.approvals.get().is_some(),
            host.presets.get().is_some(),
            host.rules.get().is_some(),
            host.policy.reads_own(),
            host.tools.approver().get().is_some(),
            host.tools.bound().get().is_some(),
        ];
        let approval = host.approvals.get().map(|approvals| approvals.policies().default_policy());
        let (tools, prompt, hooks) = (host.tools.rows(), host.prompt.rows(), host.hooks.rows());
        let policy = host.policy.current();
        format!("tools {tools}, prompt {prompt}, hooks {hooks}, slots {slots:?}, {policy:?}, {approval:?}")
    }

    /// Configurations that are not the built-in ones, so that what is restored is told from what was never changed.
    const CONFIGURED: &[(&str, &str)] = &[
        ("sandbox-policy", "mode = 'read-only'"),
        ("system-prompt", "persona = 'You are somebody.'"),
        ("user-approval", "policy = 'never'"),
        ("permission-presets", "defaultPreset = 'read-only'"),
        ("permission-rules", "ask = ['write']\ndeny = ['bash']"),
        ("timeout-policy", "defaultMs = 5"),
        ("repeat-reminder", "denyAt = 9"),
        ("spill-policy", "maxInlineBytes = 10"),
    ];

    /// Each row of the table is mounted behind those before it, unmounted, and mounted again to stay; some of them in two ways.
    #[tokio::test]
    async fn every_row_leaves_what_it_found() {
        let root = tempfile::tempdir().unwrap();
        let (host, mut kept) = (host(root.path()), Vec::new());
        let empty = state(&host);
        for row in plugins::table() {
            let (name, before) = (row.name(), state(&host));
            let mount = |text: &str| {
                let table = DeTable::parse(text).unwrap();
                let table = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
                let mut mounted = Mounted::default();
                mounted.mount(name, row.summary(), row.parse(Some(table)).unwrap(), &host).unwrap();
                mounted
            };
            let configured = CONFIGURED.iter().filter(|(row, _)| *row == name).map(|(_, text)| *text);
            for text in configured.chain([""]) {
                let mounted = mount(text);
                let registrations: usize = mounted.facts().iter().map(MountedPlugin::registrations).sum();
                assert_eq!(state(&host) != before, registrations > 0, "{name} {text}");
                drop(mounted);
                assert_eq!(state(&host), before, "{name} left something behind: {text}");
            }
            kept.push(mount(""));
        }
        while let Some(mounted) = kept.pop() {
            drop(mounted);
        }
        assert_eq!(state(&host), empty);
        host.tasks.close();
        host.tasks.wait().await;
    }
}
