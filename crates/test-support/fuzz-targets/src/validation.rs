//! Values judged by a schema of the subset (spec 04 §2.4, §2.5): the fast judge, the slow one and the standard agree, and
//! every list keeps to its cap.

use dsh_json::Json;
use dsh_json_schema::Schema;

use crate::{Met, judge, violations};

/// Values of one input that are judged.
const VALUES: usize = 8;

/// The bytes are `[schema, value, …]`.
pub(crate) fn validation(bytes: &[u8]) -> Met {
    let parsed = str::from_utf8(bytes).ok().and_then(|text| Json::parse(text).ok());
    let Some((json, values)) = parsed.as_ref().and_then(Json::as_array).and_then(<[Json]>::split_first)
    else {
        return Met::Refused;
    };
    let Ok(schema) = Schema::new(json) else { return Met::Refused };
    let standard = judge::of(json);
    for value in values.iter().take(VALUES) {
        let valid = schema.is_valid(value);
        for root in ["", "value"] {
            let found = violations::listed_alike(|cap| schema.violations_up_to(value, root, cap));
            assert_eq!(valid, found.is_empty(), "{value}: {found}");
            assert!(found.iter().all(|violation| violation.path().starts_with(root)), "{found}");
        }
        assert_eq!(schema.violations(value, ""), schema.violations_up_to(value, "", 32));
        if let Some(expected) = standard.as_ref().and_then(|standard| judge::takes(standard, value)) {
            assert_eq!(valid, expected, "the standard disagrees: {json} on {value}");
        }
    }
    Met::taken(!values.is_empty())
}
