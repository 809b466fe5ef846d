//! Rows for encodings.

use super::*;

fn utf16(text: &str, to: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to).collect()
}

#[test]
fn what_decodes_encodes_to_the_same_bytes() {
    let text = "é路😀\r\nb\n";
    let marked = format!("\u{feff}{text}");
    let rows = [
        (text.as_bytes().to_vec(), text),
        (marked.as_bytes().to_vec(), text),
        (utf16(&marked, u16::to_le_bytes), text),
        (utf16(&marked, u16::to_be_bytes), text),
        (vec![], ""),
        (vec![0xEF, 0xBB, 0xBF], ""),
        (vec![0xFF, 0xFE], ""),
        ("\u{feff}\u{feff}a".into(), "\u{feff}a"),
        (utf16("\u{feff}\u{feff}a", u16::to_le_bytes), "\u{feff}a"),
    ];
    for (bytes, text) in rows {
        let decoded = Decoded::of(bytes.clone(), "/w/a").unwrap();
        assert_eq!(decoded.text, text);
        assert_eq!(decoded.encode(text), bytes);
    }
}

#[test]
fn everything_else_is_refused_with_a_guess() {
    let gbk = b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\xa1\xa3\xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xb2\xe2\xca\xd4\xce\xc4\xbc\xfe\xa1\xa3";
    let latin = b"Le caf\xe9 est tr\xe8s bon, et la cr\xe8me br\xfbl\xe9e aussi.\n";
    let late_nul = [vec![b'a'; 100_000], vec![0]].concat();
    let rows: [(&[u8], &str); 9] = [
        (gbk, "byte 0 (0xc4) is invalid; it looks like GBK"),
        (latin, "byte 6 (0xe9) is invalid; it looks like Latin-1 (windows-1252)"),
        (b"a\0b", "a NUL at byte 1"),
        (&late_nul, "a NUL at byte 100000"),
        (&utf16("plain text", u16::to_le_bytes), "looks like UTF-16 (little endian, without a mark)"),
        (b"\xff\xfe\0\0a\0\0\0", "UTF-32"),
        (b"\xff\xfea", "begins like UTF-16 text, but is none"),
        (b"\xff\xfe\x00\xd8a\0", "begins like UTF-16 text, but is none"),
        (b"\xfe\xff\0a\0\0", "begins like UTF-16 text, but is none"),
    ];
    for (bytes, words) in rows {
        let error = Decoded::of(bytes.to_vec(), "/w/a").unwrap_err();
        assert_eq!(error.code(), "FS_NOT_TEXT");
        assert!(error.to_string().contains(words), "{error}");
    }
}
