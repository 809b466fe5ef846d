//! The recorded sequences under a policy (fixtures/vectors): codes, values, meta, and what is on the disk after them.

use std::path::Path;

use dsh_json::{Json, Object};

use crate::world::World;

#[tokio::test]
async fn recorded_sequences() {
    let mut ran = Vec::new();
    for tool in ["read", "write", "edit"] {
        let name = format!("../../../fixtures/vectors/{tool}-tool.json");
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
        let file = Json::parse(&text).unwrap();
        for vector in items(&file, "vectors") {
            let (input, output) = (vector.get("input").unwrap(), vector.get("output").unwrap());
            if input.get("observation_policy").is_some() {
                let id = vector.get("id").and_then(Json::as_str).unwrap();
                replay(id, tool, input, output).await;
                ran.push(id.to_owned());
            }
        }
    }
    assert_eq!(ran.len(), 8, "{ran:?}");
}

async fn replay(id: &str, tool: &str, input: &Json, output: &Json) {
    let world = World::guarded();
    let dir = world.file("").to_str().unwrap().trim_end_matches('/').to_owned();
    lay_out(&world, input.get("files").and_then(Json::as_object).unwrap());
    let mut results = items(output, "results").iter();
    for call in items(input, "calls") {
        if let Some(files) = call.get("external_write") {
            lay_out(&world, files.as_object().unwrap());
            continue;
        }
        let tool = call.get("tool").and_then(Json::as_str).unwrap_or(tool);
        let arguments = call.get("args").unwrap().to_text().replace("$DIR", &dir);
        let result = world.call(Some("me"), tool, Json::parse(&arguments).unwrap()).await;
        let expected = results.next().unwrap();
        assert_eq!(expected.get("isError"), Some(&Json::Bool(result.is_error())), "{id}: {result:?}");
        let code = expected.get("error").and_then(|error| error.get("code")).and_then(Json::as_str);
        assert_eq!(result.error().and_then(|error| error.code()), code, "{id}");
        for (key, found) in [("value", result.value()), ("meta", result.meta.as_ref())] {
            if let Some(expected) = expected.get(key) {
                assert_eq!(found.unwrap().to_text().replace(&dir, "$DIR"), expected.to_text(), "{id} {key}");
            }
        }
    }
    assert!(results.next().is_none(), "{id}");
    let after = output.get("files_after").and_then(Json::as_object);
    for (name, expected) in after.into_iter().flat_map(Object::iter) {
        let found = std::fs::read(world.file(name)).ok();
        let expected = expected.get("base64").and_then(Json::as_str);
        assert_eq!(found.map(|bytes| base64(&bytes)).as_deref(), expected, "{id} {name}");
    }
}

fn items<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json.get(key).and_then(Json::as_array).unwrap_or_default()
}

/// Files of text, and of no text for what is deleted.
fn lay_out(world: &World, files: &Object) {
    for (name, content) in files {
        match content.get("text").and_then(Json::as_str) {
            Some(text) => world.put(name, text),
            None => std::fs::remove_file(world.file(name)).unwrap(),
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let joined = (0..3).fold(0, |joined, at| joined << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let digit = DIGITS.get(joined >> (18 - 6 * at) & 63).copied().map(char::from);
            text.push(if at <= group.len() { digit.unwrap() } else { '=' });
        }
    }
    text
}
