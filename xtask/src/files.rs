//! The files of a repository, in a fixed order, without what is built or ignored.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Every file below `root` as a path relative to it, sorted; folders that git never sees are left out.
pub(crate) fn below(root: &Path, folder: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let start = root.join(folder);
    if start.is_dir() {
        collect(root, &start, &mut found)?;
    }
    found.sort();
    Ok(found)
}

/// Reads a file of the repository; the error names it.
pub(crate) fn read(root: &Path, path: &Path) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| format!("reading {}", path.display()))
}

/// Reads a file that may be absent.
pub(crate) fn read_if_present(root: &Path, path: &str) -> Result<Option<String>> {
    let path = Path::new(path);
    if root.join(path).is_file() { read(root, path).map(Some) } else { Ok(None) }
}

/// The path with `/` between its parts, as it is shown and compared.
pub(crate) fn shown(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("listing {}", folder.display()))?;
        let path = entry.path();
        let kind = entry.file_type().with_context(|| format!("looking at {}", path.display()))?;
        if kind.is_dir() {
            if !matches!(entry.file_name().to_str(), Some(".git" | "target")) {
                collect(root, &path, found)?;
            }
        } else if kind.is_file()
            && let Ok(relative) = path.strip_prefix(root)
        {
            found.push(relative.to_path_buf());
        }
    }
    Ok(())
}
