//! Rows in layers.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use crate::ScopeId;

/// The identity of one row. Ids only grow, so they are also the order of registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(u64);

/// A place in a layer, for an iteration that lets go of the layers between two rows.
///
/// It sees rows that are added behind it, and ends when the layer was emptied and filled again, because those rows are
/// of another generation (spec 01 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    generation: RowId,
    row: RowId,
}

/// Rows by layer: one layer for everybody (`None`) and one for each scope that has rows. Reading never makes a layer,
/// and a layer without rows is gone.
#[derive(Debug)]
pub struct Layers<T> {
    layers: HashMap<Option<ScopeId>, Layer<T>>,
    next: u64,
}

#[derive(Debug)]
struct Layer<T> {
    rows: BTreeMap<RowId, T>,
    generation: RowId,
}

impl<T> Layers<T> {
    /// Adds a row to a layer, behind its other rows.
    pub fn insert(&mut self, layer: Option<ScopeId>, row: T) -> RowId {
        let id = RowId(self.next);
        self.next += 1;
        let layer =
            self.layers.entry(layer).or_insert_with(|| Layer { rows: BTreeMap::new(), generation: id });
        layer.rows.insert(id, row);
        id
    }

    /// Takes exactly that row out. `None` if it is gone already.
    pub fn remove(&mut self, layer: Option<ScopeId>, id: RowId) -> Option<T> {
        let held = self.layers.get_mut(&layer)?;
        let row = held.rows.remove(&id);
        if held.rows.is_empty() {
            self.layers.remove(&layer);
        }
        row
    }

    /// The rows of one layer, oldest first. It does not look at other layers.
    pub fn layer(&self, layer: Option<ScopeId>) -> impl Iterator<Item = &T> {
        self.layers.get(&layer).into_iter().flat_map(|held| held.rows.values())
    }

    /// Whether a layer has rows.
    pub fn has(&self, layer: Option<ScopeId>) -> bool {
        self.layers.contains_key(&layer)
    }

    /// How many rows there are, in all layers.
    pub fn len(&self) -> usize {
        self.layers.values().map(|held| held.rows.len()).sum()
    }

    /// Whether there is no row at all.
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// The rows that a scope with this chain (nearest first) sees, layer by layer: everybody's, then from the farthest
    /// ancestor to the scope itself.
    pub fn along(&self, chain: &[ScopeId]) -> impl Iterator<Item = (RowId, &T)> {
        let layers = std::iter::once(None).chain(chain.iter().rev().copied().map(Some));
        layers
            .filter_map(|key| self.layers.get(&key))
            .flat_map(|held| held.rows.iter().map(|(id, row)| (*id, row)))
    }

    /// The same rows in the order of their registration, whatever their layers: the order in which listeners run.
    pub fn in_order(&self, chain: &[ScopeId]) -> Vec<&T> {
        let mut rows: Vec<_> = self.along(chain).collect();
        rows.sort_unstable_by_key(|(id, _)| *id);
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

impl<T: Clone> Layers<T> {
    /// The row behind a cursor (the first one for `None`), with the cursor that stands on it.
    pub fn after(&self, layer: Option<ScopeId>, at: Option<Cursor>) -> Option<(Cursor, T)> {
        let held = self.layers.get(&layer)?;
        if at.is_some_and(|at| at.generation != held.generation) {
            return None;
        }
        let from = at.map_or(Bound::Unbounded, |at| Bound::Excluded(at.row));
        let (row, value) = held.rows.range((from, Bound::Unbounded)).next()?;
        Some((Cursor { generation: held.generation, row: *row }, value.clone()))
    }
}

impl<T> Default for Layers<T> {
    fn default() -> Self {
        Self { layers: HashMap::new(), next: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;

    #[test]
    fn rows_are_inherited_down_the_chain() {
        let parent = Scope::root();
        let (child, stranger) = (parent.child(), Scope::root());
        let mut rows = Layers::default();
        rows.insert(Some(child.id()), "child");
        rows.insert(Some(parent.id()), "parent");
        rows.insert(None, "all");
        let along = |scope: &Scope| rows.along(&scope.chain()).map(|(_, row)| *row).collect::<Vec<_>>();
        assert_eq!(along(&child), ["all", "parent", "child"]);
        assert_eq!(along(&parent), ["all", "parent"]);
        assert_eq!(along(&stranger), ["all"]);
        assert_eq!(rows.in_order(&child.chain()), [&"child", &"parent", &"all"]);
    }

    #[test]
    fn removing_takes_exactly_one_row_and_leaves_no_residue() {
        let mut rows = Layers::default();
        let (first, second) = (rows.insert(None, "same"), rows.insert(None, "same"));
        assert_eq!(rows.remove(None, first), Some("same"));
        assert_eq!(rows.remove(None, first), None);
        assert_eq!(rows.layer(None).count(), 1);
        rows.remove(None, second);
        assert!(rows.is_empty() && !rows.has(None));
    }

    #[test]
    fn a_cursor_sees_later_rows_of_its_generation_only() {
        let mut rows = Layers::default();
        let first = rows.insert(None, 1);
        let (at, row) = rows.after(None, None).unwrap();
        assert_eq!(row, 1);
        let second = rows.insert(None, 2);
        assert_eq!(rows.after(None, Some(at)).unwrap().1, 2);

        rows.remove(None, first);
        rows.remove(None, second);
        rows.insert(None, 3);
        assert_eq!(rows.after(None, Some(at)), None);
        assert_eq!(rows.after(None, None).unwrap().1, 3);
    }
}
