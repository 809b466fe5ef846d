//! What there is to choose from (spec 10 §C.1, §C.5.2, 3, 5, 8, 9, 12).

use dsh_approval_policy::ApprovalPolicy::{Ask, Never};
use dsh_json::Json;
use dsh_permission_presets::{Current, PresetsConfig, PresetsError};
use dsh_sandbox_policy::SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};

use crate::scene::{COMPOSED, presets, presets_over, session};

const MORE: &str = r#"{"presets": {
    "quiet": {"sandbox": "workspace-write", "approval": "never", "description": "Nobody is asked."},
    "read-only": {"sandbox": "read-only", "approval": "never", "name": "Look"},
    "also-quiet": {"sandbox": "workspace-write", "approval": "never", "name": " "}
}, "defaultPreset": "quiet"}"#;

#[test]
fn what_is_configured_follows_and_a_known_name_is_replaced_in_its_place() {
    let presets = presets(MORE);
    let names: Vec<_> = presets.names().map(|name| &**name).collect();
    assert_eq!(names, ["workspace-write", "read-only", "danger-full-access", "quiet", "also-quiet"]);
    let replaced = presets.resolve("read-only").unwrap();
    assert_eq!((replaced.sandbox, replaced.approval), (ReadOnly, Never));
    assert_eq!(replaced.description, None);
}

#[test]
fn the_three_that_are_always_there() {
    let presets = presets("{}");
    let knobs: Vec<_> = presets
        .names()
        .map(|name| presets.resolve(name).unwrap())
        .map(|preset| (preset.sandbox, preset.approval))
        .collect();
    assert_eq!(knobs, [(WorkspaceWrite, Ask), (ReadOnly, Ask), (DangerFullAccess, Never)]);
}

#[test]
fn an_unknown_name_is_refused_with_those_that_there_are() {
    let presets = presets("{}");
    // Neither what is shown for a session without a preset, nor anything that maps of other kinds inherit.
    for name in ["custom", "toString", "__proto__", "", "Read-Only", "read-only "] {
        let unknown = presets.resolve(name).unwrap_err().to_string();
        assert_eq!(
            unknown,
            format!("there is no preset `{name}`; there are: workspace-write, read-only, danger-full-access")
        );
        assert!(presets.clone().with_choice(name).is_err(), "{name}");
        assert!(name == "custom" || presets.option_of(name).is_err(), "{name}");
        let session = session();
        assert!(presets.set(&session, name).is_err() && session.is_empty(), "{name}");
    }
}

#[test]
fn the_default_is_the_first_that_fits_what_holds_where_nothing_is_said() {
    for (composed, default) in [
        ((ReadOnly, Ask), "read-only"),
        ((WorkspaceWrite, Ask), "workspace-write"),
        ((DangerFullAccess, Never), "danger-full-access"),
    ] {
        assert_eq!(**presets_over("{}", composed).unwrap().default_preset(), *default);
    }
    let twins = r#"{"presets": {"b": {"sandbox": "read-only", "approval": "never"},
                                "a": {"sandbox": "read-only", "approval": "never"}}}"#;
    assert_eq!(**presets_over(twins, (ReadOnly, Never)).unwrap().default_preset(), *"b");
}

#[test]
fn a_default_that_is_configured_needs_no_fitting_preset() {
    let presets = presets_over(r#"{"defaultPreset": "workspace-write"}"#, (DangerFullAccess, Ask)).unwrap();
    assert_eq!(**presets.default_preset(), *"workspace-write");
    assert_eq!(presets.current(&session()), Current::Custom);
}

#[test]
fn what_can_not_be_used_is_refused_when_it_is_read() {
    let preset = r#"{"sandbox": "read-only", "approval": "ask"}"#;
    let refused = |config: &str, composed| presets_over(config, composed).unwrap_err();
    let custom = refused(&format!(r#"{{"presets": {{"custom": {preset}}}}}"#), COMPOSED);
    let unnamed = refused(&format!(r#"{{"presets": {{"": {preset}}}}}"#), COMPOSED);
    let blank = refused(&format!(r#"{{"presets": {{" ": {preset}}}}}"#), COMPOSED);
    let unknown = refused(r#"{"defaultPreset": "all"}"#, COMPOSED);
    let not_custom = refused(r#"{"defaultPreset": "custom"}"#, COMPOSED);
    let none = refused("{}", (WorkspaceWrite, Never));
    assert_eq!(
        (&custom, &unnamed, &blank),
        (&PresetsError::Custom, &PresetsError::Unnamed, &PresetsError::Unnamed)
    );
    let told = [custom, unnamed, unknown, not_custom, none].map(|error| error.to_string());
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn options_as_people_see_them() {
    let presets = presets(MORE);
    let mut shown: Vec<_> = presets.names().map(|name| presets.option_of(name).unwrap()).collect();
    shown.push(presets.option_of("custom").unwrap());
    let lines: Vec<_> = shown
        .iter()
        .map(|option| {
            format!("{} | {} | {}", option.value, option.name, option.description.as_deref().unwrap_or("-"))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn what_is_no_configuration_is_refused() {
    let read = |text: &str| Json::parse(text).unwrap().read::<PresetsConfig>();
    assert_eq!(read("{}").unwrap(), PresetsConfig::default());
    for bad in [
        r#"{"default": "x"}"#,
        r#"{"presets": {"x": {"sandbox": "read-only"}}}"#,
        r#"{"presets": {"x": {"approval": "ask"}}}"#,
        r#"{"presets": {"x": {"sandbox": "all", "approval": "ask"}}}"#,
        r#"{"presets": {"x": {"sandbox": "read-only", "approval": "always"}}}"#,
        r#"{"presets": {"x": {"sandbox": "read-only", "approval": "ask", "label": "X"}}}"#,
        r#"{"presets": ["x"]}"#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn presets_come_as_json_has_them_and_sorted_from_toml() {
    let names = |config: PresetsConfig| config.presets.keys().cloned().collect::<Vec<_>>();
    let json = r#"{"presets": {"b": {"sandbox": "read-only", "approval": "ask"},
                               "a": {"sandbox": "read-only", "approval": "never", "name": "A"}}}"#;
    assert_eq!(names(Json::parse(json).unwrap().read().unwrap()), ["b".into(), "a".into()]);
    let toml = r#"
        defaultPreset = "b"
        [presets.b]
        sandbox = "read-only"
        approval = "ask"
        [presets.a]
        sandbox = "danger-full-access"
        approval = "never"
        description = "Everything."
    "#;
    assert_eq!(names(toml::from_str(toml).unwrap()), ["a".into(), "b".into()]);
}
