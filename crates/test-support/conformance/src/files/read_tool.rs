//! `read-tool`: calls of `read` unless they say otherwise.

use super::{compare, rules, world};
use crate::Kind;

pub(crate) const KIND: Kind = Kind {
    name: "read-tool",
    rules: rules::ALL,
    lacks: || world::lacks("read"),
    run: world::run,
    agrees: compare::agrees,
};
