//! The two knobs, and in which order they are turned.

use dsh_sandbox_policy::SandboxMode;
use dsh_user_approval::ApprovalPolicy;

use crate::Preset;

/// What holds for a session, or shall hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Knobs {
    pub(crate) sandbox: SandboxMode,
    pub(crate) approval: ApprovalPolicy,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knob {
    Sandbox,
    Approval,
}

/// What was recorded, and so what has changed or is said for the first time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// The choice.
    pub preset: bool,
    /// The sandbox mode.
    pub sandbox: bool,
    /// The approval policy.
    pub approval: bool,
}

impl Changes {
    /// Whether nothing was recorded.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl From<&Preset> for Knobs {
    fn from(preset: &Preset) -> Self {
        Self { sandbox: preset.sandbox, approval: preset.approval }
    }
}

impl Knobs {
    /// The order in which to turn the knobs towards `target`, so that what holds in between is not wider than before and
    /// wider than the target at once. Asking is wider than never: what is asked about may be allowed.
    pub(crate) fn order_towards(self, target: Self) -> [Knob; 2] {
        let stricter = self.approval == ApprovalPolicy::Ask && target.approval == ApprovalPolicy::Never;
        if stricter && target.sandbox.wider_than(self.sandbox) {
            [Knob::Approval, Knob::Sandbox]
        } else {
            [Knob::Sandbox, Knob::Approval]
        }
    }
}

#[cfg(test)]
mod tests {
    use SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};

    use super::*;

    fn all() -> impl Iterator<Item = Knobs> {
        SandboxMode::ALL.into_iter().flat_map(|sandbox| {
            [ApprovalPolicy::Ask, ApprovalPolicy::Never].map(|approval| Knobs { sandbox, approval })
        })
    }

    /// Whether a call may do more under `this` than under `that`, in one respect or the other.
    fn wider(this: Knobs, that: Knobs) -> bool {
        let asks = |knobs: Knobs| knobs.approval == ApprovalPolicy::Ask;
        this.sandbox.wider_than(that.sandbox) || (asks(this) && !asks(that))
    }

    #[test]
    fn what_holds_in_between_is_not_wider_than_both_ends() {
        let mut policy_first = Vec::new();
        for (before, target) in all().flat_map(|before| all().map(move |target| (before, target))) {
            let order = before.order_towards(target);
            let between = match order[0] {
                Knob::Sandbox => Knobs { sandbox: target.sandbox, ..before },
                Knob::Approval => Knobs { approval: target.approval, ..before },
            };
            assert_ne!(order[0], order[1]);
            assert!(!(wider(between, before) && wider(between, target)), "{before:?} {target:?}");
            if order[0] == Knob::Approval {
                policy_first.push((before.sandbox, target.sandbox));
            }
        }
        let widening =
            [(ReadOnly, WorkspaceWrite), (ReadOnly, DangerFullAccess), (WorkspaceWrite, DangerFullAccess)];
        assert_eq!(policy_first, widening, "from ask to never only");
    }
}
