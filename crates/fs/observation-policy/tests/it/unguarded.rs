//! Providers that come, go, say otherwise or break.

use std::sync::Arc;

use dsh_fs::{FsError, FsErrorCode, FsObservation, FsTarget, FsVersion, Intents, WriteIntent};
use dsh_lifecycle::Slot;
use dsh_observation_policy::{ObservationConfig, ObservationPolicy};
use dsh_tools_core::{Json, object};

use crate::world::World;

const ME: Option<&str> = Some("me");

fn content(content: &str) -> Json {
    object! { "file_path": "a", "content": content }
}

/// A provider that answers the same to all, and can't take notes.
struct Stubborn(Option<FsErrorCode>);

impl Intents for Stubborn {
    fn write_intent(&self, _: &FsTarget, _: Option<&str>) -> Result<Option<WriteIntent>, FsError> {
        self.0.map_or(Ok(None), |code| Err(FsError::new(code, "not today")))
    }

    fn edit_intent(&self, _: &FsTarget, _: Option<&str>) -> Result<Option<FsVersion>, FsError> {
        self.0.map_or(Ok(None), |code| Err(FsError::new(code, "not today")))
    }

    fn observed(&self, _: &FsTarget, _: FsObservation, _: Option<&str>) {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn a_provider_that_panics_at_a_note_does_not_fail_what_is_done() {
    let world = World::over(Slot::filled(Arc::new(Stubborn(None))));
    world.put("a", "one");
    assert_eq!(world.came_to(ME, "read", object! { "file_path": "a" }).await, "ok");
    assert_eq!(world.came_to(ME, "write", content("two")).await, "ok");
    assert_eq!(world.content("a"), "two");
    let edit = object! { "file_path": "a", "old_string": "two", "new_string": "three" };
    assert_eq!(world.came_to(ME, "edit", edit).await, "ok");
    assert_eq!(world.content("a"), "three");
    assert_eq!(world.came_to(ME, "read", object! { "file_path": "none" }).await, "FS_NOT_FOUND");
}

#[tokio::test]
async fn a_refused_intent_touches_nothing() {
    let world = World::over(Slot::filled(Arc::new(Stubborn(Some(FsErrorCode::PermissionDenied)))));
    assert_eq!(world.came_to(ME, "write", content("two")).await, "FS_PERMISSION_DENIED");
    world.put("a", "one");
    let edit = object! { "file_path": "a", "old_string": "one", "new_string": "two" };
    assert_eq!(world.came_to(ME, "edit", edit).await, "FS_PERMISSION_DENIED");
    assert_eq!(world.content("a"), "one");
}

#[tokio::test]
async fn unmounting_forgets_everything_and_guards_nothing() {
    let world = World::over(Slot::empty());
    let mount = || {
        let policy = ObservationPolicy::new(&ObservationConfig::default());
        world.intents.provide(Arc::new(policy)).unwrap()
    };
    let read = object! { "file_path": "a" };
    world.put("a", "one");

    let mounted = mount();
    assert!(world.intents.provide(Arc::new(Stubborn(None))).is_err(), "one decision, by one provider");
    assert_eq!(world.came_to(ME, "read", read).await, "ok");
    drop(mounted);
    assert_eq!(world.came_to(ME, "write", content("two")).await, "ok");
    let _again = mount();
    assert_eq!(world.came_to(ME, "write", content("three")).await, "FS_NOT_OBSERVED");
    assert_eq!(world.content("a"), "two");
}
