//! What models are told about the policy (spec 10 §A.3).

use crate::ApprovalPolicy;

/// The name of the runtime context that holds [`standing_rule`].
pub const CONTEXT_NAME: &str = "approval:policy";

/// Its place among the runtime contexts.
pub const CONTEXT_ORDER: i32 = 115;

/// The standing rule for approvals, for the runtime context. The same policy gives the same text.
#[must_use]
pub fn standing_rule(policy: ApprovalPolicy) -> &'static str {
    match policy {
        ApprovalPolicy::Ask => {
            "Approval: ask. A call that needs approval is put to the user, who allows it once or refuses; where nobody can \
             answer it is refused."
        }
        ApprovalPolicy::Never => {
            "Approval: never. Nobody is asked: a call that needs approval is refused at once. Do not ask for more by \
             `sandbox_permissions`."
        }
    }
}
