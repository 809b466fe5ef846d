//! What a session may have, and what a disk has (spec 08 §6.7, §6.10).

use std::process::Command;

use dsh_lifecycle::Cancel;
use dsh_spill::SpillStore as _;

use crate::scene::{Scene, request, store, told};

#[tokio::test]
async fn a_session_may_have_so_many_bytes_and_not_one_more() {
    let scene = Scene::new(r#""sync": false, "maxSessionBytes": 10"#);
    let over = |needed: u64| {
        format!("the spill store is full: `maxSessionBytes` allows 10 bytes, and there would be {needed}")
    };
    assert_eq!(told(scene.save("a", "12345678901").await), over(11));
    assert!(!scene.root().exists(), "what can't fit makes nothing");
    assert_eq!(told(scene.save("a", "1234567").await), "saved");
    assert_eq!(told(scene.save("a", "éé").await), over(11));
    assert_eq!(told(scene.save("a", "123").await), "saved");
    // What is there takes no more room, and what is empty takes none.
    assert_eq!(told(scene.save("a", "1234567").await), "saved");
    assert_eq!(told(scene.save("a", "").await), "saved");
    assert_eq!(told(scene.save("a", "1").await), over(11));
    assert_eq!(scene.files().len(), 3);
    // What was removed makes room.
    let one = scene.saved("a", "123").await;
    std::fs::remove_file(&one).unwrap();
    assert_eq!(told(scene.save("b", "1234").await), over(11));
    assert_eq!(told(scene.save("b", "123").await), "saved");
    // Another session has its own.
    let other = scene.store.save_text(request("s2", "a", "1234567890"), &Cancel::new()).await;
    assert_eq!(told(other), "saved");
    // And a new store counts what an old one left.
    let next = r#"{"root": "spill", "sync": false, "maxSessionBytes": 10}"#;
    let next = store(next, scene.base(), 0).unwrap();
    assert_eq!(told(next.save_text(request("s1", "a", "1"), &Cancel::new()).await), over(11));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn texts_that_are_saved_at_once_count_too() {
    let scene = Scene::new(r#""sync": false, "maxSessionBytes": 2500000"#);
    let saves = (0..20).map(|number| {
        let store = scene.store.clone();
        let content = format!("{number:02}").repeat(250_000);
        tokio::spawn(async move { told(store.save_text(request("s1", "a", &content), &Cancel::new()).await) })
    });
    let mut saved = 0;
    for save in saves.collect::<Vec<_>>() {
        let told = save.await.unwrap();
        if told == "saved" {
            saved += 1;
        } else {
            assert!(told.contains("`maxSessionBytes` allows 2500000 bytes"), "{told}");
        }
    }
    // A failed one holds its room while it is written; what fits is never refused for good.
    assert!(saved <= 5, "{saved}");
    assert_eq!(scene.files().len(), saved);
    for number in 20.. {
        let content = format!("{number:02}").repeat(250_000);
        if told(scene.save("a", &content).await) != "saved" {
            break;
        }
    }
    assert_eq!(scene.files().len(), 5);
}

const BASE: &str = "DSH_TEST_BASE";

/// The child's half of the test below. It says what became of the saves.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the only way to tell a child of the test harness what it is")]
async fn child() {
    let Some(base) = std::env::var_os(BASE) else { return };
    for config in [r#"{"root": "spill"}"#, r#"{"root": "spill", "sync": false}"#] {
        let store = store(config, base.as_ref(), 0).unwrap();
        for content in ["small".to_owned(), "much ".repeat(600_000)] {
            let saved = store.save_text(request("s1", "a", &content), &Cancel::new()).await;
            println!("\n> {}", told(saved));
        }
    }
}

#[test]
fn a_text_that_does_not_fit_on_the_disk_leaves_nothing() {
    let scene = Scene::plain();
    // The shell ignores the signal of the limit, and the child inherits that, as the program does: writes fail instead.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["limits::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(BASE, scene.base())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let said: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    let too_large = "the spill store could not write: File too large (os error 27)";
    assert_eq!(said, ["saved", too_large, "saved", too_large]);
    let small = format!("session-e8bc163c82ee/{}-a", crate::scene::digits("small", 0));
    assert_eq!(scene.files(), [small]);
}
