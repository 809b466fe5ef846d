//! The repository's text, read once for all rules.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::files;
use crate::source::Source;

/// Everything that the rules look at.
pub(crate) struct Tree {
    root: PathBuf,
    pub(crate) files: Vec<File>,
    pub(crate) crates: Vec<Crate>,
}

/// One text file.
pub(crate) struct File {
    /// Relative to the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    /// For Rust alone.
    pub(crate) source: Option<Source>,
}

/// One package of the repository.
pub(crate) struct Crate {
    pub(crate) name: String,
    /// Relative to the repository.
    pub(crate) folder: String,
    pub(crate) manifest: toml::Table,
}

impl Tree {
    /// Reads what people write here: sources, manifests, prose, scripts and snapshots. Fixtures are data and are not
    /// read, apart from their prose.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let mut tree = Self { root: root.to_path_buf(), files: Vec::new(), crates: Vec::new() };
        for path in files::below(root, "")? {
            let shown = files::shown(&path);
            if !is_written_by_people(&shown) {
                continue;
            }
            let text = files::read(root, &path)?;
            let source = has_extension(&shown, "rs").then(|| Source::new(&text));
            if let Some(folder) = shown.strip_suffix("/Cargo.toml") {
                let manifest: toml::Table = text.parse().with_context(|| format!("reading {shown}"))?;
                let name = manifest.get("package").and_then(|package| package.get("name")?.as_str());
                if let Some(name) = name.map(str::to_owned) {
                    tree.crates.push(Crate { name, folder: folder.to_owned(), manifest });
                }
            }
            tree.files.push(File { path: shown, text, source });
        }
        Ok(tree)
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a file or folder of this path exists.
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The Rust files, each with its text told apart.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&File, &Source)> {
        self.files.iter().filter_map(|file| Some((file, file.source.as_ref()?)))
    }

    pub(crate) fn prose(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| has_extension(&file.path, "md"))
    }

    /// The package that a file belongs to, and the file's path inside it.
    pub(crate) fn crate_of<'a>(&self, path: &'a str) -> Option<(&Crate, &'a str)> {
        self.crates
            .iter()
            .find_map(|member| Some((member, path.strip_prefix(&member.folder)?.strip_prefix('/')?)))
    }

    /// The package with this name, or whose folder is called so.
    pub(crate) fn crate_called(&self, name: &str) -> Option<&Crate> {
        self.crates
            .iter()
            .find(|member| member.name == name || member.folder.rsplit('/').next() == Some(name))
    }
}

pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

fn is_written_by_people(path: &str) -> bool {
    if path.starts_with("fixtures/") {
        return has_extension(path, "md") && path.matches('/').count() <= 2;
    }
    ["rs", "toml", "md", "snap", "sh", "yml", "yaml"].iter().any(|extension| has_extension(path, extension))
        || path.starts_with(".ci/")
        || path.starts_with(".githooks/")
}
