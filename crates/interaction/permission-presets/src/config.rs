//! The presets that there are.

use std::sync::Arc;

use dsh_approval_policy::ApprovalPolicy;
use dsh_sandbox_policy::SandboxMode;
use dsh_session_permissions::Permissions;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// The configuration of presets. Unknown keys are refused; so is what [`PresetsError`](crate::PresetsError) lists, by
/// [`Presets::new`](crate::Presets::new).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PresetsConfig {
    /// Presets by name, besides `workspace-write`, `read-only` and `danger-full-access`, which are always there and come
    /// first, in this order. One of a name that is there already replaces it in its place, label and description too.
    /// Default none.
    ///
    /// The others follow in the order in which they are read: as they are written in JSON, sorted by name in TOML, whose
    /// tables have no order.
    pub presets: IndexMap<Arc<str>, Preset>,
    /// The preset of new sessions. By default the first whose knobs are those of a session whose log says nothing.
    pub default_preset: Option<Arc<str>>,
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Preset {
    /// What tools may reach.
    pub sandbox: SandboxMode,
    /// Whether a person is asked.
    pub approval: ApprovalPolicy,
    /// What people see instead of its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// What it means, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
}

impl Preset {
    /// What it sets.
    pub fn permissions(&self) -> Permissions {
        Permissions { sandbox: self.sandbox, approval: self.approval }
    }
}

/// Those that are always there, in their order.
pub(crate) fn built_in() -> [(&'static str, Preset); 3] {
    let preset = |sandbox: SandboxMode, approval, name: &str, description: &str| {
        let preset =
            Preset { sandbox, approval, name: Some(name.into()), description: Some(description.into()) };
        (sandbox.as_str(), preset)
    };
    [
        preset(
            SandboxMode::WorkspaceWrite,
            ApprovalPolicy::Ask,
            "Workspace",
            "Tools change files in the workspace; you are asked before anything beyond it.",
        ),
        preset(
            SandboxMode::ReadOnly,
            ApprovalPolicy::Ask,
            "Read only",
            "Tools change no files; you are asked before anything more.",
        ),
        preset(
            SandboxMode::DangerFullAccess,
            ApprovalPolicy::Never,
            "Full access",
            "Tools reach everything that your account reaches, and you are never asked.",
        ),
    ]
}
