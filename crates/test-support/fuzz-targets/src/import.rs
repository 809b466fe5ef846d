//! Foreign schemas (design §4.13): whatever they say, the import is of the subset, within its bounds, the same each time,
//! and takes what the foreign schema takes.

use dsh_json::Json;
use dsh_json_schema::{Fate, ImportError, ImportLimits, Imported, ReportEntry, Schema};

use crate::{Met, violations};

/// Values of one input that are judged.
const VALUES: usize = 8;
/// An imported schema is never larger, whatever the limits say.
const MOST_BYTES: usize = 1 << 20;
/// What a note, a keyword and a path in a report may have, in characters; one more says that there was more.
const NOTE: usize = 120 + 1;
const PATH: usize = 480 + 1;

/// The bytes are a schema, or `[schema, value, …]`.
pub(crate) fn import(bytes: &[u8]) -> Met {
    let Some(json) = str::from_utf8(bytes).ok().and_then(|text| Json::parse(text).ok()) else {
        return Met::Refused;
    };
    let (foreign, values) = json.as_array().and_then(<[Json]>::split_first).unwrap_or((&json, &[]));
    let mut taken = false;
    for limits in [ImportLimits::default(), narrow()] {
        for params in [false, true] {
            if let Some(imported) = imported(foreign, &limits, params) {
                taken = true;
                for value in values.iter().take(VALUES) {
                    judged(&imported, value, params);
                }
            }
        }
    }
    Met::taken(taken)
}

/// Limits that small inputs meet.
fn narrow() -> ImportLimits {
    ImportLimits {
        depth: 3,
        nodes: 40,
        steps: 60,
        alternatives: 2,
        literals: 3,
        text: 24,
        bytes: 600,
        entries: 4,
        judged_depth: 6,
        judged_nodes: 40,
    }
}

fn imported(foreign: &Json, limits: &ImportLimits, params: bool) -> Option<Imported> {
    let import = if params { Schema::import_params } else { Schema::import };
    let imported = match import(foreign, limits) {
        Ok(imported) => imported,
        Err(error) => {
            let is_schema = foreign.as_object().is_some() || foreign.as_bool().is_some();
            let expected = match &error {
                ImportError::NotASchema { .. } => !is_schema,
                ImportError::RootNotObject { .. } => params && is_schema,
                ImportError::Refused(_) | _ => false,
            };
            assert!(expected, "{error:?}");
            return None;
        }
    };
    let product = imported.schema().json();
    let text = product.to_text();
    assert!(Schema::new(product).is_ok_and(|same| same == *imported.schema()), "{text}");
    assert!(text.len() <= MOST_BYTES.max(2 * limits.bytes), "{} bytes", text.len());
    assert!(!params || product.get("type").and_then(Json::as_str) == Some("object"), "{text}");
    reported(&imported, limits);

    let again = import(foreign, limits).unwrap_or_else(|error| panic!("the second import: {error}"));
    assert_eq!(again.schema().json().to_text(), text);
    assert_eq!(again.report(), imported.report());
    let settled = import(product, &ImportLimits::default()).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(settled.report().is_exact() && settled.schema() == imported.schema(), "{text}\n{settled:?}");
    Some(imported)
}

fn reported(imported: &Imported, limits: &ImportLimits) {
    let report = imported.report();
    let counted: usize =
        [Fate::Enforced, Fate::Described, Fate::Dropped].into_iter().map(|fate| report.count(fate)).sum();
    assert!(report.entries().len() <= limits.entries);
    assert_eq!(report.entries().len() + report.truncated(), counted);
    for entry in report.entries() {
        let characters = |text: &str| text.chars().count();
        assert!(characters(entry.path()) <= PATH, "{entry:?}");
        assert!(characters(entry.keyword()).max(characters(entry.note())) <= NOTE, "{entry:?}");
    }
    assert!(!report.to_string().is_empty());
    assert!(!report.is_exact() || imported.original().is_none() && imported.unchecked().is_none());
    assert!(report.is_exact() || imported.original().is_some() != imported.unchecked().is_some());
}

fn judged(imported: &Imported, value: &Json, params: bool) {
    let schema = imported.schema();
    let own = schema.is_valid(value);
    let valid = imported.is_valid(value);
    let found = imported.violations_up_to(value, "value", 2);
    violations::bounded(&found, 2);
    assert_eq!(valid, found.is_empty(), "{value}: {found}");
    let Some(original) = imported.original() else {
        assert_eq!(own, valid);
        return;
    };
    let foreign = original.is_valid(value);
    assert_eq!(valid, own && foreign);
    assert_eq!(foreign, original.violations(value, "value", 1).is_empty(), "{value}");
    let narrows =
        imported.report().truncated() > 0 || imported.report().entries().iter().any(ReportEntry::narrows);
    let of_kind = !params || value.as_object().is_some();
    assert!(
        own || !foreign || narrows || !of_kind,
        "{} refuses {value}\n{}",
        schema.json(),
        imported.report()
    );
}
