//! Edits as a model makes them.

use dsh_lifecycle::Cause;
use dsh_sandbox_policy::SandboxMode;
use dsh_tool_fs::FsToolsConfig;
use dsh_tools_core::{CallInput, Json, object};

use crate::world::World;

fn edit(path: &str, old: &str, new: &str) -> Json {
    object! { "file_path": path, "old_string": old, "new_string": new }
}

#[tokio::test]
async fn what_an_edit_says() {
    let world = World::new();
    world.put("a.rs", "fn main() {\n\tlet a = 1;\n}\n\nfn other() {\n\tlet a = 1;\n}\n");
    world.put("latin", b"caf\xe9 cr\xe8me\n");
    world.put("d/x", "");
    std::os::unix::fs::symlink("/etc/passwd", world.dir().join("out")).unwrap();
    let rows = [
        edit("a.rs", "", "x"),
        edit("a.rs", "a\nb", "a\r\nb"),
        edit(" ", "a", "b"),
        object! { "file_path": "a.rs", "old_string": "a", "new_string": "b", "justification": "so" },
        edit("none", "a", "b"),
        edit("d", "a", "b"),
        edit("out", "root", "toor"),
        edit("latin", "a", "b"),
        edit("a.rs", "fn main() {\n    let a = 1;\n}", "x"),
        edit("a.rs", "let a = 1;", "x"),
        edit("a.rs", "1: fn main() {\n2: \tlet a = 1;", "1: fn main() {\n2: \tlet b = 1;"),
        edit("a.rs", "fn other() { \n\tlet a", "fn other() { \n\tlet c"),
        object! { "file_path": "a.rs", "old_string": "fn ", "new_string": "pub fn ", "replace_all": true },
    ];
    let mut said = Vec::new();
    for arguments in rows {
        let text = world.text("edit", arguments.clone()).await;
        said.push(format!("{arguments}\n  {text}"));
    }
    insta::assert_snapshot!(said.join("\n"));
    let after = std::fs::read_to_string(world.dir().join("a.rs")).unwrap();
    assert_eq!(after, "pub fn main() {\n\tlet b = 1;\n}\n\npub fn other() {\n\tlet c = 1;\n}\n");
}

#[tokio::test]
async fn a_read_only_session_does_not_edit() {
    let world = World::with(SandboxMode::ReadOnly, FsToolsConfig::default());
    world.put("a", "x");
    let denied = world.call("edit", edit("a", "x", "y")).await;
    assert_eq!(denied.error().and_then(|error| error.code()), Some("FS_SANDBOX_DENIED"));
    assert_eq!(std::fs::read_to_string(world.dir().join("a")).unwrap(), "x");
}

#[tokio::test]
async fn edits_at_once_are_all_made() {
    let world = World::new();
    world.put("a", "one\r\ntwo\r\nthree\r\n");
    let (one, two, three) = tokio::join!(
        world.call("edit", edit("a", "one", "1")),
        world.call("edit", edit("a", "two", "2")),
        world.call("edit", edit("a", "three", "and\n3")),
    );
    assert!(!one.is_error() && !two.is_error() && !three.is_error(), "{three:?}");
    assert_eq!(std::fs::read_to_string(world.dir().join("a")).unwrap(), "1\r\n2\r\nand\r\n3\r\n");
}

#[tokio::test]
async fn a_cancelled_edit_touches_nothing() {
    let world = World::new();
    world.put("a", "x");
    let call = CallInput::new("c", "edit", edit("a", "x", "y"));
    call.cancel.cancel(Cause::User);
    let result = world.tools.execute(call).await;
    assert_eq!(result.error().and_then(|error| error.code()), Some("ABORTED_BEFORE_DISPATCH"));
    assert_eq!(std::fs::read_to_string(world.dir().join("a")).unwrap(), "x");
}
