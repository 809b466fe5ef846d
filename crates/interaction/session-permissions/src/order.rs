//! In which order the knobs are turned.

use dsh_approval_policy::ApprovalPolicy;

use crate::Permissions;

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knob {
    Sandbox,
    Approval,
}

impl Permissions {
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
    use dsh_sandbox_policy::SandboxMode;

    use super::*;

    fn all() -> impl Iterator<Item = Permissions> {
        SandboxMode::ALL.into_iter().flat_map(|sandbox| {
            [ApprovalPolicy::Ask, ApprovalPolicy::Never].map(|approval| Permissions { sandbox, approval })
        })
    }

    /// Whether a call may do more under `this` than under `that`, in one respect or the other.
    fn wider(this: Permissions, that: Permissions) -> bool {
        let asks = |knobs: Permissions| knobs.approval == ApprovalPolicy::Ask;
        this.sandbox.wider_than(that.sandbox) || (asks(this) && !asks(that))
    }

    #[test]
    fn what_holds_in_between_is_not_wider_than_both_ends() {
        let mut policy_first = Vec::new();
        for (before, target) in all().flat_map(|before| all().map(move |target| (before, target))) {
            let order = before.order_towards(target);
            let between = match order[0] {
                Knob::Sandbox => Permissions { sandbox: target.sandbox, ..before },
                Knob::Approval => Permissions { approval: target.approval, ..before },
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
