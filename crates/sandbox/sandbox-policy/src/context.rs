//! What models are told about the mode in force (spec 10 §B.1).

use dsh_json::Json;

use crate::{SandboxMode, SandboxPolicy};

/// The name of the runtime context that holds [`standing_rule`].
pub const CONTEXT_NAME: &str = "sandbox:policy";

/// Its place among the runtime contexts.
pub const CONTEXT_ORDER: i32 = 110;

/// The standing rule for effects on files, for the runtime context. The same policy gives the same text.
#[must_use]
pub fn standing_rule(policy: &SandboxPolicy) -> String {
    match policy.mode {
        SandboxMode::ReadOnly => "Sandbox: read-only. Tools change no files. Do not refuse a task for that reason \
                                  beforehand: try the tool, and follow what it answers."
            .to_owned(),
        SandboxMode::WorkspaceWrite => {
            let root = Json::from(policy.workspace_root.to_string_lossy().as_ref()).to_text();
            format!("Sandbox: workspace-write. Tools change files below the workspace {root} only.")
        }
        SandboxMode::DangerFullAccess => {
            "Sandbox: danger-full-access. Tools reach every file that the user's account reaches; change only what the \
             task needs."
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_has_its_rule() {
        let told = SandboxMode::ALL.map(|mode| standing_rule(&SandboxPolicy::new(mode, "/w/a \"b\"", [])));
        insta::assert_snapshot!(told.join("\n"), @r#"
        Sandbox: read-only. Tools change no files. Do not refuse a task for that reason beforehand: try the tool, and follow what it answers.
        Sandbox: workspace-write. Tools change files below the workspace "/w/a \"b\"" only.
        Sandbox: danger-full-access. Tools reach every file that the user's account reaches; change only what the task needs.
        "#);
    }
}
