//! `dsh.toml`: found, read, and refused where it says something that nobody understands (spec 12 §3).

use std::io;
use std::path::{Path, PathBuf};

use dsh_tools_core::Presentation;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::read_text;
use crate::row::{Mount, Refused, Row, read};

/// The name of the configuration file.
pub const CONFIG_FILE: &str = "dsh.toml";

/// How large a configuration may be, in bytes.
pub const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// What stands above all tables.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Settings {
    pub(crate) mode: Option<Presentation>,
    #[serde(default)]
    pub(crate) read_roots: Vec<PathBuf>,
}

/// A configuration that was understood as a whole.
pub(crate) struct Parsed {
    pub(crate) settings: Settings,
    /// One for each row, in the order of the rows.
    pub(crate) mounts: Vec<(&'static str, Mount)>,
}

pub(crate) const SETTINGS: [&str; 2] = ["mode", "readRoots"];

/// A configuration as text, and where it came from.
#[derive(Debug, Clone, Default)]
pub struct ConfigText {
    /// The file, for messages; empty for the built-in defaults.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
}

/// Why a configuration is refused. For the operator: file, line, key, and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error("failed to read the configuration {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something in it is not understood.
    #[error("{}:{line}:{column}: {key}: {message}", file.display())]
    Refused {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
        /// The key, with its table.
        key: String,
        /// What is wrong and what was expected.
        message: String,
    },
}

impl ConfigText {
    /// Reads a configuration file: a regular one of at most [`MAX_CONFIG_BYTES`].
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Unreadable { file: file.to_owned(), source };
        let text = read_text(file, MAX_CONFIG_BYTES).map_err(unreadable)?;
        let text = text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned);
        Ok(Self { file: file.to_owned(), text })
    }

    /// The nearest `dsh.toml` from `root` upward; the built-in defaults if there is none. A directory of that name is
    /// passed over.
    pub fn nearest(root: &Path) -> Result<Self, ConfigError> {
        for directory in root.ancestors() {
            let file = directory.join(CONFIG_FILE);
            match Self::read(&file) {
                Err(ConfigError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                Err(ConfigError::Unreadable { .. }) if file.is_dir() => {}
                found => return found,
            }
        }
        Ok(Self::default())
    }

    /// The directory that relative paths in it start at.
    pub(crate) fn base(&self) -> Option<&Path> {
        self.file.parent()
    }

    /// Reads everything before anything is mounted. Mounts come in the order of the rows, not of the text.
    pub(crate) fn parse(&self, rows: &[Row]) -> Result<Parsed, ConfigError> {
        let document = DeTable::parse(&self.text).map_err(|error| {
            let key = "syntax".to_owned();
            self.at(Refused { span: error.span().unwrap_or(0..0), key, message: error.message().to_owned() })
        })?;
        let (mut settings, mut tables) = (DeTable::new(), Vec::new());
        for (key, value) in document.into_inner() {
            let name = key.get_ref().to_string();
            if SETTINGS.contains(&&*name) {
                settings.insert(key, value);
            } else if rows.iter().any(|row| row.name() == name) {
                tables.push((name, Some(value)));
            } else {
                let names: Vec<_> = SETTINGS.into_iter().chain(rows.iter().map(Row::name)).collect();
                let message = format!("unknown key; expected one of {}", names.join(", "));
                return Err(self.at(Refused { span: key.span(), key: name, message }));
            }
        }
        let settings = Spanned::new(0..self.text.len(), DeValue::Table(settings));
        let settings = read::<Settings>("", settings).map_err(|refused| self.at(refused))?;
        let mut mounts = Vec::new();
        for row in rows {
            let table =
                tables.iter_mut().find(|(name, _)| name == row.name()).and_then(|(_, table)| table.take());
            mounts.push((row.name(), row.parse(table).map_err(|refused| self.at(refused))?));
        }
        Ok(Parsed { settings, mounts })
    }

    fn at(&self, refused: Refused) -> ConfigError {
        let start = self.text.floor_char_boundary(refused.span.start);
        let before = self.text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ConfigError::Refused {
            file: self.file.clone(),
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            key: refused.key,
            message: refused.message,
        }
    }
}
