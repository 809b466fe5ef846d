//! Which model answers.

use std::path::Path;

use dsh_harness::{Harness, ModelChoice};

use crate::world::{World, config};

const HELLO: &str = r#"{"steps": [{"text": "Hello."}]}"#;

#[test]
fn names_are_read_and_unknown_ones_are_refused() {
    let rows = [
        ("demo", Ok(ModelChoice::Demo)),
        ("script:a.json", Ok(ModelChoice::Script("a.json".into()))),
        ("script:", Err("unknown model `script:`; this version has `demo` and `script:FILE`")),
        ("demo:x", Err("unknown model `demo:x`; this version has `demo` and `script:FILE`")),
        ("gpt", Err("unknown model `gpt`; this version has `demo` and `script:FILE`")),
        ("", Err("unknown model ``; this version has `demo` and `script:FILE`")),
    ];
    for (text, expected) in rows {
        let read = text.parse::<ModelChoice>().map_err(|error| error.to_string());
        assert_eq!(read, expected.map_err(str::to_owned), "{text}");
    }
}

#[test]
fn the_choice_of_the_caller_is_above_the_configuration_and_the_demo_below_both() {
    let world = World::new();
    let (asked, configured) = (world.put("asked.json", HELLO), world.put("root/configured.json", HELLO));
    let with = |text: &str, choice: Option<ModelChoice>| {
        let builder = world.builder().config(config(&world.file("dsh.toml"), text));
        let harness = match choice {
            Some(choice) => builder.model(choice),
            None => builder,
        };
        answers(&harness.build().unwrap())
    };
    let text = "model.use = 'script:configured.json'";
    assert_eq!(with("", None), "demo overview");
    assert_eq!(with(text, None), "script configured");
    assert_eq!(with(text, Some(ModelChoice::Script(asked))), "script asked");
    assert_eq!(with(text, Some(ModelChoice::Demo)), "demo overview");
    assert!(configured.exists());
}

#[test]
fn a_relative_script_lies_beside_the_configuration() {
    let world = World::new();
    world.put("etc/scripts/a.json", HELLO);
    world.put("home/b.json", HELLO);
    for (spec, name) in [("scripts/a.json", "script a"), ("~/b.json", "script b")] {
        let text = config(&world.path("etc/dsh.toml"), &format!("model.use = 'script:{spec}'"));
        assert_eq!(answers(&world.builder().config(text).build().unwrap()), name);
    }
    let based = ModelChoice::Script("a.json".into()).based(&world.environment(), Path::new("/base"));
    assert_eq!(based, ModelChoice::Script("/base/a.json".into()));
}

#[test]
fn what_is_no_model_is_refused_with_the_place() {
    let world = World::new();
    world.put("root/syntax.json", "{\"steps\": [}");
    world.put("root/shape.json", r#"{"steps": [{"txt": "Hello."}]}"#);
    let rows = [
        (
            "gpt",
            "$DIR/root/dsh.toml:1:13: model.use: unknown model `gpt`; this version has `demo` and `script:FILE`",
        ),
        (
            "script:none.json",
            "plugin `model`: failed to read the script $DIR/root/none.json: No such file or directory (os error 2)",
        ),
        (
            "script:syntax.json",
            "plugin `model`: $DIR/root/syntax.json: expected a value but found `}` at line 1 column 12 (byte 11), in $.steps[0]",
        ),
        ("script:shape.json", "plugin `model`: $DIR/root/shape.json: $.steps[0].txt: unknown field"),
    ];
    for (spec, expected) in rows {
        let error = world.configured(&format!("model.use = '{spec}'")).err().unwrap();
        assert_eq!(world.shown(&error), expected);
    }
}

#[test]
fn an_embedder_brings_a_model_of_its_own() {
    let world = World::new();
    let own = dsh_llm_script::ScriptedModel::from_text(r#"{"steps": []}"#).unwrap().named("mine");
    let harness = world.builder().own_model(std::sync::Arc::new(own)).build().unwrap();
    assert_eq!(answers(&harness), "script mine");
}

fn answers(harness: &Harness) -> String {
    let model = harness.host().model.get().unwrap();
    format!("{} {}", model.provider(), model.model())
}
