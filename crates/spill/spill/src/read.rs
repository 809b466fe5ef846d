//! What is read, for whom, and what comes back.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{SpillLocator, SpillOwner};

/// A text to read. The names of the fields are stable, for stores that are elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadText {
    /// For whom: the session that reads, and the one that it was forked from, whose locators its history mentions. Empty
    /// where nobody's session reads.
    pub owners: Arc<[SpillOwner]>,
    /// Which text, in the store's own words.
    pub locator: SpillLocator,
}

impl ReadText {
    /// Whether a text of `owner` is among those that are read here.
    pub fn admits(&self, owner: &SpillOwner) -> bool {
        self.owners.contains(owner)
    }
}

/// A part of a stored text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillPart {
    /// The bytes of the range that was asked for, as far as the text has them: no more and no fewer.
    pub bytes: Vec<u8>,
    /// How many bytes the whole text has.
    pub total: u64,
}

impl SpillPart {
    /// The part of `text` that lies in `range`, for a store that has the whole at hand.
    pub fn of(text: &[u8], range: Range<u64>) -> Self {
        let at = |place: u64| usize::try_from(place).map_or(text.len(), |place| place.min(text.len()));
        let bytes = text.get(at(range.start)..at(range.end)).unwrap_or_default().to_vec();
        Self { bytes, total: text.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use dsh_json::{Json, object};

    use super::*;

    fn owner(session: &str) -> SpillOwner {
        SpillOwner { session_id: session.into() }
    }

    #[test]
    fn fields_have_their_stable_names() {
        let text = ReadText { owners: [owner("s")].into(), locator: SpillLocator::new("mem:1") };
        let owners = Json::from_serialize(&[owner("s")]).unwrap();
        let json = object! { "owners": owners, "locator": "mem:1" };
        assert_eq!(Json::from_serialize(&text).unwrap(), json);
        assert_eq!(json.read::<ReadText>().unwrap(), text);
    }

    #[test]
    fn a_text_is_read_for_its_own_session_and_for_one_forked_from_it() {
        let text =
            ReadText { owners: [owner("child"), owner("s")].into(), locator: SpillLocator::new("mem:1") };
        assert!(text.admits(&owner("s")) && text.admits(&owner("child")) && !text.admits(&owner("other")));
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "what is tested")]
    fn a_part_is_what_the_text_has_of_the_range() {
        let of = |range| SpillPart::of(b"abcdef", range);
        for (range, bytes) in
            [(0..2, "ab"), (4..9, "ef"), (6..7, ""), (9..u64::MAX, ""), (2..2, ""), (3..1, "")]
        {
            assert_eq!(of(range), SpillPart { bytes: bytes.into(), total: 6 });
        }
    }
}
