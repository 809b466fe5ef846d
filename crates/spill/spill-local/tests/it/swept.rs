//! What a sweep takes and what it leaves (spec 08 §6.10).

use std::fs::{File, FileTimes};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use dsh_lifecycle::{Cancel, Cause};
use dsh_spill::{SpillError, SpillStore as _};
use dsh_spill_local::Swept;
use rustix::fs::{FlockOperation, flock};

use crate::scene::{Scene, make_dir, request, set_mode, store, told};

const DAY: u64 = 86_400;
/// When the sweeps are.
const NOW: u64 = 20_000 * DAY;

/// A root with files, each with how many days ago it was written. Those that end with `/` are directories.
fn scene(files: &[(&str, u64)]) -> Scene {
    let scene = Scene::plain();
    make_dir(&scene.root(), 0o700);
    for (name, _) in files {
        let path = scene.root().join(name);
        let dir = if name.ends_with('/') { path.as_path() } else { path.parent().unwrap() };
        make_dir(dir, 0o700);
        if !name.ends_with('/') {
            std::fs::write(&path, "text").unwrap();
        }
    }
    for (name, days) in files {
        age(&scene.root().join(name), *days);
    }
    scene
}

fn age(path: &Path, days: u64) {
    let at = UNIX_EPOCH + Duration::from_secs(NOW - days * DAY);
    File::open(path).unwrap().set_times(FileTimes::new().set_modified(at)).unwrap();
}

async fn sweep(scene: &Scene, config: &str) -> Result<Swept, SpillError> {
    let config = format!(r#"{{"root": "spill"{config}}}"#);
    let store = store(&config, scene.base(), i64::try_from(NOW * 1_000).unwrap()).unwrap();
    store.sweep(&Cancel::new()).await
}

const OLD: &str = "session-000000000001";
const NEW: &str = "session-000000000002";

fn of(session: &str, name: &str) -> String {
    format!("{session}/0123456789ab-{name}")
}

#[tokio::test]
async fn sessions_that_saved_nothing_for_long_go_and_others_stay_whole() {
    let (one, two, old, new) = (of(OLD, "a"), of(OLD, "b"), of(NEW, "old"), of(NEW, "new"));
    let scene = scene(&[
        (&one, 31),
        (&two, 400),
        (&old, 400),
        (&new, 29),
        ("session-000000000003/", 31),
        ("session-000000000004/", 29),
    ]);
    assert_eq!(sweep(&scene, "").await.unwrap(), Swept { sessions: 2, unfinished: 0 });
    assert_eq!(scene.files(), [new.as_str(), old.as_str()]);
    assert!(!scene.root().join(OLD).exists() && !scene.root().join("session-000000000003").exists());
    assert!(scene.root().join("session-000000000004").exists());
    assert_eq!(sweep(&scene, r#", "keepDays": 28"#).await.unwrap().sessions, 2);
    assert_eq!(scene.files(), [""; 0]);
    assert!(scene.root().exists());
}

#[tokio::test]
async fn a_text_that_is_saved_again_counts_as_new() {
    let scene = Scene::plain();
    let path = scene.saved("a", "text").await;
    age(&path, 100);
    assert_eq!(scene.saved("a", "text").await, path);
    assert_eq!(sweep(&scene, "").await.unwrap(), Swept::default());
    assert!(path.exists());
}

#[tokio::test]
async fn what_killed_writers_left_goes_and_what_is_being_written_stays() {
    let (text, left) = (of(NEW, "a"), format!("{NEW}/.spill-7-1.tmp"));
    let scene = scene(&[(&text, 1), (&left, 1)]);
    let writer = File::open(scene.root().join(NEW)).unwrap();
    flock(&writer, FlockOperation::LockShared).unwrap();
    assert_eq!(sweep(&scene, "").await.unwrap(), Swept::default());
    age(&scene.root().join(&text), 99);
    age(&scene.root().join(&left), 99);
    assert_eq!(sweep(&scene, "").await.unwrap(), Swept::default());
    drop(writer);
    age(&scene.root().join(&text), 1);
    assert_eq!(sweep(&scene, "").await.unwrap(), Swept { sessions: 0, unfinished: 1 });
    assert_eq!(scene.files(), [text]);
}

#[tokio::test]
async fn what_is_not_of_the_layout_is_never_touched() {
    let names = [
        "notes.txt".to_owned(),
        "0123456789ab-a".to_owned(),
        "session-0/0123456789ab-a".to_owned(),
        "session-00000000000G/0123456789ab-a".to_owned(),
        of("other", "a"),
        format!("{OLD}/notes.txt"),
        format!("{OLD}/sub/0123456789ab-a"),
        format!("{OLD}/.spill-x-1.tmp"),
    ];
    let rows: Vec<_> = names.iter().map(|name| (name.as_str(), 99)).collect();
    let scene = scene(&rows);
    age(&scene.root().join(OLD).join("sub"), 99);
    assert_eq!(sweep(&scene, "").await.unwrap(), Swept::default());
    let mut expected = names.to_vec();
    expected.sort();
    assert_eq!(scene.files(), expected);
}

#[tokio::test]
async fn a_name_of_the_layout_that_is_no_file_stays_and_is_in_nobodys_way() {
    let (link, left) = (of(OLD, "link"), format!("{NEW}/.spill-7-2.tmp"));
    let scene = scene(&[(&of(OLD, "a"), 99), (&left, 99), (&of(NEW, "a"), 1)]);
    symlink("nowhere", scene.root().join(&link)).unwrap();
    make_dir(&scene.root().join(NEW).join(".spill-7-1.tmp"), 0o700);
    // The link is new; with that its session is.
    assert_eq!(sweep(&scene, "").await.unwrap(), Swept { sessions: 0, unfinished: 1 });
    assert_eq!(scene.files(), [of(OLD, "a"), link.clone(), of(NEW, "a")]);
    let at = rustix::fs::Timespec { tv_sec: 0, tv_nsec: 0 };
    let times = rustix::fs::Timestamps { last_access: at, last_modification: at };
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::utimensat(rustix::fs::CWD, scene.root().join(&link), &times, flags).unwrap();
    assert_eq!(sweep(&scene, "").await.unwrap(), Swept::default());
    assert_eq!(scene.files(), [link, of(NEW, "a")]);
}

#[tokio::test]
async fn a_sweep_follows_no_link_and_enters_nothing_that_is_not_private() {
    let (text, loose) = (of(OLD, "a"), of(NEW, "a"));
    let scene = scene(&[(&text, 99), (&loose, 99)]);
    let elsewhere = scene.base().join("session-0123456789ab");
    std::fs::rename(scene.root().join(OLD), &elsewhere).unwrap();
    symlink(&elsewhere, scene.root().join(OLD)).unwrap();
    set_mode(&scene.root().join(NEW), 0o750);
    assert_eq!(sweep(&scene, "").await.unwrap(), Swept::default());
    assert!(elsewhere.join("0123456789ab-a").exists());
    assert_eq!(scene.files(), [text.split_once('/').unwrap().0, loose.as_str()]);
}

#[tokio::test]
async fn a_sweep_looks_at_so_many_entries() {
    let texts = ["a", "b", "c"].map(|name| of(OLD, name));
    let rows: Vec<_> = texts.iter().map(|name| (name.as_str(), 99)).collect();
    let scene = scene(&rows);
    // One session, and its three texts twice.
    assert_eq!(sweep(&scene, r#", "sweepMaxEntries": 6"#).await.unwrap(), Swept::default());
    assert_eq!(scene.files(), texts);
    assert_eq!(sweep(&scene, r#", "sweepMaxEntries": 8"#).await.unwrap().sessions, 1);
}

#[tokio::test]
async fn a_sweep_needs_no_root_and_listens() {
    let scene = Scene::plain();
    assert_eq!(sweep(&scene, "").await.unwrap(), Swept::default());
    assert!(!scene.root().exists());
    std::fs::write(scene.root(), "").unwrap();
    assert_eq!(told(sweep(&scene, "").await), "SPILL_NOT_A_DIRECTORY");
    let cancel = Cancel::new();
    cancel.cancel(Cause::User);
    assert!(matches!(scene.store.sweep(&cancel).await, Err(SpillError::Aborted)));
}

#[tokio::test(start_paused = true)]
async fn a_writer_waits_for_a_sweep_but_not_for_ever() {
    let scene = Scene::plain();
    scene.saved("a", "one").await;
    let sweeper = File::open(scene.session()).unwrap();
    flock(&sweeper, FlockOperation::LockExclusive).unwrap();
    assert!(told(scene.save("a", "two").await).contains("is being swept all the time"));
    let cancel = Cancel::new();
    let stop = async { cancel.cancel(Cause::User) };
    let (saved, ()) = tokio::join!(scene.store.save_text(request("s1", "a", "two"), &cancel), stop);
    assert!(matches!(saved, Err(SpillError::Aborted)));
    let end = async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        drop(sweeper);
    };
    let (saved, ()) = tokio::join!(scene.save("a", "two"), end);
    assert_eq!(told(saved), "saved");
    assert_eq!(scene.files().len(), 2);
}
