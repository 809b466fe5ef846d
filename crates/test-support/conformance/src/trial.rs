//! Vectors of our own, tried in a test.

use dsh_json::Json;

use crate::Kind;
use crate::file::Vector;
use crate::report::Judged;
use crate::run::judge;

/// What a vector came to.
pub(crate) struct Tried {
    /// The rule that takes it.
    pub(crate) rule: Option<&'static str>,
    pub(crate) passes: bool,
    /// How our output differs, or what is wrong with the vector.
    pub(crate) said: String,
}

/// Each row: the kind, the input, the recorded output, and the rule that takes it. All pass.
pub(crate) fn check(rows: &[(&'static Kind, &str, &str, Option<&str>)]) {
    for (kind, input, output, rule) in rows {
        let tried = tried(kind, input, output);
        assert_eq!((tried.rule, tried.passes), (*rule, true), "{} {input}\n{}", kind.name, tried.said);
    }
}

pub(crate) fn tried(kind: &'static Kind, input: &str, output: &str) -> Tried {
    let vector = Vector {
        kind: kind.name.to_owned(),
        input: Json::parse(input).unwrap(),
        output: Json::parse(output).unwrap(),
        input_text: input.to_owned(),
        refused: None,
    };
    match judge(&vector) {
        Err(fault) => Tried { rule: None, passes: false, said: fault.to_string() },
        Ok(Judged { rule, difference }) => Tried {
            rule: rule.map(|rule| rule.name),
            passes: difference.is_none(),
            said: difference.map_or_else(String::new, |(expected, got)| format!("got {got}\nnot {expected}")),
        },
    }
}
