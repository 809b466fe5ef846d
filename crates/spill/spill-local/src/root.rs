//! Where everything is.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf, absolute};

use dsh_spill::SpillError;
use parking_lot::Mutex;

use crate::ConfigError;

/// The private directory of this process, as soon as someone needs it.
static PRIVATE: Mutex<Option<PathBuf>> = Mutex::new(None);

#[derive(Debug, Clone)]
pub(crate) enum Root {
    /// The configured directory: absolute, and without `.` and `..`.
    At(PathBuf),
    /// The private one.
    Private,
}

impl Root {
    pub(crate) fn of(configured: Option<&Path>, base: &Path) -> Result<Self, ConfigError> {
        let Some(root) = configured else { return Ok(Self::Private) };
        if root.as_os_str().is_empty() {
            return Err(ConfigError::EmptyRoot);
        }
        let path = base.join(root);
        if !path.is_absolute() {
            return Err(ConfigError::Relative(root.to_owned()));
        }
        if path.to_str().is_none() {
            return Err(ConfigError::NotText(path));
        }
        Ok(Self::At(plain(&path)))
    }

    /// The directory. The private one is made now if it is not there yet.
    pub(crate) fn path(&self) -> Result<PathBuf, SpillError> {
        match self {
            Self::At(path) => Ok(path.clone()),
            Self::Private => {
                let mut private = PRIVATE.lock();
                if let Some(path) = &*private {
                    return Ok(path.clone());
                }
                Ok(private.insert(make()?).clone())
            }
        }
    }

    /// The directory, if there was any need of it yet.
    pub(crate) fn known(&self) -> Option<PathBuf> {
        match self {
            Self::At(path) => Some(path.clone()),
            Self::Private => PRIVATE.lock().clone(),
        }
    }
}

fn make() -> Result<PathBuf, SpillError> {
    let private = std::fs::Permissions::from_mode(0o700);
    let made = tempfile::Builder::new().prefix("dsh-spill-").permissions(private).tempdir()?;
    let path = absolute(made.path())?;
    if path.to_str().is_none() {
        let reason = format!("the directory for temporary files is {}, which is not UTF-8", path.display());
        return Err(SpillError::Failed { reason });
    }
    drop(made.keep());
    Ok(path)
}

/// An absolute path without `.` and `..`, by its words.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = plain.pop(),
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => {
                plain.push::<&OsStr>(part.as_os_str());
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn a_root_is_absolute_and_plain() {
        for (root, base, expected) in [
            ("/a/b", "/base", Ok("/a/b")),
            ("a/b", "/base", Ok("/base/a/b")),
            ("./a/.././b/", "/base", Ok("/base/b")),
            ("../../..", "/base", Ok("/")),
            ("/a/b", "base", Ok("/a/b")),
            ("", "/base", Err(ConfigError::EmptyRoot)),
            ("a", "base", Err(ConfigError::Relative("a".into()))),
        ] {
            let root = Root::of(Some(Path::new(root)), Path::new(base));
            let path = root.map(|root| root.path().unwrap());
            assert_eq!(path, expected.map(PathBuf::from));
        }
        let bytes = Path::new(OsStr::from_bytes(b"/a\xff"));
        assert_eq!(Root::of(Some(bytes), Path::new("/")).unwrap_err(), ConfigError::NotText(bytes.into()));
    }
}
