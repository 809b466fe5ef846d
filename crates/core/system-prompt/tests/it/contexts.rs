use std::sync::Arc;

use dsh_lifecycle::SeededIds;
use dsh_llm::{Message, Role, Source, plain_text, text};
use dsh_system_prompt::{Context, ContextSnapshot, ContextTracker, ContextUpdate, SystemPrompt};

use crate::support::{everybody, shown};

fn snapshot(rows: &[(&str, i32, &str)]) -> ContextSnapshot {
    let prompt = SystemPrompt::default();
    for (name, order, text) in rows {
        prompt.context(None, Context::new(*name, *order, *text)).unwrap().keep();
    }
    prompt.variable(None, "mode", |_| Some("read-only".into())).unwrap().keep();
    prompt.assemble(&everybody()).unwrap().render_contexts().unwrap()
}

fn message(update: ContextUpdate) -> Option<Message> {
    update.into_message(&SeededIds::new(1))
}

#[test]
fn a_snapshot_has_a_lead_line_and_keeps_its_parts() {
    let snapshot = snapshot(&[
        ("approval:policy", 115, "Somebody is asked before a call that needs it."),
        ("sandbox:policy", 110, "Files can be {{mode}}."),
        ("nothing", 1, ""),
    ]);
    insta::assert_snapshot!(snapshot.text, @r"
    Current state of this session. It replaces every earlier message that begins with this line.

    Files can be read-only.

    Somebody is asked before a call that needs it.
    ");
    assert_eq!(
        shown(&snapshot.sections),
        [
            "sandbox:policy=Files can be read-only.",
            "approval:policy=Somebody is asked before a call that needs it."
        ]
    );
    assert_eq!(self::snapshot(&[("nothing", 1, "")]), ContextSnapshot::default());
}

#[test]
fn a_change_is_told_once() {
    let (one, other) = (snapshot(&[("c", 0, "one")]), snapshot(&[("c", 0, "other")]));
    let none = ContextSnapshot::default();
    let check = |told: Option<&ContextSnapshot>, now: &ContextSnapshot, want| {
        let tracker = ContextTracker::new(told.map(|told| told.text.as_str().into()));
        assert_eq!(tracker.update(now), want);
    };
    check(None, &none, ContextUpdate::Unchanged);
    check(None, &one, ContextUpdate::Changed(one.clone()));
    check(Some(&one), &one, ContextUpdate::Unchanged);
    check(Some(&one), &other, ContextUpdate::Changed(other.clone()));
    check(Some(&one), &none, ContextUpdate::Emptied);
}

#[test]
fn going_to_empty_is_told_once() {
    let emptied = message(ContextUpdate::Emptied).unwrap();
    insta::assert_snapshot!(plain_text(&emptied.content), @"What earlier messages said about the current state of this session no longer applies. Nothing takes its place.");
    let tracker = ContextTracker::from_messages(&[Arc::new(emptied)]);
    assert_eq!(tracker.update(&ContextSnapshot::default()), ContextUpdate::Unchanged);
    let again = snapshot(&[("c", 0, "one")]);
    assert_eq!(tracker.update(&again), ContextUpdate::Changed(again.clone()));
}

#[test]
fn a_snapshot_message_says_where_its_parts_come_from() {
    let message = message(ContextUpdate::Changed(snapshot(&[("c", 0, "one"), ("d", 1, "two")]))).unwrap();
    assert!(message.check().is_ok());
    assert_eq!(message.role, Role::User);
    let want = r#"{"kind":"plugin","plugin":"system-prompt","form":"snapshot","sections":[{"name":"c","text":"one"},{"name":"d","text":"two"}]}"#;
    assert_eq!(message.source.to_json().to_text(), want);
    assert_eq!(self::message(ContextUpdate::Unchanged), None);
}

#[test]
fn the_last_snapshot_of_the_conversation_counts() {
    let message = |source, words: &str| {
        Arc::new(Message { id: "m".into(), role: Role::User, content: text(words), source })
    };
    let now = snapshot(&[("c", 0, "now")]);
    let ours = || Source::plugin_form("system-prompt", "snapshot");
    let told = message(ours(), &now.text);
    let rows = [
        (vec![], false),
        (vec![Arc::clone(&told)], true),
        (vec![message(ours(), "before"), Arc::clone(&told), message(Source::User, "later")], true),
        (vec![Arc::clone(&told), message(ours(), "later")], false),
        // Others may say the same words, and it counts for nothing.
        (vec![message(Source::User, &now.text)], false),
        (vec![message(Source::plugin("system-prompt"), &now.text)], false),
        (vec![message(Source::plugin_form("other", "snapshot"), &now.text)], false),
    ];
    for (messages, known) in rows {
        let update = ContextTracker::from_messages(&messages).update(&now);
        assert_eq!(update == ContextUpdate::Unchanged, known, "{messages:?}");
    }
}
