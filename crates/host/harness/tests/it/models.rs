//! Which model answers.

use std::path::Path;

use dsh_harness::{Environment, Harness, ModelChoice, Provider, Providers};

use crate::world::{World, config};

const HELLO: &str = r#"{"steps": [{"text": "Hello."}]}"#;

#[test]
fn names_are_read_and_unknown_ones_are_refused() {
    let rows = [
        ("demo", Ok(ModelChoice::Demo)),
        ("script:a.json", Ok(ModelChoice::Script("a.json".into()))),
        ("deepseek", Ok(ModelChoice::Of(Provider::DeepSeek, None))),
        ("openai:gpt-x:y", Ok(ModelChoice::Of(Provider::OpenAi, Some("gpt-x:y".into())))),
        ("script:", Err("script:")),
        ("openai:", Err("openai:")),
        ("demo:x", Err("demo:x")),
        ("gpt", Err("gpt")),
        ("", Err("")),
    ];
    for (text, expected) in rows {
        let read = text.parse::<ModelChoice>().map_err(|error| error.to_string());
        let unknown = |text| {
            format!(
                "unknown model `{text}`; there are `deepseek[:NAME]`, `openai[:NAME]`, `script:FILE` and `demo`"
            )
        };
        assert_eq!(read, expected.map_err(unknown), "{text}");
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
            "$DIR/root/dsh.toml:1:13: model.use: unknown model `gpt`; there are `deepseek[:NAME]`, `openai[:NAME]`, `script:FILE` and `demo`",
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

/// What answers with these variables and this configuration.
fn answers_with(variables: &[(&str, &str)], text: &str) -> Result<String, String> {
    let world = World::new();
    let variable =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
    let environment = Environment { providers: Providers::read(variable), ..world.environment() };
    let builder = Harness::builder(environment).config(config(&world.file("dsh.toml"), text));
    builder.build().map(|harness| answers(&harness)).map_err(|error| world.shown(&error))
}

#[test]
fn a_key_is_enough_to_use_a_model_of_a_provider() {
    let [deepseek, openai] = ["DEEPSEEK_API_KEY", "OPENAI_API_KEY"].map(|name| (name, "sk-0123456789"));
    for (variables, text, expected) in [
        (vec![], "", "demo overview"),
        (vec![deepseek], "", "deepseek deepseek-chat"),
        (vec![openai], "", "openai gpt-4.1"),
        (vec![openai, deepseek], "", "deepseek deepseek-chat"),
        (vec![deepseek], "model.use = 'demo'", "demo overview"),
        (vec![openai], "model.use = 'openai:gpt-x'", "openai gpt-x"),
        (vec![("OPENAI_API_KEY", " ")], "", "demo overview"),
        // A server of one's own needs no key.
        (vec![], "[model]\nuse = 'openai:m'\nopenai.baseUrl = 'http://localhost:1/v1'\n", "openai m"),
        (vec![("OPENAI_BASE_URL", "http://localhost:1/v1")], "model.use = 'openai:m'", "openai m"),
    ] {
        assert_eq!(answers_with(&variables, text).as_deref(), Ok(expected), "{variables:?} {text}");
    }
}

#[test]
fn what_is_missing_for_a_model_of_a_provider_is_named_and_no_key_is_shown() {
    let key = ("OPENAI_API_KEY", "sk-secret-0123456789");
    for (variables, text, says) in [
        (vec![], "model.use = 'deepseek'", "set DEEPSEEK_API_KEY"),
        (vec![key, ("OPENAI_BASE_URL", "http://example.com/v1")], "", "allowPlainHttp"),
        (vec![("OPENAI_API_KEY", "sk-secret 0123")], "", "characters that no key has"),
        (vec![key], "model.openai.baseUrl = 'example.com'", "`baseUrl` can't be used"),
        (vec![key], "model.openai.idleTimeoutMs = 0", "idleTimeoutMs"),
        (vec![key], "model.openai.timeout = 1", "timeout"),
        (vec![key], "model.gpt = 1", "gpt"),
    ] {
        let told = answers_with(&variables, text).expect_err(text);
        assert!(told.contains(says) && !told.contains("sk-secret"), "{text}: {told}");
    }
}
