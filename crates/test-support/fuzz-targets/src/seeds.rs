//! What fuzzing starts from: what is written by hand below `seeds/`, what is generated to be hostile, and what was
//! recorded below `fixtures/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use dsh_json::JsonError;

use crate::{hostile, recorded};

/// One input to start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// What it is called, in its target.
    pub name: String,
    /// The input.
    pub bytes: Vec<u8>,
}

/// Why there are no seeds. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// A file or folder can't be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A fixture is no JSON.
    #[error("{}: {source}", path.display())]
    Json {
        /// Which.
        path: PathBuf,
        /// Why.
        source: JsonError,
    },
    /// A file of vectors is none.
    #[error("{}: {source}", path.display())]
    Vectors {
        /// Which.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

/// The largest input that is taken from a fixture.
const LARGEST: usize = 24 << 10;

/// The seeds of a target, by name; none for a name that is no target's. Reads the repository's files.
///
/// # Errors
/// [`SeedError`] when one of them can't be read.
pub fn seeds(target: &str) -> Result<Vec<Seed>, SeedError> {
    let mut seeds = hostile::seeds(target);
    seeds.extend(by_hand(target)?);
    // What was recorded twice is one seed.
    let distinct: BTreeMap<String, String> =
        recorded::inputs(target)?.into_iter().map(|(name, text)| (text, name)).collect();
    let short = distinct.into_iter().filter(|(text, _)| text.len() <= LARGEST);
    seeds.extend(short.map(|(text, name)| Seed { name, bytes: text.into_bytes() }));
    seeds.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(seeds)
}

fn by_hand(target: &str) -> Result<Vec<Seed>, SeedError> {
    // What is declared is the same in both languages.
    let folder = if target.starts_with("sdk_") { "sdk" } else { target };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(folder);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let paths = files(&folder)?.into_iter();
    paths.map(|path| Ok(Seed { name: name_of(&path), bytes: bytes(&path)? })).collect()
}

/// The files of a folder, by name.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, SeedError> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> =
        entries.map_err(|source| SeedError::Read { path: folder.to_owned(), source })?;
    paths.retain(|path| path.is_file());
    paths.sort();
    Ok(paths)
}

pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, SeedError> {
    fs::read(path).map_err(|source| SeedError::Read { path: path.to_owned(), source })
}

pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
