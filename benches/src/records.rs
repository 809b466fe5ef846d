//! Rows of data, as a tool returns them.

use dsh_json_schema::{Node, Schema};
use dsh_tools_core::{Json, object};

/// `count` small records, no two the same.
pub fn records(count: u32) -> Result<Json, dsh_json::JsonError> {
    let record = |number: u32| {
        let score = Json::try_from(f64::from(number) / 7.0)?;
        let tag = match number % 3 {
            0 => "red",
            1 => "green",
            _ => "blue",
        };
        let name = format!("record-{number}");
        let active = number.is_multiple_of(2);
        Ok(object! { "id": number, "name": name, "score": score, "active": active, "tag": tag })
    };
    (0..count).map(record).collect::<Result<Vec<Json>, _>>().map(Json::from)
}

/// What each of them is: a closed object of five required properties.
pub fn record_schema() -> Node {
    Schema::object()
        .closed()
        .required("id", Schema::integer())
        .required("name", Schema::string())
        .required("score", Schema::number())
        .required("active", Schema::boolean())
        .required("tag", Schema::string().enumeration(["red", "green", "blue"]))
        .into()
}
