//! What holds for every list of violations (spec 04 §2.2, §2.5).

use dsh_json_schema::{JsonSchemaError, ViolationKind, Violations};

/// A violation takes less than that many characters.
const TEXT: usize = 500;
/// The most violations of a schema that are listed.
const LISTED: usize = 256;
/// Violations that the text of a list shows.
const SHOWN: usize = 32;

/// The bounds on a list, and on each text in it.
pub(crate) fn bounded(found: &Violations, cap: usize) {
    assert!(found.len() <= cap, "{} listed, {cap} at most", found.len());
    assert_eq!(found.iter().count(), found.len());
    assert!(found.truncated() == 0 || found.len() == cap, "some are counted while there was room");
    for violation in found {
        let text = violation.to_string();
        assert!(!violation.path().is_empty() && !violation.words().is_empty(), "{text}");
        assert!(text.chars().count() < TEXT, "{text}");
    }
    assert!(found.to_string().chars().count() < (SHOWN + 1) * (TEXT + 2));
}

/// The same list, however many of it are asked for.
pub(crate) fn listed_alike(list: impl Fn(usize) -> Violations) -> Violations {
    let all = list(usize::MAX);
    bounded(&all, usize::MAX);
    for cap in [0, 1, 2, SHOWN] {
        let some = list(cap);
        bounded(&some, cap);
        assert_eq!(some.len() + some.truncated(), all.len(), "with a cap of {cap}");
        assert!(some.iter().eq(all.iter().take(cap)), "with a cap of {cap}: {some}\n{all}");
    }
    // A text has no parts that are shared, so checking it never takes too many steps; where this is said, one judge found
    // something and the other nothing.
    assert!(all.iter().all(|violation| violation.kind() != ViolationKind::ValueTooLarge), "{all}");
    all
}

/// A refused schema says why.
pub(crate) fn refused(error: &JsonSchemaError) {
    bounded(error.violations(), LISTED);
    assert!(!error.violations().is_empty(), "{error}");
}
