//! The kinds of spec 05: types, and the declarations of tools.

mod asked;
mod rules;
mod said;
#[cfg(test)]
mod tests;

use crate::Kind;
use crate::file::Vector;

pub(crate) const TS_RENDER: Kind = kind("ts-render");
pub(crate) const PY_RENDER: Kind = kind("py-render");
pub(crate) const TYPE_CASES: Kind = kind("type-cases");
pub(crate) const SDK_CASES: Kind = kind("sdk-cases");

const fn kind(name: &'static str) -> Kind {
    let run = |vector: &Vector| said::said(&vector.kind, &asked::asked(vector)?);
    Kind { name, rules: &rules::RULES, lacks: || None, run, agrees: said::agrees }
}
