//! What an edit says, and what is made of a stored one.

use dsh_fs::Tolerance;
use dsh_lifecycle::Slot;
use dsh_sandbox_policy::{Reach, SandboxMode, SandboxPolicy};
use dsh_tools_core::object;

use super::*;

fn tool() -> Edit {
    let policy = SandboxPolicy::new(SandboxMode::ReadOnly, "/w", []);
    let (fs, intents, spill) = (Slot::empty(), Slot::empty(), Slot::empty());
    Edit { access: Access { fs, reach: Reach::new(Arc::new(policy)), intents, spill } }
}

fn args(old: &str, new: &str) -> EditArgs {
    EditArgs { file_path: "a".into(), old_string: old.into(), new_string: new.into(), replace_all: false }
}

#[test]
fn the_model_reads_what_was_replaced_and_what_was_looked_past() {
    let exact = Tolerance::default();
    let all = Tolerance { line_numbers: true, trailing_blanks: true, typography: true };
    let said = [
        words::edited("/w/a", false, Some((1, exact))),
        words::edited("/w/a", true, Some((1, exact))),
        words::edited("/w/a", true, Some((12, exact))),
        words::edited("/w/a\nb", false, Some((1, Tolerance { typography: true, ..exact }))),
        words::edited("/w/a", false, Some((1, all))),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn the_sentence_follows_from_what_was_there_before() {
    let output = EditOutput { path: "/w/a".into(), before: "a  \nb\n".into(), after: "a  \nc\n".into() };
    let content = tool().render(&args("a\nb", "a\nc"), &output).unwrap();
    let text = dsh_llm::plain_text(&content);
    assert!(text.ends_with("what matched differs in blanks at the ends of lines."), "{text}");
}

#[test]
fn the_parameters_are_these() {
    insta::assert_snapshot!(words::parameters().build().unwrap().json().to_pretty());
}

#[test]
fn a_call_is_shown_as_old_and_new() {
    let shown = |old: Option<&str>| CallView::Diff {
        title: "Edit a".into(),
        diffs: vec![FileDiff { path: "a".into(), old_text: old.map(Into::into), new_text: "y".into() }],
        locations: vec![FileLocation { path: "a".into(), line: None }],
    };
    assert_eq!(tool().present_call(&args("x", "y")), Some(shown(Some("x"))));
    // Refused when it was made, and in the log all the same.
    assert_eq!(tool().present_call(&args("", "y")), Some(shown(None)));
}

#[test]
fn a_result_is_shown_by_its_meta_or_not_at_all() {
    let content = dsh_tools_core::text("");
    let shown = |is_error, meta: Option<&Json>| {
        tool().present_result(&args("x", "y"), &StoredResult { content: &content, is_error, meta })
    };
    let hunk = vec![FileDiff { path: "a".into(), old_text: Some("x".into()), new_text: "y".into() }];
    let meta = to_meta(&hunk);
    assert_eq!(shown(false, Some(&meta)), Some(ResultView::Diff { title: None, diffs: hunk }));
    assert_eq!(shown(false, Some(&object! { "diffs": 7 })), None);
    assert_eq!(shown(false, Some(&to_meta(&[]))), None);
    assert_eq!(shown(false, None), None);
    assert_eq!(shown(true, Some(&meta)), None);
}
