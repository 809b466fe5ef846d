//! What every question says, and how text of models is shown to people who decide by it.

use dsh_tools_core::RUN_CODE;

/// What a yes covers, to be shown with every question; `whole`: whether all of the call is shown.
#[must_use]
pub fn covers(tool: &str, whole: bool) -> &'static str {
    match (tool == RUN_CODE, whole) {
        (true, true) => {
            "Yes lets this program run, once. What it calls that needs approval is asked about by itself. Nothing is remembered."
        }
        (true, false) => {
            "Yes lets this program run, once, all of it: also what is not shown. What it calls that needs approval is asked \
             about by itself. Nothing is remembered."
        }
        (false, true) => "Yes allows this one call, as it is shown. Nothing is remembered.",
        (false, false) => {
            "Yes allows this one call, all of it: also what is not shown. Nothing is remembered."
        }
    }
}

/// The same where more than this call can be allowed, and a yes is only one of the answers: without what it says of all of them.
#[must_use]
pub fn covers_once(tool: &str, whole: bool) -> &'static str {
    let text = covers(tool, whole);
    text.strip_suffix(" Nothing is remembered.").unwrap_or(text)
}

/// The text with everything that could do something else to a screen than to be seen made visible. Line breaks and tabs stay.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if acts(character) && !matches!(character, '\n' | '\t') {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// Whether a character does something to a screen, or nothing at all, instead of being seen: controls, line breaks among
/// them, what changes the direction of a text, and what has no shape and no width of its own.
#[must_use]
pub fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}
