//! `tools`, `plugins`, help.

use dsh_json::Json;

use crate::world::World;

#[test]
fn tools_are_listed() {
    let world = World::new();
    insta::assert_snapshot!("tools", world.dsh(["tools"]).done().out);
    let tools = world.dsh(["tools", "--json"]).done().json();
    let names: Vec<_> =
        tools.as_array().unwrap().iter().map(|tool| tool.get("name").unwrap().as_str().unwrap()).collect();
    assert_eq!(names, ["read", "write", "edit", "glob", "grep", "run_code"]);
    for tool in tools.as_array().unwrap() {
        let keys: Vec<_> = tool.as_object().unwrap().keys().map(|key| &**key).collect();
        assert_eq!(keys, ["name", "description", "parameters", "output"]);
        assert_eq!(tool.get("parameters").unwrap().get("type").unwrap().as_str(), Some("object"));
    }
}

#[test]
fn plugins_are_shown_with_their_configuration() {
    let world = World::new();
    world.file("dsh.toml", "readRoots = [\"ws\"]\n\n[sandbox-policy]\nmode = \"read-only\"\n");
    let shown = world.dsh(["plugins", "--json"]).done().json();
    let text = |key: &str| shown.get(key).unwrap().as_str().unwrap().to_owned();
    assert_eq!(text("configFile"), world.path("dsh.toml").display().to_string());
    assert_eq!(text("root"), world.path("ws").display().to_string());
    assert_eq!((text("mode"), text("sandbox")), ("both".to_owned(), "read-only".to_owned()));
    let roots = shown.get("readRoots").unwrap().as_array().unwrap();
    assert!(roots.contains(&world.path("ws").display().to_string().into()), "{shown}");
    let plugins = shown.get("plugins").unwrap().as_array().unwrap();
    let summary = plugins.iter().find(|plugin| plugin.get("name") == Some(&Json::from("tool-fs"))).unwrap();
    assert_eq!(summary.get("summary").unwrap().as_str(), Some("the tools `read`, `write` and `edit`"));

    let text = world.dsh(["plugins"]).done().out;
    assert!(text.contains("read-only") && text.contains("tool-fs-search"), "{text}");
}

#[test]
fn help_names_commands_and_options() {
    let world = World::new();
    insta::assert_snapshot!("help", world.dsh(["--help"]).done().out);
}
