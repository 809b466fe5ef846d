//! Swaps while work runs: whatever wins, nothing outside changes and nothing outside is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dsh_fs::FileSystem;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::world::{World, request};

/// Swaps what `root/<name>` stands for with a link to `outside/<to>`, at once and as fast as it can, while `rounds` of
/// work run. The name always stands for one of the two.
async fn swapping(world: &World, (name, to): (&str, &str), rounds: usize, round: impl AsyncFn(usize)) {
    let (d, link) = (world.at("root").join(name), world.at("root/link"));
    std::os::unix::fs::symlink(world.at("outside").join(to), &link).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let over = Arc::clone(&over);
        move || {
            let mut swaps = 0_u32;
            while !over.load(Ordering::Relaxed) {
                renameat_with(CWD, &d, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                swaps += 1;
            }
            swaps
        }
    });
    for number in 0..rounds {
        round(number).await;
    }
    over.store(true, Ordering::Relaxed);
    assert!(swapper.join().unwrap() > 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_swapped_directory_never_leads_a_write_outside() {
    let world = World::new();
    let outside =
        |world: &World| world.tree().into_iter().filter(|row| row.starts_with("outside")).collect::<Vec<_>>();
    let before = outside(&world);
    // Resolved while it was inside: from here on, every write meets either of the two.
    world.put("d/f", "");
    let target = world.target("d/f").await.unwrap();
    let written = std::sync::atomic::AtomicUsize::new(0);
    swapping(&world, ("d", ""), 1_500, async |number| {
        let outcome = if number % 2 == 0 {
            let request = request("mine", None);
            world.fs.write_text(&target, request, &world.policy, &world.cancel).await
        } else {
            world.write("d/g", "mine").await
        };
        match outcome {
            Ok(_) => {
                written.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                assert!(["FS_SANDBOX_DENIED", "FS_STALE_VERSION"].contains(&error.code()), "{error}");
            }
        }
    })
    .await;
    assert_eq!(outside(&world), before);
    assert!(written.into_inner() > 0);
    assert!(!world.tree().iter().any(|row| row.contains(".dsh-")), "{:?}", world.tree());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_swapped_directory_never_leads_a_read_outside() {
    let world = World::new();
    world.put("d/secret", "mine");
    let mut read = 0;
    let seen = std::sync::Mutex::new(Vec::new());
    swapping(&world, ("d", ""), 800, async |_| {
        if let Ok(text) = world.read("d/secret").await {
            seen.lock().unwrap().push(text);
        }
    })
    .await;
    for text in seen.into_inner().unwrap() {
        assert_eq!(text, "mine");
        read += 1;
    }
    assert!(read > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_swapped_file_is_never_followed() {
    let world = World::new();
    world.put("f", "mine");
    let target = world.target("f").await.unwrap();
    let read = std::sync::atomic::AtomicUsize::new(0);
    swapping(&world, ("f", "secret"), 2000, async |number| {
        if number % 20 == 0 {
            // The name, whatever it stands for, is replaced; what the link leads to is not.
            let _ = world.fs.write_text(&target, request("mine", None), &world.policy, &world.cancel).await;
        }
        if let Ok(bytes) = world.fs.read_bytes(&target, 99, &world.policy, &world.cancel).await {
            assert_eq!(bytes.bytes, b"mine");
            read.fetch_add(1, Ordering::Relaxed);
        }
    })
    .await;
    assert!(read.into_inner() > 0);
    assert_eq!(std::fs::read_to_string(world.at("outside/secret")).unwrap(), "secret");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_above_the_root_that_is_swapped_never_leads_outside() {
    let mut world = World::new();
    // The workspace lies in a directory that others may write; outside has one of the same name.
    world.put("above/ws/secret", "mine");
    std::fs::create_dir(world.at("outside/ws")).unwrap();
    std::fs::write(world.at("outside/ws/secret"), "theirs").unwrap();
    let root = world.at("root/above/ws");
    world.policy = dsh_fs_local::canonical_policy(world.policy.mode, &root, []);
    let target = world.target("secret").await.unwrap();
    let read = std::sync::atomic::AtomicUsize::new(0);
    swapping(&world, ("above", ""), 1500, async |number| {
        if number % 20 == 0 {
            let _ = world.fs.write_text(&target, request("mine", None), &world.policy, &world.cancel).await;
        }
        if let Ok(bytes) = world.fs.read_bytes(&target, 99, &world.policy, &world.cancel).await {
            assert_eq!(bytes.bytes, b"mine");
            read.fetch_add(1, Ordering::Relaxed);
        }
    })
    .await;
    assert!(read.into_inner() > 0);
    assert_eq!(std::fs::read_to_string(world.at("outside/ws/secret")).unwrap(), "theirs");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directories_that_are_made_while_names_are_swapped_are_made_inside() {
    let world = World::new();
    world.put("d/f", "");
    let target = world.target("d/new/deep/f").await.unwrap();
    let outside =
        |world: &World| world.tree().into_iter().filter(|row| row.starts_with("outside")).collect::<Vec<_>>();
    let before = outside(&world);
    swapping(&world, ("d", ""), 300, async |number| {
        let cancel = dsh_lifecycle::Cancel::new();
        let writing = world.fs.write_text(&target, request("mine", None), &world.policy, &cancel);
        let stopping = async {
            if number % 3 == 0 {
                tokio::task::yield_now().await;
                cancel.cancel(dsh_lifecycle::Cause::User);
            }
        };
        let _ = tokio::join!(writing, stopping);
        // Started anew, wherever it is now.
        for path in ["root/d/new", "root/link/new"] {
            let _ = std::fs::remove_dir_all(world.at(path));
        }
    })
    .await;
    assert_eq!(outside(&world), before);
    assert!(!world.tree().iter().any(|row| row.contains(".dsh-")), "{:?}", world.tree());
}
