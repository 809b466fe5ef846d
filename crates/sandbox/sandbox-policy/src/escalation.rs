//! Asking for more reach, for one call (spec 10 §B.2).

use std::sync::Arc;

use dsh_json::Json;
use dsh_json_schema::{Params, Schema};

use crate::{SandboxMode, SandboxPolicy};

/// The argument that names the mode.
const MODE: &str = "sandbox_permissions";
/// The argument that says why.
const WHY: &str = "justification";
/// How many characters a reason may have.
const MOST: usize = 500;
/// The modes that can be asked for, whatever the session has.
const TARGETS: [SandboxMode; 2] = [SandboxMode::WorkspaceWrite, SandboxMode::DangerFullAccess];

/// A wider mode for one call, and why. It widens nothing by itself: a tool applies it to a call that a person has
/// allowed, knowing [`reason`](Self::reason).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    /// The mode that is asked for.
    pub mode: SandboxMode,
    /// Why, in the words of the model: one line of at most 500 characters, never blank.
    pub justification: Arc<str>,
}

/// Why arguments ask for no escalation that could be granted. Written for the model; nobody was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EscalationError {
    /// Nobody can be asked here.
    #[error(
        "`sandbox_permissions` and `justification` are not available here; nothing was done. Call again without them, on a path inside the workspace"
    )]
    NotHere,
    /// Nobody has allowed it.
    #[error(
        "`sandbox_permissions` asks for more than the session has, and nobody has allowed it; nothing was done"
    )]
    NotGranted,
    /// A mode without a reason.
    #[error(
        "`sandbox_permissions` needs a `justification` beside it: one sentence for the user, who is asked"
    )]
    NoJustification,
    /// A reason without a mode.
    #[error("`justification` goes with `sandbox_permissions`; give both or neither")]
    NoMode,
    /// A reason that says nothing.
    #[error("`justification` is blank; say in one sentence why the operation is needed")]
    BlankJustification,
    /// A reason that is too long to be read before a decision.
    #[error(
        "`justification` has {found} characters, and {MOST} at most are shown to the user; say it in one sentence"
    )]
    TooLong {
        /// How many it has.
        found: usize,
    },
    /// A reason that is no text.
    #[error("`justification` must be a string")]
    JustificationNotText,
    /// A mode that can't be asked for.
    #[error("`sandbox_permissions` must be \"workspace-write\" or \"danger-full-access\"")]
    UnknownMode,
    /// The session has this reach, or more.
    #[error(
        "`sandbox_permissions` asks for {asked}, and this session is under {effective} already: there is nothing to \
         ask the user for. Call again without `sandbox_permissions` and `justification`"
    )]
    NotWider {
        /// The mode that was asked for.
        asked: SandboxMode,
        /// The mode in force.
        effective: SandboxMode,
    },
}

impl Escalation {
    /// Declares the two arguments, both optional, behind those that are there.
    #[must_use]
    pub fn declare(params: Params) -> Params {
        let modes = TARGETS.map(SandboxMode::as_str);
        let mode = "Only after the operation was denied by the sandbox: the wider mode that this one call needs. The user is asked.";
        let why = "Goes with `sandbox_permissions`: one sentence that tells the user why.";
        params
            .optional(MODE, Schema::string().enumeration(modes).description(mode))
            .optional(WHY, Schema::string().description(why))
    }

    /// What the arguments of a call ask for; `None` when they have neither of the two.
    ///
    /// Fails when one comes without the other, when the reason is blank, and when either has the wrong form.
    pub fn read(arguments: &Json) -> Result<Option<Self>, EscalationError> {
        let (mode, why) = (arguments.get(MODE), arguments.get(WHY));
        let (mode, why) = match (mode, why) {
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(EscalationError::NoJustification),
            (None, Some(_)) => return Err(EscalationError::NoMode),
            (Some(mode), Some(why)) => (mode, why),
        };
        let mode = TARGETS.into_iter().find(|target| mode.as_str() == Some(target.as_str()));
        let mode = mode.ok_or(EscalationError::UnknownMode)?;
        let justification = why.as_str().ok_or(EscalationError::JustificationNotText)?;
        let found = justification.chars().count();
        if found > MOST {
            return Err(EscalationError::TooLong { found });
        }
        // One line, whatever breaks it has: it stands among the lines of a question.
        let justification = justification.split_whitespace().collect::<Vec<_>>().join(" ");
        if justification.is_empty() {
            return Err(EscalationError::BlankJustification);
        }
        Ok(Some(Self { mode, justification: justification.into() }))
    }

    /// Whether anything would be gained. Fails unless the mode is strictly wider than the one in force.
    pub fn check(&self, effective: SandboxMode) -> Result<(), EscalationError> {
        if self.mode.wider_than(effective) {
            return Ok(());
        }
        Err(EscalationError::NotWider { asked: self.mode, effective })
    }

    /// What a person is asked, complete in itself: the mode and the reason.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("run this one call under the sandbox mode {}: {}", self.mode, self.justification)
    }

    /// The policy of a call that was allowed to escalate. A session that was widened meanwhile keeps what it has.
    #[must_use]
    pub fn widen(&self, policy: &Arc<SandboxPolicy>) -> Arc<SandboxPolicy> {
        if self.mode.wider_than(policy.mode) {
            Arc::new(policy.with_mode(self.mode))
        } else {
            Arc::clone(policy)
        }
    }
}

/// The line that marks a denial by the sandbox for the model: it names the mode. `subject` is what was denied, such as
/// `file access`.
#[must_use]
pub fn denial_marker(subject: &str, mode: SandboxMode) -> String {
    format!("[sandbox: {subject} denied under {mode} mode]")
}

/// How to ask for more after such a denial; `None` where nothing is wider. `subject` is what can be repeated, such as
/// `operation`.
#[must_use]
pub fn escalation_hint(subject: &str, mode: SandboxMode) -> Option<String> {
    let wider: Vec<_> =
        TARGETS.iter().filter(|target| target.wider_than(mode)).map(|mode| format!("\"{mode}\"")).collect();
    (!wider.is_empty()).then(|| {
        format!(
            "If the task needs it, repeat this exact {subject} once with `sandbox_permissions` ({}) and a \
             `justification`; the user is then asked.",
            wider.join(" or ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_json::object;
    use std::path::PathBuf;

    fn read(arguments: &Json) -> Result<Option<Escalation>, EscalationError> {
        Escalation::read(arguments)
    }

    #[test]
    fn the_two_arguments_go_together_and_say_something() {
        use EscalationError as E;
        assert_eq!(read(&object! { "file_path": "a" }), Ok(None));
        assert_eq!(read(&object! { MODE: "workspace-write" }), Err(E::NoJustification));
        assert_eq!(read(&object! { WHY: "because" }), Err(E::NoMode));
        let rows = [
            (Json::from("read-only"), Json::from("x"), E::UnknownMode),
            (Json::from("all"), Json::from("x"), E::UnknownMode),
            (Json::Null, Json::from("x"), E::UnknownMode),
            (Json::from("workspace-write"), Json::from(" \n"), E::BlankJustification),
            (Json::from("workspace-write"), Json::from(1), E::JustificationNotText),
            (Json::from("workspace-write"), Json::from("j".repeat(501)), E::TooLong { found: 501 }),
        ];
        for (mode, why, expected) in rows {
            assert_eq!(read(&object! { MODE: mode, WHY: why }), Err(expected));
        }
        for target in TARGETS {
            let asked = read(&object! { MODE: target.as_str(), WHY: " to\n\n  build " }).unwrap().unwrap();
            assert_eq!(asked, Escalation { mode: target, justification: "to build".into() });
        }
    }

    #[test]
    fn only_what_is_strictly_wider_can_be_asked_for() {
        for target in TARGETS {
            let asked = Escalation { mode: target, justification: "x".into() };
            for effective in SandboxMode::ALL {
                let expected = if target > effective {
                    Ok(())
                } else {
                    Err(EscalationError::NotWider { asked: target, effective })
                };
                assert_eq!(asked.check(effective), expected);
                let policy = Arc::new(SandboxPolicy::new(effective, "/ws", [PathBuf::from("/usr")]));
                assert_eq!(asked.widen(&policy), Arc::new(policy.with_mode(target.max(effective))));
            }
        }
    }

    #[test]
    fn what_a_person_and_a_model_read() {
        let asked =
            Escalation { mode: SandboxMode::DangerFullAccess, justification: "to see the host".into() };
        assert_eq!(
            asked.reason(),
            "run this one call under the sandbox mode danger-full-access: to see the host"
        );
        assert_eq!(
            denial_marker("file access", SandboxMode::ReadOnly),
            "[sandbox: file access denied under read-only mode]"
        );
        assert_eq!(
            escalation_hint("operation", SandboxMode::ReadOnly).unwrap(),
            "If the task needs it, repeat this exact operation once with `sandbox_permissions` (\"workspace-write\" or \
             \"danger-full-access\") and a `justification`; the user is then asked."
        );
        let hint = escalation_hint("command", SandboxMode::WorkspaceWrite).unwrap();
        assert!(hint.contains("exact command") && hint.contains("(\"danger-full-access\")"), "{hint}");
        assert_eq!(escalation_hint("operation", SandboxMode::DangerFullAccess), None);
    }

    #[test]
    fn the_declared_arguments_are_optional_and_closed() {
        let schema = Escalation::declare(Schema::params()).build().unwrap();
        assert!(schema.is_valid(&object! {}));
        assert!(schema.is_valid(&object! { MODE: "workspace-write", WHY: "x" }));
        assert!(!schema.is_valid(&object! { MODE: "read-only", WHY: "x" }));
    }
}
