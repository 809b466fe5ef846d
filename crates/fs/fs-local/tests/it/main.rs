//! The local file system through its public trait, on a real disk.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't set up its scene fails")]

mod abort;
mod child;
mod containment;
mod editing;
mod killed;
mod listing;
mod race;
mod reading;
mod resolving;
mod rights;
mod search;
mod world;
mod writing;

/// The public types cross threads.
const _: fn() = || {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<dsh_fs_local::LocalFs>();
    shared::<dsh_fs_local::LocalSearch>();
    shared::<Box<dyn dsh_fs::FileSystem>>();
    shared::<dsh_fs::FsError>();
};
