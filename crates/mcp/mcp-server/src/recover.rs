//! The id of a message that can't be read as a whole, so that whoever sent it does not wait forever.

use std::fmt;

use rmcp::model::RequestId;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize as _, Deserializer};

/// The id that stands among the first members of a message, as far as `head` goes, or else as the last one, at the end of
/// `tail`.
pub(crate) fn id_around(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    first(head).or_else(|| last(tail))
}

fn first(head: &[u8]) -> Option<RequestId> {
    let mut found = None;
    // It fails where the head ends; what was found until then counts.
    let _ = Find(&mut found).deserialize(&mut serde_json::Deserializer::from_slice(head));
    found
}

/// `"id": 7}` at the very end: one more bracket would make it somebody else's.
fn last(tail: &[u8]) -> Option<RequestId> {
    const KEY: &[u8] = b"\"id\"";
    let at = tail.windows(KEY.len()).rposition(|window| window == KEY)?;
    let after = std::str::from_utf8(tail.get(at + KEY.len()..)?).ok()?;
    let value = after.trim().strip_prefix(':')?.strip_suffix('}')?;
    serde_json::from_str(value).ok()
}

struct Find<'a>(&'a mut Option<RequestId>);

impl<'de> DeserializeSeed<'de> for Find<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Find<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "id" {
                *self.0 = map.next_value_seed(Id)?;
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

struct Id;

impl<'de> DeserializeSeed<'de> for Id {
    type Value = Option<RequestId>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        RequestId::deserialize(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_at_either_end() {
        let check = |head: &str, tail: &str, expected: Option<&str>| {
            let found = id_around(head.as_bytes(), tail.as_bytes()).map(|id| id.to_string());
            assert_eq!(found.as_deref(), expected, "{head} … {tail}");
        };
        check(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"na"#, "", Some("7"));
        check(r#"{"jsonrpc":"2.0", "id" : "a b", "x"#, "", Some("a b"));
        check(r#"{"method":"tools/call","params":{"id":1,"x"#, r#"xx"},"jsonrpc":"2.0","id":8}"#, Some("8"));
        check(r#"{"params":{"#, r#"{"id": "z" } "#, Some("z"));
        check(r#"{"params":{"#, r#"xx","id":8}}"#, None);
        check(r#"{"params":{"#, r#"xx"}}"#, None);
        check("[]", "", None);
        check("", "", None);
    }
}
