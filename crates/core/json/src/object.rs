//! Properties in insertion order, with an index once there are many.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;
use std::{slice, vec};

use crate::value::{SHALLOW, dismantle, equal_objects};
use crate::{Json, Kind};

/// The properties of a JSON object, in insertion order. Keys are unique.
///
/// Look-up is a short scan up to eight properties, and hashed above.
#[derive(Clone, Default)]
pub struct Object {
    entries: Vec<(Arc<str>, Json)>,
    /// Positions by key; present exactly above [`SCANNED`] entries.
    index: Option<HashMap<Arc<str>, usize>>,
    /// Height of the tallest value ever held.
    tallest: u32,
}

/// Iterates over the properties of an [`Object`] in order.
#[derive(Clone)]
pub struct ObjectIter<'a>(slice::Iter<'a, (Arc<str>, Json)>);

/// Up to this many entries are scanned instead of indexed.
const SCANNED: usize = 8;

impl Object {
    /// An object without properties.
    pub fn new() -> Self {
        Self::default()
    }

    /// An object without properties, with room for `capacity`.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { entries: Vec::with_capacity(capacity), index: None, tallest: 0 }
    }

    /// Sets a property and returns its former value. A new key goes to the end; a known key keeps its place.
    pub fn insert(&mut self, key: impl Into<Arc<str>>, value: impl Into<Json>) -> Option<Json> {
        let (key, value) = (key.into(), value.into());
        self.tallest = self.tallest.max(value.height());
        let end = self.entries.len();
        let known = match &mut self.index {
            Some(index) => match index.entry(Arc::clone(&key)) {
                Entry::Occupied(position) => Some(*position.get()),
                Entry::Vacant(place) => {
                    place.insert(end);
                    None
                }
            },
            None => self.position(&key),
        };
        if let Some(position) = known {
            return Some(std::mem::replace(&mut self.entries[position].1, value));
        }
        self.entries.push((key, value));
        if self.index.is_none() && self.entries.len() > SCANNED {
            self.index = Some(self.keys().enumerate().map(|(at, key)| (Arc::clone(key), at)).collect());
        }
        None
    }

    /// The value of a property.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.position(key).map(|position| &self.entries[position].1)
    }

    /// Whether there is a property of that name.
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// The number of properties.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no properties.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The properties in order.
    pub fn iter(&self) -> ObjectIter<'_> {
        ObjectIter(self.entries.iter())
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Arc<str>> + ExactSizeIterator + Clone {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The values in order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Json> + ExactSizeIterator + Clone {
        self.entries.iter().map(|(_, value)| value)
    }

    pub(crate) fn entries(&self) -> &[(Arc<str>, Json)] {
        &self.entries
    }

    pub(crate) fn height(&self) -> u32 {
        self.tallest.saturating_add(1)
    }

    pub(crate) fn take_values(&mut self) -> impl Iterator<Item = Json> + use<> {
        self.tallest = 0;
        std::mem::take(&mut self.entries).into_iter().map(|(_, value)| value)
    }

    fn position(&self, key: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(key).copied(),
            None => self.entries.iter().position(|(known, _)| **known == *key),
        }
    }
}

impl<K: Into<Arc<str>>, V: Into<Json>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut object = Self::new();
        object.extend(entries);
        object
    }
}

impl<K: Into<Arc<str>>, V: Into<Json>> Extend<(K, V)> for Object {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a Arc<str>, &'a Json);
    type IntoIter = ObjectIter<'a>;

    fn into_iter(self) -> ObjectIter<'a> {
        self.iter()
    }
}

impl IntoIterator for Object {
    type Item = (Arc<str>, Json);
    type IntoIter = vec::IntoIter<(Arc<str>, Json)>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::mem::take(&mut self.entries).into_iter()
    }
}

impl<'a> Iterator for ObjectIter<'a> {
    type Item = (&'a Arc<str>, &'a Json);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for ObjectIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key, value))
    }
}

impl ExactSizeIterator for ObjectIter<'_> {}

impl PartialEq for Object {
    /// Same properties, in any order.
    fn eq(&self, other: &Self) -> bool {
        equal_objects(self, other)
    }
}

impl Eq for Object {}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", Json::from(self.clone()))
    }
}

impl fmt::Debug for ObjectIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectIter({} left of an {})", self.0.len(), Kind::Object)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.height() > SHALLOW {
            dismantle(self.take_values().collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Object;
    use crate::Json;

    #[test]
    fn order_and_look_up_hold_below_and_above_the_index() {
        for count in [0, 1, 7, 8, 9, 10, 100] {
            let keys: Vec<String> = (0..count).map(|n| format!("k{n}")).collect();
            let mut object: Object = keys.iter().map(|key| (key.as_str(), 0)).collect();
            for (n, key) in keys.iter().enumerate() {
                assert_eq!(object.insert(key.as_str(), n), Some(Json::from(0)));
            }
            assert_eq!(object.len(), count);
            assert!(object.keys().map(|key| &**key).eq(keys.iter().map(String::as_str)));
            assert!(object.values().cloned().eq((0..count).map(Json::from)));
            assert!(keys.iter().enumerate().all(|(n, key)| object.get(key) == Some(&n.into())));
            assert!(!object.contains_key("other"));
            assert!(object == object.clone().into_iter().rev().collect());
        }
    }

    #[test]
    fn objects_differ_by_key_and_by_value() {
        let object = |key: &str, value: i32| Object::from_iter([(key, value)]);
        assert!(object("a", 1) == object("a", 1));
        assert!(object("a", 1) != object("b", 1));
        assert!(object("a", 1) != object("a", 2));
        assert!(object("a", 1) != Object::new());
    }
}
