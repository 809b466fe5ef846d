//! `edit-tool`: calls of `edit` unless they say otherwise.

use super::{compare, rules, world};
use crate::Kind;

pub(crate) const KIND: Kind = Kind {
    name: "edit-tool",
    rules: rules::ALL,
    lacks: || world::lacks("edit"),
    run: world::run,
    agrees: compare::agrees,
};
