//! The table of spec 07 §4, and what is remembered.

use std::num::NonZeroUsize;
use std::path::Path;

use super::*;

const ME: Option<&str> = Some("me");

fn target(name: &str) -> FsTarget {
    FsTarget { key: name.into(), display: format!("/w/{name}").into(), path: Path::new(name).into() }
}

fn present(version: &str) -> FsObservation {
    FsObservation::Present { version: FsVersion::new(version) }
}

fn replaces(version: &str) -> WriteIntent {
    WriteIntent::ReplaceIfVersion(FsVersion::new(version))
}

fn policy(targets: usize, sessions: usize) -> ObservationPolicy {
    let positive = |number| NonZeroUsize::new(number).unwrap();
    ObservationPolicy::new(&ObservationConfig {
        max_targets: positive(targets),
        max_sessions: positive(sessions),
        ..ObservationConfig::default()
    })
}

/// What the two intents are: the guard, or the code and sentence of the refusal.
fn intents(policy: &ObservationPolicy, name: &str, actor: Option<&str>) -> (WriteIntent, String) {
    let target = target(name);
    let edit = match policy.edit_intent(&target, actor) {
        Ok(guard) => format!("{guard:?}"),
        Err(error) => format!("{}: {error}", error.code()),
    };
    (policy.write_intent(&target, actor).unwrap().unwrap(), edit)
}

#[test]
fn the_table_is_that_of_the_specification() {
    let policy = policy(9, 9);
    policy.observed(&target("gone"), FsObservation::Absent, ME);
    policy.observed(&target("there"), present("v1"), ME);
    let creates = WriteIntent::CreateIfAbsent;
    let unread = |name| format!("FS_NOT_OBSERVED: /w/{name} was not read before");
    let rows = [
        ("new", ME, creates.clone(), unread("new")),
        ("there", None, creates.clone(), unread("there")),
        ("gone", ME, creates, "FS_NOT_FOUND: /w/gone did not exist when it was read".to_owned()),
        ("there", ME, replaces("v1"), format!("{:?}", Some(FsVersion::new("v1")))),
    ];
    for (name, actor, write, edit) in rows {
        assert_eq!(intents(&policy, name, actor), (write, edit), "{name} {actor:?}");
    }
}

#[test]
fn the_last_look_counts() {
    let policy = policy(9, 9);
    let look = |observation| {
        policy.observed(&target("a"), observation, ME);
        intents(&policy, "a", ME).0
    };
    assert_eq!(look(present("v1")), replaces("v1"));
    assert_eq!(look(present("v2")), replaces("v2"));
    assert_eq!(look(FsObservation::Absent), WriteIntent::CreateIfAbsent);
    assert_eq!(look(present("v3")), replaces("v3"));
}

#[test]
fn what_nobody_saw_is_not_remembered() {
    let policy = policy(9, 9);
    policy.observed(&target("a"), present("v1"), None);
    for actor in [None, ME, Some("")] {
        assert_eq!(intents(&policy, "a", actor).0, WriteIntent::CreateIfAbsent);
    }
    assert!(policy.sessions.lock().is_empty());
}

#[test]
fn sessions_know_nothing_of_each_others_looks() {
    let policy = policy(9, 9);
    policy.observed(&target("a"), present("v1"), ME);
    policy.observed(&target("a"), present("v2"), Some("other"));
    assert_eq!(intents(&policy, "a", ME).0, replaces("v1"));
    assert_eq!(intents(&policy, "a", Some("other")).0, replaces("v2"));
    assert_eq!(intents(&policy, "a", Some("third")).0, WriteIntent::CreateIfAbsent);
}

#[test]
fn beyond_the_bound_what_was_seen_longest_ago_is_unseen() {
    let policy = policy(2, 2);
    for name in ["a", "b", "a", "c"] {
        policy.observed(&target(name), present("v1"), ME);
    }
    assert_eq!(intents(&policy, "b", ME).0, WriteIntent::CreateIfAbsent);
    assert_eq!(intents(&policy, "a", ME).0, replaces("v1"));
    assert_eq!(intents(&policy, "c", ME).0, replaces("v1"));
    // A session that acts is not the one that was idle for longest.
    policy.observed(&target("a"), present("v1"), Some("second"));
    assert_eq!(intents(&policy, "a", ME).0, replaces("v1"));
    policy.observed(&target("a"), present("v1"), Some("third"));
    assert_eq!(intents(&policy, "a", Some("second")).0, WriteIntent::CreateIfAbsent);
    assert_eq!(intents(&policy, "a", ME).0, replaces("v1"));
    assert_eq!(policy.sessions.lock().len(), 2);
}
