//! What a write says, and what is made of a stored one.

use dsh_json::Json;
use dsh_lifecycle::Slot;
use dsh_sandbox_policy::{Reach, SandboxMode, SandboxPolicy};
use dsh_tools_core::{FileDiff, object};

use super::*;

fn tool() -> Write {
    let policy = SandboxPolicy::new(SandboxMode::ReadOnly, "/w", []);
    let (fs, intents, spill) = (Slot::empty(), Slot::empty(), Slot::empty());
    Write { access: Access { fs, reach: Reach::new(Arc::new(policy)), intents, spill } }
}

fn args(content: &str) -> WriteArgs {
    WriteArgs { file_path: "a".into(), content: content.into() }
}

#[test]
fn the_model_reads_what_happened_and_not_the_content() {
    let output = |operation, after: &str| {
        written(&WriteOutput { path: "/w/a".into(), operation, before: None, after: after.into() })
    };
    insta::assert_snapshot!(output(Operation::Create, "a\nb"), @"
    <path>/w/a</path>
    <type>file</type>
    <result>
    Created the file: 2 lines.
    </result>
    ");
    assert!(output(Operation::Update, "a\n").contains("\nReplaced the file: 1 line.\n"));
    assert!(output(Operation::Update, "").contains("\nReplaced the file: 0 lines.\n"));
}

#[test]
fn the_parameters_are_these() {
    insta::assert_snapshot!(parameters().build().unwrap().json().to_pretty());
}

#[test]
fn a_call_is_shown_as_the_whole_file() {
    let whole = FileDiff { path: "a".into(), old_text: None, new_text: "x\n".into() };
    let shown = CallView::Diff {
        title: "Write a".into(),
        diffs: vec![whole],
        locations: vec![FileLocation { path: "a".into(), line: None }],
    };
    assert_eq!(tool().present_call(&args("x\n")), Some(shown));
}

#[test]
fn a_result_is_shown_by_its_meta_or_as_the_whole_file() {
    let content = dsh_tools_core::text("");
    let shown = |is_error, meta: Option<&Json>| match tool()
        .present_result(&args("x\n"), &StoredResult { content: &content, is_error, meta })
    {
        Some(ResultView::Diff { diffs, .. }) => Some(diffs),
        None => None,
        Some(_) => panic!("another card"),
    };
    let whole = vec![FileDiff { path: "a".into(), old_text: None, new_text: "x\n".into() }];
    let hunk = vec![FileDiff { path: "a".into(), old_text: Some("w".into()), new_text: "x".into() }];
    assert_eq!(shown(false, Some(&to_meta(&hunk))), Some(hunk));
    assert_eq!(shown(false, Some(&to_meta(&[]))), Some(whole.clone()));
    assert_eq!(shown(false, Some(&object! { "diffs": 7 })), Some(whole.clone()));
    assert_eq!(shown(false, None), Some(whole));
    assert_eq!(shown(true, None), None);
}
