//! What every question says, whoever shows it.

use dsh_tools_core::RUN_CODE;

/// What a yes covers, to be shown with every question.
#[must_use]
pub fn covers(tool: &str) -> &'static str {
    if tool == RUN_CODE {
        "Yes lets this program run, once. What it calls that needs approval is asked about by itself. Nothing is remembered."
    } else {
        "Yes allows this one call, as it is shown. Nothing is remembered."
    }
}

/// Whether a character does something to a screen instead of being seen: controls, line breaks among them, and what changes
/// the direction of a text.
#[must_use]
pub fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
