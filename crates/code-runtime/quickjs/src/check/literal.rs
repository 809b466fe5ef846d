//! Values that are written out in a program, as a call would bring them across; and the places of their parts.

use dsh_json::{Json, Number, Object};
use dsh_json_schema::{Violation, ViolationKind};
use oxc_ast::ast::{
    ArrayExpression, Expression, ObjectExpression, ObjectPropertyKind, PropertyKey, PropertyKind,
};
use oxc_span::GetSpan as _;
use oxc_syntax::operator::UnaryOperator;

/// A value that is written out, at least in part.
pub(super) struct Literal {
    /// The value. What is not known of it is a text or is not there; [`place`] tells what of a judgement is certain.
    pub(super) value: Json,
    /// Whether all of it is known.
    pub(super) whole: bool,
}

/// Reads an expression; `None` when nothing of it is known.
pub(super) fn read(expression: &Expression<'_>) -> Option<Literal> {
    let mut whole = true;
    let value = value(expression, &mut whole)?;
    Some(Literal { value, whole })
}

/// What stands for what is not known. Texts are the most common arguments.
fn stand_in() -> Json {
    Json::from("")
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest of the language has no value yet")]
fn value(expression: &Expression<'_>, whole: &mut bool) -> Option<Json> {
    match expression.get_inner_expression() {
        Expression::NullLiteral(_) => Some(Json::Null),
        Expression::BooleanLiteral(literal) => Some(literal.value.into()),
        Expression::NumericLiteral(literal) => number(literal.value),
        Expression::BigIntLiteral(literal) => integer(literal.value.as_str()),
        Expression::StringLiteral(literal) => {
            (!literal.lone_surrogates).then(|| literal.value.as_str().into())
        }
        Expression::TemplateLiteral(literal) => match literal.quasis.as_slice() {
            [only] if !only.lone_surrogates => only.value.cooked.map(|text| text.as_str().into()),
            _ => None,
        },
        Expression::UnaryExpression(unary) if unary.operator == UnaryOperator::UnaryNegation => {
            match unary.argument.get_inner_expression() {
                Expression::NumericLiteral(literal) => number(-literal.value),
                Expression::BigIntLiteral(literal) => integer(&format!("-{}", literal.value)),
                _ => None,
            }
        }
        Expression::ArrayExpression(array) => Some(items(array, whole)),
        Expression::ObjectExpression(object) => Some(members(object, whole)),
        _ => None,
    }
}

/// As the engine's doubles cross.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked, the fraction is zero")]
fn number(value: f64) -> Option<Json> {
    /// 2^53, the largest integer up to which a double holds each.
    const MAX_SAFE: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= MAX_SAFE && !(value == 0.0 && value.is_sign_negative()) {
        return Some(Json::Number(Number::from(value as i64)));
    }
    Number::from_f64(value).ok().map(Json::Number)
}

/// As the engine's `BigInt`s cross.
fn integer(digits: &str) -> Option<Json> {
    let small = digits.parse::<i64>().map(Number::from);
    small.or_else(|_| digits.parse::<u64>().map(Number::from)).ok().map(Json::Number)
}

/// The elements before the first whose place is not known.
fn items(array: &ArrayExpression<'_>, whole: &mut bool) -> Json {
    let mut items = Vec::with_capacity(array.elements.len());
    for element in &array.elements {
        let Some(element) = element.as_expression() else {
            *whole = false;
            break;
        };
        items.push(value(element, whole).unwrap_or_else(|| {
            *whole = false;
            stand_in()
        }));
    }
    items.into()
}

fn members(object: &ObjectExpression<'_>, whole: &mut bool) -> Json {
    let mut members = Object::with_capacity(object.properties.len());
    for property in &object.properties {
        let Some((key, written)) = plain(property) else {
            *whole = false;
            continue;
        };
        let written = value(written, whole).unwrap_or_else(|| {
            *whole = false;
            stand_in()
        });
        members.insert(key.name, written);
    }
    members.into()
}

/// A key of an object that is written out.
pub(super) struct Key<'a> {
    pub(super) name: &'a str,
    at: u32,
}

/// The key and value of a property that is what it looks like: not spread, computed, inherited or code.
pub(super) fn plain<'x, 'a>(property: &'x ObjectPropertyKind<'a>) -> Option<(Key<'a>, &'x Expression<'a>)> {
    let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
    let name = if let PropertyKey::StaticIdentifier(identifier) = &property.key {
        identifier.name.as_str()
    } else if let PropertyKey::StringLiteral(text) = &property.key
        && !text.lone_surrogates
    {
        text.value.as_str()
    } else {
        return None;
    };
    let ordinary = property.kind == PropertyKind::Init && !property.method && !property.computed;
    let key = Key { name, at: property.key.span().start };
    (ordinary && name != "__proto__").then_some((key, &property.value))
}

/// Where in a literal that is not whole a violation of its value is; `None` when it hangs on what is not known.
pub(super) fn place(expression: &Expression<'_>, violation: &Violation) -> Option<u32> {
    let search = Search { kind: violation.kind(), path: violation.path() };
    let whole = (search.path == WHOLE).then(|| search.here(expression));
    match (search.at(expression, 0), whole) {
        (Sight::Unsure, _) | (_, Some(None)) => None,
        (Sight::At(at), _) => Some(at),
        (Sight::Nothing, whole) => whole.flatten(),
    }
}

/// The path of the whole argument, which a member may have, too.
const WHOLE: &str = "arguments";

/// The search for what a path leads to. A path does not tell a member from a key with a dot, so there may be several.
struct Search<'v> {
    kind: ViolationKind,
    path: &'v str,
}

enum Sight {
    Nothing,
    Unsure,
    At(u32),
}

impl Search<'_> {
    /// Looks into a part that the first `read` bytes of the path lead to.
    fn at(&self, expression: &Expression<'_>, read: usize) -> Sight {
        let rest = self.path.get(read..).unwrap_or_default();
        if rest.is_empty() && read > 0 {
            return self.here(expression).map_or(Sight::Unsure, Sight::At);
        }
        let inner = expression.get_inner_expression();
        if let Expression::ObjectExpression(object) = inner {
            return self.within(object, read);
        }
        let Expression::ArrayExpression(array) = inner else { return Sight::Unsure };
        let found = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let Some((index, after)) = found else { return Sight::Nothing };
        let element = index.parse().ok().and_then(|index: usize| array.elements.get(index));
        match element.and_then(|element| element.as_expression()) {
            Some(element) => self.at(element, self.path.len() - after.len()),
            None => Sight::Nothing,
        }
    }

    fn within(&self, object: &ObjectExpression<'_>, read: usize) -> Sight {
        let odd = object.properties.iter().rposition(|property| plain(property).is_none());
        if odd.is_some() && self.kind == ViolationKind::MissingRequired {
            return Sight::Unsure;
        }
        let mut sight = Sight::Nothing;
        for (n, property) in object.properties.iter().enumerate() {
            let Some((key, value)) = plain(property) else { continue };
            if key.name.is_empty() {
                // A path does not show it.
                return Sight::Unsure;
            }
            let Some(next) = self.step(read, key.name) else { continue };
            let found = if next == self.path.len() && self.kind == ViolationKind::UndeclaredProperty {
                Sight::At(key.at)
            } else if odd.is_some_and(|odd| n < odd) {
                // What comes later may have replaced it.
                Sight::Unsure
            } else {
                self.at(value, next)
            };
            match found {
                Sight::Nothing => {}
                Sight::Unsure => return Sight::Unsure,
                Sight::At(_) if next == self.path.len() => sight = Sight::At(key.at),
                Sight::At(at) => sight = Sight::At(at),
            }
        }
        if matches!(sight, Sight::Nothing) && self.kind == ViolationKind::MissingRequired {
            return Sight::At(object.span.start);
        }
        sight
    }

    /// How much of the path is read when it leads to this key from here.
    fn step(&self, read: usize, key: &str) -> Option<usize> {
        let rest = self.path.get(read..)?;
        let rest = if read == 0 { rest } else { rest.strip_prefix('.')? };
        let rest = rest.strip_prefix(key)?;
        (rest.is_empty() || rest.starts_with(['.', '['])).then(|| self.path.len() - rest.len())
    }

    /// The place of the part itself, if what is said of it holds whatever is not known.
    fn here(&self, expression: &Expression<'_>) -> Option<u32> {
        let literal = read(expression)?;
        let depends = matches!(self.kind, ViolationKind::OneofMismatch | ViolationKind::ValueTooLarge);
        (literal.whole || !depends).then(|| expression.span().start)
    }
}
