//! Where texts are (spec 08 §2.1–2.3).

use std::path::{Path, PathBuf};

use dsh_lifecycle::Cancel;
use dsh_spill::SpillStore as _;
use dsh_spill_local::ConfigError;

use crate::scene::{Scene, digits, mode, request, store};

#[tokio::test]
async fn a_text_comes_back_as_it_was_and_its_bytes_are_counted() {
    let scene = Scene::new(r#""sync": true"#);
    for (name, content) in [("a.txt", "é€😀\r\n\0"), ("b", ""), ("grep results.txt", "plain")] {
        let saved = scene.save(name, content).await.unwrap();
        let path = PathBuf::from(saved.locator.as_str());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        assert_eq!(saved.bytes, content.len() as u64);
        let leaf = format!("{}-{}", digits(content, 0), name.replace(' ', "~0020"));
        assert_eq!(path, scene.session().join(leaf));
    }
    assert_eq!(scene.files().len(), 3, "nothing else is there");
}

#[tokio::test]
async fn the_model_is_told_how_to_read_on() {
    let saved = Scene::plain().save("a", "b").await.unwrap();
    assert_eq!(
        &*saved.retrieval_hint,
        "Read it page by page with `read` (`offset`, `limit`; `column` in a long line), or search it with `grep` on that path."
    );
}

#[tokio::test]
async fn a_session_has_one_directory_right_below_the_root() {
    let scene = Scene::plain();
    let mut dirs = Vec::new();
    for (session, content) in [("one", "a"), ("one", "b"), ("two", "a"), ("../..", "a"), ("", "a")] {
        let saved = scene.store.save_text(request(session, "n", content), &Cancel::new()).await.unwrap();
        let dir = Path::new(saved.locator.as_str()).parent().unwrap().to_owned();
        assert_eq!(dir.parent().unwrap(), scene.root());
        let name = dir.file_name().unwrap().to_str().unwrap().to_owned();
        let hex = name.strip_prefix("session-").unwrap();
        assert!(hex.len() == 12 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{name}");
        dirs.push(name);
    }
    assert_eq!(dirs[0], dirs[1]);
    dirs.dedup();
    dirs.sort();
    dirs.dedup();
    assert_eq!(dirs.len(), 4);
}

#[tokio::test]
async fn a_name_that_looks_like_a_path_stays_in_the_directory() {
    let scene = Scene::plain();
    for name in ["../../etc/passwd", "/etc/passwd", "..", ".", "", "a/../b", "a\0b", "x\u{202e}y"] {
        let path = scene.saved(name, "text").await;
        assert_eq!(path.parent().unwrap(), scene.session(), "{name:?}");
    }
    assert_eq!(scene.files().len(), 8);
    assert!(!scene.base().join("etc").exists());
}

#[tokio::test]
async fn directories_and_files_are_private() {
    let scene = Scene::plain();
    let path = scene.saved("a", "b").await;
    assert_eq!((mode(&scene.root()), mode(&scene.session()), mode(&path)), (0o700, 0o700, 0o600));
}

#[tokio::test]
async fn different_texts_of_one_name_have_different_places_and_the_same_text_has_one() {
    let scene = Scene::plain();
    let (one, other) = (scene.saved("a", "one").await, scene.saved("a", "other").await);
    assert_ne!(one, other);
    assert_eq!(scene.saved("a", "one").await, one);
    assert_ne!(scene.saved("b", "one").await, one);
    assert_eq!(scene.files().len(), 3);
}

#[tokio::test]
async fn a_very_long_name_is_cut() {
    let scene = Scene::plain();
    let path = scene.saved(&("/".repeat(65_536) + ".txt"), "text").await;
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.len() <= 255 && name.rsplit('.').next() == Some("txt"), "{name}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
}

#[tokio::test]
async fn a_root_is_used_as_configured_and_made_absolute() {
    let base = tempfile::tempdir().unwrap();
    let elsewhere = base.path().join("else/where");
    let elsewhere = format!(r#"{{"root": {:?}}}"#, elsewhere.to_str().unwrap());
    for (config, expected) in
        [(r#"{"root": "a/b"}"#, "a/b"), (r#"{"root": "./c/../d"}"#, "d"), (elsewhere.as_str(), "else/where")]
    {
        let store = store(config, base.path(), 0).unwrap();
        assert_eq!(store.root().unwrap(), base.path().join(expected));
        let saved = store.save_text(request("s", "n", "text"), &Cancel::new()).await.unwrap();
        let path = Path::new(saved.locator.as_str());
        assert!(path.starts_with(base.path().join(expected)) && path.is_file(), "{}", path.display());
        assert_eq!(mode(&base.path().join(expected)), 0o700);
    }
    let bad = store(r#"{"root": ""}"#, base.path(), 0).err();
    assert_eq!(bad, Some(ConfigError::EmptyRoot));
}

#[tokio::test]
async fn without_a_root_there_is_one_private_directory_for_the_process() {
    let stores = [(); 3].map(|()| store("{}", Path::new("/nowhere"), 0).unwrap());
    let saved = stores[0].save_text(request("private", "n", "text"), &Cancel::new()).await.unwrap();
    let roots = stores.map(|store| store.root().unwrap());
    let root = &roots[0];
    assert!(roots.iter().all(|other| other == root));
    assert!(Path::new(saved.locator.as_str()).starts_with(root));
    assert!(root.is_absolute() && root.file_name().unwrap().to_str().unwrap().starts_with("dsh-spill-"));
    assert_eq!(mode(root), 0o700);
    std::fs::remove_dir_all(root).unwrap();
}
