//! What a vector asks to be rendered, as we read it and as JavaScript did.

use std::sync::Arc;

use dsh_json::{Json, Number, Object};

use crate::Fault;
use crate::fault::required;
use crate::file::Vector;
use crate::schema::{field, text_field};

/// One schema, or the list of the tools.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Asked {
    Type(Json),
    Tools(Json),
}

/// What a vector asks for. Integers in the file itself were printed by JavaScript, and are the doubles that they look like.
pub(super) fn asked(vector: &Vector) -> Result<Asked, Fault> {
    let input = &vector.input;
    if vector.kind == super::TYPE_CASES.name {
        return text_field(input, "schema").map(Asked::Type);
    }
    if input.get("schema_text").is_some() {
        return field(input, "schema").map(Asked::Type);
    }
    if let Some(schema) = input.get("schema") {
        return Ok(Asked::Type(doubled(schema)));
    }
    Ok(Asked::Tools(doubled(required(input, "tools")?)))
}

impl Asked {
    /// The same as JavaScript reads it, if it reads it otherwise.
    pub(super) fn changed_by(&self, read: fn(&Json) -> Json) -> Option<Self> {
        let (before, after) = match self {
            Self::Type(schema) => (schema, Self::Type(read(schema))),
            Self::Tools(tools) => (tools, Self::Tools(read(tools))),
        };
        let (Self::Type(read) | Self::Tools(read)) = &after;
        // The text has the order of keys.
        let is_same = read.to_text() == before.to_text();
        (!is_same).then_some(after)
    }
}

/// Each integer as the nearest double, unless it is that.
pub(super) fn doubled(value: &Json) -> Json {
    match value {
        Json::Number(number) if !number.is_exact_f64() => {
            Number::from_f64(number.as_f64()).map_or_else(|_| value.clone(), Json::from)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
        Json::Array(items) => items.iter().map(doubled).collect(),
        Json::Object(members) => each(members, doubled).into(),
    }
}

/// Keys that are indices of arrays before all others, by number.
pub(super) fn hoisted(value: &Json) -> Json {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
        Json::Array(items) => items.iter().map(hoisted).collect(),
        Json::Object(members) => {
            let mut members: Vec<(Arc<str>, Json)> = each(members, hoisted).into_iter().collect();
            members.sort_by_key(|(key, _)| crate::schema::place(key));
            members.into_iter().collect::<Object>().into()
        }
    }
}

fn each(members: &Object, read: fn(&Json) -> Json) -> Object {
    members.iter().map(|(key, value)| (Arc::clone(key), read(value))).collect()
}
