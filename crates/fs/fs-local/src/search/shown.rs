//! How paths stand in results, and in which order.

use std::cmp::Ordering;
use std::fmt::Write as _;

/// The path below the root as a result shows it: behind `root`, which stands for nothing when it is `.`.
///
/// UTF-8 stays as it is, line breaks included; each byte that is none becomes `\xNN`.
pub(super) fn shown_path(root: &str, below: &[u8]) -> String {
    let mut shown = String::with_capacity(root.len() + below.len() + 1);
    if root != "." {
        shown.push_str(root);
        if !root.ends_with('/') && !below.is_empty() {
            shown.push('/');
        }
    }
    push_lossy(&mut shown, below);
    if shown.is_empty() { ".".to_owned() } else { shown }
}

/// Bytes as text, each byte that is not UTF-8 as `\xNN`.
pub(super) fn lossy(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    push_lossy(&mut text, bytes);
    text
}

/// Compares paths part by part, so that what lies in one directory stays together.
pub(super) fn path_order(a: &str, b: &str) -> Ordering {
    let at = a.bytes().zip(b.bytes()).position(|(x, y)| x != y);
    match at {
        // A separator sorts before every other byte; a name can't contain a byte below it.
        Some(at) => {
            let rank = |path: &str| path.as_bytes().get(at).map(|byte| if *byte == b'/' { 0 } else { *byte });
            rank(a).cmp(&rank(b))
        }
        None => a.len().cmp(&b.len()),
    }
}

fn push_lossy(text: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a `String` can't fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stand_behind_their_root() {
        let rows: [(&str, &[u8], &str); 8] = [
            (".", b"a/b", "a/b"),
            ("src", b"a/b", "src/a/b"),
            ("/", b"etc/x", "/etc/x"),
            ("../up", b"x", "../up/x"),
            (".", b"", "."),
            ("src/a.rs", b"", "src/a.rs"),
            (".", b"one\ntwo", "one\ntwo"),
            (".", b"caf\xe9\xff.txt", "caf\\xe9\\xff.txt"),
        ];
        for (root, below, shown) in rows {
            assert_eq!(shown_path(root, below), shown);
        }
    }

    #[test]
    fn directories_stay_together() {
        let mut paths = ["a-b", "a/z", "a", "b", "a.txt", "a/b/c", "a/b"];
        paths.sort_by(|a, b| path_order(a, b));
        assert_eq!(paths, ["a", "a/b", "a/b/c", "a/z", "a-b", "a.txt", "b"]);
    }
}
