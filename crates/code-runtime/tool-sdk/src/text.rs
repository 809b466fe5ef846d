//! What both languages write with: literals, and a fast look at bytes.

use dsh_json::Json;

/// A name or key as a string literal. JSON's escapes mean the same in TypeScript and in Python (spec 05 §3.1).
pub(crate) fn quoted(name: &str) -> String {
    Json::from(name).to_text()
}

/// Whether all bytes are as wanted. Sixteen of them cost one step, if the test has no branches.
pub(crate) fn every(text: &[u8], is_wanted: impl Fn(u8) -> bool) -> bool {
    let all = |block: &[u8; 16]| block.iter().fold(true, |all, byte| all & is_wanted(*byte));
    let (blocks, rest) = text.as_chunks();
    blocks.iter().all(all) && rest.iter().all(|byte| is_wanted(*byte))
}

#[cfg(test)]
mod tests {
    use super::every;

    #[test]
    fn every_byte_is_looked_at() {
        for length in 0..70 {
            let plain = vec![b'a'; length];
            assert!(every(&plain, |byte| byte == b'a'), "{length}");
            for place in 0..length {
                let mut text = plain.clone();
                text[place] = b'b';
                assert!(!every(&text, |byte| byte == b'a'), "{length} {place}");
            }
        }
    }
}
