//! What tools may reach: the sandbox mode and the read roots.

use crate::world::{World, call};

#[tokio::test]
async fn read_roots_open_directories_beyond_the_workspace() {
    let world = World::new();
    world.put("home/notes/a.txt", "of the home directory");
    world.put("shared/b.txt", "beside the configuration");
    world.put("home/secret.txt", "closed");
    let harness = world.configured("readRoots = ['~/notes', '../shared']").unwrap();
    let read = async |name: &str| {
        let path = world.path(name);
        call(&harness, "read", &format!(r#"{{"file_path": "{}"}}"#, path.display())).await
    };
    for (name, line) in
        [("home/notes/a.txt", "1: of the home directory"), ("shared/b.txt", "1: beside the configuration")]
    {
        let (shown, code) = read(name).await;
        assert!(code.is_none() && shown.lines().any(|shown| shown == line), "{shown}");
    }
    assert_eq!(read("home/secret.txt").await.1.as_deref(), Some("FS_SANDBOX_DENIED"));
}

#[tokio::test]
async fn the_sandbox_mode_decides_what_may_be_written() {
    // mode, inside, outside
    let denied = Some("FS_SANDBOX_DENIED".to_owned());
    let rows = [
        ("", None, denied.clone()),
        ("sandbox-policy.mode = 'read-only'", denied.clone(), denied.clone()),
        ("sandbox-policy.mode = 'workspace-write'", None, denied.clone()),
        ("permission-presets.defaultPreset = 'danger-full-access'", None, None),
        ("permission-presets.defaultPreset = 'read-only'", denied.clone(), denied.clone()),
    ];
    for (text, inside, outside) in rows {
        let world = World::new();
        let harness = world.configured(text).unwrap();
        for (file, expected) in [("root/in.txt", inside), ("out.txt", outside)] {
            let path = world.path(file);
            let arguments = format!(r#"{{"file_path": "{}", "content": "x"}}"#, path.display());
            let (_, code) = call(&harness, "write", &arguments).await;
            assert_eq!((&code, path.exists()), (&expected, expected.is_none()), "{text} {file}");
        }
    }
}

#[tokio::test]
async fn the_sessions_own_files_are_not_for_tools_to_change() {
    let world = World::new();
    let settings = world.put("root/real.toml", "sandbox-policy.mode = 'workspace-write'");
    world.put("root/sub/dsh.toml", "mode = 'native'");
    std::os::unix::fs::symlink("real.toml", world.file("dsh.toml")).unwrap();
    let log = world.file("logs/s.jsonl");
    let harness = world.builder().build().unwrap();
    let session = harness.open_session(&dsh_harness::SessionChoice::File(log.clone())).unwrap();
    std::os::unix::fs::symlink("logs/s.jsonl", world.file("alias")).unwrap();
    for name in ["dsh.toml", "real.toml", "sub/dsh.toml", "new/dsh.toml", "logs/s.jsonl", "alias"] {
        let (_, code) =
            call(&harness, "write", &format!(r#"{{"file_path": "{name}", "content": "x"}}"#)).await;
        assert_eq!(code.as_deref(), Some("FS_SANDBOX_DENIED"), "{name}");
    }
    assert!(std::fs::read_to_string(settings).unwrap().contains("workspace-write"));
    assert!(std::fs::read_to_string(log).unwrap().starts_with("{\"type\":\"session\""));
    assert!(!world.file("new").exists());
    let (_, code) = call(&harness, "read", r#"{"file_path": "dsh.toml"}"#).await;
    assert_eq!(code, None);
    drop(session);
}

#[tokio::test]
async fn what_was_not_read_is_not_overwritten_unless_the_configuration_says_so() {
    // configuration, a write of a file that was not read
    let rows = [
        ("", Some("FS_NOT_OBSERVED")),
        ("observation-policy.maxTargets = 1", Some("FS_NOT_OBSERVED")),
        ("[observation-policy]\nenabled = false", None),
    ];
    for (text, expected) in rows {
        let world = World::new();
        let harness = world.configured(text).unwrap();
        let there = world.put("root/there.txt", "theirs");
        let write = async |name: &str| {
            call(&harness, "write", &format!(r#"{{"file_path": "{name}", "content": "x"}}"#)).await.1
        };
        assert_eq!(write("new.txt").await, None, "{text}");
        assert_eq!(write("there.txt").await.as_deref(), expected, "{text}");
        let kept = if expected.is_some() { "theirs" } else { "x" };
        assert_eq!(std::fs::read_to_string(there).unwrap(), kept, "{text}");
    }
}
