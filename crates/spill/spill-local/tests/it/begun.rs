//! From the choice of a place to the text in it (spec 08 §6.2, §6.11).

use std::path::Path;

use dsh_lifecycle::Cancel;

use crate::scene::{Scene, digits, make_dir, set_mode, told};

#[tokio::test]
async fn a_place_is_chosen_before_anything_is_written() {
    let scene = Scene::plain();
    let begun = scene.begin("a.txt", "text").await;
    let chosen = begun.reference().clone();
    assert!(!scene.root().exists(), "not even a directory is made");
    assert_eq!(begun.commit(&Cancel::new()).await.unwrap(), chosen);
    assert_eq!(std::fs::read_to_string(chosen.locator.as_str()).unwrap(), "text");
    assert_eq!(chosen.bytes, 4);

    drop(scene.begin("b.txt", "other").await);
    assert_eq!(scene.files().len(), 1);
}

#[tokio::test]
async fn the_root_may_go_between_the_choice_and_the_saving() {
    let scene = Scene::plain();
    scene.saved("old", "old").await;
    let begun = scene.begin("a", "text").await;
    std::fs::remove_dir_all(scene.root()).unwrap();
    let saved = begun.commit(&Cancel::new()).await.unwrap();
    assert_eq!(std::fs::read_to_string(saved.locator.as_str()).unwrap(), "text");

    // Also when it was found there at first.
    let begun = scene.begin("a", "text").await;
    std::fs::remove_file(saved.locator.as_str()).unwrap();
    begun.commit(&Cancel::new()).await.unwrap();
    assert_eq!(std::fs::read_to_string(saved.locator.as_str()).unwrap(), "text");

    // What is there in its place is not replaced.
    let begun = scene.begin("b", "text").await;
    std::fs::remove_dir_all(scene.root()).unwrap();
    std::fs::write(scene.root(), "a file").unwrap();
    assert_eq!(told(begun.commit(&Cancel::new()).await), "SPILL_NOT_A_DIRECTORY");
    assert_eq!(std::fs::read_to_string(scene.root()).unwrap(), "a file");
}

#[tokio::test]
async fn what_took_the_place_since_is_not_replaced_or_taken_for_the_text() {
    let scene = Scene::plain();
    let [one, damaged] = [scene.begin("a", "text").await, scene.begin("a", "text").await];
    let path = scene.saved("a", "text").await;
    let found = scene.begin("a", "text").await;
    one.commit(&Cancel::new()).await.unwrap();
    // Same length, other bytes.
    std::fs::write(&path, "TEXT").unwrap();
    for begun in [damaged, found] {
        assert!(told(begun.commit(&Cancel::new()).await).contains("is taken by something else"));
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "TEXT");
    assert_eq!(scene.files().len(), 1);
}

/// What is wrong with a file, and how it is made.
type Row<'a> = (&'a str, &'a dyn Fn(&Path));

#[tokio::test]
async fn what_is_no_sound_copy_is_not_used_again() {
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(elsewhere.path(), "text").unwrap();
    let link = |path: &Path| std::os::unix::fs::symlink(elsewhere.path(), path).unwrap();
    let dangling = |path: &Path| std::os::unix::fs::symlink("nowhere", path).unwrap();
    let write = |content: &'static str, bits: u32| {
        move |path: &Path| {
            std::fs::write(path, content).unwrap();
            set_mode(path, bits);
        }
    };
    let pipe = |path: &Path| {
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    };
    let rows: [Row<'_>; 8] = [
        ("shorter", &write("tex", 0o600)),
        ("longer", &write("text.", 0o600)),
        ("other bytes", &write("tExt", 0o600)),
        ("readable by others", &write("text", 0o644)),
        ("a link to the text", &link),
        ("a link to nothing", &dangling),
        ("a directory", &|path| std::fs::create_dir(path).unwrap()),
        ("a pipe", &pipe),
    ];
    for (what, put) in rows {
        let scene = Scene::plain();
        make_dir(&scene.session(), 0o700);
        let first = scene.session().join(format!("{}-a", digits("text", 0)));
        put(&first);
        let before = std::fs::symlink_metadata(&first).unwrap().modified().unwrap();
        let saved = scene.saved("a", "text").await;
        assert_eq!(saved, scene.session().join(format!("{}-a", digits("text", 1))), "{what}");
        assert_eq!(std::fs::read_to_string(&saved).unwrap(), "text", "{what}");
        assert_eq!(std::fs::symlink_metadata(&first).unwrap().modified().unwrap(), before, "{what}");
    }
    assert_eq!(std::fs::read_to_string(elsewhere.path()).unwrap(), "text");
    assert!(!Path::new("nowhere").exists());
}

#[tokio::test]
async fn when_all_its_places_are_taken_a_text_is_not_saved() {
    let scene = Scene::plain();
    make_dir(&scene.session(), 0o700);
    let first = (0..5).map(|skip| format!("{}-a", digits("text", skip)));
    first.for_each(|name| std::fs::create_dir(scene.session().join(name)).unwrap());
    assert!(told(scene.save("a", "text").await).contains("is taken by something else"));
    assert_eq!(scene.files(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_text_that_is_saved_a_hundred_times_at_once_is_there_once() {
    let scene = Scene::new(r#""maxSessionBytes": 1000000"#);
    let content = "€".repeat(300_000);
    let saves = (0..100).map(|_| {
        let (store, content) = (scene.store.clone(), content.clone());
        tokio::spawn(async move {
            let request = crate::scene::request("s1", "a", &content);
            dsh_spill::SpillStore::save_text(&store, request, &Cancel::new()).await.unwrap()
        })
    });
    let mut places = Vec::new();
    for save in saves.collect::<Vec<_>>() {
        places.push(save.await.unwrap().locator);
    }
    places.dedup();
    assert_eq!(places.len(), 1);
    assert_eq!(std::fs::read_to_string(places[0].as_str()).unwrap(), content);
    assert_eq!(scene.files(), [format!("session-e8bc163c82ee/{}-a", digits(&content, 0))]);
}
