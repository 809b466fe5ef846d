//! Landlock: no path is in reach.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetError, RulesetStatus, Scope,
};

/// Takes every right on files that the kernel knows, with TCP ports, abstract sockets and signals to others where it
/// knows those; whether it knows any.
///
/// Older kernels know fewer rights. What those lack (truncating, device control, ports, signals) needs calls that the
/// filter of calls refuses in any case, so the part holds from the first version on.
pub(crate) fn restrict() -> Result<bool, RulesetError> {
    let newest = ABI::V6;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(newest))?
        .handle_access(AccessNet::from_all(newest))?
        .scope(Scope::from_all(newest))?
        .create()?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
