use proptest::prelude::*;

use super::*;

#[test]
fn safe_names_stay_as_they_are() {
    for name in ["grep.txt", "A-b_c.9", "...", ".hidden", "a..b", "-"] {
        assert_eq!(encode(name), name);
    }
}

#[test]
fn other_units_are_written_as_numbers() {
    for (name, encoded) in [
        ("../etc/passwd", "..~002Fetc~002Fpasswd"),
        ("a/b", "a~002Fb"),
        ("~", "~007E"),
        ("~002F", "~007E002F"),
        ("a b\n", "a~0020b~000A"),
        ("\0", "~0000"),
        ("é€", "~00E9~20AC"),
        // Two units of one character.
        ("😀.txt", "~D83D~DE00.txt"),
        ("C:\\x", "C~003A~005Cx"),
    ] {
        assert_eq!(encode(name), encoded);
    }
}

#[test]
fn dots_alone_are_no_directories() {
    assert_eq!((encode("."), encode("..")), ("~002E".to_owned(), "~002E~002E".to_owned()));
}

#[test]
fn an_empty_name_is_some_name() {
    assert_eq!(encode(""), "~");
}

#[test]
fn a_session_has_the_digest_of_its_id() {
    // The first digits of SHA-256 of "abc", and of nothing.
    assert_eq!(session("abc"), "session-ba7816bf8f01");
    assert_eq!(session(""), "session-e3b0c44298fc");
}

#[test]
fn long_names_are_cut_and_told_apart() {
    let digits = |name: &str| blake3::hash(name.as_bytes()).to_hex().as_str()[..12].to_owned();
    let fits = "a".repeat(242);
    assert_eq!(encode(&fits), fits);
    // The name, how much of it is kept, and its extension.
    let a = |count| "a".repeat(count);
    for (name, kept, extension) in [
        (a(243), a(229), ""),
        (a(300) + ".txt", a(225), ".txt"),
        (a(300) + ".fifteen_bytes_", a(214), ".fifteen_bytes_"),
        (a(300) + ".seventeen_bytes_", a(229), ""),
        (a(300) + ".é", a(223), ".~00E9"),
        (a(300) + ".éééé", a(229), ""),
        (a(300) + ".", a(228), "."),
        (".".to_owned() + &a(300), ".".to_owned() + &a(228), ""),
        // A unit is kept whole or not at all.
        ("/".repeat(65_536), "~002F".repeat(45), ""),
        (a(226) + &"é".repeat(9), a(226), ""),
        (a(224) + &"é".repeat(9), a(224) + "~00E9", ""),
    ] {
        let encoded = encode(&name);
        assert_eq!(encoded, format!("{kept}~{}{extension}", digits(&name)));
        assert!(encoded.len() <= 242, "{encoded}");
    }
}

#[test]
fn names_of_the_layout_are_known() {
    let all = |is: fn(&str) -> bool, names: &[&str], expected: bool| {
        for name in names {
            assert_eq!(is(name), expected, "{name}");
        }
    };
    all(is_session, &["session-0123456789ab"], true);
    all(is_session, &["session-", "session-0123456789AB", "session-0123456789abc", "0123456789ab"], false);
    all(is_text, &["0123456789ab-~", "0123456789ab-a.b_c-~002F"], true);
    all(is_text, &["0123456789ab-", "0123456789ab", "0123456789a-b", "0123456789ab-a b", ".-a"], false);
    all(is_staged, &[&staged(1, 2), &staged(u32::MAX, u64::MAX)], true);
    all(
        is_staged,
        &[".spill--1.tmp", ".spill-1-.tmp", ".spill-1-2", "spill-1-2.tmp", ".spill-a-1.tmp"],
        false,
    );
}

/// Back from an encoded name.
fn decode(encoded: &str) -> String {
    let (mut units, mut rest) = (Vec::new(), encoded);
    while let Some(first) = rest.bytes().next() {
        let length = if first == b'~' { 5 } else { 1 };
        units.push(if first == b'~' { u16::from_str_radix(&rest[1..5], 16).unwrap() } else { first.into() });
        rest = &rest[length..];
    }
    String::from_utf16(&units).unwrap()
}

proptest! {
    /// What can be read back is the name of no other.
    #[test]
    fn an_encoded_name_can_be_read_back(name in "[a-c.~/éA0-9€😀]{1,40}") {
        let encoded = encode(&name);
        prop_assert_eq!(decode(&encoded), name);
        prop_assert!(is_text(&("0123456789ab-".to_owned() + &encoded)));
    }

    #[test]
    fn any_name_is_one_segment(name in any::<String>(), times in 1_usize..200) {
        let encoded = encode(&name.repeat(times));
        prop_assert!(encoded.len() <= LONGEST);
        prop_assert!(is_text(&("0123456789ab-".to_owned() + &encoded)));
    }
}
