//! What a vector asks for.

use dsh_json::Json;

use crate::Fault;
use crate::fault::{required, required_text};

/// A call that gives a text.
pub(super) struct Asked {
    pub(super) text: String,
    pub(super) cap: u64,
    pub(super) locator: String,
    pub(super) hint: String,
    pub(super) tool: String,
    pub(super) blocks: Blocks,
    /// Whether the call acts for an agent.
    pub(super) owned: bool,
}

/// How the text is given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Blocks {
    /// In so many blocks of text.
    Text(usize),
    /// In one, before a picture.
    Picture,
}

impl Asked {
    /// `None` for a vector about a configuration.
    pub(super) fn of(input: &Json) -> Result<Option<Self>, Fault> {
        if input.get("config").is_some() {
            return Ok(None);
        }
        let cap = required(input, "cap")?;
        Ok(Some(Self {
            text: text(required(input, "parts")?)?,
            cap: cap.as_u64().ok_or_else(|| Fault::form("cap", cap, "a number of bytes"))?,
            locator: required_text(input, "locator")?.to_owned(),
            hint: required_text(input, "hint")?.to_owned(),
            tool: required_text(input, "tool")?.to_owned(),
            blocks: blocks(input.get("blocks"))?,
            owned: input.get("agent").and_then(Json::as_bool).unwrap_or(true),
        }))
    }
}

fn text(parts: &Json) -> Result<String, Fault> {
    let list = parts.as_array().ok_or_else(|| Fault::form("parts", parts, "a list"))?;
    let mut text = String::new();
    for part in list {
        let times = match part.get("repeat") {
            None => 1,
            Some(repeat) => count(repeat).ok_or_else(|| Fault::form("repeat", repeat, "a count"))?,
        };
        text.push_str(&required_text(part, "text")?.repeat(times));
    }
    Ok(text)
}

fn blocks(blocks: Option<&Json>) -> Result<Blocks, Fault> {
    let Some(blocks) = blocks else { return Ok(Blocks::Text(1)) };
    if blocks.as_str() == Some("image") {
        return Ok(Blocks::Picture);
    }
    count(blocks).map(Blocks::Text).ok_or_else(|| Fault::form("blocks", blocks, "a count or \"image\""))
}

fn count(given: &Json) -> Option<usize> {
    given.as_u64().and_then(|count| usize::try_from(count).ok())
}
