//! Places that are not what they should be (spec 08 §4.5, §6.8).

use std::os::unix::fs::{chown, symlink};

use crate::scene::{Scene, make_dir, mode, set_mode, store, told};

/// What a save told, and that choosing a place told the same.
async fn refused(scene: &Scene) -> String {
    let request = || crate::scene::request("s1", "a", "text");
    let cancel = dsh_lifecycle::Cancel::new();
    let begun = told(dsh_spill::SpillStore::begin(&scene.store, request(), &cancel).await);
    let saved = told(scene.save("a", "text").await);
    assert_eq!(begun, saved);
    saved
}

#[tokio::test]
async fn a_session_that_is_a_link_is_refused() {
    let scene = Scene::plain();
    make_dir(&scene.root(), 0o700);
    let elsewhere = scene.base().join("elsewhere");
    make_dir(&elsewhere, 0o700);
    for target in [elsewhere.as_path(), "nowhere".as_ref()] {
        symlink(target, scene.session()).unwrap();
        assert_eq!(refused(&scene).await, "SPILL_NOT_A_DIRECTORY");
        std::fs::remove_file(scene.session()).unwrap();
    }
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    std::fs::write(scene.session(), "").unwrap();
    assert_eq!(refused(&scene).await, "SPILL_NOT_A_DIRECTORY");
    assert!(!scene.base().join("nowhere").exists());
}

#[tokio::test]
async fn a_session_that_others_may_use_is_refused_and_left_as_it_is() {
    let scene = Scene::plain();
    for (bits, expected) in [
        (0o777, "SPILL_LOOSE_MODE"),
        (0o755, "SPILL_LOOSE_MODE"),
        (0o710, "SPILL_LOOSE_MODE"),
        (0o701, "SPILL_LOOSE_MODE"),
        (0o500, "SPILL_LOOSE_MODE"),
        (0o700, "saved"),
        // A group that is handed down.
        (0o2700, "saved"),
    ] {
        make_dir(&scene.session(), bits);
        assert_eq!(refused(&scene).await, expected, "{bits:o}");
        assert_eq!(mode(&scene.session()), bits);
        set_mode(&scene.session(), 0o700);
    }
    set_mode(&scene.session(), 0o755);
    let error = scene.save("a", "text").await.unwrap_err().to_string();
    let place = scene.session();
    assert_eq!(
        error,
        format!(
            "the spill store refuses its place: {} has mode 0755; it has to be 0700 (SPILL_LOOSE_MODE)",
            place.display()
        )
    );
}

#[tokio::test]
async fn what_belongs_to_someone_else_is_refused() {
    let scene = Scene::plain();
    make_dir(&scene.session(), 0o700);
    let foreign = rustix::process::geteuid().as_raw() + 1;
    if chown(scene.session(), Some(foreign), None).is_err() {
        eprintln!("skipped: this user can give nothing away");
        return;
    }
    assert_eq!(refused(&scene).await, "SPILL_FOREIGN_OWNER");
    chown(scene.session(), Some(0), None).unwrap();
    chown(scene.root(), Some(foreign), None).unwrap();
    assert_eq!(refused(&scene).await, "SPILL_FOREIGN_OWNER");
    assert_eq!(told(scene.store.sweep(&dsh_lifecycle::Cancel::new()).await), "SPILL_FOREIGN_OWNER");
    // A link of theirs to a root of ours.
    chown(scene.root(), Some(0), None).unwrap();
    symlink("spill", scene.base().join("link")).unwrap();
    let linked = store(r#"{"root": "link", "sync": false}"#, scene.base(), 0).unwrap();
    let save = async || {
        let request = crate::scene::request("s1", "a", "text");
        told(dsh_spill::SpillStore::save_text(&linked, request, &dsh_lifecycle::Cancel::new()).await)
    };
    assert_eq!(save().await, "saved");
    std::os::unix::fs::lchown(scene.base().join("link"), Some(foreign), None).unwrap();
    assert_eq!(save().await, "SPILL_FOREIGN_OWNER");
}

#[tokio::test]
async fn a_root_in_a_shared_place_is_fine_if_names_in_it_are_their_owners() {
    for (bits, expected) in [
        (0o1777, "saved"),
        (0o700, "saved"),
        (0o755, "saved"),
        (0o775, "saved"),
        (0o777, "SPILL_LOOSE_MODE"),
        (0o702, "SPILL_LOOSE_MODE"),
    ] {
        let scene = Scene::plain();
        make_dir(&scene.root(), bits);
        assert_eq!(refused(&scene).await, expected, "{bits:o}");
        assert_eq!(mode(&scene.root()), bits);
    }
}

#[tokio::test]
async fn a_root_that_is_a_file_or_below_one_is_refused() {
    let scene = Scene::plain();
    std::fs::write(scene.root(), "mine").unwrap();
    assert_eq!(refused(&scene).await, "SPILL_NOT_A_DIRECTORY");
    let below = store(r#"{"root": "spill/deeper/still"}"#, scene.base(), 0).unwrap();
    let request = crate::scene::request("s1", "a", "text");
    let saved = dsh_spill::SpillStore::save_text(&below, request, &dsh_lifecycle::Cancel::new()).await;
    assert_eq!(told(saved), "SPILL_NOT_A_DIRECTORY");
    assert_eq!(std::fs::read_to_string(scene.root()).unwrap(), "mine");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_root_that_nobody_can_make_fails_with_what_the_system_said() {
    let store = store(r#"{"root": "/proc/spill"}"#, "/".as_ref(), 0).unwrap();
    let request = crate::scene::request("s1", "a", "text");
    let saved = dsh_spill::SpillStore::save_text(&store, request, &dsh_lifecycle::Cancel::new()).await;
    let Err(dsh_spill::SpillError::Io(error)) = saved else { panic!("{saved:?}") };
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().starts_with("/proc/spill: "), "{error}");
}

#[tokio::test]
async fn a_root_that_can_t_be_written_fails_with_what_the_system_said() {
    let scene = Scene::plain();
    make_dir(&scene.root(), 0o500);
    if std::fs::create_dir(scene.root().join("probe")).is_ok() {
        eprintln!("skipped: this user may write everywhere");
        return;
    }
    let saved = scene.save("a", "text").await;
    let Err(dsh_spill::SpillError::Io(error)) = saved else { panic!("{saved:?}") };
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    set_mode(&scene.root(), 0o700);
}
