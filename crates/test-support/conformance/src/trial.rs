//! Vectors of our own, tried in a test.

use dsh_json::{Json, object};

use crate::file::Vector;
use crate::{Fault, Kind};

/// What a vector came to.
pub(crate) struct Tried {
    /// The rule that takes it.
    pub(crate) rule: Option<&'static str>,
    pub(crate) passes: bool,
    /// Our output, or what is wrong with the vector.
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
    let wrong = |fault: Fault| Tried { rule: None, passes: false, said: fault.to_string() };
    let mut taken = None;
    for rule in kind.rules {
        match (rule.expected)(&vector) {
            Ok(None) => {}
            Ok(Some(ours)) => {
                taken = Some((rule.name, ours));
                break;
            }
            Err(fault) => return wrong(fault),
        }
    }
    let got = match (kind.run)(&vector) {
        Err(Fault::Refused(code)) => object! { "refused": code },
        Err(fault) => return wrong(fault),
        Ok(got) => got,
    };
    let expected = taken.as_ref().map_or(&vector.output, |(_, ours)| ours);
    let passes = (kind.agrees)(&got, expected);
    Tried { rule: taken.as_ref().map(|(name, _)| *name), passes, said: format!("got {got}\nnot {expected}") }
}
