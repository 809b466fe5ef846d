//! `write-tool`: calls of `write` unless they say otherwise.

use super::{compare, rules, world};
use crate::Kind;

pub(crate) const KIND: Kind = Kind {
    name: "write-tool",
    rules: rules::ALL,
    lacks: || world::lacks("write"),
    run: world::run,
    agrees: compare::agrees,
};
