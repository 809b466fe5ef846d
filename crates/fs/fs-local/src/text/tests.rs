//! Rows for texts in pieces.

use dsh_lifecycle::{Cancel, Cause};

use super::*;
use crate::encoding::Order;

/// Gives at most so many bytes at a time, so that characters break across reads.
struct Short<'a>(&'a [u8], usize);

impl Read for Short<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = into.len().min(self.1);
        self.0.read(&mut into[..most])
    }
}

fn stored(bytes: &[u8], step: usize, piece: usize) -> Result<(String, Encoding), String> {
    let mut text = String::new();
    let stop = Stop::from(Cancel::new());
    decode(&mut Short(bytes, step), piece, "/w/a", &stop, |piece| {
        text.push_str(piece);
        Ok(())
    })
    .map(|encoding| (text, encoding))
    .map_err(|error| {
        assert_eq!(error.code(), "FS_NOT_TEXT");
        error.to_string()
    })
}

fn text(bytes: &[u8], step: usize) -> Result<String, String> {
    stored(bytes, step, 0).map(|(text, _)| text)
}

fn wide(text: &str, order: Order) -> Vec<u8> {
    Encoding::Utf16(order).encode(text).into_owned()
}

#[test]
fn characters_survive_any_piece() {
    let source = "é路😀\r\nsecond 漢字 ".repeat(900);
    let kinds = [
        (source.clone().into_bytes(), Encoding::Utf8 { marked: false }),
        (format!("\u{feff}{source}").into_bytes(), Encoding::Utf8 { marked: true }),
        (wide(&source, Order::Little), Encoding::Utf16(Order::Little)),
        (wide(&source, Order::Big), Encoding::Utf16(Order::Big)),
    ];
    for (bytes, encoding) in kinds {
        for step in [1, 2, 3, 5, 8191, 8192, usize::MAX] {
            for piece in [0, 8193, 100_000] {
                let read = stored(&bytes, step, piece);
                assert_eq!(read, Ok((source.clone(), encoding)), "{encoding:?} {step} {piece}");
            }
        }
    }
}

#[test]
fn every_edge_of_a_wide_piece_can_be_within_a_pair() {
    // The edges lie at 8,192 bytes of the buffer and at 65,536 of a step; the shift moves them through a pair.
    for shift in 0..4 {
        let source = format!("{}{}", "a".repeat(shift), "😀".repeat(40_000));
        for (order, piece) in [(Order::Little, 0), (Order::Big, 0), (Order::Little, 200_001)] {
            assert!(text(&wide(&source, order), usize::MAX).as_deref() == Ok(&*source), "{shift}");
            let read = stored(&wide(&source, order), usize::MAX, piece);
            assert!(read.is_ok_and(|(text, _)| text == source), "{shift} {order:?} {piece}");
        }
    }
}

#[test]
fn a_mark_is_dropped_at_the_start_only() {
    for step in [1, 2, 4, 99] {
        assert_eq!(text("\u{feff}a\u{feff}b".as_bytes(), step).as_deref(), Ok("a\u{feff}b"));
        for order in [Order::Little, Order::Big] {
            assert_eq!(text(&wide("\u{feff}a", order), step).as_deref(), Ok("\u{feff}a"));
            assert_eq!(text(&wide("", order), step).as_deref(), Ok(""));
        }
    }
    assert_eq!(text(b"", 1).as_deref(), Ok(""));
    assert_eq!(text(b"\xef\xbb\xbf", 1).as_deref(), Ok(""));
}

#[test]
fn what_is_no_text_says_where_and_what_it_looks_like() {
    let plain: Vec<u8> = wide("plain text", Order::Little).split_off(2);
    let high: Vec<u8> = wide("plain text", Order::Big).split_off(2);
    let gbk =
        b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\xa1\xa3\xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xb2\xe2\xca\xd4";
    let late_nul = |at: usize| [vec![b'a'; at], vec![0]].concat();
    let noise: Vec<u8> = (1..=0xfd).rev().collect();
    let far = |tail: &[u8]| [&wide(&"a".repeat(50_000), Order::Big), tail].concat();
    let rows: [(Vec<u8>, &str); 21] = [
        (
            b"hi\xff\n".into(),
            "is not UTF-8 text: byte 2 (0xff) is invalid; it looks like Latin-1 (windows-1252)",
        ),
        (b"a\xe8\xb7".into(), "is not whole text: it ends within the character at byte 1"),
        ([vec![b'a'; 20_000], vec![0xf0]].concat(), "ends within the character at byte 20000"),
        (b"\xed\xa0\x80".into(), "is not UTF-8 text: byte 0 (0xed) is invalid; it looks like "),
        ([vec![b'a'; 20_000], vec![0x80]].concat(), "byte 20000 (0x80) is invalid; it looks like "),
        (gbk.into(), "is not UTF-8 text: byte 0 (0xc4) is invalid; it looks like GBK"),
        (
            [b"line\n".repeat(9000).as_slice(), gbk].concat(),
            "byte 45000 (0xc4) is invalid; it looks like GBK",
        ),
        (b"caf\xe9 cr\xe8me one\n".into(), "byte 3 (0xe9) is invalid; it looks like Latin-1 (windows-1252)"),
        (noise, "is not text: byte 0 (0xfd) is invalid among control characters, as in binary files"),
        (b"a\0b".into(), "is not text: it has a NUL at byte 1, as binary files do"),
        (late_nul(8191), "is not text: it has a NUL at byte 8191, as binary files do"),
        (plain, "is not UTF-8 text: it looks like UTF-16 (little endian, without a mark)"),
        (high, "is not UTF-8 text: it looks like UTF-16 (big endian, without a mark)"),
        (b"\xff\xfe\0\0a\0\0\0".into(), "is not UTF-8 text: it looks like UTF-32 (little endian)"),
        (b"\0\0\xfe\xff\0\0\0a".into(), "is not UTF-8 text: it looks like UTF-32 (big endian)"),
        (wide("plain\0text", Order::Little), "is not text: it has a NUL at byte 12, as binary files do"),
        (b"\xff\xfea".into(), "is not whole text: it ends within the character at byte 2"),
        (far(b"a"), "is not whole text: it ends within the character at byte 100002"),
        (far(b"\xd8\0\0a"), "but is none: the character at byte 100002 lacks its other half"),
        (far(b"\xdc\0\0a"), "but is none: the character at byte 100002 lacks its other half"),
        (far(b"\xd8\0"), "but is none: the character at byte 100002 lacks its other half"),
    ];
    for (bytes, words) in rows {
        for step in [1, 100, 8192, usize::MAX] {
            let error = text(&bytes, step).unwrap_err();
            assert!(error.starts_with("/w/a ") && error.contains(words), "{error}");
        }
    }
    assert!(text(&late_nul(8192), 1).is_ok());
}

#[test]
fn what_it_looks_like_does_not_depend_on_how_it_is_read() {
    let text = "Le café est très bon, et la crème brûlée aussi.\n".repeat(5000);
    let latin: Vec<u8> = text.chars().map(|char| u8::try_from(u32::from(char)).unwrap()).collect();
    let errors: Vec<_> =
        [0, 100_000, 1 << 20].map(|piece| stored(&latin, usize::MAX, piece).unwrap_err()).into();
    assert_eq!(errors[0], errors[1]);
    assert_eq!(errors[0], errors[2]);
    assert!(errors[0].ends_with("byte 6 (0xe9) is invalid; it looks like Latin-1 (windows-1252)"));
}

#[test]
fn a_stop_is_seen_between_pieces() {
    for bytes in [vec![b'a'; 20_000], wide(&"a".repeat(50_000), Order::Little)] {
        let cancel = Cancel::new();
        let stop = Stop::from(cancel.clone());
        let mut pieces = 0;
        let result = decode(&mut Short(&bytes, usize::MAX), 0, "/w/a", &stop, |_| {
            pieces += 1;
            cancel.cancel(Cause::User);
            Ok(())
        });
        assert_eq!((result.map_err(|error| error.code()), pieces), (Err("FS_ABORTED"), 1));
    }
}
