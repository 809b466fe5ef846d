use dsh_json::object;

use super::*;

fn header() -> Header {
    Header::new("s1", 7).unwrap()
}

#[test]
fn a_header_is_stored_and_read_back() {
    let small = header();
    assert_eq!(small.to_json().to_text(), r#"{"type":"session","version":1,"id":"s1","createdAt":7}"#);
    let full = header().in_directory("/work").unwrap().forked_from("s0", 3).unwrap();
    assert_eq!(
        full.to_json().to_text(),
        r#"{"type":"session","version":1,"id":"s1","createdAt":7,"cwd":"/work","parentSession":"s0","seedLength":3}"#
    );
    for header in [small, full] {
        assert_eq!(Header::from_json(&header.to_json()), Ok(header));
    }
}

#[test]
fn another_version_is_refused_before_anything_else() {
    let json = object! { "type": "session", "version": 0, "surprise": true };
    let error = Header::from_json(&json).unwrap_err();
    assert_eq!(error, HeaderError::Version { found: "0".to_owned() });
    assert_eq!(error.to_string(), "the session has version 0, this program reads version 1");
}

#[test]
fn a_bad_header_is_refused_with_its_place() {
    let rows = [
        ("type", Json::from("log"), "$.type: expected `session`"),
        ("id", Json::from(""), "$.id: must not be empty"),
        ("createdAt", Json::from(-1), "$.createdAt: not a time in milliseconds since 1970"),
        ("createdAt", Json::from("now"), "$.createdAt: expected an integer"),
        ("cwd", Json::from("work"), "$.cwd: must be an absolute path in Unicode"),
        ("parentSession", Json::from(""), "$.parentSession: must not be empty"),
        ("seedLength", Json::from(-1), "$.seedLength: expected a non-negative integer, found number"),
        ("seedLength", Json::from(1_u64 << 60), "$.seedLength: too large"),
        ("sandboxMode", Json::Null, "$.sandboxMode: unknown field"),
    ];
    for (field, value, error) in rows {
        let mut object: Object = header().to_json().as_object().unwrap().clone();
        object.insert(field, value);
        let found = Header::from_json(&object.into()).unwrap_err().to_string();
        assert_eq!(found, format!("not a session header: {error}"));
    }
    assert!(Header::from_json(&Json::Null).is_err());
    assert!(Header::new("", 0).is_err());
    assert!(header().forked_from("", 0).is_err());
}
