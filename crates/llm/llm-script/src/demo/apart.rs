//! What is not a project's own: build output, dependencies and hidden directories, told by their names.

/// Names of directories with build output, at the top of a workspace. Deeper down they may mean anything.
const BUILD: [&str; 7] = ["target", "dist", "build", "out", "_build", "DerivedData", "__pycache__"];

/// Names of directories with dependencies, at the top of a workspace.
const DEPENDENCIES: [&str; 10] = [
    "node_modules",
    "bower_components",
    "vendor",
    "Pods",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".gradle",
    "site-packages",
];

/// Those of them that mean the same at any depth.
const AT_ANY_DEPTH: [&str; 8] =
    ["node_modules", "bower_components", "__pycache__", ".venv", "venv", ".tox", ".nox", ".gradle"];

/// Why the files of a directory are not the project's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    Build,
    Dependencies,
    Hidden,
}

/// A directory that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Apart<'p> {
    pub(super) why: Why,
    pub(super) name: &'p str,
    /// Whether it is not at the top.
    pub(super) nested: bool,
}

/// The outermost directory on the path of a file that is left out, if there is one.
pub(super) fn apart(path: &str) -> Option<Apart<'_>> {
    let (directories, _) = path.rsplit_once('/')?;
    directories.split('/').enumerate().find_map(|(depth, name)| {
        let nested = depth > 0;
        if nested && !AT_ANY_DEPTH.contains(&name) {
            return None;
        }
        let why = if BUILD.contains(&name) {
            Why::Build
        } else if DEPENDENCIES.contains(&name) {
            Why::Dependencies
        } else if name.starts_with('.') {
            Why::Hidden
        } else {
            return None;
        };
        Some(Apart { why, name, nested })
    })
}

/// The glob for the project's own files.
pub(super) fn own_files() -> String {
    format!("!{}", files_apart())
}

/// The glob for all others.
pub(super) fn files_apart() -> String {
    format!("{}/**", directories_apart())
}

/// The glob for those of the others that lie near the top of a directory that is left out: enough to name it.
pub(super) fn some_files_apart() -> String {
    format!("{}/{{*,*/*}}", directories_apart())
}

fn directories_apart() -> String {
    let top: Vec<_> =
        BUILD.into_iter().chain(DEPENDENCIES).filter(|name| !AT_ANY_DEPTH.contains(name)).collect();
    format!("{{{},.*,{}}}", top.join(","), any_depth())
}

/// The glob for the own files of a directory that may have others deeper down.
pub(super) fn own_files_below() -> String {
    format!("!{}/**", any_depth())
}

fn any_depth() -> String {
    format!("**/{{{}}}", AT_ANY_DEPTH.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_told_by_their_names() {
        let check = |path: &str, want: Option<(Why, &str, bool)>| {
            let want = want.map(|(why, name, nested)| Apart { why, name, nested });
            assert_eq!(apart(path), want, "{path}");
        };
        check("target/debug/a.d", Some((Why::Build, "target", false)));
        check("vendor/a", Some((Why::Dependencies, "vendor", false)));
        check(".venv/a", Some((Why::Dependencies, ".venv", false)));
        check(".github/workflows/ci.yml", Some((Why::Hidden, ".github", false)));
        check("packages/a/node_modules/b/dist/c.js", Some((Why::Dependencies, "node_modules", true)));
        check("lib/__pycache__/a.pyc", Some((Why::Build, "__pycache__", true)));
        for own in
            ["", "target", ".gitignore", "src/a.rs", "src/build/a.rs", "crates/a/.cargo/b", "targets/a"]
        {
            check(own, None);
        }
    }
}
