//! In which order a request lists its tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dsh_llm::ToolSchema;
use serde::Deserialize;

use crate::{OfferedTools, PromptError};

/// The place in a [`ToolOrder`] where all tools go that it does not name.
pub const UNLISTED_TOOLS: &str = "<unlisted-tools>";

/// A configured order: tool names and exactly one [`UNLISTED_TOOLS`]. In configuration it is a list of strings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<Arc<str>>")]
pub struct ToolOrder {
    ranks: BTreeMap<Arc<str>, usize>,
    unlisted: usize,
}

/// Why a list is not a tool order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolOrderError {
    /// The marker is not in it.
    #[error("the tool order needs \"{UNLISTED_TOOLS}\" once, where the tools go that it does not name")]
    NoMarker,
    /// A name, or the marker, is in it more than once.
    #[error("the tool order has \"{0}\" more than once")]
    Repeated(Arc<str>),
}

impl ToolOrder {
    /// The order of these names. Refused without the marker (so also when empty) and with anything twice.
    pub fn new<T: Into<Arc<str>>>(names: impl IntoIterator<Item = T>) -> Result<Self, ToolOrderError> {
        let mut ranks = BTreeMap::new();
        for (rank, name) in names.into_iter().map(Into::into).enumerate() {
            if ranks.insert(Arc::clone(&name), rank).is_some() {
                return Err(ToolOrderError::Repeated(name));
            }
        }
        let unlisted = ranks.remove(UNLISTED_TOOLS).ok_or(ToolOrderError::NoMarker)?;
        Ok(Self { ranks, unlisted })
    }

    /// The named tools, in their order, without the marker.
    fn named(&self) -> Vec<&Arc<str>> {
        let mut named: Vec<_> = self.ranks.iter().collect();
        named.sort_unstable_by_key(|(_, rank)| **rank);
        named.into_iter().map(|(name, _)| name).collect()
    }

    fn rank(&self, name: &str) -> usize {
        self.ranks.get(name).copied().unwrap_or(self.unlisted)
    }
}

impl TryFrom<Vec<Arc<str>>> for ToolOrder {
    type Error = ToolOrderError;

    fn try_from(names: Vec<Arc<str>>) -> Result<Self, Self::Error> {
        Self::new(names)
    }
}

/// Puts the offered tools into one list: by name, or as configured with the rest by name (spec 11 §A.4).
///
/// A list that is in order already, from a provider that is alone, is handed on without a copy.
pub(crate) fn arrange(
    offers: Vec<OfferedTools>,
    order: Option<&ToolOrder>,
) -> Result<Arc<[ToolSchema]>, PromptError> {
    if offers.iter().flat_map(|offer| offer.schemas.iter()).any(|tool| &*tool.name == UNLISTED_TOOLS) {
        return Err(PromptError::ReservedToolName);
    }
    if let Some(order) = order {
        refuse_unknown(order, &offers)?;
    }
    let key = |tool: &ToolSchema| (order.map_or(0, |order| order.rank(&tool.name)), Arc::clone(&tool.name));
    let mut filled = offers.into_iter().map(|offer| offer.schemas).filter(|schemas| !schemas.is_empty());
    let Some(first) = filled.next() else { return Ok([].into()) };
    let rest: Vec<_> = filled.collect();
    if rest.is_empty() && first.is_sorted_by_key(key) {
        return Ok(first);
    }
    let mut tools: Vec<_> =
        first.iter().chain(rest.iter().flat_map(|schemas| schemas.iter())).cloned().collect();
    tools.sort_by_cached_key(key);
    Ok(tools.into())
}

fn refuse_unknown(order: &ToolOrder, offers: &[OfferedTools]) -> Result<(), PromptError> {
    let mut known = BTreeSet::new();
    for offer in offers {
        match &offer.known_names {
            Some(names) => known.extend(names.iter().cloned()),
            None => known.extend(offer.schemas.iter().map(|tool| Arc::clone(&tool.name))),
        }
    }
    let unknown: Vec<_> = order.named().into_iter().filter(|name| !known.contains(*name)).cloned().collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(PromptError::UnknownToolsInOrder { unknown, known: known.into_iter().collect() })
}
