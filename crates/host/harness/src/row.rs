//! A plugin as a row: a name, a typed configuration, and what mounting it does.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use dsh_lifecycle::Registrations;
use serde::de::DeserializeOwned;
use serde_path_to_error::{Deserializer, Track};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::Host;

/// Why a plugin could not be mounted. It says what is wrong and what to do, for the operator.
pub type MountError = Box<dyn Error + Send + Sync>;

/// One plugin: the name of its table in the configuration, and how its configuration becomes registrations.
pub struct Row {
    name: &'static str,
    summary: &'static str,
    parse: Box<Parse>,
}

/// A plugin whose configuration was read and that waits for its turn.
pub(crate) type Mount = Box<dyn FnOnce(&Host) -> Result<Registrations, MountError> + Send>;

/// Reads a plugin's table.
type Parse = dyn Fn(Option<Table<'_>>) -> Result<Mount, Refused> + Send + Sync;

/// A table of the configuration with its place in the text.
pub(crate) type Table<'a> = Spanned<DeValue<'a>>;

/// What is wrong with a configuration, and where in its text.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) span: Range<usize>,
    pub(crate) key: String,
    pub(crate) message: String,
}

/// Makes a row. A missing table is read as an empty one, so every key of `C` has a default or is asked for by name.
///
/// `mount` gets the configuration and what the host offers, and returns registrations; dropping them unmounts it.
pub fn row<C: DeserializeOwned + Send + 'static>(
    name: &'static str,
    summary: &'static str,
    mount: impl Fn(C, &Host) -> Result<Registrations, MountError> + Clone + Send + Sync + 'static,
) -> Row {
    let parse = move |table: Option<Table<'_>>| {
        let table = table.unwrap_or_else(|| Spanned::new(0..0, DeValue::Table(DeTable::new())));
        let config = read::<C>(name, table)?;
        let mount = mount.clone();
        let mount: Mount = Box::new(move |host| mount(config, host));
        Ok(mount)
    };
    Row { name, summary, parse: Box::new(parse) }
}

impl Row {
    /// The name of the plugin and of its table.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is for, in one line.
    pub fn summary(&self) -> &'static str {
        self.summary
    }

    pub(crate) fn parse(&self, table: Option<Table<'_>>) -> Result<Mount, Refused> {
        (self.parse)(table)
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads a table as `C`. A refusal says where in the text, which key, and what was expected.
pub(crate) fn read<C: DeserializeOwned>(name: &str, table: Table<'_>) -> Result<C, Refused> {
    let span = table.span();
    if !matches!(table.get_ref(), DeValue::Table(_)) {
        let message = format!("expected a table, found {}", table.get_ref().type_str());
        return Err(Refused { span, key: name.to_owned(), message });
    }
    let mut track = Track::new();
    let deserializer = Deserializer::new(ValueDeserializer::from(table), &mut track);
    C::deserialize(deserializer).map_err(|error: toml::de::Error| {
        let path = track.path().to_string();
        let key = match (name, &*path) {
            ("", path) => path.to_owned(),
            (name, ".") => name.to_owned(),
            (name, path) => format!("{name}.{path}"),
        };
        Refused { span: error.span().unwrap_or(span), key, message: error.message().to_owned() }
    })
}
