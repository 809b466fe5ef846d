//! Whether what a call is given can fit its schema.

use dsh_json::Json;
use dsh_json_schema::{Schema, Violation, ViolationKind, nearest};
use oxc_ast::ast::{CallExpression, Expression};
use oxc_span::GetSpan as _;

use super::Finding;
use super::literal::{place, plain, read};

/// Violations of one call that are shown.
const SHOWN: usize = 3;

/// What is certainly wrong with the argument of a call of `function`. Further arguments are ignored, as they are at the call.
pub(super) fn misfit(call: &CallExpression<'_>, schema: &Schema, function: &str) -> Option<Finding> {
    let Some(first) = call.arguments.first() else {
        let what = format!("`{function}` needs an argument: pass {}", wanted(schema));
        return Some(Finding { at: call.span.end.saturating_sub(1), what });
    };
    let argument = first.as_expression()?;
    let literal = read(argument)?;
    if schema.is_valid(&literal.value) {
        return None;
    }
    let violations = schema.violations(&literal.value, "");
    let certain: Vec<_> = violations
        .iter()
        .filter_map(|violation| {
            let at = place(argument, violation).or(literal.whole.then_some(argument.span().start));
            Some((at?, violation))
        })
        .collect();
    let at = certain.first()?.0;
    let shown: Vec<_> =
        certain.iter().take(SHOWN).map(|(_, violation)| described(violation, argument, schema)).collect();
    let more = match certain.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Some(Finding { at, what: format!("the argument does not fit `{function}`: {}{more}", shown.join("; ")) })
}

/// The object to pass where there is none.
fn wanted(schema: &Schema) -> String {
    let required = schema.json().get("required").and_then(Json::as_array).unwrap_or_default();
    let names: Vec<_> = required.iter().filter_map(Json::as_str).collect();
    if names.is_empty() {
        "an object such as {}".to_owned()
    } else {
        format!("an object with {}", names.join(", "))
    }
}

fn described(violation: &Violation, argument: &Expression<'_>, schema: &Schema) -> String {
    let slip = (violation.kind() == ViolationKind::MissingRequired)
        .then(|| slip(violation.path(), argument, schema));
    match slip.flatten() {
        Some(slip) => format!("{violation}, or rename `{slip}`"),
        None => violation.to_string(),
    }
}

/// The property that may have been meant for a missing one, where the schema is open and its validator does not say.
fn slip<'a>(missing: &str, argument: &Expression<'a>, schema: &Schema) -> Option<&'a str> {
    let Expression::ObjectExpression(object) = argument.get_inner_expression() else { return None };
    if schema.json().get("additionalProperties").and_then(Json::as_bool) == Some(false) {
        return None;
    }
    let declared = schema.json().get("properties")?;
    declared.get(missing)?;
    let keys = object.properties.iter().filter_map(plain).map(|(key, _)| key.name);
    nearest(missing, keys.filter(|key| declared.get(key).is_none()))
}
