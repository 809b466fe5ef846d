//! `TextEncoder` and `TextDecoder`.

use dsh_json::{Json, array, object};

use super::{check, check_thrown};

#[tokio::test]
async fn encoding() {
    check(&[
        ("[...new TextEncoder().encode('aé€😀')]", array![97, 195, 169, 226, 130, 172, 240, 159, 152, 128]),
        ("[...new TextEncoder().encode('\\ud800x\\udc00')]", array![239, 191, 189, 120, 239, 191, 189]),
        ("[...new TextEncoder().encode('a\\0b')]", array![97, 0, 98]),
        ("[new TextEncoder().encode().length, new TextEncoder().encode(undefined).length, new TextEncoder().encode('').length]", array![0, 0, 0]),
        ("new TextDecoder().decode(new TextEncoder().encode(null))", "null".into()),
        ("new TextEncoder().encode('x') instanceof Uint8Array", true.into()),
        ("new TextEncoder().encoding", "utf-8".into()),
        ("new TextEncoder().encode({ toString() { return 'mine'; } }).length", 4.into()),
        ("new TextEncoder().encode('x'.repeat(3000000)).length", 3_000_000.into()),
        ("let s = ''; for (let i = 0; i < 2000; i++) s += 'line ' + i; return new TextDecoder().decode(new TextEncoder().encode(s)) === s;", true.into()),
    ])
    .await;
    check_thrown(&[
        ("new TextEncoder().encode(Symbol())", "TypeError: cannot convert symbol to string"),
        (
            "TextEncoder.prototype.encode.call({}, 'x')",
            "TypeError: this method is for instances of TextEncoder only",
        ),
        (
            "TextEncoder.prototype.encode.call(new TextDecoder(), 'x')",
            "TypeError: this method is for instances of TextEncoder only",
        ),
        ("TextEncoder.prototype.encoding", "TypeError: this method is for instances of TextEncoder only"),
    ])
    .await;
}

#[tokio::test]
async fn encoding_into() {
    let into = |text: &str, room: &str| {
        format!("const t = {room}; const r = new TextEncoder().encodeInto('{text}', t); return [r, [...t]];")
    };
    check(&[
        (
            &into("abc", "new Uint8Array(5)"),
            array![object! { "read": 3, "written": 3 }, array![97, 98, 99, 0, 0]],
        ),
        (&into("a€b", "new Uint8Array(3)"), array![object! { "read": 1, "written": 1 }, array![97, 0, 0]]),
        (
            &into("a€b", "new Uint8Array(4)"),
            array![object! { "read": 2, "written": 4 }, array![97, 226, 130, 172]],
        ),
        (
            &into("😀x", "new Uint8Array(4)"),
            array![object! { "read": 2, "written": 4 }, array![240, 159, 152, 128]],
        ),
        (&into("x", "new Uint8Array(0)"), array![object! { "read": 0, "written": 0 }, array![]]),
        (
            &into("xyz", "new Uint8Array(4).subarray(1, 3)"),
            array![object! { "read": 2, "written": 2 }, array![120, 121]],
        ),
        (
            "const t = new Uint8Array(2); t.buffer.transfer(); return new TextEncoder().encodeInto('x', t);",
            object! { "read": 0, "written": 0 },
        ),
    ])
    .await;
    check_thrown(&[
        ("new TextEncoder().encodeInto('x', [])", "TypeError: encodeInto writes into a Uint8Array"),
        (
            "new TextEncoder().encodeInto('x', new Int8Array(1))",
            "TypeError: encodeInto writes into a Uint8Array",
        ),
        ("new TextEncoder().encodeInto('x')", "TypeError: encodeInto writes into a Uint8Array"),
    ])
    .await;
}

#[tokio::test]
async fn decoding() {
    let bytes = "new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xe2, 0x82, 0xac, 0xff])";
    check(&[
        (&format!("new TextDecoder().decode({bytes})"), "a€\u{fffd}".into()),
        (&format!("new TextDecoder('utf-8', {{ ignoreBOM: true }}).decode({bytes})"), "\u{feff}a€\u{fffd}".into()),
        (&format!("new TextDecoder().decode({bytes}.buffer)"), "a€\u{fffd}".into()),
        (&format!("new TextDecoder().decode(new DataView({bytes}.buffer, 3, 4))"), "a€".into()),
        (&format!("new TextDecoder().decode({bytes}.subarray(3, 4))"), "a".into()),
        ("new TextDecoder().decode(new Uint16Array([0x4241, 0x0043]))", "ABC\0".into()),
        ("const s = new SharedArrayBuffer(2); new Uint8Array(s).set([104, 105]); return new TextDecoder().decode(s);", "hi".into()),
        ("[new TextDecoder().decode(), new TextDecoder().decode(undefined), new TextDecoder().decode(new ArrayBuffer(0))]", array!["", "", ""]),
        ("const b = new ArrayBuffer(2); const d = new DataView(b); b.transfer(); return [new TextDecoder().decode(b), new TextDecoder().decode(d)];", array!["", ""]),
        ("new TextDecoder().decode(new Uint8Array([0xed, 0xa0, 0x80]))", "\u{fffd}\u{fffd}\u{fffd}".into()),
        ("const d = new TextDecoder('UTF8', { fatal: 1 }); return [d.encoding, d.fatal, d.ignoreBOM];", array!["utf-8", true, false]),
    ])
    .await;
    for label in [
        "unicode-1-1-utf-8",
        "unicode11utf8",
        "unicode20utf8",
        "utf-8",
        "utf8",
        "x-unicode20utf8",
        " \\n\\tUtF-8\\r\\f ",
    ] {
        check(&[(&format!("new TextDecoder('{label}').encoding"), "utf-8".into())]).await;
    }
    check_thrown(&[
        ("new TextDecoder('utf-16le')", "RangeError: there is no decoder for `utf-16le`: only for utf-8"),
        ("new TextDecoder('latin1')", "RangeError: there is no decoder for `latin1`: only for utf-8"),
        ("new TextDecoder('')", "RangeError: there is no decoder for ``: only for utf-8"),
        ("new TextDecoder('utf-8', 1)", "TypeError: the options of a TextDecoder are an object"),
        (
            "new TextDecoder().decode('text')",
            "TypeError: decode takes an ArrayBuffer, a typed array or a DataView",
        ),
        (
            "new TextDecoder().decode([1])",
            "TypeError: decode takes an ArrayBuffer, a typed array or a DataView",
        ),
        (
            "new TextDecoder().decode(null)",
            "TypeError: decode takes an ArrayBuffer, a typed array or a DataView",
        ),
        (
            "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff]))",
            "TypeError: the bytes are no UTF-8",
        ),
        (
            "TextDecoder.prototype.decode.call(new TextEncoder())",
            "TypeError: this method is for instances of TextDecoder only",
        ),
    ])
    .await;
}

#[tokio::test]
async fn decoding_in_parts() {
    check(&[
        (
            "const d = new TextDecoder(); const b = new TextEncoder().encode('\\ufeffaé€😀'); let s = '';
             for (const x of b) s += d.decode(Uint8Array.of(x), { stream: true }); s += d.decode(); return s;",
            "aé€😀".into(),
        ),
        ("const d = new TextDecoder(); return [d.decode(Uint8Array.of(0xe2, 0x82), { stream: true }), d.decode(), d.decode(Uint8Array.of(0x61))];",
            array!["", "\u{fffd}", "a"]),
        ("const d = new TextDecoder(); d.decode(Uint8Array.of(0xe2), { stream: true }); return d.decode(Uint8Array.of(0x61));", "\u{fffd}a".into()),
        // The mark is looked for again in each text.
        ("const d = new TextDecoder(); const m = Uint8Array.of(0xef, 0xbb, 0xbf, 0x61); return [d.decode(m), d.decode(m), d.decode(m, { stream: true }), d.decode(m)];",
            array!["a", "a", "a", "\u{feff}a"]),
        (
            "const d = new TextDecoder('utf-8', { fatal: true }); d.decode(Uint8Array.of(0xe2), { stream: true }); let thrown;
             try { d.decode(Uint8Array.of(0xff), { stream: true }); } catch (e) { thrown = e.name; } return [thrown, d.decode(Uint8Array.of(0x61))];",
            array!["TypeError", "a"],
        ),
        (
            "const d = new TextDecoder('utf-8', { fatal: true }); d.decode(Uint8Array.of(0xe2), { stream: true }); try { d.decode(); } catch (e) { return e.message; }",
            "the bytes are no UTF-8".into(),
        ),
    ])
    .await;
}

#[tokio::test]
async fn long_texts_are_coded_piece_by_piece() {
    // 40,000 characters of three bytes each: a boundary of the pieces lies inside of one.
    check(&[
        ("const s = 'a' + '€'.repeat(40000); const b = new TextEncoder().encode(s); return [b.length, new TextDecoder().decode(b) === s];", array![120_001, true]),
        ("const t = new TextDecoder().decode(new Uint8Array(200000).fill(0xff)); return [t.length, t === '\\ufffd'.repeat(200000)];", array![200_000, true]),
        ("new TextDecoder().decode(new Uint8Array(3 << 20).fill(0x61)).length", (3 << 20).into()),
        ("new TextDecoder().decode(new Uint8Array(65536).fill(0x61)) === 'a'.repeat(65536)", Json::from(true)),
    ])
    .await;
}
