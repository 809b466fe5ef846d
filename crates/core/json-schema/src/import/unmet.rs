//! What the judge of a foreign schema says, in the words of our own violations.
#![expect(clippy::wildcard_enum_match_arm, reason = "the crate may learn keywords; they have words already")]

use dsh_json::Json;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};

use super::original::place;
use crate::path::{Path, Step};
use crate::violation::{Violation, ViolationKind, Violations};
use crate::words;

/// The longest piece of a pattern or a schema that a text shows, in characters.
const MAX_EXCERPT: usize = 120;
/// The most names that one error lists as violations of their own.
const MAX_NAMES: usize = 32;

/// Adds what an error says: one violation, or one for each name that it is about.
pub(super) fn add(
    found: &mut Violations,
    listed: usize,
    error: &ValidationError<'_>,
    value: &Json,
    root: &str,
) {
    let (path, at) = place(error, value, root);
    let member = |name: &str| {
        let mut member = Path::new(&path);
        member.push(Step::Key(name));
        member.render()
    };
    let named = |path: String| if path.is_empty() { "arguments".to_owned() } else { path };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let path = member(property.as_str().unwrap_or_default());
            let words = words::missing_required();
            found.add(listed, || Violation::new(ViolationKind::MissingRequired, path, None, words));
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for name in unexpected.iter().take(MAX_NAMES) {
                let words = "is not a known property; remove it".to_owned();
                found.add(listed, || {
                    Violation::new(ViolationKind::UndeclaredProperty, member(name), None, words)
                });
            }
        }
        kind => {
            let words = say(error, at);
            let (kind, arg) = match kind {
                ValidationErrorKind::Type { .. } => (ViolationKind::WrongType, None),
                other => (ViolationKind::UnmetKeyword, Some(other.keyword().into())),
            };
            found.add(listed, || Violation::new(kind, named(path), arg, words));
        }
    }
}

/// What is wrong with the value at the error's own place.
fn say(error: &ValidationError<'_>, at: &Json) -> String {
    use ValidationErrorKind as Kind;
    let found = || words::found(at);
    let must = |what: String| format!("must be {what}; found {}", found());
    let have = |least: &str, count: u64, one: &str, many: &str| {
        let thing = if count == 1 { one } else { many };
        format!("must have {least} {count} {thing}; found {}", length_of(at))
    };
    match error.kind() {
        Kind::Minimum { limit } => must(format!("at least {limit}")),
        Kind::Maximum { limit } => must(format!("at most {limit}")),
        Kind::ExclusiveMinimum { limit } => must(format!("more than {limit}")),
        Kind::ExclusiveMaximum { limit } => must(format!("less than {limit}")),
        Kind::MultipleOf { multiple_of } => must(format!("a multiple of {multiple_of}")),
        Kind::MinLength { limit } => have("at least", *limit, "character", "characters"),
        Kind::MaxLength { limit } => have("at most", *limit, "character", "characters"),
        Kind::MinItems { limit } => have("at least", *limit, "item", "items"),
        Kind::MaxItems { limit } => have("at most", *limit, "item", "items"),
        Kind::AdditionalItems { limit } => {
            have("at most", u64::try_from(*limit).unwrap_or(u64::MAX), "item", "items")
        }
        Kind::MinProperties { limit } => have("at least", *limit, "property", "properties"),
        Kind::MaxProperties { limit } => have("at most", *limit, "property", "properties"),
        Kind::UniqueItems => "must not have the same item twice; remove one".to_owned(),
        Kind::Pattern { pattern } => {
            format!("must match the pattern `{}`; found {}", words::shorten(pattern, MAX_EXCERPT), found())
        }
        Kind::Format { format } => {
            format!("must have the format {}; found {}", words::shorten(format, MAX_EXCERPT), found())
        }
        Kind::Enum { options } => format!("must be one of {}; found {}", excerpt(options), found()),
        Kind::Constant { expected_value } => {
            format!("must be exactly {}; found {}", excerpt(expected_value), found())
        }
        Kind::Type { kind } => {
            let names: Vec<&str> = match kind {
                TypeKind::Single(name) => vec![name.as_str()],
                TypeKind::Multiple(names) => names.iter().map(jsonschema::JsonType::as_str).collect(),
            };
            format!("must be of type {}; found {}", names.join(" or "), found())
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => closest(context, at),
        Kind::OneOfMultipleValid { context } => {
            let matched = context.iter().filter(|errors| errors.is_empty()).count();
            let forms = context.len();
            format!("matches {matched} of the {forms} allowed forms but must match exactly one")
        }
        Kind::Not { schema } => format!("must not fit {}; found {}", excerpt(schema), found()),
        Kind::FalseSchema => "is not allowed here; remove it".to_owned(),
        Kind::Contains => "must have an item that the description asks for".to_owned(),
        Kind::UnevaluatedItems { .. } => "has more items than are allowed; remove the last".to_owned(),
        Kind::PropertyNames { error } => {
            let name = error.instance().as_str().map(Json::from).unwrap_or_default();
            format!("has a property with a name that does not fit: it {}", say(error, &name))
        }
        Kind::ContentEncoding { content_encoding } => {
            format!("must be encoded as {}", words::shorten(content_encoding, MAX_EXCERPT))
        }
        Kind::ContentMediaType { content_media_type } => {
            format!("must be {}", words::shorten(content_media_type, MAX_EXCERPT))
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "can't be compared with its pattern; send a shorter string".to_owned()
        }
        other => format!("does not meet `{}` of the tool's own schema", other.keyword()),
    }
}

/// The alternative with the fewest errors, and its first one.
fn closest(branches: &[Vec<ValidationError<'static>>], at: &Json) -> String {
    let forms = u32::try_from(branches.len()).unwrap_or(u32::MAX);
    let depth = |error: &ValidationError<'_>| error.instance_path().segments().count();
    let closest = branches
        .iter()
        .enumerate()
        .filter(|(_, errors)| !errors.is_empty())
        .min_by_key(|(_, errors)| errors.len())
        .and_then(|(index, errors)| Some((index, errors.iter().max_by_key(|error| depth(error))?)));
    let closest = closest.map(|(index, error)| {
        let below: String = error.instance_path().as_str().into();
        let shown = words::shorten(below.trim_start_matches('/'), MAX_EXCERPT);
        let subject = if shown.is_empty() { "it".to_owned() } else { format!("`{shown}`") };
        (index, format!("{subject} {}", brief(error, at)))
    });
    words::no_branch(forms, closest)
}

/// What is wrong in a branch; its values are not looked up.
fn brief(error: &ValidationError<'_>, at: &Json) -> String {
    match error.kind() {
        ValidationErrorKind::Required { property } => format!("lacks {}", excerpt(property)),
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let name = unexpected.first().map_or("", String::as_str);
            format!("has the unknown property {}", words::quoted(name))
        }
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            "matches none of its own forms".to_owned()
        }
        _ => {
            let value = Json::from_serde_json(error.instance()).unwrap_or_else(|_| at.clone());
            say(error, &value)
        }
    }
}

fn excerpt(value: &serde_json::Value) -> String {
    words::shorten(&value.to_string(), MAX_EXCERPT)
}

fn length_of(value: &Json) -> String {
    match value {
        Json::String(text) => format!("{} in {}", text.chars().count(), words::quoted(text)),
        Json::Object(object) => object.len().to_string(),
        Json::Array(items) => items.len().to_string(),
        Json::Null | Json::Bool(_) | Json::Number(_) => words::found(value),
    }
}
