use dsh_json::object;

use super::*;

fn line(object: &Json) -> String {
    let mut out = String::new();
    encode(object, &mut out);
    out
}

fn sound(line: &str) -> bool {
    unwrap(&mut line.as_bytes().to_vec())
}

#[test]
fn a_line_ends_with_the_checksum_of_what_comes_before_it() {
    let line = line(&object! { "a": 1 });
    assert_eq!(line, "{\"a\":1,\"crc\":\"149cdbb2\"}\n");
    // The check value of CRC-32C, and the same polynomial over the bytes before `,"crc"`.
    assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
    assert_eq!(crc32c::crc32c(br#"{"a":1"#), 0x149c_dbb2);
}

#[test]
fn a_line_is_unwrapped_to_what_was_encoded() {
    for object in
        [object! { "a": 1.0_f32.to_string() }, object! { "crc": "00000000" }, object! { "é\n": "\"}" }]
    {
        let mut bytes = line(&object).into_bytes();
        assert_eq!(bytes.pop(), Some(b'\n'));
        assert!(unwrap(&mut bytes));
        assert_eq!(parse(&bytes).unwrap(), object);
    }
}

#[test]
fn any_other_line_is_not_sound() {
    assert!(sound(r#"{"a":1,"crc":"149cdbb2"}"#));
    for bad in [
        "",
        "{}",
        r#"{"a":1}"#,
        r#"{"a":2,"crc":"149cdbb2"}"#,
        r#"{"a":1,"crc":"149CDBB2"}"#,
        r#"{"a":1,"crc":"149cdbb"}"#,
        r#"{"a":1, "crc":"149cdbb2"}"#,
        r#"{"a":1,"crc":"149cdbb2"} "#,
        r#","crc":"149cdbb2"}"#,
    ] {
        assert!(!sound(bad), "{bad}");
    }
}

#[test]
fn lines_are_appended() {
    let mut out = String::from("x\n");
    encode(&object! { "a": 1 }, &mut out);
    assert_eq!(out, "x\n{\"a\":1,\"crc\":\"149cdbb2\"}\n");
}
