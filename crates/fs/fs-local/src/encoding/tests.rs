//! Rows for encodings.

use super::*;

/// The text of a whole file.
fn whole(bytes: &[u8]) -> Result<(String, Encoding), Flaw> {
    let encoding = Encoding::of(bytes.get(..HEAD).unwrap_or(bytes))?;
    let (mut text, mut at) = (String::new(), encoding.mark());
    loop {
        let (piece, used) = encoding.decode(&bytes[at..], true)?;
        if used == 0 {
            return Ok((text, encoding));
        }
        text.push_str(&piece);
        at += used;
    }
}

#[test]
fn what_decodes_encodes_to_the_same_bytes() {
    let wide = |text: &str, to: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(to).collect() };
    let text = "é路😀\r\nb\n";
    let marked = format!("\u{feff}{text}");
    let rows = [
        (text.as_bytes().to_vec(), text),
        (marked.as_bytes().to_vec(), text),
        (wide(&marked, u16::to_le_bytes), text),
        (wide(&marked, u16::to_be_bytes), text),
        (vec![], ""),
        (vec![0xEF, 0xBB, 0xBF], ""),
        (vec![0xFF, 0xFE], ""),
        ("\u{feff}\u{feff}a".into(), "\u{feff}a"),
        (wide("\u{feff}\u{feff}a", u16::to_le_bytes), "\u{feff}a"),
        // Beyond the head, a NUL is a character like others.
        ([vec![b'a'; HEAD], vec![0]].concat(), &format!("{}\0", "a".repeat(HEAD))),
    ];
    for (bytes, text) in rows {
        let (decoded, encoding) = whole(&bytes).unwrap();
        assert_eq!(decoded, text);
        assert_eq!(encoding.encode(text), bytes);
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_decoded_without_loss_or_refused(
        front in proptest::sample::select(vec![&b""[..], b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"]),
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40),
    ) {
        let bytes = [front, &bytes].concat();
        if let Ok((text, encoding)) = whole(&bytes) {
            assert_eq!(encoding.encode(&text), bytes);
        }
    }
}
