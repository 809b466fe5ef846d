//! Paths in the middle of other text.

use std::borrow::Cow;

/// A path in a sentence or a list: as it is, unless something in it could pass for other text. Control characters, line
/// breaks of any kind and marks that turn the direction of writing put it in quotes, with escapes.
///
/// ```
/// assert_eq!(dsh_fs::one_line("/w/路 径"), "/w/路 径");
/// assert_eq!(dsh_fs::one_line("/w/a\nb"), r#""/w/a\nb""#);
/// ```
pub fn one_line(path: &str) -> Cow<'_, str> {
    if path.contains(disturbs) { Cow::Owned(format!("{path:?}")) } else { Cow::Borrowed(path) }
}

fn disturbs(char: char) -> bool {
    let turns = matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    char.is_control() || turns || matches!(char, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_path_cannot_pass_for_other_text() {
        for plain in ["/w/路 径", "/w/it's \"so\"", "a\u{300}", ""] {
            assert_eq!(one_line(plain), plain);
        }
        let rows = [
            ("a\nb", r#""a\nb""#),
            ("a\u{1b}[31m", r#""a\u{1b}[31m""#),
            ("a\u{2028}b", r#""a\u{2028}b""#),
            ("a\u{202e}txt.exe", r#""a\u{202e}txt.exe""#),
            ("\"\n", r#""\"\n""#),
        ];
        for (path, shown) in rows {
            assert_eq!(one_line(path), shown);
        }
    }
}
