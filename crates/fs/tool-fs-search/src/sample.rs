//! Which of too many paths are shown (spec 07 §7.2).

use std::collections::HashMap;

/// The paths to show, and how they were chosen.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sample<'a> {
    pub(crate) paths: Vec<&'a str>,
    pub(crate) basis: Basis,
}

/// How the shown paths were chosen.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// All are shown.
    All,
    /// The first ones.
    Head,
    /// Some of each top-level entry, as far as there was room.
    Entries {
        /// The entries that are shown.
        reached: usize,
        /// The entries that there are.
        total: usize,
    },
}

/// The first paths of a result.
pub(crate) fn head<P: AsRef<str>>(paths: &[P], cap: usize) -> Sample<'_> {
    let basis = if paths.len() <= cap { Basis::All } else { Basis::Head };
    Sample { paths: paths.iter().take(cap).map(AsRef::as_ref).collect(), basis }
}

/// One path of each top-level entry below `root`, then a second one of each, until `cap` are chosen. Shown together by
/// entry, in the order of the result. In linear time, however many entries there are.
pub(crate) fn sample<'a, P: AsRef<str>>(root: &str, paths: &'a [P], cap: usize) -> Sample<'a> {
    if paths.len() <= cap {
        return head(paths, cap);
    }
    let mut entries: Vec<Vec<&str>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut flat = true;
    for path in paths {
        let path = path.as_ref();
        let (entry, is_directory) = top_level(root, path);
        flat &= !is_directory;
        let at = *known.entry(entry).or_insert(entries.len());
        match entries.get_mut(at) {
            Some(group) => group.push(path),
            None => entries.push(vec![path]),
        }
    }
    if flat {
        return head(paths, cap);
    }
    let shares = shares(&entries, cap);
    let reached = shares.iter().filter(|share| **share > 0).count();
    let chosen = entries.iter().zip(shares).flat_map(|(group, share)| group.iter().take(share).copied());
    Sample { paths: chosen.collect(), basis: Basis::Entries { reached, total: entries.len() } }
}

/// How many of each group are shown. Each round gives one slot to each group that has more, so the rounds together cost
/// no more than there are slots and groups.
fn shares(groups: &[Vec<&str>], cap: usize) -> Vec<usize> {
    let mut shares = vec![0; groups.len()];
    let mut open: Vec<usize> = (0..groups.len()).collect();
    let mut left = cap;
    while left > 0 && !open.is_empty() {
        open.truncate(left);
        left -= open.len();
        open.retain(|at| match (shares.get_mut(*at), groups.get(*at)) {
            (Some(share), Some(group)) => {
                *share += 1;
                *share < group.len()
            }
            (None, _) | (_, None) => false,
        });
    }
    shares
}

/// The first part of a path below the root, and whether there is more behind it. Only `/` separates.
fn top_level<'a>(root: &str, path: &'a str) -> (&'a str, bool) {
    let below = match path.strip_prefix(root) {
        Some(below) if root != "." && (below.starts_with('/') || root.ends_with('/')) => below,
        Some(_) | None => path,
    };
    match below.trim_start_matches('/').split_once('/') {
        Some((entry, _)) => (entry, true),
        None => (below.trim_start_matches('/'), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(root: &str, paths: &[&str], cap: usize, shown: &[&str], basis: Basis) {
        assert_eq!(sample(root, paths, cap), Sample { paths: shown.to_vec(), basis });
    }

    #[test]
    fn every_entry_has_its_turn() {
        let paths = ["a/1", "a/2", "a/3", "b/1", "c/1", "c/2", "d"];
        let reached = |reached| Basis::Entries { reached, total: 4 };
        check(".", &paths, 7, &paths, Basis::All);
        check(".", &paths, 6, &["a/1", "a/2", "b/1", "c/1", "c/2", "d"], reached(4));
        check(".", &paths, 5, &["a/1", "a/2", "b/1", "c/1", "d"], reached(4));
        check(".", &paths, 4, &["a/1", "b/1", "c/1", "d"], reached(4));
        check(".", &paths, 3, &["a/1", "b/1", "c/1"], reached(3));
        check(".", &paths, 1, &["a/1"], reached(1));
    }

    #[test]
    fn a_flat_result_is_its_head() {
        check(".", &["a", "b", "c"], 2, &["a", "b"], Basis::Head);
        check("src", &["src/a", "src/b", "src/c"], 2, &["src/a", "src/b"], Basis::Head);
        check(".", &[r"a\x", r"b\x", r"c\x"], 2, &[r"a\x", r"b\x"], Basis::Head);
        check("src", &["srcs/a", "srcs/b"], 1, &["srcs/a"], Basis::Entries { reached: 1, total: 1 });
    }

    #[test]
    fn entries_are_counted_from_the_root() {
        let rows = [
            (".", "a/b", ("a", true)),
            (".", "a", ("a", false)),
            ("src", "src/a/b", ("a", true)),
            ("src", "src/a", ("a", false)),
            ("src", "src-old/a", ("src-old", true)),
            ("/", "/a/b", ("a", true)),
            ("/w", "/w/a/b", ("a", true)),
            ("../up", "../up/a/b", ("a", true)),
            (".", "/else/where", ("else", true)),
            (".", ".hidden/a", (".hidden", true)),
            (".", "./a/b", (".", true)),
            (".", r"a\b/c", (r"a\b", true)),
            ("src", "src", ("src", false)),
        ];
        for (root, path, entry) in rows {
            assert_eq!(top_level(root, path), entry, "{root} {path}");
        }
    }

    #[test]
    fn many_groups_take_linear_time() {
        // With a rescan for each slot or group, this would take minutes.
        let many: Vec<String> = (0..125_000).map(|n| format!("d{n}/f")).collect();
        let found = sample(".", &many, 100_000);
        assert_eq!(found.basis, Basis::Entries { reached: 100_000, total: 125_000 });
        assert_eq!(found.paths.len(), 100_000);

        let mut skewed: Vec<String> = (0..12_500).map(|n| format!("d{n}/f")).collect();
        skewed.extend((0..200_000).map(|n| format!("big/f{n}")));
        let found = sample(".", &skewed, 150_000);
        assert_eq!(found.basis, Basis::Entries { reached: 12_501, total: 12_501 });
        assert_eq!(found.paths.len(), 150_000);
    }
}
