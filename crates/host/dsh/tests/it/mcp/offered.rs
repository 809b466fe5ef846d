//! What is offered depends on what the client can do.

use dsh_json::{Json, object};

use super::raw::Raw;
use crate::world::World;

/// The properties of `write`, and what a program is told of it, for a client with these capabilities.
fn offered(capabilities: Json, arguments: &[&str]) -> (Vec<String>, bool) {
    let world = World::new();
    let mut raw = Raw::with(&world, arguments);
    raw.begin(capabilities);
    raw.ask(1, "tools/list", object! {});
    let answer = raw.answer();
    let tools = answer.get("result").unwrap().get("tools").unwrap().as_array().unwrap();
    let tool = |name: &str| tools.iter().find(|tool| tool.get("name") == Some(&name.into())).unwrap();
    let schema = tool("write").get("inputSchema").unwrap().get("properties").unwrap();
    let properties = schema.as_object().unwrap().keys().map(ToString::to_string).collect();
    let declared = tool("run_code").get("description").unwrap().as_str().unwrap();
    let told = declared.contains("sandbox_permissions");
    assert_eq!(raw.end().code, 0);
    (properties, told)
}

#[test]
fn more_reach_is_offered_where_somebody_can_be_asked_for_it() {
    let plain = vec!["file_path".to_owned(), "content".to_owned()];
    let wider: Vec<_> =
        plain.iter().cloned().chain(["sandbox_permissions".into(), "justification".into()]).collect();
    let forms = || object! { "elicitation": object! {} };
    assert_eq!(offered(forms(), &[]), (wider.clone(), true));
    assert_eq!(offered(object! {}, &[]), (plain.clone(), false));
    assert_eq!(
        offered(object! { "elicitation": object! { "url": object! {} } }, &[]),
        (plain.clone(), false)
    );
    // What the command line says comes before what the client can do.
    assert_eq!(offered(object! {}, &["--approve", "yes"]), (wider, true));
    assert_eq!(offered(forms(), &["--approve", "no"]), (plain, false));
}
