//! Files that change while they are read.

use std::io::Write as _;

use dsh_lifecycle::Cancel;
use dsh_sandbox_policy::SandboxMode;

use super::*;

#[test]
fn bytes_that_are_added_after_the_size_was_known_count() {
    let dir = tempfile::tempdir().unwrap();
    let policy = crate::canonical_policy(SandboxMode::ReadOnly, dir.path(), []);
    let path = policy.workspace_root.join("a");
    std::fs::write(&path, "1234").unwrap();
    let target = resolve::make(&path, &path);
    let (mut file, stat) = open(&target, &policy).unwrap();
    File::options().append(true).open(&path).unwrap().write_all(b"5678").unwrap();
    assert_eq!(size(&stat), 4);
    let most = |max: u64, file: &mut File| {
        std::io::Seek::rewind(file).unwrap();
        let stop = Stop::from(Cancel::new());
        all(file, max, &target, &stop).map(|bytes| bytes.len()).map_err(|error| error.code())
    };
    assert_eq!(most(8, &mut file), Ok(8));
    assert_eq!(most(7, &mut file), Err("FS_TOO_LARGE"));
    assert_eq!(most(4, &mut file), Err("FS_TOO_LARGE"));
}
